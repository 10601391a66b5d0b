"""`--json`: the output of each command against the documented schema; release cards."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import privhp as hp
from cli.running import PLAN, Outcome
from json_schema import documented_schema, violations

Run = Callable[..., Outcome]
SCHEMA = documented_schema()
OWN = ["--epsilon", "1", "--expected-records", "1e3"]


def parse(text: str) -> list[Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


@pytest.fixture
def objects(run: Run) -> Callable[..., list[Any]]:
    """Objects that a command prints, valid against the definition of the given name."""

    def valid(name: str, *arguments: str, code: int = 0) -> list[Any]:
        outcome = run(*arguments, "--json")
        assert (outcome.code, outcome.err) == (code, "")
        found = parse(outcome.out)
        for value in found:
            assert list(violations(value, SCHEMA["$defs"][name], SCHEMA)) == []
        return found

    return valid


@pytest.mark.parametrize(
    "domain",
    [
        "interval:0:1000",
        "interval:0.01:1e6:log",
        "integers:-5:9:clamp",
        "box:0:1,0:1",
        "geo:-9:49.8:2:61",
        "time:2018-01-01:2021-01-01",
        "categories:a,b",
        "ipv4",
        "ipv6",
        "x=ipv6:nullable",
    ],
)
def test_plan(objects: Any, domain: str) -> None:
    (found,) = objects("content", "plan", "--domain", domain, *OWN)
    assert (found["kind"], found["file"], found["public"]) == ("plan", None, True)
    assert found["plan"]["guarantee"]["epsilon"] == 1
    (written,) = objects("content", "plan", "--domain", domain, *OWN, "--passes", "1", "-o", "plan.json")
    (read,) = objects("content", "inspect", "plan.json")
    assert written == read
    levels = read["plan"]["levels"]
    assert sum(own["budget"] for own in levels) == pytest.approx(1)


def test_fit_and_inspect(objects: Any, release: str) -> None:
    (found,) = objects("content", "inspect", release)
    generator = hp.load(release)
    assert found["records"] == generator.total
    assert found["quantiles"][3] == {"quantile": 0.5, "value": generator.quantile(0.5).value}
    (written,) = objects("content", "fit", "data.csv", "--columns", "fare", *PLAN, "--quiet", "-o", "new.privhp")
    (read,) = objects("content", "inspect", "new.privhp")
    assert written == {**read, "written": True}
    for value in (True, False):
        again = ["fit", "data.csv", *PLAN, "--checkpoint", "c.state", "--resume", "-o", "third.privhp"]
        (third,) = objects("content", *again)
        assert (third["written"], third["kind"]) == (value, "release")


def test_learned_plan(objects: Any, release: str) -> None:
    given = ["--domain", "interval:0:1000", "--epsilon", "20", "--expected-records", "1e3", "--memory", "16KiB"]
    (found,) = objects("content", "fit", "data.csv", *given, "-o", "learned.privhp")
    assert found["plan"]["passes"] == 3
    assert found["plan"]["partition"]["leaves"] > 1
    assert 0 < found["plan"]["learning_cost"] < 20


def test_merge_of_confidential_summaries(objects: Any, release: str) -> None:
    objects("content", "plan", *PLAN, "-o", "plan.json")
    for name in ("a.summary", "b.summary"):
        (found,) = objects("content", "fit", "data.csv", "--plan", "plan.json", "--summary-only", "-o", name)
        assert set(found) == {"file", "written", "kind", "public", "plan"}  # nothing that depends on a record
        assert (found["kind"], found["public"]) == ("summary", False)
    (merged,) = objects("content", "merge", "a.summary", "b.summary", "-o", "all.privhp")
    assert merged["merged"] == 2


def test_checkpoint(objects: Any, release: str) -> None:
    summary = hp.Summary(hp.load(release).plan)
    hp.save(summary, "c.state", position={"row": 5})
    (found,) = objects("content", "inspect", "c.state")
    assert (found["kind"], found["public"]) == ("checkpoint", False)


def test_query(objects: Any, release: str) -> None:
    (share,) = objects("share", "query", release, "--where", "value < 10")
    assert share["where"] == "value < 10"
    assert len(objects("quantile", "query", release, "--quantile", "0.1,0.9")) == 2
    assert objects("heavy_hitter", "query", release, "--heavy-hitters", "0.2")
    assert len(objects("quantile", "quantiles", release, "4")) == 4


def test_moments(objects: Any, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("a,b\n" + "".join(f"{i % 50},{i % 70}\n" for i in range(2000)))
    columns = ["--domain", "a=integers:0:99", "--domain", "b=integers:0:99"]
    objects("content", "fit", "pairs.csv", *columns, "--epsilon", "9", "--expected-records", "2000", "-o", "p.privhp")
    (found,) = objects("correlation", "query", "p.privhp", "--correlation", "a,b")
    assert found["columns"] == ["a", "b"]
    assert 20 < objects("mean", "query", "p.privhp", "--mean", "--marginal", "a")[0]["mean"] < 30
    assert 10 < objects("std", "query", "p.privhp", "--std", "--marginal", "a")[0]["std"] < 20


def test_compare_system_and_audit(objects: Any, release: str) -> None:
    (real,) = objects("comparison", "compare", "data.csv", release)
    (public,) = objects("comparison", "compare", release, release)
    assert (real["private"], public["private"], public["baseline"]) == (False, True, None)
    assert objects("system", "inspect", "--system")[0]["privhp"] == hp.__version__
    objects("content", "plan", *PLAN, "-o", "plan.json")
    (found,) = objects("audit", "audit", "--plan", "plan.json", "--time", "1s")
    assert found["refuted"] is False
    assert found["findings"]


def test_audit_that_refutes(objects: Any, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    objects("content", "plan", *PLAN, "-o", "plan.json")
    monkeypatch.setattr("privhp.audit.findings.measured_epsilon", lambda *_, **__: 100.0)
    (found,) = objects("audit", "audit", "--plan", "plan.json", "--time", "1s", code=1)
    assert found["refuted"] is True


def test_schema_refuses_other_objects(objects: Any, release: str) -> None:
    (found,) = objects("content", "inspect", release)
    definition = SCHEMA["$defs"]["content"]
    for path, value in [
        (("kind",), "file"),
        (("public",), "yes"),
        (("records",), None),
        (("extra",), 1),
        (("plan", "guarantee", "delta"), 0.1),
        (("plan", "levels", 0, "level"), 0.5),
        (("plan", "levels", 0), {}),
        (("quantiles", 0, "value"), True),
    ]:
        changed = copy.deepcopy(found)
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        assert list(violations(changed, definition, SCHEMA)), path
    del found["plan"]
    assert list(violations(found, definition, SCHEMA)) == ["$: no plan"]


FIELDS = {
    "basic": "name data_curators description intended_use data_product_type data_product_region data_product_sector "
    "publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters "
    "privacy_parameters_details",
    "deployment_model": "model_name trust_assumptions release_type release_type_details data_source_type access_type "
    "access_type_details",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification "
    "utility",
    "administrative": "status registry_authors tier",
}
"""Fields of the registry that a card has, by section."""


def read_card(text: str) -> dict[str, dict[str, Any]]:
    """Sections of a card, with the values of their fields; None for a nested field."""
    sections: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        key, _, value = line.strip().partition(": ")
        if indent == 2:
            sections[key.removesuffix(":")] = section = {}
        elif indent == 4:
            section[key.removesuffix(":")] = json.loads(value.removesuffix("  # fill in")) if value else None
    return sections


def test_card(run: Run, release: str) -> None:
    code, out, err = run("inspect", release, "--card")
    assert (code, err) == (0, "")
    card = read_card(out)
    assert {name: " ".join(own) for name, own in card.items()} == FIELDS
    generator = hp.load(release)
    assert card["privacy_loss"]["number_of_privacy_units"] == round(generator.total)
    assert "adding or removing one record of a person (add-remove)" in card["privacy_loss"]["privacy_unit_details"]
    assert "      epsilon: 2.0\n" in out
    assert card["basic"]["name"] == card["implementation"]["justification"] == ""


def test_card_of_a_plan_with_everything(run: Run, release: str) -> None:
    plan = ["plan", "--domain", "interval:0:1000", *OWN, "--passes", "1", "--max-records-per-person", "3"]
    run(*plan, "--neighbours", "replace-one", "--pan-private", "-o", "plan.json")
    for name in ("a", "b"):
        assert run("fit", "data.csv", "--plan", "plan.json", "--summary-only", "-o", name).code == 0
    assert run("merge", "a", "b", "-o", "all.privhp").code == 0
    card = read_card(run("inspect", "all.privhp", "--card").out)
    assert "replacing up to 3 records of a person" in card["privacy_loss"]["privacy_unit_details"]
    assert "number_of_privacy_units" not in card["privacy_loss"]
    assert "number of persons is not known" in card["privacy_loss"]["privacy_unit_details"]
    assert "stolen summary file" in card["privacy_loss"]["privacy_parameters_details"]
    assert "2 merged summaries" in card["implementation"]["composition"]


def test_card_of_another_file(refused: Callable[..., str], run: Run, tmp_path: Path) -> None:
    run("plan", *PLAN, "-o", "plan.json")
    assert "--card describes a release, and plan.json is none" in refused("inspect", "plan.json", "--card")
    assert "not allowed with" in run("inspect", "plan.json", "--card", "--json").err
