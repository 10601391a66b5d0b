"""The guarantee of a plan in sentences, for readers who do not know differential privacy."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from privhp.planning.guarantee import state_conditions, state_definition, state_guarantee, state_odds
from privhp.planning.plan import Plan


def guarantee_sentences(plan: Plan, *, covers_page: bool = True) -> list[str]:
    """The guarantee in sentences.

    Args:
        plan: The plan of the release.
        covers_page: Whether the guarantee covers the page; it does not if the page shows real records.
    """
    return [
        state_guarantee(plan),
        state_odds(plan),
        state_definition(plan),
        state_conditions(plan),
        f"The guarantee covers {'this page, ' if covers_page else ''}the release, and every synthetic record that is "
        f"ever made from it{'' if covers_page else ', but not this page'}. Releases of the same people's data add up: "
        "so do their epsilons.",
    ]
