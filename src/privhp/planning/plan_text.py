"""A plan as text for people: a table of its levels and predicted errors, and one line."""

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from privhp.core.number_format import format_bytes, format_count, format_number, round_digits
from privhp.planning.guarantee import state_conditions, state_guarantee, state_odds
from privhp.planning.paper import paper_bound
from privhp.planning.plan_measurements import plan_measurements
from privhp.planning.plan_memory import describe_memory, typical_error
from privhp.planning.plan_warnings import describe_little_data
from privhp.planning.prediction_table import prediction_table
from privhp.planning.wide_tables import describe_coarse_columns, usual_level, value_splits

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

_PAN_PRIVATE = "One stolen summary file and the release together have it too, if no record decides when it is saved."


def format_plan(plan: "Plan") -> str:
    """The plan as a table: guarantee, memory, measured levels and predicted errors."""
    levels = [*_level_table(plan), *_measured_columns(plan), "", *_cost(plan)]
    return "\n".join([*_head(plan), "", *levels, *_predictions(plan), *_columns(plan)])


def summarize_plan(plan: "Plan") -> str:
    """The plan in one line."""
    levels = _format_measurements(plan)
    expected = f", expected_records={plan.expected_records:_}" if plan.expected_records else ""
    return (
        f"<Plan of {plan.domain.short_text}: epsilon={float(plan.epsilon):g}, neighbours={plan.neighbours!r}"
        f"{expected}, levels {levels}, {plan.counters:_} counters>"
    )


def _format_measurements(plan: "Plan") -> str:
    """Measured levels by how they are measured, such as "exact 4 8, learned 12"."""
    kinds: dict[str, list[int]] = {}
    for level in plan.budgets:
        kinds.setdefault(plan.measurement(level), []).append(level)
    return ", ".join(f"{kind} {_format_levels(own)}" for kind, own in kinds.items())


def _format_levels(levels: list[int]) -> str:
    """Levels as "0 to 12" if they are consecutive, else as "4 8"."""
    consecutive = len(levels) > 2 and levels == list(range(levels[0], levels[-1] + 1))
    return f"{levels[0]} to {levels[-1]}" if consecutive else " ".join(map(str, levels))


def _head(plan: "Plan") -> list[str]:
    people = plan.max_records_per_person
    epsilon = f"epsilon = {float(plan.epsilon):g} (pure differential privacy)"
    unit = "one record" if people == 1 else f"up to {people} records"
    limit = f", {format_bytes(plan.memory)} with scratch" if plan.memory else ""
    domain = wrap(repr(plan.domain), 88, break_on_hyphens=False, max_lines=4, placeholder=" ...")
    guarantee = f"{state_guarantee(plan)} {state_odds(plan)} {state_conditions(plan)}"
    return [
        f"domain      {domain[0]}",
        *(f"{'':12}{line}" for line in domain[1:]),
        f"guarantee   {epsilon}, {plan.neighbours} of {unit} per person",
        *(f"{'':12}{line}" for line in wrap(guarantee, 88)),
        *([f"{'':12}{_PAN_PRIVATE}"] * plan.pan_private),
        f"memory      {format_bytes(plan.nbytes)} in {format_count(plan.counters, 'counter')}{limit}",
        *describe_memory(plan),
        *_splitting(plan),
    ]


