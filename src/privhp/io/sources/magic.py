"""Files that are no text, told by how they begin."""

from privhp.errors import FileError

_BEGINNINGS = {
    b"\x1f\x8b\x08": "a gzip file; give it a name that ends in .gz, or pipe it through zcat",
    b"\x93NUMPY": "a NumPy array; give it a name that ends in .npy",
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or save the sheet as CSV",
    b"PAR1\x15": 'a Parquet file; give it a name that ends in .parquet, or choose format="parquet"',
    b"ARROW1\x00\x00": 'an Arrow file; give it a name that ends in .arrow, or choose format="arrow"',
    b"\x28\xb5\x2f\xfd": "a zstd file; give it a name that ends in .zst, or pipe it through zstdcat",
    b"PRIVHP-R": "a release of privhp; load it with privhp.load",
    b"PRIVHP-C": "a checkpoint of privhp, which is confidential; open it with privhp.resume",
}


def check_text(header: bytes) -> None:
    """Refuse a header that is the beginning of another kind of file. A line that may be a record must not come here."""
    for beginning, kind in _BEGINNINGS.items():
        if header.startswith(beginning):
            raise FileError(f"expected comma-separated text, got {kind}")
