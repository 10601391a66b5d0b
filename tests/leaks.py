"""Checks that outputs do not depend on the records except through the noisy counts; they raise AssertionError."""

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import privhp
from fixed_neighbours import HOMES
from privacy_plans import example_plans
from privhp import Box, Categories, Geo, Integers, Interval, IPv4, Nullable, Plan, PrivhpError, Summary, Table, Tally
from privhp.cli import main
from silent import assert_silent
from spies import fixed_noise
from strange_values import SIGNALLING_NAN, STRANGE

RECORDS = 51_437
PLANTED = 0.7318530717958648


def invalid_records_are_skipped_without_messages(records: int = 300) -> None:
    """Any object in place of a record: no error, warning or message, and all other records are counted."""
    bad = [STRANGE[index % len(STRANGE)] for index in range(records)]
    homes: list[tuple[Any, Any]] = [
        (Interval(0, 1), 0.3),
        (Interval(1, 8, scale="log"), 2.0),
        (Integers(-3, 40), 2),
        (Box([(0, 1), (0, 2)]), (0.1, 0.2)),
        (Geo(), (179.9, -12.5)),
        (Geo(170, -50, -170, -30), (-175.0, -40.0)),
        (IPv4(), 2),
        (Categories([*range(1, 17)]), 1),
        *((domain, stream[0]) for domain, stream in HOMES),
        (Nullable(Integers(-3, 40)), None),
        (Table(a=Interval(0, 1), b=Nullable(Integers(-3, 40))), (0.3, None)),
    ]
    for domain, good in homes:
        plan = Plan.paper(domain, epsilon=1, expected_records=100, hot_cells=2, depth=4, exact_depth=2)
        with assert_silent():
            company, alone = Tally(plan), Tally(plan)
            company.add([*bad, good, *bad])
            company.add([good] * len(bad), counts=bad)
            alone.add(bad)
            alone.add(bad)
            alone.add([good] * len(bad), counts=bad)
            alone.add([good])
        assert np.array_equal(company.counters, alone.counters), "a bad record changes what becomes of the others"
    _check_raw_floats()
    _check_invalid_columns(bad)


def _check_invalid_columns(bad: list[Any]) -> None:
    """The same for values in columns of a table, where null is a value."""
    domain = Table(a=Interval(0, 1), b=Nullable(Integers(-3, 40)))
    plan = Plan.paper(domain, epsilon=1, expected_records=100, hot_cells=2, depth=4, exact_depth=2)
    good = [0.3] * len(bad)
    with assert_silent():
        company, alone = Tally(plan), Tally(plan)
        company.add({"a": [*bad, 0.3, *good], "b": [*bad, None, *bad]})
        for row in zip([*bad, 0.3, *good], [*bad, None, *bad], strict=True):
            alone.add([row])
    assert np.array_equal(company.counters, alone.counters), "a bad value changes what becomes of other records"
    assert company.counters.sum() > len([value for value in bad if value is None])


def _check_raw_floats() -> None:
    """Arrays of floats from arbitrary bytes, such as signalling NaNs."""
    patterns = np.array([SIGNALLING_NAN, np.inf, -np.inf, 5e-324, -0.0, 1.7e308, 0.5])
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    for domain in (Interval(0, 1e300), Interval(0, 1, outside="clamp"), Integers(0, 9, outside="clamp"), IPv4()):
        tally = Tally(Plan(domain, epsilon=1, budgets={2: 1}, exact_depth=2))
        with assert_silent():
            tally.add(patterns)
            tally.add(halves)


def header_is_independent_of_records() -> None:
    """Ten times the records and 300 invalid ones change only the counters of a release."""
    for plan in example_plans()[:3]:
        assert _header(plan, 30) == _header(plan, 300), "the release tells more than its counters"


def _header(plan: Plan, size: int) -> bytes:
    codes = np.zeros(size, dtype=np.uint64)
    summary = Summary(plan)
    summary.update(plan.domain.decode(codes, level=1, rng=np.random.default_rng(0)))
    summary.update(STRANGE)
    generator = summary.release()
    content = _file_of(generator)
    cells = generator.release.cells().astype("<i8").tobytes()
    assert content.count(cells) == 1
    start = content.index(cells)
    return content[:start] + content[start + len(cells) : -32]  # the last 32 bytes are the checksum of all


def _file_of(item: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        privhp.save(item, Path(folder) / "release")
        return (Path(folder) / "release").read_bytes()


def command_line_is_independent_of_records() -> None:
    """`privhp fit` prints the same, except the released count, for twice the lines and 300 invalid ones.

    A noisy count of three times the expected number is a warning, which follows from the release.
    """
    good = b"".join(b"%.3f\n" % (place / 100) for place in range(100))
    bad = b"".join(repr(STRANGE[index % len(STRANGE)]).encode() + b'"\n' for index in range(300))
    assert _said(b"x\n" + good) == _said(b"x\n" + bad + 2 * good), "the command line answers to records"


def _said(text: bytes) -> tuple[int, str, str]:
    with tempfile.TemporaryDirectory() as folder:
        data, release = Path(folder) / "data.csv", Path(folder) / "release"
        data.write_bytes(text)
        out, err = io.StringIO(), io.StringIO()
        options = ["--domain", "interval:0:1", "--epsilon", "1", "--expected-records", "100", "-o", str(release)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["fit", str(data), *options])
        public = f"about {privhp.load(release).total:,.0f} records"
        return code, out.getvalue().replace(folder, "").replace(public, "", 1), err.getvalue().replace(folder, "")


def no_output_contains_records_or_counts() -> None:
    """No text, message or file contains the number of records or a record."""
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=1000, hot_cells=2, depth=6, exact_depth=3)
    records = np.full(RECORDS, PLANTED)
    with fixed_noise():
        summary, other = Summary(plan), Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=9, hot_cells=1))
    summary.update(records)
    said = [repr(summary), str(summary)]
    said += _answers(
        lambda: summary.update(records.reshape(-1, 1, 1)),
        lambda: summary.update(records.astype(complex)),
        lambda: summary.update(records, counts=[1]),
        lambda: summary.update(PLANTED),
        lambda: summary.update(str(PLANTED)),
        lambda: summary.merge(summary),
        lambda: summary.merge(other),
        summary.__reduce__,
    )
    generator = summary.release()
    said += [repr(generator), str(generator.plan), repr(generator.plan), json.dumps(generator.plan.spec())]
    said += _answers(summary.release, summary.state, lambda: summary.update(records))
    content = _file_of(generator)
    for secret in (str(RECORDS), f"{RECORDS:,}", repr(PLANTED), f"{PLANTED:g}"):
        assert not any(secret in text for text in said), "a text holds a record or the number of records"
        assert secret.encode() not in content, "a release holds a record or the number of records"
    for number in (np.int64(RECORDS), np.float64(RECORDS), np.float64(PLANTED)):
        assert number.tobytes() not in content, "a release holds a record or the number of records"


def _answers(*actions: Callable[[], Any]) -> list[str]:
    """The message of each action; all actions must be refused."""
    messages = []
    for action in actions:
        try:
            action()
        except PrivhpError as error:
            messages.append(f"{error} {error.__cause__}")
        else:
            raise AssertionError("an action was not refused")
    return messages
