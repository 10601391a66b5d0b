"""The card of a release: what it says about itself, in the fields of the public registry of deployments of DP.

The registry is https://github.com/opendp/deployments-registry-data. Its schema
of a deployment has the sections and fields below. The card is YAML; fields that a
release cannot know are blank, with a comment.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from privhp.answers.generator import Generator
from privhp.core.version import __version__
from privhp.planning.guarantee import state_conditions, state_definition, state_guarantee
from privhp.planning.plan import Plan
from privhp.planning.prediction_table import prediction_table

_ORIGIN = """\
# Card of a release, in the fields of the registry of deployments of differential privacy:
# https://github.com/opendp/deployments-registry-data
# privhp inspect --card wrote what the release says about itself. Fill in every "".
"""


def release_card(generator: Generator) -> str:
    """The card as YAML."""
    return _ORIGIN + "\n".join(_lines({"url_slug": "", "deployment": _deployment(generator)})) + "\n"


def _deployment(generator: Generator) -> dict[str, Any]:
    plan = generator.plan
    return {
        "basic": {
            "name": "",
            "data_curators": [{"data_curator_name": "", "data_curator_type": ""}],
            "description": "",
            "intended_use": "",
            "data_product_type": "Synthetic data",
            "data_product_region": "",
            "data_product_sector": "",
            "publication_date": "",
        },
        "dp_variant": {
            "variant_name": "Pure DP",
            "data_domain": f"Multisets of records of {plan.domain!r}.",
            "unprotected_quantities": "None. Domain, bounds, epsilon and sizes were fixed before the data.",
        },
        "privacy_loss": _privacy_loss(generator),
        "deployment_model": {
            "model_name": "Central",
            "trust_assumptions": "Who runs privhp sees the records, and keeps them and the state of a run "
            "confidential. Who sees the release may know all other records.",
            "release_type": "One release",
            "release_type_details": "Each further release of the same records adds its own epsilon.",
            "data_source_type": "Static",
            "access_type": "Non-interactive",
            "access_type_details": "Samples and answers are computed from the release alone.",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": "privhp took no parameter from the records; bounds, "
            f"epsilon and the expected number are declared. {state_conditions(plan)}",
            "mechanisms": _mechanisms(plan),
            "composition": _composition(generator),
            "post_processing": f"Constrained inference ({plan.inference}) makes the noisy counts consistent and "
            "non-negative; synthetic records are sampled from the cells. Both read the release alone.",
            "justification": "",
            "utility": _utility(plan),
        },
        "administrative": {"status": "Draft", "registry_authors": [""], "tier": 3},
    }


def _privacy_loss(generator: Generator) -> dict[str, Any]:
    plan = generator.plan
    most = plan.max_records_per_person
    unit = "one record of a person" if most == 1 else f"up to {most:,} records of a person"
    adjacent = f"replacing {unit}" if plan.neighbours == "replace-one" else f"adding or removing {unit}"
    units, unknown = {"number_of_privacy_units": round(generator.total)}, ""
    if most > 1:
        units, unknown = {}, " The number of persons is not known: the release counts records."
    pan = " A stolen summary file and the release together have it too." if plan.pan_private else ""
    return {
        "privacy_unit": "Person",
        "privacy_unit_details": f"Two data sets are adjacent if they differ by {adjacent} ({plan.neighbours}). "
        f"{state_guarantee(plan)}{unknown}",
        **units,
        "privacy_parameters": {"epsilon": float(plan.epsilon)},
        "privacy_parameters_details": f"{state_definition(plan)}{pan}",
    }


def _mechanisms(plan: Plan) -> str:
    levels = ", ".join(f"{level} ({float(budget):.4g})" for level, budget in plan.budgets.items())
    return (
        f"privhp {__version__}: counts of cells of a hierarchical partition with exact discrete Laplace noise, in "
        "integers from the entropy of the operating system; no floating-point number precedes the noise. Measured "
        f"levels and their budgets: {levels}.{_columns(plan)}"
    )


def _columns(plan: Plan) -> str:
    """Sentence on the columns that are measured by themselves."""
    budgets = {label: float(sum(own.budgets.values())) for label, own in plan.columns.items()}
    listed = ", ".join(f"{label} ({budget:.4g})" for label, budget in budgets.items())
    return f" Columns of the table that are measured by themselves, and their budgets: {listed}." if listed else ""


def _composition(generator: Generator) -> str:
    plan = generator.plan
    number = len(plan.budgets) + sum(len(own.budgets) for own in plan.columns.values())
    parts = [f"Sequential composition over {number} measured level{'s' * (number > 1)}"]
    if plan.learning is not None:
        parts.append(
            f"and {len(plan.learning.passes)} learning passes on Poisson samples, which cost "
            f"{float(plan.learning_cost):.4g} of epsilon by amplification"
        )
    merged = generator.release.merged
    several = f" Parallel composition over {merged:,} merged summaries of disjoint records." if merged > 1 else ""
    return f"{' '.join(parts)}. Budgets are exact rationals and sum to at most epsilon.{several}"


def _utility(plan: Plan) -> str:
    if not plan.expected_records:
        return ""
    errors = ", ".join(f"{error} if they are {note}" for note, error, *_ in prediction_table(plan)[1])
    return (
        f"Predicted 1-Wasserstein distance for {plan.expected_records:,} records: {errors}. "
        f"{plan.domain.distance_meaning}"
    )


def _lines(value: Any, indent: str = "") -> Iterator[str]:
    """YAML lines of mappings, lists and scalars; scalars are written as in JSON, which YAML includes."""
    if isinstance(value, Mapping):
        for key, own in value.items():
            if isinstance(own, Mapping | list):
                yield f"{indent}{key}:"
                yield from _lines(own, f"{indent}  ")
            else:
                yield f"{indent}{key}: {json.dumps(own, ensure_ascii=False)}{'  # fill in' if own == '' else ''}"
        return
    for own in value:
        first, *others = _lines(own, "") if isinstance(own, Mapping) else [f"{json.dumps(own)}  # fill in"]
        yield f"{indent}- {first}"
        yield from (f"{indent}  {line}" for line in others)
