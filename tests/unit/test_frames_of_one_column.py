"""Data frames as batches of a domain without columns: each column is a value of a record, and others are refused."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp as hp

AGES = np.arange(400) % 100
COLUMNS = {"age": AGES, "ward": ["a", "b"] * 200, "charge": AGES / 7}
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]


def plan_of(domain: hp.Domain) -> hp.Plan:
    return hp.Plan.auto(domain, epsilon=50, expected_records=400)


@pytest.mark.parametrize("library", LIBRARIES)
def test_other_columns_are_refused(library: Any) -> None:
    """As `fit` refuses them; columns of several types counted nothing."""
    says = "expected a table of 1 column, as many as the domain takes, got more or fewer; select columns with "
    plan, frame = plan_of(hp.Integers(0, 100)), library(COLUMNS)
    with pytest.raises(hp.RecordsError, match=rf"^{says}frame\[\['NAME'\]\]; its columns are \['age', 'ward'"):
        hp.Summary(plan).update(frame)
    with pytest.raises(hp.RecordsError, match=rf"^{says}columns=\['NAME'\]; its columns are \['age', 'ward'"):
        hp.fit(frame, plan=plan)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("domain", [hp.Integers(0, 100), hp.Nullable(hp.Integers(0, 100))])
def test_the_columns_of_a_record_are_counted(library: Any, domain: hp.Domain) -> None:
    for own, columns in ((domain, {"age": AGES}), (domain.named("age"), COLUMNS)):
        summary = hp.Summary(plan_of(own))
        summary.update(library(columns))
        assert abs(summary.release().total - 400) < 20
    with pytest.raises(hp.RecordsError, match="expected a column 'years' in the batch, got none of that name"):
        hp.Summary(plan_of(domain.named("years"))).update(library(COLUMNS))


@pytest.mark.parametrize("library", LIBRARIES)
def test_latitude_first_is_refused(library: Any) -> None:
    plan, places = plan_of(hp.Geo(-9, 49.8, 2, 61)), {"lon": AGES / 100, "lat": 50 + AGES / 100}
    summary = hp.Summary(plan)
    summary.update(library(places))
    assert abs(summary.release().total - 400) < 20
    with pytest.raises(hp.RecordsError, match="name the longitude first"):
        hp.Summary(plan).update(library(dict(reversed(places.items()))))
