"""Domains and plans from options, and plan files. Nothing here reads data."""

import json
import math
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

from privhp.answers.generator import Generator
from privhp.api import is_release, load
from privhp.cli.options import SIZES
from privhp.cli.paths import read_file
from privhp.core.regular_files import read_regular
from privhp.domains import Domain
from privhp.domains.short_forms import parse_columns, parse_domain
from privhp.domains.specs import PLAN_KEYS, read_domain_file
from privhp.errors import DomainError, FileError, PlanError, PrivhpError
from privhp.fitting import DEFAULT_PASSES
from privhp.io.disk import write_file
from privhp.io.sources.files import find_files
from privhp.planning.plan import Plan
from privhp.planning.plan_memory import replan

MAX_PLAN_FILE = 2**23
"""Bytes of a plan file, at most: the largest partition has 5.6 million."""

_OPTIONS = (
    *("epsilon", "expected_records", "memory", "passes", "partition", "method"),
    *(*SIZES, "neighbours", "max_records_per_person", "pan_private"),
)
"""Options that a plan file replaces."""


def read_plan(options: Namespace, domain: Domain, *, rereadable: bool = True) -> Plan:
    """Plan of the options: the planner's for --memory, or the paper's with --method paper.

    Args:
        options: The options.
        domain: Domain of the records.
        rereadable: Whether the data can be read again, so that a partition can be learned.
    """
    for name in ("epsilon", "expected_records"):
        if getattr(options, name) is None:
            raise PlanError(
                f"--{name.replace('_', '-')} is missing; give it, or {name} in the section [plan] of a domain file"
            )
    sizes = {name: getattr(options, name) for name in SIZES}
    persons = 1 if options.max_records_per_person is None else options.max_records_per_person
    if options.method != "paper":
        given = _given(options, SIZES)
        if given:
            raise PlanError(f"{', '.join(given)} needs --method paper; add it, or leave the sizes to the planner")
        return Plan.auto(
            domain,
            epsilon=options.epsilon,
            expected_records=options.expected_records,
            memory=options.memory,
            passes=_read_passes(options, rereadable=rereadable),
            partition=None if options.partition is None else load_partition(options.partition),
            neighbours=options.neighbours or "add-remove",
            max_records_per_person=persons,
            pan_private=bool(options.pan_private),
        )
    given = _given(options, ("passes", "partition"))
    if given:
        raise PlanError(f"--method paper reads the data once; leave out {', '.join(given)}")
    if options.memory is not None:
        raise PlanError("--method paper takes sizes such as --hot-cells in place of --memory; leave out one of the two")
    if options.hot_cells is None:
        raise PlanError("--method paper needs --hot-cells, the number of cells expanded at each sketched level")
    return Plan.paper(
        domain,
        epsilon=options.epsilon,
        expected_records=options.expected_records,
        **sizes | {"expand": options.expand or "top"},
        neighbours=options.neighbours or "add-remove",
        max_records_per_person=persons,
        pan_private=bool(options.pan_private),
    )


def _read_passes(options: Namespace, *, rereadable: bool) -> int:
    if options.passes is not None:
        passes: int = options.passes
        return passes
    return DEFAULT_PASSES if rereadable and options.partition is None else 1


def _given(options: Namespace, names: tuple[str, ...]) -> list[str]:
    """Flags of those named options that were given."""
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None]


def domain_from_options(options: Namespace) -> Domain:
    """Domain given by `--domain`: a short form, a TOML file, or one NAME=DOMAIN for each column of a table.

    Parameters of a plan in a TOML file become options, where they are not given.
    """
    if not options.domain:
        raise DomainError("the domain of the records is missing; give --domain, or a domain file (.toml) that has it")
    if all(map(_is_column, options.domain)):
        return parse_columns(options.domain)
    if len(options.domain) > 1:
        raise DomainError("--domain is given more than once; write NAME=DOMAIN for each column of a table")
    (domain,) = options.domain
    if not domain.endswith(".toml"):
        return parse_domain(domain, column=",".join(getattr(options, "columns", None) or ["NAME"]))
    read = read_domain_file(domain)
    for name in PLAN_KEYS:
        if name in read.plan and _is_open(name, options):
            setattr(options, name, _read_parameter(domain, name, read.plan[name]))
    return read.domain


def _is_open(name: str, options: Namespace) -> bool:
    """Whether a command takes a parameter of a plan that was not given; --method paper has sizes for memory."""
    applies = hasattr(options, name) and not (name == "memory" and options.method == "paper")
    return applies and getattr(options, name) is None


