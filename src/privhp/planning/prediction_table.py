"""Predicted errors of a plan as a table for people, in the unit of its domain."""

from typing import TYPE_CHECKING

from privhp.planning.streams import Stream

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

STREAM_NOTES: dict[Stream, str] = {
    "smooth": "spread evenly over the domain",
    "clustered": "in a sixteenth of the domain or less",
    "sparse": "at forty points only",
    "uneven": "uneven at all scales",
}
"""What a prediction assumes of the records of each stream."""

_CAUSES = ("noise", "collisions", "resolution")


def prediction_table(plan: "Plan", expected_records: float | None = None) -> tuple[list[str], list[list[str]]]:
    """The causes of errors that occur, and for each stream its note, the error, and its part by each cause.

    Args:
        plan: The plan.
        expected_records: Number of records to predict for; by default that of the plan.
    """
    errors = plan.predictions(expected_records)
    causes = [cause for cause in _CAUSES if any(getattr(error, cause) > 0 for error in errors.values())]
    rows = []
    for stream, error in errors.items():
        parts = (error.total, *(getattr(error, cause) for cause in causes))
        rows.append([STREAM_NOTES[stream], *map(plan.domain.format_distance, parts)])
    return causes, rows
