"""Taxonomy: a declared tree as a binary hierarchy of cells."""

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privhp import Domain, DomainError, Plan, Summary, Taxonomy, check_domain
from privhp.answers.generator import Generator
from privhp.core.cells import OUTSIDE
from privhp.release import Release
from silent import assert_silent

FOOD: dict[str, Any] = {
    "fruit": ["apple", "pear"],
    "vegetable": {"tuber": ["carrot"], "leafy": ["kale", "chard", "rocket"]},
    "salt": None,
}
PATHS = {
    "apple": ("fruit", "apple"),
    "pear": ("fruit", "pear"),
    "carrot": ("vegetable", "tuber", "carrot"),
    "kale": ("vegetable", "leafy", "kale"),
    "chard": ("vegetable", "leafy", "chard"),
    "rocket": ("vegetable", "leafy", "rocket"),
    "salt": ("salt",),
}
WIDE = {f"group {i}": [f"leaf {i}-{j}" for j in range(i + 1)] for i in range(20)}
NESTED: Any = ["end"]
for step in range(40):
    NESTED = [f"side {step}", {f"main {step}": NESTED}]
DOMAINS = [
    Taxonomy(["a", "b"]),
    Taxonomy({"a": None, "b": []}),
    Taxonomy(FOOD),
    Taxonomy(["", {"x": ["y", "z", {"w": ["ä", "日本"]}]}]),
    Taxonomy({"all": {"of": {"them": ["one", "two", "three"]}}}),
    Taxonomy(WIDE),
    Taxonomy(NESTED),
]
AWKWARD: list[Any] = [
    "a",
    b"a",
    "apple",
    "fruit/apple",
    ("fruit", "apple"),
    ["fruit", "apple"],
    ("fruit",),
    "fruit",
    "/",
    "",
]
AWKWARD += [("fruit", None), ("fruit", "apple", "x"), np.array(["fruit", "apple"]), pd.NA, [[]], 3, np.ma.masked]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:50])
def test_laws(domain: Taxonomy) -> None:
    check_domain(domain, awkward=AWKWARD)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:50])
def test_repr_and_json(domain: Taxonomy) -> None:
    assert eval(repr(domain), {"Taxonomy": Taxonomy}) == domain
    sorted_keys = json.loads(json.dumps(domain.spec(), sort_keys=True))
    assert Domain.from_spec(sorted_keys) == domain
    codes = domain.encode(["leaf 3-1", "side 5", "kale"], level=domain.depth)
    assert np.array_equal(
        Domain.from_spec(sorted_keys).encode(["leaf 3-1", "side 5", "kale"], level=domain.depth), codes
    )


def test_equivalent_trees() -> None:
    trees: list[Any] = [
        FOOD,
        [{"fruit": ("apple", "pear")}, {"vegetable": FOOD["vegetable"]}, "salt"],
        [{"fruit": {"apple": None, "pear": {}}, "vegetable": FOOD["vegetable"]}, {"salt": []}],
    ]
    assert len({Taxonomy(tree) for tree in trees}) == 1


def test_order_of_branches() -> None:
    turned = dict(reversed(FOOD.items()))
    assert turned == FOOD
    assert Taxonomy(turned) != Taxonomy(FOOD)


# Cells


def test_depth() -> None:
    for branches in range(2, 40):
        domain = Taxonomy({"one": [str(leaf) for leaf in range(branches)]})
        assert domain.depth == (branches - 1).bit_length()
    assert Taxonomy(FOOD).depth == 2 + 1 + 2
    assert Taxonomy(WIDE).depth == 5 + 5


def test_nodes_are_cells() -> None:
    domain = Taxonomy(FOOD)
    codes = dict(zip(PATHS, domain.encode(list(PATHS), level=domain.depth).tolist(), strict=True))
    assert sorted(codes, key=codes.__getitem__) == list(PATHS)
    levels = {("fruit",): 2, ("vegetable",): 2, ("salt",): 2, ("vegetable", "tuber"): 3, ("vegetable", "leafy"): 3}
    for node, level in levels.items():
        under = {name for name, path in PATHS.items() if path[: len(node)] == node}
        cells = {codes[name] >> (domain.depth - level) for name in under}
        others = {code >> (domain.depth - level) for name, code in codes.items() if name not in under}
        assert len(cells) == 1
        assert not cells & others


def distance(one: str, other: str) -> float:
    """Distance by definition: 2**-h for h common ancestors below the root."""
    common = [a for a, b in zip(PATHS[one], PATHS[other], strict=False) if a == b]
    return 0.0 if one == other else 2.0 ** -len(common)


def test_diameter() -> None:
    domain = Taxonomy(FOOD)
    for level in range(domain.depth + 1):
        cells = dict(zip(PATHS, domain.encode(list(PATHS), level=level).tolist(), strict=True))
        largest = max(distance(a, b) for a, b in itertools.product(PATHS, repeat=2) if cells[a] == cells[b])
        assert domain.diameter(level) == largest


def test_measure_of_leaves() -> None:
    domain = Taxonomy(FOOD)
    for level in range(domain.depth + 1):
        cells = domain.encode(list(PATHS), level=level).astype(np.int64)
        measure = domain.measure(np.arange(2**level, dtype=np.uint64), level=level)
        assert measure.tolist() == (np.bincount(cells, minlength=2**level) / len(PATHS)).tolist()


# Reading


def test_forms_of_records() -> None:
    domain = Taxonomy(FOOD)
    expected = domain.encode(list(PATHS), level=domain.depth).tolist()
    joined = ["/".join(path) for path in PATHS.values()]
    for batch in (list(PATHS.values()), [list(path) for path in PATHS.values()], joined, np.array(joined)):
        assert domain.encode(batch, level=domain.depth).tolist() == expected
    for batch in (
        np.array(list(PATHS)),
        pd.Series(list(PATHS)),
        pa.array(list(PATHS)),
        pd.Series(joined, dtype="category"),
    ):
        assert domain.encode(batch, level=domain.depth).tolist() == expected


