"""Nullable columns of CSV of which a release shows no null: the file may write it in another way than is declared."""

from privhp.answers.generator import NOISE_Z, Generator
from privhp.answers.unseen_categories import LEVEL, VISIBLE
from privhp.domains.fields import NULL_TEXTS


def describe_unseen_nulls(generator: Generator) -> str | None:
    """Text on nullable columns without null that the noise lets us see, if a few records are missing; None otherwise.

    A low count has null among its causes.

    A text that is neither a value nor a declared null skips its record. So all nulls of a column that shows none may
    have been skipped. Of other files than CSV, and of data in memory, null is known by its type.
    """
    formats, declared = generator.reading.formats, generator.reading.declared
    if generator.plan.inference == "top-down" or "csv" not in (formats or ()) or "nulls" in declared:
        return None
    expected = generator.plan.expected_records
    if generator.is_below_expected or expected - generator.total <= NOISE_Z * generator.total_stderr:
        return None
    domain = generator.domain
    columns = [column.name for column in domain.columns if column.domain.nullable]
    parts = {str(name): generator.marginal(name) for name in columns} or (
        {"value": generator} if domain.nullable else {}
    )
    unseen = []
    for name, part in parts.items():
        low, high = part.mass(None).interval(LEVEL)
        if low <= 0 and high <= VISIBLE:
            unseen.append(name)
    if not unseen:
        return None
    return (
        f"{generator.counted_text}, {expected:,} were expected, and these nullable columns hold no null that the "
        f"noise lets us see: {', '.join(unseen)}. A field is null if it is empty or one of {', '.join(NULL_TEXTS)}; "
        "another text, such as -, skips its record: csv=CsvDialect(nulls=['-'])"
    )
