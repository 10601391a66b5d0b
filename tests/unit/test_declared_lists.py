"""Lists and trees of domains in files of their own."""

from pathlib import Path

import pytest

from privhp import Categories, DomainError, FileError, Integers, Nullable, Pattern, Table, Taxonomy, read_domain
from privhp.domains import declared_files
from privhp.domains.declared_files import tree_of_paths
from privhp.domains.short_forms import parse_columns, parse_domain

CODES = ["E11", "E11.9", "I10"]
TREE = {"fruit": ["apple", "pear"], "salt": None}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "codes.txt").write_bytes(b"\xef\xbb\xbfE11\r\n E11.9 \r\n\r\nI10")
    (tmp_path / "tree.txt").write_text("fruit/apple\nsalt\nfruit/pear\n")
    return tmp_path


def test_files_beside_a_domain_file(folder: Path) -> None:
    (folder / "visits.toml").write_text("""
        [columns.code]
        kind = "pattern"
        file = "codes.txt"
        ignore_case = true
        nullable = true

        [columns.ward]
        kind = "categories"
        file = "codes.txt"

        [columns.food]
        kind = "taxonomy"
        file = "tree.txt"

        [columns.age]
        kind = "integers"
        low = 0
        high = 120
    """)
    assert read_domain(folder / "visits.toml") == Table(
        code=Nullable(Pattern(CODES, ignore_case=True)),
        ward=Categories(CODES),
        food=Taxonomy(TREE),
        age=Integers(0, 120),
    )


def test_files_of_a_list_of_columns(folder: Path) -> None:
    (folder / "visits.toml").write_text('[[columns]]\nname = "code"\nkind = "pattern"\nfile = "codes.txt"\n')
    assert read_domain(folder / "visits.toml") == Table(code=Pattern(CODES))


def test_files_of_single_domains(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "code.toml").write_text('kind = "pattern"\nfile = "codes.txt"\ncolumns = ["code"]\n')
    assert read_domain(folder / "code.toml") == Pattern(CODES)
    monkeypatch.chdir(folder)
    assert parse_domain("pattern:file=codes.txt:ignore= ") == Pattern(CODES, ignore=" ")
    assert parse_domain("taxonomy:file=tree.txt") == Taxonomy(TREE)
    assert parse_domain("categories:file=codes.txt:other=rest") == Categories(CODES, other="rest")
    assert parse_columns(["code=pattern:file=codes.txt:nullable"]) == Table(code=Nullable(Pattern(CODES)))


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('kind = "pattern"\nfile = "codes.txt"\npattern = "[AB]"', "in place of pattern"),
        ('kind = "pattern"\nfile = ""', "the name of a file"),
        ('kind = "pattern"\nfile = 3', "the name of a file"),
        ('kind = "integers"\nlow = 0\nhigh = 9\nfile = "codes.txt"', "'file' unknown"),
        ('kind = "taxonomy"\nfile = "codes.txt"\n[columns]\n', "expected"),
        ('[columns.code]\nkind = "pattern"\nfile = "latin.txt"', "column 'code': expected a list of values in UTF-8"),
    ],
)
def test_other_specs_are_refused(folder: Path, toml: str, expected: str) -> None:
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    (folder / "domain.toml").write_text(toml)
    with pytest.raises(DomainError, match=expected):
        read_domain(folder / "domain.toml")


@pytest.mark.parametrize("paths", [["a", "a"], ["a/b", "a"], ["a", "a/b"], ["a/b", "a/b/c"], ["a/b", "a/b"]])
def test_paths_below_a_leaf_are_refused(paths: list[str]) -> None:
    with pytest.raises(DomainError, match="no other path below a leaf"):
        tree_of_paths(paths)


def test_a_node_that_can_be_a_record_has_a_leaf_of_its_name() -> None:
    domain = Taxonomy(tree_of_paths(["E11/E11", "E11/E11.9", "I10"]))
    assert len(set(domain.encode(["E11", "E11.9", "I10"], level=domain.depth).tolist())) == 3


def test_missing_and_large_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(FileError, match=r"none\.txt"):
        parse_domain("pattern:file=none.txt")
    monkeypatch.setattr(declared_files, "MAX_LIST_FILE", 10)
    with pytest.raises(FileError, match=r"codes\.txt: this file has more than"):
        parse_domain("pattern:file=codes.txt")


@pytest.mark.parametrize("text", ["taxonomy", "taxonomy:codes.txt", "pattern:ignore=a", "categories:other=a"])
def test_short_forms_without_a_list_are_refused(text: str) -> None:
    with pytest.raises(DomainError, match="file=FILE"):
        parse_domain(text)
