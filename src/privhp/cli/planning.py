"""From options to a domain and a plan, before any data is touched."""

from argparse import Namespace

from privhp.domains import Domain
from privhp.domains.specs import Described, parse_columns, parse_domain, read_described
from privhp.errors import PlanError
from privhp.plan import Plan

DEFAULT_MEMORY = "256 KiB"


def read_plan(options: Namespace, domain: Domain) -> Plan:
    """The plan that the options ask for: the best for a memory, or the paper's where it has hot cells."""
    sizes = {name: getattr(options, name) for name in ("exact_depth", "depth", "sketch_rows", "sketch_width", "expand")}
    if options.hot_cells is None:
        given = [f"--{name.replace('_', '-')}" for name, value in sizes.items() if value is not None]
        if given:
            raise PlanError(
                f"expected {', '.join(given)} with --hot-cells, which chooses the paper's plan, got it alone"
            )
        return Plan.auto(
            domain,
            epsilon=options.epsilon,
            records=options.records,
            memory=options.memory or DEFAULT_MEMORY,
            neighbours=options.neighbours,
            max_records_per_person=options.max_records_per_person,
        )
    if options.memory is not None:
        raise PlanError("expected --memory, which has the best plan chosen, or --hot-cells for the paper's, got both")
    return Plan.paper(
        domain,
        epsilon=options.epsilon,
        records=options.records,
        hot_cells=options.hot_cells,
        **sizes | {"expand": options.expand or "top"},
        neighbours=options.neighbours or "add-remove",
        max_records_per_person=options.max_records_per_person,
    )


def read_domain(options: Namespace) -> Described:
    """The domain that `--domain` names, in short form or as a TOML file, or the table of each `--column`."""
    if options.column:
        return Described(parse_columns(options.column), None)
    if options.domain.endswith(".toml"):
        return read_described(options.domain)
    return Described(parse_domain(options.domain), None)
