"""A plan as text for people: a table of its levels and predicted errors, and one line."""

from textwrap import shorten, wrap
from typing import TYPE_CHECKING

from privhp.planning.error_model import Stream
from privhp.planning.guarantee import state_conditions, state_guarantee
from privhp.planning.paper import paper_bound
from privhp.planning.plan_measurements import plan_measurements
from privhp.planning.plan_memory import describe_memory, typical_error
from privhp.planning.wide_tables import describe_coarse_columns, smooth_level

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

STREAM_NOTES: dict[Stream, str] = {
    "smooth": "uniform",
    "clustered": "in a sixteenth",
    "sparse": "forty atoms",
    "uneven": "at all scales",
}
"""The assumption behind each predicted stream."""

_PAN_PRIVATE = "One stolen summary file and the release together have it too, if no record decides when it is saved."


def format_plan(plan: "Plan") -> str:
    """The plan as a table: guarantee, memory, measured levels and predicted errors."""
    return "\n".join([*_head(plan), "", *_level_table(plan), "", *_cost(plan), *_predictions(plan), *_columns(plan)])


def summarize_plan(plan: "Plan") -> str:
    """The plan in one line."""
    kinds: dict[str, list[int]] = {}
    for level in plan.budgets:
        kinds.setdefault(plan.measurement(level), []).append(level)
    levels = ", ".join(f"{kind} {_format_levels(own)}" for kind, own in kinds.items())
    expected = f", expected_records={plan.expected_records:_}" if plan.expected_records else ""
    domain = shorten(repr(plan.domain), 80, placeholder="...")
    return (
        f"<Plan of {domain}: epsilon={float(plan.epsilon):g}, neighbours={plan.neighbours!r}{expected}, "
        f"levels {levels}, {plan.counters:_} counters>"
    )


def _format_levels(levels: list[int]) -> str:
    """Levels as "0 to 12" if they are consecutive, else as "4 8"."""
    consecutive = len(levels) > 2 and levels == list(range(levels[0], levels[-1] + 1))
    return f"{levels[0]} to {levels[-1]}" if consecutive else " ".join(map(str, levels))


def _head(plan: "Plan") -> list[str]:
    people = plan.max_records_per_person
    epsilon = f"epsilon = {float(plan.epsilon):g} (pure differential privacy)"
    unit = "one record" if people == 1 else f"up to {people} records"
    limit = f", {plan.memory:,} with scratch" if plan.memory else ""
    return [
        f"domain      {plan.domain!r}",
        f"guarantee   {epsilon}, {plan.neighbours} of {unit} per person",
        *(f"{'':12}{line}" for line in wrap(f"{state_guarantee(plan)} {state_conditions(plan)}", 88)),
        *([f"{'':12}{_PAN_PRIVATE}"] * plan.pan_private),
        f"memory      {plan.nbytes:,} bytes in {plan.counters:,} counters{limit}",
        *describe_memory(plan),
        *_splitting(plan),
    ]


def _splitting(plan: "Plan") -> list[str]:
    """How cells below the exact levels are split, and how often the data is read."""
    lines = []
    if plan.learning is not None:
        rates = " and ".join(str(own.rate) for own in plan.learning.passes)
        lines += [
            f"learning    a partition from level {plan.learned_level}, of at most {plan.learning.nbytes:,} bytes,",
            f"            on samples of {rates} of the rows; this costs {float(plan.learning.cost):.3g} of epsilon",
        ]
    if plan.partition is not None:
        found = "learned" if plan.learning is not None else "known before, so it costs nothing"
        levels = f"levels {plan.partition.min_level} to {plan.partition.max_level}"
        lines.append(f"partition   {plan.partition.size:,} leaves of {levels}; {found}")
    if plan.sketched_levels:
        first = "all" if plan.expand == "all" else f"{plan.hot_cells:,}"
        lines.append(
            f"hot cells   the fullest cells are split: {first} of level {plan.exact_depth}, "
            f"{plan.hot_cells:,} of each level below"
        )
    times = "once" if plan.passes == 1 else f"{plan.passes} times, {plan.passes - 1} of them to learn"
    return [*lines, f"reads       the data {times}; its order does not matter"]


def _level_table(plan: "Plan") -> list[str]:
    lines = ["level  measured          counters      budget   noise scale (records)   cell diameter"]
    for level, budget in plan.budgets.items():
        size = " x ".join(f"{side:,}" for side in plan.shapes[level])
        noise = f"{float(budget):11.4g} {float(plan.scale(level)):23.6g}"
        lines.append(
            f"{level:5d}  {plan.measurement(level):9s} {size:>16s} {noise} {plan.domain.diameter(level):15.6g}"
        )
    return lines


def _cost(plan: "Plan") -> list[str]:
    increments = 1 + len(plan.sketched_levels) * plan.sketch_rows + plan.has_partition
    return [f"a record costs {increments} counter increment{'s' if increments > 1 else ''}"]


def _predictions(plan: "Plan") -> list[str]:
    """Predicted errors, if the plan has an expected number of records."""
    if not plan.expected_records:
        return []
    lines = [
        "",
        f"expected 1-Wasserstein distance for {plan.expected_records:,} records, in the domain's unit",
        "stream                              error       noise  collisions  resolution",
        f"{'typical, geometric mean':30s} {typical_error(plan):10.3g}",
    ]
    for stream, error in plan.predictions().items():
        components = " ".join(f"{part:11.3g}" for part in (error.noise, error.collisions, error.resolution))
        lines.append(f"{stream + ', ' + STREAM_NOTES[stream]:30s} {error.total:10.3g} {components}")
    if plan.inference == "top-down" and not plan.pan_private and list(plan.budgets) == list(range(plan.depth + 1)):
        lines.append(f"{'paper, upper bound':30s} {_paper_bound(plan):10.3g}")
    return lines


def _paper_bound(plan: "Plan") -> float:
    """The paper's bound on the expected distance, for every stream."""
    rows = {level: plan.sketch_rows if plan.measurement(level) == "sketched" else 1 for level in plan.budgets}
    budgets = {level: float(rows[level] / plan.scale(level)) for level in plan.budgets}
    return paper_bound(plan_measurements(plan), budgets).total


def _columns(plan: "Plan") -> list[str]:
    """Resolution of the columns of a table for a smooth stream, and a warning for columns that are hardly split."""
    if not plan.domain.columns or not plan.expected_records:
        return []
    level = smooth_level(plan)
    splits = plan.domain.splits_by_column(level)
    lines = ["", f"columns     in cells of level {level}, the leaves of a smooth stream"]
    for name, size in plan.domain.resolution(level).items():
        lines.append(f"{splits[name]:5d} splits to {size:<12.6g} of {name}")
    warning = describe_coarse_columns(plan)
    if warning is not None:
        lines += wrap(warning, 100, initial_indent="warning     ", subsequent_indent=" " * 12)
    return lines
