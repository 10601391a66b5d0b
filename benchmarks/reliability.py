"""Faults, kills and long runs; writes RELIABILITY.md.

    make reliability        (or: python -m benchmarks.reliability --records 1e8 --fits 1e3 --rows 1e7 --audit 1m)

Each figure is the result of one command, and a line in results/reliability.jsonl, so an interrupted run resumes where
it stopped. A figure is measured again with `--fresh`. RELIABILITY.md has the last figure of every subject.
"""

import argparse
import datetime as dt
import json
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from xml.etree import ElementTree as ET

from benchmarks.soak import FORMATS

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "reliability.jsonl"
TESTS = {
    "A call to the file system fails or ends the process, for every call of `fit` and other commands": (
        "pytest --slow tests/cli/test_faults.py -k every",
        "no wrong count",
    ),
    "`fit` is killed at every batch of every pass over every format": (
        "pytest --slow tests/cli/test_killed_fits.py -k every",
        "no wrong count",
    ),
    "Plans, domain files, releases, tallies and checkpoints are damaged": (
        "pytest --offline tests/properties/test_fuzzed_files.py -k many",
        "no other error",
    ),
}
"""Command and verdict of each subject."""
EXPLANATION = """\
Faults and kills are injected into fits without noise, whose release shows the count of every record. After each of them
the same command is repeated; its release must be that of a fit without a fault, the folder must hold nothing else, and
the fault must have happened. The calls are open, read, write, seek, fsync, link, rename, unlink, flock, stat and close
in the folder of the fit; the faults are a full disk, a failing disk, both once and from then on, an interrupted call, a
file system without locks, and one without anonymous files. Other commands, and `fit` without a checkpoint, leave a
complete file or none.

Damaged files have a few bytes changed, or values of their header replaced, removed or nested, mostly with a correct
checksum. Each is read within 5 s of processor time or refused by a message, and all together may add 200 MB of memory.

An audit measures lower bounds on the privacy loss of small plans, all together with 99% confidence. A bound above its
claim refutes it; a bound far below says that so many trials show little.

Peak memory is that of the process, with interpreter and libraries; its growth is that from a tenth of the run to the
whole, and may be at most 32 MB. A stream's count is that of its release at epsilon = 1.
"""


def commands(records: str, fits: str, rows: str, audit: str) -> Iterator[tuple[str, str]]:
    """What each command measures, and the command."""
    yield "Records through a pipe into `privhp fit -`", f"python -m benchmarks.soak stream {records}"
    yield "Fits in one process", f"python -m benchmarks.soak fits {fits}"
    for ending in FORMATS:
        yield f"Rows of `privhp sample` to .{ending}", f"python -m benchmarks.soak sample {rows} {ending}"
    for subject, (command, _) in TESTS.items():
        yield subject, command
    yield "Privacy loss of plans of every kind", f"privhp audit --time {audit} --json"


def measure(command: str) -> str:
    """Run a command and return its result in words; a failure raises."""
    program, *arguments = shlex.split(command)
    if program == "pytest":
        return f"{run_tests(arguments)}: {dict(TESTS.values())[command]}"
    if program == "privhp":
        return run_audit(arguments)
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def run_tests(arguments: list[str]) -> str:
    """Run tests that must pass, and add up what they recorded."""
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-x", f"--basetemp={name}/files"]
        command += [f"--junitxml={report}", "--override-ini=junit_family=xunit1"]  # the family that has properties
        subprocess.run([*command, *arguments], cwd=ROOT, check=True)
        found: Counter[str] = Counter()
        for one in ET.parse(report).iter("property"):
            found[one.attrib["name"]] += int(one.attrib["value"])
    return ", ".join(f"{number:,} {name}" for name, number in sorted(found.items()))


def run_audit(arguments: list[str]) -> str:
    """Run an audit that must not refute a claim, and compare its bounds with the claims."""
    command = [sys.executable, "-m", "privhp", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)["findings"]
    shares = sorted(one["measured"] / one["claim"] for one in found)
    return (
        f"{sum(one['trials'] for one in found):,} trials of {len(found)} claims: none refuted; measured bounds are "
        f"{shares[0]:.0%} to {shares[-1]:.0%} of the claims, half of them above {median(shares):.0%}"
    )


def write_report(lines: list[dict[str, str]]) -> None:
    """Write RELIABILITY.md from the last line about each subject."""
    last = {line["subject"]: line for line in lines}
    table = [f"| {one['subject']} | {one['result']} | `{one['command']}` | {one['date']} |" for one in last.values()]
    head = ["# Reliability", "", EXPLANATION, "| what | result | command | date |", "|---|---|---|---|"]
    Path(__file__).with_name("RELIABILITY.md").write_text("\n".join([*head, *table, ""]))


def main() -> None:
    """Measure what has no figure yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="1e9", help="records through the pipe")
    parser.add_argument("--fits", default="1e4", help="fits in one process")
    parser.add_argument("--rows", default="1e8", help="rows of each sample")
    parser.add_argument("--audit", default="2h", help="time of the audit")
    parser.add_argument("--fresh", action="store_true", help="measure again what has a figure")
    options = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    known = set() if options.fresh else {line["command"] for line in lines}
    for subject, command in commands(options.records, options.fits, options.rows, options.audit):
        if command not in known:
            result, today = measure(command), dt.date.today().isoformat()
            lines.append({"subject": subject, "command": command, "result": result, "date": today})
            with RESULTS.open("a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
            print(f"{command}: {result}", flush=True)
            write_report(lines)


if __name__ == "__main__":
    main()
