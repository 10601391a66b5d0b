"""Commands warn about a low noisy count and about wide tables, on standard error."""

import gzip
import lzma
import re
from pathlib import Path

import pytest

from cli.running import spawn
from privhp.answers.generator import FULL_SHARE

PLAN = ["--epsilon", "50", "--expected-records", "20000"]
GEO = ["--columns", "x,y", "--domain", "geo:-9:49.8:2:61", *PLAN]


@pytest.fixture
def swapped(tmp_path):
    (tmp_path / "swapped.csv").write_text("x,y\n" + "51.5,-0.1\n" * 20_000)
    (tmp_path / "right.csv").write_text("x,y\n" + "-0.1,51.5\n" * 20_000)
    return "swapped.csv"


def test_low_count(run, swapped):
    code, out, err = run("fit", swapped, *GEO, "-o", "a.privhp")
    assert code == 0
    assert "\nwrote a.privhp: " in out
    assert err.startswith("privhp: warning: about ")
    assert "20,000 were expected" in err
    assert "\n- columns in another order, such as latitude before longitude\n" in err
    assert "\n- another delimiter or encoding of the file: --delimiter ';' or --encoding cp1252\n" in err
    assert "where numbers are declared: --currency '$' or --thousands , or --decimal ,\n" in err
    found = run("inspect", "a.privhp").out
    assert "warning     about " in found
    assert "\n            - columns in another order, such as latitude before longitude\n" in found
    code, out, err = run("fit", swapped, *GEO, "-o", "b.privhp", "--quiet")
    assert (code, out) == (0, "")
    assert err.startswith("privhp: warning: about ")
    assert run("fit", "right.csv", *GEO, "-o", "c.privhp").err == ""


def test_nullable_column_without_null(run, tmp_path):
    """Few records are missing, so the count is not low; null is written in a way that is not declared."""
    (tmp_path / "a.csv").write_text(
        "age,pets\n" + "".join(f"{row % 90},{row % 7 if row % 12 else '-'}\n" for row in range(20_000))
    )
    fit = ["fit", "a.csv", *PLAN, "--domain", "age=integers:0:99", "--domain", "pets=integers:0:6:nullable"]
    err = run(*fit, "-o", "a.privhp").err
    assert re.match(
        r"privhp: warning: about 18,\d{3} records .* and these nullable columns hold no null .*: pets\. ", err
    )
    assert err.endswith(", skips its record: --null -\n")
    assert run(*fit, "--null=-", "-o", "b.privhp").err == ""


def test_form_of_times_to_copy(run, tmp_path):
    (tmp_path / "days.csv").write_text("day\n" + "31/12/2024\n" * 20_000)
    fit = ["fit", "days.csv", *PLAN, "--domain"]
    err = run(*fit, "day=time:2024-01-01:2024-12-31", "-o", "a.privhp").err
    assert "declares by its format: :format=%d/%m/%Y on the command line, format = " in err
    assert run(*fit, "day=time:2024-01-01:2024-12-31:format=%d/%m/%Y", "-o", "b.privhp").err == ""


def test_array_of_json(tmp_path):
    """The first line of NDJSON is a record, so nothing is refused; the noisy count is low."""
    fit = ["fit", "-", "--format", "ndjson", "--domain", "fare=interval:0:9", *PLAN, "-o", "a.privhp"]
    array = b"[" + b",".join([b'{"fare": 5}'] * 20_000) + b"]\n"
    done = spawn(*fit, folder=tmp_path, input=array)
    assert done.returncode == 0
    assert b'in NDJSON, one JSON array in place of one object per line, which jq -c ".[]" writes' in done.stderr


