"""Releases with far fewer records than their plan expects."""

from collections.abc import Collection

from privhp.answers.generator import Generator
from privhp.domains.fields import Field, FieldKind

LOW_SHARE = 1 / 2
"""A count below this share of the expected number of records is low."""

NOISE_Z = 3.0
"""Standard deviations of noise that do not explain a low count."""

_TIMES = "2024-12-31 or 2024-12-31T19:30"
_PERSONS = "records beyond the number per person"


def describe_low_count(
    generator: Generator, *, formats: Collection[str] | None = None, persons: bool | None = None
) -> str | None:
    """Sentence on a noisy count far below the expected number, with likely causes; None for other counts.

    Args:
        generator: The generator of the release.
        formats: Formats of the files that were read; None if they are not known.
        persons: Whether a column of persons was declared; None if it is not known.
    """
    expected = generator.plan.expected_records
    if not expected or generator.total >= LOW_SHARE * expected:
        return None
    if expected - generator.total <= NOISE_Z * generator.total_stderr:
        return None
    causes = _causes(generator.domain.fields(), formats=formats, persons=persons)
    return (
        f"about {generator.total:,.0f} records (noisy) were counted and {expected:,} were expected: many records "
        f"may have been skipped. Likely causes, if that number was right: {'; '.join(causes)}. Check them before you "
        "use the release; a second fit of the same data costs epsilon again"
    )


def _causes(fields: tuple[Field, ...], *, formats: Collection[str] | None, persons: bool | None) -> list[str]:
    """Causes that apply to these fields and to these formats of files."""
    csv, ndjson = (formats is None or each in formats for each in ("csv", "ndjson"))
    kinds = {field.declared_as for field in fields}
    numbers = any(field.kind in (FieldKind.REAL, FieldKind.INTEGER) for field in fields)
    bounded = numbers or not kinds.isdisjoint(("time", "ipv4", "ipv6"))
    listed = not kinds.isdisjoint(("categories", "taxonomy", "pattern"))
    signs = ", currency signs or decimal commas" if csv else ""
    swapped = ", such as latitude before longitude" if "geo" in kinds else ""
    likely = {
        f"columns in another order{swapped}": len(fields) > 1,
        f"text{signs} where numbers are declared": numbers,
        f"times in another form than {_TIMES}, which a column of kind time declares by its format": "time" in kinds,
        "values outside the bounds": bounded,
        "values that are not declared": listed,
        "another delimiter or encoding of the file": csv,
        "in NDJSON, a key that the objects do not have (nested keys are not read)": ndjson,
        _PERSONS if persons else f"with a declared column of persons, {_PERSONS}": persons is not False,
    }
    return [cause for cause, applies in likely.items() if applies]
