"""What a plan promises and predicts, in words for people who do not know differential privacy."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math

from privhp.core.budget import Neighbours
from privhp.core.number_format import format_duration, format_number, format_share
from privhp.domains import Categories, Domain, Geo, Interval, IPv4, IPv6, Nullable, Table, Taxonomy, Time
from privhp.planning.plan import Plan

PROTECTED: dict[Neighbours, str] = {
    "add-remove": "whether {unit} is in the data at all, and what it says",
    "zero-out": "whether {unit} counts or its row counts nowhere, and what it says; the number of rows is not hidden",
    "replace-one": "what {unit} says; the number of records is not hidden",
}
"""What stays uncertain about one person under each relation."""

STREAMS = {
    "smooth": "spread evenly over all that is possible",
    "clustered": "gathered in a sixteenth of it",
    "sparse": "in forty places only",
    "sorted": "gathered, and arriving in order",
}
"""What the records may look like, which a prediction depends on."""


def unit(plan: Plan) -> str:
    """What of one person is protected."""
    many = plan.max_records_per_person
    return "one person's record" if many == 1 else f"all of one person's records, up to {many:,} of them,"


def promise(plan: Plan, *, covers_page: bool = True) -> list[str]:
    """The guarantee, in sentences, on a page that it covers or on one that shows real records too."""
    epsilon = float(plan.epsilon)
    sure = 1 / (1 + math.exp(-epsilon))
    protected = PROTECTED[plan.neighbours].format(unit=unit(plan))
    return [
        f"Whatever anybody makes of this release, it stays uncertain {protected}.",
        f"Somebody who thought it as likely as not can be at most {_percent(sure)} sure after seeing the "
        "release, whatever they know besides and however clever they are.",
        f"This is differential privacy with epsilon = {epsilon:g}: no outcome becomes more than {_factor(epsilon)} "
        "times as likely, or as unlikely, because of one person. There is no small chance that it fails.",
        f"It covers {'this page, ' if covers_page else ''}the release, and every synthetic record that is ever made of "
        f"it{'' if covers_page else ', but not this page'}. It adds up with other releases of the same people's data.",
    ]


def _percent(value: float) -> str:
    return f"{value:.1%}" if value < 0.9995 else "almost 100%"


def _factor(epsilon: float) -> str:
    return format_number(math.exp(epsilon)) if epsilon < 30 else f"e to the power of {epsilon:g}"


def distance(domain: Domain, value: float) -> str:
    """A distance of a domain with its unit."""
    inner = domain.domain if isinstance(domain, Nullable) else domain
    if isinstance(inner, Table | Categories):
        return format_share(value)
    if isinstance(inner, Geo):
        return f"{_short(value)} km" if value >= 1 else f"{_short(1000 * value)} m"
    if isinstance(inner, Time):
        return format_duration(value * (86_400 if inner.unit == "D" else 1))
    if isinstance(inner, Interval) and inner.scale == "log":
        return f"{value:.3g} octaves"
    return _short(value)


def _short(value: float) -> str:
    return format_number(float(f"{value:.3g}"))


def cell_size(domain: Domain, diameter: float) -> str:
    """How far apart two records of one cell can be."""
    return "exact" if diameter == 0 else distance(domain, diameter)


def distance_meaning(domain: Domain) -> str:
    """What the numbers of a prediction say."""
    inner = domain.domain if isinstance(domain, Nullable) else domain
    moved = "How far a record would have to be moved, on average, to turn the synthetic records into the real ones"
    if isinstance(inner, Table):
        return f"{moved}, in the column where it has to go furthest, as a share of that column's range."
    if isinstance(inner, Categories):
        return "The share of records that would need another value to turn the synthetic records into the real ones."
    if isinstance(inner, Taxonomy | IPv4 | IPv6):
        return f"{moved}: two records whose first l cuts agree are about 2 to the power of -l apart."
    if isinstance(inner, Interval) and inner.scale == "log":
        return f"{moved}, in octaves: one is a factor of two."
    return f"{moved}."
