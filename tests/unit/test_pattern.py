"""Pattern: grammar, records, regions, conditions, and releases of codes."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privhp import (
    OUTSIDE,
    Domain,
    DomainError,
    Nullable,
    Pattern,
    Plan,
    RecordsError,
    Summary,
    Table,
    check_domain,
    fit,
)
from privhp.domains.conditions import format_condition, read_condition
from privhp.domains.short_forms import parse_columns, parse_domain

ICD = "[A-Z][0-9]{2}([.][0-9]{1,2})?"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", "at most 1,000 characters"),
        (7, "or a list of all texts"),
        ([], "2 or more texts"),
        (["A"], "2 or more texts"),
        (["A", "A"], "declared twice"),
        (["A", ""], "not empty"),
        (["A", 7], "not empty"),
        (["A", "B\0"], "not empty"),
        (["A", "B*"], "which ends a prefix"),
        (["A" * 70, *("A" * n + "B" for n in range(70))], "more than 63 levels"),
        ("A" * 1001, "at most 1,000 characters"),
        ("A", "2 to 2"),
        ("[A-Z]?", "none is empty"),
        ("[A-Z].", "[.] for a point"),
        ("[A-Z]*", "expected"),
        ("+", "a largest number of repetitions"),
        ("[A-Z]+", "expected"),
        ("[^A]", "not those that are impossible"),
        (r"\d", "in place of"),
        ("[Z-A]", "increasing order"),
        ("[A-\u4e00]", "at most 256 characters"),
        ("[A", "a character"),
        ("[]", "a character"),
        ("(A", "a closing )"),
        ("A)", "a ( before this )"),
        ("(A|)", "behind what may be absent"),
        ("A|", "behind what may be absent"),
        ("[A-Z]{64}", "at most 63 repetitions"),
        ("[A-Z]{2,1}", "at most 63 repetitions"),
        ("[A-Z]{0}", "at most 63 repetitions"),
        ("[A-Z]{a}", "at most 63 repetitions"),
        ("[A-Z]{2}{2}", "one number of repetitions"),
        ("(" * 30 + "[AB]" + ")" * 30, "nested parentheses"),
        ("((([AB]{63}){63}){63})", "positions"),
        ("[A-Z]{13}", "65 levels of splits"),
        ("[AB]*" + "C", "expected"),
        (r"[A\*]", "which ends a prefix"),
        ("[A-Z]\0", "a character"),
    ],
)
def test_other_patterns_are_refused(pattern: Any, expected: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Pattern(pattern)
    assert expected in str(refusal.value)


def test_a_pattern_of_many_continuations_is_refused_early() -> None:
    with pytest.raises(DomainError, match="different continuations"):
        Pattern("[AB]{0,60}A[AB]{12}")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"ignore": 3}, "ignore as a text"),
        ({"ignore": "\0"}, "ignore as a text"),
        ({"ignore_case": 1}, "ignore as a text"),
        ({"ignore": "9"}, "do not occur in the pattern"),
    ],
)
def test_other_options_are_refused(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(DomainError, match=expected):
        Pattern(ICD, **options)


def test_a_list_cannot_ignore_its_own_characters() -> None:
    with pytest.raises(DomainError, match="do not occur in the list"):
        Pattern(["A-1", "B-2"], ignore="-")
    with pytest.raises(DomainError, match="one case only"):
        Pattern(["A1", "a2"], ignore_case=True)


def test_a_pattern_with_both_cases_cannot_ignore_them() -> None:
    with pytest.raises(DomainError, match="one case only"):
        Pattern("[A-Ca-c]{2}", ignore_case=True)


@pytest.mark.parametrize(
    "declared", ["[A-Z]{2}[0-9]", ["AB1", "AB2", "CD1", "X"], [f"{n:04}" for n in range(5000)] + ["AB1"]]
)
def test_only_declared_normalisation_is_applied(declared: Any) -> None:
    exact, relaxed = Pattern("[A-Z]{2}-[0-9]"), Pattern(declared, ignore=" -", ignore_case=True)
    assert (exact.encode(["AB-1", "ab-1", "AB 1", " AB-1", "AB-1\n"], level=0) == OUTSIDE).tolist() == [False] + [
        True
    ] * 4
    written = ["AB-1", "ab1", "A B 1", " aB-1", "--AB---1--"]
    for batch in (written, np.array(written), np.array(written, dtype="U40")):
        assert len(set(relaxed.encode(batch, level=relaxed.depth).tolist()) - {int(OUTSIDE)}) == 1
    other = ["AB.1", "AB1-2", "\u00e91", "AB\01"]
    for batch in (other, np.array(other)):
        assert relaxed.encode(batch, level=0).tolist() == [OUTSIDE] * 4


@pytest.mark.parametrize("declared", ["[A-Z]{2}[0-9]{2}", ["AB12", "AB13", "CD12", "CX1"]])
def test_regions_are_normalised_like_records(declared: Any) -> None:
    exact, relaxed = Pattern(declared), Pattern(declared, ignore=" -.", ignore_case=True)
    cells = np.arange(2**relaxed.depth, dtype=np.uint64)
    pairs = {"ab-12": "AB12", "AB.12": "AB12", "a b 1 2-": "AB12", "ab1*": "AB1*", "AB-*": "AB*", "aB-1.*": "AB1*"}
    for written, plain in pairs.items():
        share = relaxed.overlap(written, cells, level=relaxed.depth)
        np.testing.assert_array_equal(share, exact.overlap(plain, cells, level=relaxed.depth))
        assert share.any()
        if not plain.endswith("*"):
            assert share[relaxed.encode([written], level=relaxed.depth)] == 1
        with pytest.raises(DomainError, match="expected a text of the domain"):
            exact.overlap(written, cells, level=exact.depth)
    for other in ("ab_12", "ab-1", "-", "*-", "zz9*" if isinstance(declared, list) else "zzz*"):
        with pytest.raises(DomainError, match="expected a text of the domain"):
            relaxed.overlap(other, cells, level=relaxed.depth)
    with pytest.raises(DomainError, match=r'write "ab-1\*" for all texts that begin with it'):
        relaxed.overlap("ab-1", cells, level=relaxed.depth)


def test_records_of_every_library_have_the_same_cells() -> None:
    domain = Pattern(ICD)
    texts = ["E11", "E11.9", "E11.99", "E1", "x", "", "E11.999", "E11.9\u00e9", "A00"]
    expected = domain.encode(texts, level=domain.depth).tolist()
    assert [code != OUTSIDE for code in expected] == [True, True, True, False, False, False, False, False, True]
    columns = [
        np.array(texts),
        np.array(texts, dtype=object),
        np.array(texts, dtype=np.dtypes.StringDType()),
        np.char.encode(np.array(texts), "utf-8"),
        pd.Series(texts),
        pd.Series(texts, dtype="category"),
        pa.array(texts),
        pa.array(texts).dictionary_encode(),
        [[text] for text in texts],
    ]
    for column in columns:
        assert domain.encode(column, level=domain.depth).tolist() == expected
    assert domain.encode(np.ma.array(["E11", "E11"], mask=[False, True]), level=0).tolist() == [0, OUTSIDE]
    assert domain.encode(["E11\0", None, 11, float("nan")], level=0).tolist() == [OUTSIDE] * 4
    with pytest.raises(RecordsError, match="expected texts"):
        domain.encode(np.arange(3), level=0)


def test_prefixes_are_cells() -> None:
    domain = Pattern(ICD)
    code = int(domain.encode(["E11.9"], level=5)[0])
    assert domain.describe(code, level=5) == "E*"
    assert domain.describe(int(domain.encode(["E11.9"], level=13)[0]), level=13) == "E11*"
    assert domain.describe(int(domain.encode(["E11"], level=14)[0]), level=14) == "E11"
    assert domain.describe(int(domain.encode(["E11.9"], level=14)[0]), level=14) == "E11.*"
    assert domain.describe(0, level=2) == ["A*", "B*", "C*", "D*", "E*", "F*", "G*"]
    cells = [(domain.encode(["E11"], level=level), level) for level in range(15)]
    named = [level for codes, level in cells if domain.is_reportable(codes, level=level).all()]
    assert named == [4, 9, 13, 14]  # E is alone in its cell of level 4
    check_domain(domain, cells=20)


@pytest.mark.parametrize("region", ["E1", "E", "", "E111", "e11*", "E11**", 11, None, ["E11", "?"], "E11.9*9"])
def test_other_regions_are_refused(region: Any) -> None:
    with pytest.raises(DomainError, match="or a prefix such as"):
        Pattern(ICD).overlap(region, np.zeros(1, dtype=np.uint64), level=0)


def test_a_list_has_the_cells_of_its_alternatives() -> None:
    texts = ["E11", "E11.9", "E11.65", "I10", "J45.20", "J45.2", "AB"]
    listed, alternatives = Pattern(texts), Pattern("|".join(map(re.escape, texts)))
    assert listed == Pattern(texts[::-1]) != alternatives
    assert listed == Domain.from_spec(listed.spec())
    for level in range(listed.depth + 1):
        cells = np.arange(2**level, dtype=np.uint64)
        assert listed.encode(texts, level=level).tolist() == alternatives.encode(texts, level=level).tolist()
        assert listed.measure(cells, level=level).tolist() == alternatives.measure(cells, level=level).tolist()
        assert listed.diameter(level) == alternatives.diameter(level)
        regions = [[own.describe(code, level=level) for code in range(2**level)] for own in (listed, alternatives)]
        assert regions[0] == regions[1]
    check_domain(listed, awkward=["E1", "E11", "e11", b"E11"])


def test_a_prefix_without_a_star_is_explained() -> None:
    with pytest.raises(DomainError, match=r'write "E1\*" for all texts that begin with it'):
        Pattern(ICD).overlap("E1", np.zeros(1, dtype=np.uint64), level=0)


def test_conditions_name_texts_and_prefixes() -> None:
    table = Table(code=Nullable(Pattern(ICD)), other=Pattern("[ab] [0-9]"))
    assert read_condition("code = E11", table) == {"code": "E11"}
    assert read_condition("code in E11*", table) == {"code": "E11*"}
    assert read_condition("code in [E11*, I10]", table) == {"code": ["E11*", "I10"]}
    assert read_condition("code = E11* or code = I10", table) == {"code": ["E11*", "I10"]}
    assert read_condition("code is null and other = 'a 3'", table) == {"code": None, "other": "a 3"}
    assert format_condition({"code": "E11*", "other": ["a 3", "b*"]}, table) == "code = E11* and other in ['a 3', b*]"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("code != E11*", ["A1", "E1", "I10"]),
        ("code != E11 and code != I10", ["A1", "E1", "E11.65", "E11.9"]),
        ("code in E1* and code != E11.9", ["E1", "E11", "E11.65"]),
        ("code in [E11*, A*] and code in [E11.9, I10, A1]", ["A1", "E11.9"]),
        ("code != A*", ["E1", "E11", "E11.65", "E11.9", "I10"]),
    ],
)
def test_excluded_texts_and_several_comparisons(condition: str, expected: list[str]) -> None:
    texts = ["A1", "E1", "E11", "E11.65", "E11.9", "I10"]
    for domain in (Pattern(texts), Pattern("[AE]1|I10|E11([.](65|9))?")):
        region = read_condition(condition, Table(code=domain))["code"]
        shares = domain.overlap(region, domain.encode(texts, level=domain.depth), level=domain.depth)
        assert [text for text, share in zip(texts, shares, strict=True) if share] == expected
        assert read_condition(format_condition({"code": region}, Table(code=domain)), Table(code=domain)) == {
            "code": region
        }
    with pytest.raises(DomainError, match="no text meets all conditions"):
        read_condition("code = I10 and code != I10", Table(code=Pattern(texts)))


def test_listed_texts_are_not_null(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("code\n" + "NA\n" * 300 + "DE\n" * 100 + "\n" * 100)
    for pattern, namibia in ((["DE", "NA", "FR"], 0.6), ("[A-Z]{2}", 0.0)):
        table = Table(code=Nullable(Pattern(pattern)))
        generator = fit(tmp_path / "codes.csv", table, epsilon=500, expected_records=500)
        assert abs(float(generator.mass({"code": "NA"})) - namibia) < 0.05


def test_short_forms_and_specs() -> None:
    assert parse_domain(f"pattern:{ICD}") == Pattern(ICD)
    assert parse_domain("pattern:[0-9]{2}:[0-9]{2}") == Pattern("[0-9]{2}:[0-9]{2}")
    assert parse_domain("pattern:[A-Z]{2}:ignore= -:ignore_case") == Pattern("[A-Z]{2}", ignore=" -", ignore_case=True)
    table = parse_columns([f"code=pattern:{ICD}:nullable", "n=integers:0:9"])
    assert table == Domain.from_spec(table.spec())
    assert (
        repr(Pattern("[A-Z]{2}", ignore=" ", ignore_case=True)) == "Pattern('[A-Z]{2}', ignore=' ', ignore_case=True)"
    )
    with pytest.raises(DomainError, match="expected pattern:PATTERN"):
        parse_domain("pattern")


def test_a_release_of_codes_finds_heavy_prefixes_and_samples_codes() -> None:
    domain = Pattern(ICD)
    rng = np.random.default_rng(3)
    codes = np.array(["E11.9", "E11.65", "I10", "J45.20"])[rng.choice(4, 20_000, p=[0.4, 0.2, 0.3, 0.1])]
    summary = Summary(Plan.auto(domain, epsilon=200, expected_records=20_000, hash_seed=1))
    summary.update(codes)
    generator = summary.release()
    assert abs(float(generator.mass("E11*")) - 0.6) < 0.02
    assert abs(float(generator.mass(["I10", "J*"])) - 0.4) < 0.02
    assert float(generator.mass("Z*")) < 0.01
    regions = [hitter.region for hitter in generator.heavy_hitters(0.05)]
    assert {"E11.9", "E11.65", "I10", "J45.20"} <= set(regions)
    sample = generator.sample(1000, rng=1)
    assert np.isin(sample, codes).mean() > 0.98
    assert all(own.startswith("E11.") for own in generator.sample(50, where="E11.*", rng=1).tolist())


def test_regions_of_no_texts_have_no_mass() -> None:
    domain = Pattern(ICD)
    assert domain.overlap([], np.zeros(2, dtype=np.uint64), level=3).tolist() == [0.0, 0.0]
    assert domain.overlap(["E1*", "E11*", "E11"], np.zeros(1, dtype=np.uint64), level=0)[0] == pytest.approx(1 / 260)
