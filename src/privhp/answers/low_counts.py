"""Releases with far fewer records than their plan expects."""

from privhp.answers.generator import Generator

LOW_SHARE = 1 / 3
"""A count below this share of the expected number of records is low."""


def describe_low_count(generator: Generator) -> str | None:
    """Sentence on a noisy count far below the expected number, with likely causes; None for other counts."""
    expected = generator.plan.expected_records
    if not expected or generator.total >= LOW_SHARE * expected:
        return None
    has_times = any(field.declared_as == "time" for field in generator.domain.fields())
    causes = [
        "columns in another order, such as latitude before longitude",
        "text, currency signs or decimal commas where numbers are declared",
        *(["dates in another form than 2024-12-31, which a column of kind time declares by its format"] * has_times),
        "values outside the bounds",
        "another delimiter or encoding of the file",
        "with a declared column of persons, records beyond the number per person",
    ]
    return (
        f"about {generator.total:,.0f} records (noisy) were counted and {expected:,} were expected: many records "
        f"may have been skipped. Likely causes: {'; '.join(causes)}. Check them before you use the release; a second "
        "fit of the same data costs epsilon again"
    )