def test_given_options_are_not_proposed(run, tmp_path):
    (tmp_path / "a.csv").write_text("fare;x\n" + "9;1\n" * 100)
    command = ["a.csv", "--domain", "fare=interval:0:1", "--epsilon", "1", "--expected-records", "1e5"]
    err = run("fit", *command, "--delimiter", ";", "--csv", "lines", "-o", "a.privhp").err
    assert "\n- another delimiter or encoding of the file: --encoding cp1252\n" in err
    assert "\n- records with another number of fields than the header\n" in err
    numbered = ["a.csv", "--no-header", "--columns", "1", "--domain", "interval:0:1", *command[3:]]
    assert "number of fields" not in run("fit", *numbered, "-o", "b.privhp").err
    assert '\n- quotes (") that are not closed or, inside quotes, not doubled\n' in err


def test_causes_in_a_log(run, tmp_path):
    (tmp_path / "a.log").write_text('- "GET / HTTP/1.1" 200 -\n' * 3000)
    fit = [
        "fit",
        "a.log",
        "--delimiter",
        "space",
        "--no-header",
        "--columns",
        "5,6",
        "--domain",
        "status=integers:0:599",
    ]
    fit += ["--domain", "size=integers:0:9:nullable", *PLAN[:3], "3000"]
    err = run(*fit, "--csv", "lines", "-o", "a.privhp").err
    assert "\n- column numbers of awk: a quoted field is one column here, unless --csv unquoted\n" in err
    cause = "\n- missing values in nullable columns that are written otherwise than NA: --null -\n"
    assert cause in err
    err = run(*fit, "--csv", "unquoted", "-o", "b.privhp").err
    assert cause in err
    assert "quote" not in err
    assert run(*fit, "--csv", "unquoted", "--null", "-", "-o", "c.privhp").err == ""


def test_min_records(run, refused, swapped, tmp_path):
    code, out, err = run("fit", swapped, *GEO, "--min-records", "1e4", "--quiet", "-o", "a.privhp")
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("privhp: error: about ")
    assert err.endswith("fewer than --min-records 10,000; a.privhp is written\n")
    assert (tmp_path / "a.privhp").exists()
    assert run("fit", "right.csv", *GEO, "--min-records", "1e4", "-o", "b.privhp").code == 0
    assert "--summary-only writes none" in refused(
        "fit", "right.csv", *GEO, "--passes", "1", "--min-records", "1", "--summary-only", "-o", "c.summary"
    )


def test_count_below_the_expected_number(run, tmp_path):
    (tmp_path / "f.csv").write_text("fare,who\n" + "5,1\n,2\n7,3\n9999,4\n2,5\n" * 2000)
    (tmp_path / "g.csv").write_text("fare\n" + "5\n" * 10_000)
    fit = ["--domain", "fare=interval:0:100", "--epsilon", "50", "--expected-records", "1e4"]
    warned = re.compile(r"warning:? +about [56],\d+ records \(noisy\) were counted and 10,000 were expected: ")
    code, _, err = run("fit", "f.csv", *fit, "-o", "a.privhp")
    assert code == 0
    assert warned.search(err)
    assert "\n- values outside the bounds\n- missing values in columns that are not nullable\n" in err
    assert warned.search(run("inspect", "a.privhp").out)
    assert run("fit", "g.csv", *fit, "-o", "c.privhp").err == ""
    (tmp_path / "p.csv").write_text("fare,who\n" + "".join(f"5,{max(row // 2, row - 3000)}\n" for row in range(10_000)))
    capped = run("fit", "p.csv", *fit, "--person", "who", "-o", "d.privhp")
    assert re.search(r"about [67],.*:\n- records beyond the number per person: --max-records-per-person\n", capped.err)
    assert run("plan", *fit, "--passes", "1", "-o", "plan.json").code == 0
    assert run("fit", "f.csv", "--plan", "plan.json", "--summary-only", "-o", "a.summary").code == 0
    assert warned.search(run("merge", "a.summary", "-o", "e.privhp").err)


