"""Releases with far more records than their plan expects, and what that means for accuracy and for the guarantee."""

from privhp.answers.generator import NOISE_Z, Generator

MANY = 3
"""Least ratio of a count to the expected number that is far above it."""


def describe_high_count(generator: Generator) -> str | None:
    """Text on a noisy count far above the expected number, unless noise explains it; None for other counts."""
    plan = generator.plan
    expected, excess = plan.expected_records, generator.total - plan.expected_records
    if not expected or generator.total < MANY * expected or excess <= NOISE_Z * generator.total_stderr:
        return None
    persons = (
        ""
        if generator.reading.persons
        else f". Unless a column of persons was declared by person=, persons may have more records than "
        f"max_records_per_person={plan.max_records_per_person} says"
    )
    return (
        f"{generator.counted_text} and {expected:,} were expected: the plan has coarser cells and less accuracy than "
        f"this number would allow{persons}. Check both numbers before you use the release; a second fit of the same "
        "data costs epsilon again"
    )