def _splitting(plan: "Plan") -> list[str]:
    """How cells below the exact levels are split, and how often the data is read."""
    lines = []
    if plan.learning is not None:
        rates = " and ".join(str(own.rate) for own in plan.learning.passes)
        lines += [
            f"learning    a partition of at most {format_bytes(plan.learning.nbytes)} from level {plan.learned_level}",
            f"            on samples of {rates} of the rows; this costs {float(plan.learning_cost):.3g} of epsilon",
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
    """What is measured at each level; a table has no cell size but that of its widest column."""
    rows = [
        (
            f"{level:5d}",
            f"{plan.measurement(level):8s}",
            " x ".join(f"{side:,}" for side in plan.shapes[level]),
            format_number(round_digits(float(budget))),
            format_number(round_digits(float(plan.scale(level)))),
            _format_size(plan, level),
        )
        for level, budget in plan.budgets.items()
    ]
    size = "widest column, of its range" if len(plan.domain.columns) > 1 else "cell size"
    return _align(("level", "measured", "counters", "budget", "noise scale (records)", size), rows)


def _measured_columns(plan: "Plan") -> list[str]:
    """The columns that are measured by themselves, for answers about one column."""
    rows = [
        (
            label,
            _format_measurements(own),
            f"{own.counters:,}",
            format_number(round_digits(float(sum(own.budgets.values())))),
        )
        for label, own in plan.column_plans.items()
    ]
    return ["", *_align(("column by itself", "levels", "counters", "budget"), rows)] if rows else []


def _format_size(plan: "Plan", level: int) -> str:
    domain = plan.domain
    if len(domain.columns) > 1:
        return domain.format_distance(domain.diameter(level))
    return domain.format_resolution(level)


def _align(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    first, *widths = (max(map(len, column)) for column in zip(header, *rows, strict=True))
    return ["   ".join([line[0].ljust(first), *map(str.rjust, line[1:], widths)]) for line in (header, *rows)]


def _cost(plan: "Plan") -> list[str]:
    plans = [plan, *plan.column_plans.values()]
    increments = sum(
        bool(own.exact_levels) + len(own.sketched_levels) * own.sketch_rows + own.has_partition for own in plans
    )
    return [f"a record costs {format_count(increments, 'counter increment')}"]


def _predictions(plan: "Plan") -> list[str]:
    """Predicted errors by cause, if the plan has an expected number of records."""
    if not plan.expected_records:
        return []
    causes, rows = prediction_table(plan)
    totals = {"typical, the geometric mean": typical_error(plan)}
    if plan.inference == "top-down" and not plan.pan_private and list(plan.budgets) == list(range(plan.depth + 1)):
        totals["at most, by the paper's bound"] = _paper_bound(plan)
    rows += [[name, plan.domain.format_distance(total), *[""] * len(causes)] for name, total in totals.items()]
    meaning = plan.domain.distance_meaning
    return [
        "",
        *wrap(f"expected error (1-Wasserstein distance) for {plan.expected_records:,} records. {meaning}", 100),
        *(line.rstrip() for line in _align(("if the records are", "error", *causes), rows)),
        *_wide_bounds(plan),
        *_warning(describe_little_data(plan)),
    ]


def _wide_bounds(plan: "Plan") -> list[str]:
    """Which line applies if bounds are wide; the plan cannot know, since it does not depend on the records."""
    lines = [column.domain.inner for column in plan.domain.columns] or [plan.domain.inner]
    if len(lines) > 1 or not lines[0].is_line:
        return []
    text = (
        "No record decides about these lines. If the bounds are much wider than the records, the second line is the "
        "nearest, or too high, and narrower bounds lower the error"
    )
    return wrap(text, 100)


def _warning(text: str | None) -> list[str]:
    """A sentence as a warning, if there is one."""
    return [] if text is None else wrap(text, 100, initial_indent="warning     ", subsequent_indent=" " * 12)


def _paper_bound(plan: "Plan") -> float:
    """The paper's bound on the expected distance, for every stream."""
    rows = {level: plan.sketch_rows if plan.measurement(level) == "sketched" else 1 for level in plan.budgets}
    budgets = {level: float(rows[level] / plan.scale(level)) for level in plan.budgets}
    return paper_bound(plan_measurements(plan), budgets).total


def _columns(plan: "Plan") -> list[str]:
    """Resolution of the columns of a table where most records are, and a warning for columns that are hardly split."""
    if not plan.domain.columns or not plan.expected_records:
        return []
    level = usual_level(plan)
    splits = value_splits(plan, level)
    sizes = plan.domain.format_resolutions(level)
    rows = [(f"{'':12}{name}", str(splits[name]), sizes[name]) for name in splits]
    lines = ["", f"columns     in cells of level {level}, the leaves if the records are uneven at all scales"]
    lines += _align((f"{'':12}column", "splits", "cell size"), rows)
    return lines + _warning(describe_coarse_columns(plan))