def test_amounts_with_thousands_separators(run, tmp_path):
    (tmp_path / "a.csv").write_text("amount\n" + '$9.50\n"$1,234.50"\n$7.00\n' * 2000)
    fit = ["fit", "a.csv", "--domain", "amount=interval:0:9999", "--epsilon", "50", "--expected-records", "6e3"]
    cause = (
        "- text, thousands separators, decimal commas or numbers that are not written as declared where numbers are "
    )
    code, _, err = run(*fit, "--currency", "$", "-o", "a.privhp")
    assert code == 0
    assert f"if that number was right:\n{cause}declared: --thousands , or --decimal ,\n" in err
    assert run(*fit, "--currency", "$", "--thousands", ",", "-o", "b.privhp").err == ""


def test_unseen_categories(run, tmp_path):
    """A warning, also of a job with --quiet, or a cause if the count is low, too."""
    (tmp_path / "d.csv").write_text("drink\n" + "tea\nwater\n" * 2000)
    fit = ["fit", "d.csv", "--domain", "drink=categories:tea,caf\u00e9,water", "--epsilon", "50"]
    unseen = "these declared categories hold no records that the noise lets us see: drink = caf\u00e9"
    code, out, err = run(*fit, "--expected-records", "4e3", "-o", "a.privhp")
    line = f"privhp: warning: {unseen}; check the encoding of the file, and their spelling\n"
    assert (code, err) == (0, line)
    assert "declared categories" not in out
    assert run(*fit, "--expected-records", "4e3", "-o", "b.privhp", "--quiet") == (0, "", line)
    code, out, err = run(*fit, "--expected-records", "5e3", "-o", "c.privhp")
    assert err.startswith("privhp: warning: about ")
    assert f"\n- {unseen}; check the encoding" in err
    assert err.count("declared categories hold") == 1


def test_options_are_not_proposed_again(run, swapped):
    given = ["--delimiter", ",", "--encoding", "cp1252"]
    err = run("fit", swapped, *GEO, *given, "-o", "a.privhp").err
    assert "\n- columns in another order, such as latitude before longitude\n" in err
    assert "\n- another delimiter or encoding of the file\n" in err


def test_min_records_of_a_repeated_fit(run, swapped):
    command = ["fit", swapped, *GEO, "--min-records", "1e4", "--checkpoint", "s", "--resume", "-o", "a.privhp"]
    assert [run(*command).code for _ in range(2)] == [1, 1]


def test_merge_warns(run, swapped):
    assert run("plan", *GEO[2:], "--passes", "1", "-o", "plan.json").code == 0
    for part in ("a", "b"):
        code, _, err = run("fit", swapped, "--plan", "plan.json", "--summary-only", "-o", f"{part}.summary")
        assert (code, err) == (0, "")  # nothing is said about a summary, which is confidential
    missing = "if that number was right:\n- a summary that is missing\n- columns in another order, such as latitude "
    for command in (["merge", "a.summary", "b.summary"], ["merge", "a.summary"]):
        code, _, err = run(*command, "-o", f"{len(command)}.privhp")
        assert code == 0
        assert err.startswith("privhp: warning: about ")
        assert missing in err
        assert "--" not in err
    assert "- a summary that is missing" in run("inspect", "3.privhp").out


def test_little_data_warns(run, tmp_path):
    (tmp_path / "few.csv").write_text("fare\n" + "5\n" * 500)
    fit = ["fit", "few.csv", "--domain", "fare=interval:0:100", "--expected-records", "500", "--quiet"]
    little = "privhp: warning: epsilon times the expected number of records is 1,000, which is little data: "
    assert run(*fit, "--epsilon", "2", "-o", "a.privhp").err.startswith(little)
    assert run(*fit, "--epsilon", "9", "-o", "b.privhp").err == ""
    learn = ["learn", *fit[1:], "--epsilon", "2", "-o", "plan.json"]
    assert run(*learn).err.startswith(little)


