"""Tables for people to read in a terminal."""

from collections.abc import Sequence


def as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines with a header, all columns to the right but the last; those without anything in them left out."""
    kept = [place for place in range(len(header)) if any(row[place] for row in rows) or not rows]
    lines = [[line[place] for place in kept] for line in (header, *rows)]
    *widths, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
    return "\n".join("   ".join([*map(str.rjust, line, widths), line[-1]]) for line in lines)
