"""From options to a domain and a plan, before any data is touched."""

from argparse import Namespace

from privhp.domains import Domain
from privhp.domains.specs import Described, parse_columns, parse_domain, read_described
from privhp.plan import Plan


def read_plan(options: Namespace, domain: Domain) -> Plan:
    """The plan that the options ask for: the best for a memory, or the paper's."""
    if options.memory is not None:
        return Plan.auto(
            domain,
            epsilon=options.epsilon,
            records=options.records,
            memory=options.memory,
            neighbours=options.neighbours,
            max_records_per_person=options.max_records_per_person,
        )
    return Plan.paper(
        domain,
        epsilon=options.epsilon,
        records=options.records,
        hot_cells=options.hot_cells,
        exact_depth=options.exact_depth,
        depth=options.depth,
        sketch_rows=options.sketch_rows,
        sketch_width=options.sketch_width,
        expand=options.expand,
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