def test_wide_table_warns(run, tmp_path):
    names = [f"c{place}" for place in range(10)]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + "5,5,5,5,5,5,5,5,5,5\n" * 500)
    domains = [part for name in names for part in ("--domain", f"{name}=interval:0:100")]
    code, _, err = run("fit", "wide.csv", *domains, "--epsilon", "9", "--expected-records", "500", "-o", "a.privhp")
    assert code == 0
    assert err.startswith("privhp: warning: too many columns: ")
    assert "c8, c9. Leave some columns out" in err


@pytest.mark.parametrize("columns", [["--columns", "lat,lon"], []])
def test_latitude_first_by_name(refused, tmp_path, columns):
    (tmp_path / "places.csv").write_text("lat,lon\n51.5,-0.1\n")
    line = refused("fit", "places.csv", *columns, *GEO[2:], "-o", "a.privhp")
    assert "name the longitude first, such as --columns lon,lat" in line


@pytest.mark.parametrize("compress", [gzip.compress, lambda text: b"\x28\xb5\x2f\xfd" + text, lzma.compress])
@pytest.mark.parametrize("options", [["--format", "ndjson", "--columns", "a"], ["--no-header"], ["--columns", "a"]])
def test_compressed_standard_input(tmp_path, compress, options):
    """Whatever the format is, since no file name says that it is compressed."""
    content = compress(b'{"a": 1}\n' * 9)
    command = ["fit", "-", *options, "--domain", "interval:0:9", *PLAN, "-o", "a.privhp"]
    done = spawn(*command, folder=tmp_path, input=content)
    assert done.returncode == 2
    assert re.fullmatch(
        rb"privhp: error: -: expected text, got an? (gzip|zstd|xz) file; .* pipe it through \w+cat\n", done.stderr
    )
    assert not (tmp_path / "a.privhp").exists()


def test_spreadsheets_are_refused_by_name(refused, tmp_path):
    """Without a header too, where the first bytes may be those of a record."""
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    line = refused("fit", "a.xlsx", "--no-header", "--domain", "interval:0:9", *PLAN, "-o", "a.privhp")
    assert "a.xlsx: a .xlsx file is a spreadsheet; save the sheet as CSV" in line


def test_missing_and_nested_keys_of_ndjson(run, tmp_path):
    (tmp_path / "calls.ndjson").write_text('{"call": {"seconds": 3}}\n' * 100)
    (tmp_path / "calls.csv").write_text("seconds\n3\n")
    for name, named in {"calls.ndjson": True, "calls.csv": False}.items():
        fit = ["fit", name, "--columns", "seconds", "--domain", "integers:0:9", *PLAN, "-o", f"{name}.privhp"]
        cause = "in NDJSON, a key that the objects do not have (nested keys are not read)"
        assert (cause in run(*fit).err) == named


def test_high_count(run, tmp_path):
    (tmp_path / "a.csv").write_text("fare\n" + "5\n" * 5000)
    fit = ["fit", "a.csv", "--domain", "fare=interval:0:9", "--epsilon", "9"]
    high = re.compile(
        r"privhp: warning: about [45],\d+ records \(noisy\) were counted and 1,000 were expected: the plan has "
        r"coarser .*by --person, persons may have more records than --max-records-per-person 1 says.*\n"
    )
    assert high.fullmatch(run(*fit, "--expected-records", "1000", "-o", "a.privhp", "--quiet").err)
    shown = " ".join(run("inspect", "a.privhp").out.split())
    assert "1,000 were expected: the plan has coarser cells" in shown
    assert run(*fit, "--expected-records", "2000", "-o", "b.privhp").err == ""


def test_help_and_page_name_the_low_share(run):
    share = {1 / 2: "half of it", 9 / 10: "nine tenths of it"}[FULL_SHARE]
    for text in (run("fit", "--help").out, (Path(__file__).parents[2] / "docs" / "cli.md").read_text()):
        assert f"below {share}" in " ".join(text.split()).lower()