def test_invalid_records() -> None:
    strange = [
        "fruit",
        "Apple",
        "",
        "fruit/carrot",
        "/apple",
        "apple/",
        ("apple", "fruit"),
        ("fruit",),
        (),
        None,
        3,
        {},
    ]
    assert (Taxonomy(FOOD).encode(strange, level=1) == OUTSIDE).all()


# Specs and regions


BAD_SPECS: list[tuple[Any, str]] = [
    (None, "a tree of 2 or more leaves"),
    ([], "a tree of 2 or more leaves, got []"),
    (["a"], "a tree of 2 or more leaves, got ['a']"),
    ({"a": {"b": {"c": None}}}, "a tree of 2 or more leaves"),
    ("ab", "the tree as a dict, a list of names or None, got 'ab'"),
    (3, "the tree as a dict, a list of names or None, got 3"),
    ({"a": 3, "b": None}, "the subtree of 'a' as a dict, a list of names or None, got 3"),
    ({"a": "b", "c": None}, "the subtree of 'a' as a dict, a list of names or None, got 'b'"),
    (["a", 3], 'names in the tree as texts without "/", got 3'),
    (["a", None], 'names in the tree as texts without "/", got None'),
    ({"a": ["b/c", "d"]}, "names in the subtree of 'a' as texts without \"/\", got 'b/c'"),
    (["a", ["b", "c"]], "got a nested list; give the branch a name"),
    (["a", "b", "a"], "the name 'a' occurs twice in the tree"),
    ({"x": ["a", "b"], "y": ["a"]}, "the name 'a' occurs at two leaves"),
]


@pytest.mark.parametrize(("tree", "hint"), BAD_SPECS, ids=[hint for _, hint in BAD_SPECS])
def test_wrong_tree(tree: Any, hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec({"kind": "taxonomy", "tree": tree})
    assert hint in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_deep_tree() -> None:
    tree: Any = ["end"]
    for step in range(70):
        tree = [f"side {step}", {f"main {step}": tree}]
    with pytest.raises(DomainError, match="needs 70 levels of splits, at most 63 are possible"):
        Taxonomy(tree)
    for step in range(5000):
        tree = [{f"single {step}": tree}]
    with pytest.raises(DomainError, match="nested more than 100 deep"):
        Taxonomy(tree)


REGIONS: list[tuple[Any, set[str]]] = [
    ("apple", {"apple"}),
    ("fruit", {"apple", "pear"}),
    ("leafy", {"kale", "chard", "rocket"}),
    ("vegetable/leafy", {"kale", "chard", "rocket"}),
    ("vegetable/tuber/carrot", {"carrot"}),
    (["fruit", "salt", "apple"], {"apple", "pear", "salt"}),
    ({"vegetable"}, {"carrot", "kale", "chard", "rocket"}),
    ([], set()),
]


@pytest.mark.parametrize(
    ("region", "leaves"), REGIONS, ids=lambda value: str(sorted(value) if isinstance(value, set) else value)
)
def test_overlap(region: Any, leaves: set[str]) -> None:
    domain = Taxonomy(FOOD)
    for level in range(domain.depth + 1):
        cells = domain.encode(list(PATHS), level=level)
        for cell in np.unique(cells):
            run = {name for name, own in zip(PATHS, cells, strict=True) if own == cell}
            assert domain.overlap(region, np.array([cell]), level=level) == len(run & leaves) / len(run)


@pytest.mark.parametrize("region", ["meat", "fruit/kale", None, 3, ["fruit", "meat"], [["fruit"]], ""])
def test_wrong_region(region: Any) -> None:
    with pytest.raises(DomainError, match="expected a node by name or path") as refusal:
        Taxonomy(FOOD).overlap(region, np.zeros(1, dtype=np.uint64), level=0)
    assert len(str(refusal.value).splitlines()) == 1


def test_ambiguous_name() -> None:
    domain = Taxonomy({"x": {"new": ["a", "b"]}, "y": {"new": ["c"], "old": ["d"]}})
    root = np.zeros(1, dtype=np.uint64)
    with pytest.raises(DomainError, match="got 'new', the name of several nodes; write the path"):
        domain.overlap("new", root, level=0)
    assert domain.overlap("x/new", root, level=0) == 0.5
    assert domain.overlap("y/new", root, level=0) == 0.25


def test_generator() -> None:
    domain = Taxonomy(FOOD)
    counts = np.zeros(2**domain.depth, dtype=np.int64)
    counts[domain.encode(["apple", "kale", "salt"], level=domain.depth).astype(np.int64)] = [1, 2, 1]
    plan = Plan(domain, epsilon=1, budgets={domain.depth: 1}, exact_depth=domain.depth)
    generator = Generator(Release(plan, {domain.depth: counts}))
    assert generator.mass("vegetable").value == 0.5
    assert generator.mass(["fruit", "vegetable/leafy/chard"]).value == 0.25
    assert sorted(generator.sample(4, rng=0).tolist()) == ["apple", "kale", "kale", "salt"]


def test_summary_of_leaves_and_paths() -> None:
    summary = Summary(Plan.paper(Taxonomy(FOOD), epsilon=1000, expected_records=1000, hot_cells=4))
    with assert_silent():
        summary.update(np.array(["kale"] * 500), threads=2)
        summary.update([("fruit", "apple")] * 300 + ["fruit/pear"] * 200 + AWKWARD)
    assert summary.release().mass("fruit").value == pytest.approx(0.5, abs=0.02)
