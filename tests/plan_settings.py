"""Parameters of small plans that several tests change one by one, and copies of plans."""

import copy
import json
import pickle
from typing import Any

from privhp import Interval, Plan

UNIT = Interval(0, 1)
SMALL: dict[str, Any] = {
    "epsilon": 1,
    "budgets": {0: "0.1", 2: "0.2", 3: "0.3", 5: "0.4"},
    "exact_depth": 2,
    "sketch_rows": 3,
    "sketch_width": 8,
    "hot_cells": 4,
    "hash_seed": 7,
}
"""Exact levels and sketches."""
PAPER: dict[str, Any] = {"epsilon": 1, "expected_records": 1e6, "hot_cells": 16, "hash_seed": 7}
"""The settings of the paper."""


def copies(plan: Plan) -> list[Plan]:
    """The plan after each way to copy it."""
    return [
        Plan.from_spec(json.loads(json.dumps(plan.spec()))),
        pickle.loads(pickle.dumps(plan)),
        copy.deepcopy(plan),
    ]