def _read_parameter(path: str, name: str, value: Any) -> Any:
    """Parameter of a plan in a file, of the type that its option has."""
    if value == "":
        raise PlanError(f"{path}: {name} is blank; fill it in, or give --{name.replace('_', '-')}")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PlanError(f"{path}: expected {name} as a number or a text, got {type(value).__name__}")
    if name == "person":
        return str(value)
    if name == "expected_records":
        try:
            return float(value)
        except ValueError:
            raise PlanError(f"{path}: expected expected_records as a number such as 1e6, got {value!r}") from None
    return value


def take_domain_file(options: Namespace) -> None:
    """Take a domain file among the data as --domain, and name the release after it unless -o is given."""
    files = [name for name in options.data if name.endswith(".toml")]
    if files:
        if len(files) > 1 or options.domain or options.plan:
            raise DomainError("the domain is given more than once; give one domain file, --domain or --plan")
        options.data = [name for name in options.data if name not in files]
        options.domain = files
        if not options.data:
            raise FileError(f"there is no data beside {files[0]}; give its files, or - for standard input")
    if options.output is None and files:
        options.output = str(Path(Path(files[0]).name).with_suffix(".privhp"))
    if options.output is None:
        find_files(options.data)  # a wrong name of the data is refused first
        raise FileError("-o FILE is missing; name the file to write")


def _is_column(text: str) -> bool:
    """Whether a text is NAME=DOMAIN; options within a domain, such as :zone=UTC, follow a colon."""
    return "=" in text.partition(":")[0] and not text.endswith(".toml")


def read_given_plan(options: Namespace) -> Plan | None:
    """Plan of the file that `--plan` names, which no other option of a plan may change.

    With --person, --max-records-per-person is the number of records that this fit counts of a person.
    """
    if options.plan is None:
        return None
    capped = {"max_records_per_person"} if getattr(options, "person", None) is not None else set()
    given = _given(options, tuple(name for name in _OPTIONS if name not in capped))
    if given:
        raise PlanError(f"--plan FILE fixes the whole plan; leave out {', '.join(given)}")
    return load_plan(options.plan)


def save_plan(plan: Plan, path: Path, *, replace: bool) -> None:
    """Write a plan as JSON. It is public."""
    write_file(path, [json.dumps(plan.spec(), indent=2).encode(), b"\n"], mode=0o644, replace=replace)


def load_plan(path: str) -> Plan:
    """Plan in a file that `privhp plan -o` or `privhp learn` wrote."""
    text = read_file(partial(read_regular, limit=MAX_PLAN_FILE), path)
    try:
        spec = json.loads(text)
    except (ValueError, RecursionError):
        raise FileError(f"{path}: this is not a plan file; privhp plan -o writes one") from None
    try:
        return Plan.from_spec(spec)
    except PrivhpError as error:
        raise type(error)(f"{path}: {error}") from None


def load_partition(path: str) -> Plan | Generator:
    """The release or the learned plan in a file."""
    if is_release(path):
        return read_file(load, path)
    plan = load_plan(path)
    if plan.partition is None:
        raise PlanError(f"{path}: this plan has no partition; give a release, or a plan that privhp learn wrote")
    return plan


def could_learn(plan: Plan) -> bool:
    """Whether a plan of the planner has no partition, and cells that a partition could split."""
    return bool(plan.memory) and not plan.has_partition and plan.depth < plan.domain.depth


def would_learn(plan: Plan) -> bool:
    """Whether the planner would learn a partition if the data of a plan without one were read three times."""
    return could_learn(plan) and replan(plan, memory=plan.memory, passes=DEFAULT_PASSES).learning is not None


def predict_gain(plan: Plan) -> str:
    """Sentence on what learning would gain, for a plan of the planner without a partition."""
    learned = replan(plan, memory=plan.memory, passes=DEFAULT_PASSES)
    if learned.learning is None:
        return "Learning would gain nothing: the plan of least predicted error has no partition."
    before, after = plan.predictions(), learned.predictions()
    ratios = [after[stream].total / before[stream].total for stream in before]
    typical = math.prod(ratios) ** (1 / len(ratios))
    return (
        f"With --passes {DEFAULT_PASSES} the data is read {DEFAULT_PASSES} times, and the typical predicted error is "
        f"{typical:.2f} times that of this plan:\nfrom {min(ratios):.2f} to {max(ratios):.2f} times, in the lines of "
        f"the table above.{' By this prediction, one pass is better.' * (typical > 1)}"
    )
