"""Estimates: values, standard errors and intervals of masses, distribution functions and quantiles."""

import operator
import pickle
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pytest

import privhp as hp
from privhp.answers.estimate import Estimate, format_length
from privhp.answers.hierarchy_errors import HierarchyErrors
from releases import release_of

Z = NormalDist().inv_cdf(0.95)


@pytest.fixture(scope="module")
def generator() -> hp.Generator:
    return fitted(hp.Interval(0, 10), np.random.default_rng(1).beta(2, 5, 20_000) * 10)


@pytest.fixture(scope="module")
def trips() -> hp.Generator:
    rng = np.random.default_rng(2)
    fare = rng.gamma(2, 8, 20_000).clip(0, 99)
    delay = np.ma.masked_array(rng.integers(0, 60, 20_000), mask=rng.random(20_000) < 0.3)
    return fitted(
        hp.Table(fare=hp.Interval(0, 100), delay=hp.Nullable(hp.Integers(0, 63)), kind=hp.Categories(["a", "b"])),
        {"fare": fare, "delay": delay, "kind": rng.choice(["a", "b"], 20_000, p=[0.3, 0.7])},
    )


def fitted(domain: hp.Domain, records: Any) -> hp.Generator:
    shared = Fraction(2, 15) if domain.columns else Fraction(0)  # of the columns, which are left out: leaves answer all
    plan = hp.Plan.auto(domain, epsilon=1 / (1 - shared), expected_records=20_000)
    summary = hp.Summary(replace(plan, columns={}))
    summary.update(records)
    return summary.release()


class Constant(NamedTuple):
    """Uncertainty of a normal estimate with this standard error."""

    value: Any
    stderr: Any
    resolved: bool = True

    def interval(self, z: float) -> tuple[Any, Any]:
        return self.value - z * self.stderr, self.value + z * self.stderr


def constant(value: Any, stderr: Any) -> Estimate[Any]:
    return Estimate(value, Constant(value, stderr))


@pytest.mark.parametrize("name", ["error", "where", "weights", "region", "self"])
def test_mass_of_column_with_any_name(name: str) -> None:
    rng = np.random.default_rng(0)
    table = hp.Table({name: hp.Interval(0, 10), "b": hp.Interval(0, 10)})
    generator = fitted(table, {name: rng.random(20_000) * 10, "b": rng.random(20_000) * 10})
    region = {name: (0, 1), "b": (0, 1)}
    assert generator.mass(region).value == pytest.approx(0.01, abs=0.005)
    assert generator.mass(where=region).value == generator.mass(region).value
    assert generator.mass_bounds(where=region) == generator.mass_bounds(region)
    assert generator.marginal([name, "b"]).mass(region).value == pytest.approx(generator.mass(region).value)
    with pytest.raises(TypeError, match="unexpected keyword"):
        generator.mass(b=(0, 1))  # type: ignore[arg-type]  # a region is one argument


def test_scalars_in_scalars_out(generator: hp.Generator) -> None:
    for estimate in (generator.mass((0, 5)), generator.cdf(5), generator.quantile(0.5)):
        assert type(estimate.value) is float
        assert type(estimate.stderr) is float
        assert [type(end) for end in estimate.interval()] == [float, float]
    for estimate in (generator.cdf([5]), generator.quantile([0.5])):
        assert estimate.value.shape == estimate.stderr.shape == (1,)
    assert generator.quantile([[0.1, 0.5]]).value.shape == (1, 2)


def test_scalars_of_integers_and_times() -> None:
    integers = fitted(hp.Integers(0, 1000), np.random.default_rng(1).integers(0, 1000, 20_000))
    median = integers.quantile(0.5)
    assert type(median.value) is int
    low, high = median.interval()
    assert type(low) is int
    assert low <= median.value <= high
    assert integers.cdf(low - 2).interval()[1] <= 0.5 <= integers.cdf(high + 2).interval()[0]
    days = np.datetime64("2020-01-01") + np.random.default_rng(1).integers(0, 365, 20_000)
    times = fitted(hp.Time("2020-01-01", "2021-01-01", unit="s"), days)
    median = times.quantile(0.5)
    assert isinstance(median.value, np.datetime64)
    assert isinstance(median.stderr, np.timedelta64)
    low, high = median.interval()
    assert low < median.value < high
    assert float(times.cdf("2020-06-30")) == pytest.approx(0.5, abs=0.05)
    for estimate in (median, times.std()):
        with pytest.raises(TypeError, match=r"a time or a duration, not a number; use estimate\.value"):
            float(estimate)


def test_standard_error_is_computed_on_first_access_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, compute = [], HierarchyErrors.standard_errors
    monkeypatch.setattr(
        HierarchyErrors, "standard_errors", lambda self, regions: calls.append(1) or compute(self, regions)
    )
    estimate = fitted(hp.Interval(0, 1), np.random.default_rng(0).random(20_000)).mass((0.1, 0.35))
    assert float(estimate) == estimate.value
    assert calls == []
    assert estimate.stderr == estimate.stderr
    assert calls == [1]


def test_interval_from_normal_quantiles() -> None:
    low, high = constant(3.0, 0.5).interval(0.9)
    assert (low, high) == pytest.approx((3 - Z * 0.5, 3 + Z * 0.5))
    low, high = constant(np.array([1.0, 2.0]), np.array([0.1, 0.2])).interval(0.5)
    assert high - low == pytest.approx(2 * 0.6744897501960817 * np.array([0.1, 0.2]))


def test_interval_is_clipped_to_domain(generator: hp.Generator) -> None:
    low, high = generator.mass((0, 9.999)).interval(1 - 1e-9)
    assert 0 <= low <= high <= 1
    low, high = generator.quantile(1e-9).interval(1 - 1e-9)
    assert 0 <= low <= high <= 10


@pytest.mark.parametrize(("extreme", "near", "end"), [(1.0, 1 - 1e-5, 0), (0.0, 1e-5, 1)])
def test_extreme_quantiles_are_as_uncertain_as_those_beside_them(extreme: float, near: float, end: int) -> None:
    """No record is above 2 of a domain to 10: the release does not know where the largest one is."""
    half = fitted(hp.Interval(0, 10), 4 + np.random.default_rng(3).beta(5, 5, 20_000))
    found, beside = (half.quantile(share).interval()[end] for share in (extreme, near))
    assert abs(found - 5) <= abs(beside - 5) + 0.5


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
def test_interval_of_quantile_stays_in_domain(share: float) -> None:
    generator = fitted(hp.Integers(0, 255, dtype="u1"), np.random.default_rng(1).integers(0, 256, 20_000))
    low, high = generator.quantile(share).interval(0.999)
    assert 0 <= low <= generator.quantile(share).value <= high <= 255


@pytest.mark.parametrize("level", [0, 1, -0.5, 90, True, "0.9", float("nan")])
def test_level_of_interval_is_checked(level: Any) -> None:
    with pytest.raises(hp.QueryError, match="confidence level between 0 and 1"):
        constant(0.5, 0.1).interval(level)


def test_repr_of_bounds() -> None:
    """A region that is finer than the leaves has bounds, not a standard error."""
    assert repr(Estimate(0.066, Constant(0.066, 0.04, resolved=False))) == "between 0.02% and 13.2%"
    several = Estimate(np.array([0.5, 0.5]), Constant(np.array([0.5, 0.5]), np.array([0.0, 0.0]), resolved=False))
    assert repr(several) == "between [0.5 0.5] and [0.5 0.5]"
    plan = hp.Plan(hp.Interval(0, 1), epsilon=1, budgets={2: 1}, exact_depth=2, inference="least-squares")
    summary = hp.Summary(plan)
    summary.update(np.full(10_000, 0.3))
    generator = summary.release()
    assert not generator.mass((0.3, 0.31)).resolved
    assert generator.mass((0.3, 0.31)).interval()[1] > 0.99
    assert repr(generator.mass((0.3, 0.31))).startswith("between 0% and 10")
    assert generator.mass((0.25, 0.5)).resolved
    low, high = generator.mass_bounds((0.3, 0.31))
    assert generator.mass((0.3, 0.31)).interval()[0] <= low
    assert generator.mass((0.3, 0.31)).interval()[1] >= high


def test_interval_without_a_noisy_record() -> None:
    """The answer is that of the base measure, and the interval holds every answer."""
    plan = hp.Plan(hp.Interval(0, 1), epsilon=1, budgets={2: 1}, exact_depth=2, inference="least-squares")
    estimate = hp.Generator(release_of(plan, [])).mass((0, 0.6))
    assert estimate.value == 0.6
    assert estimate.interval(0.5) == (0.0, 1.0)


@pytest.mark.parametrize("domain", [hp.Integers(0, 127), hp.Interval(0, 128)], ids=repr)
def test_interval_of_a_quantile_reaches_the_next_value(domain: hp.Domain) -> None:
    """If fewer than half the records may be at the first of two values, the median may be the second."""
    plan = hp.Plan(domain, epsilon=1, budgets={7: 1}, exact_depth=7, inference="least-squares")
    generator = hp.Generator(release_of(plan, np.repeat([40, 50], [10_001, 9_999])))
    low, high = generator.quantile(0.5).interval()
    assert 40 <= low < 41
    assert 50 <= high <= 51


def test_repr_and_format() -> None:
    assert repr(constant(0.07041, 0.00123)) == "0.0704 +- 0.0012"
    assert repr(constant(1234.5, 20.0)) == "1234 +- 20"
    assert repr(constant(0.0, 0.0)) == "0.0000 +- 0.0000"
    assert repr(constant(7, 1.25)) == "7 +- 1.2"
    assert str(constant(np.datetime64("2020-02-29"), np.timedelta64(2, "D"))) == "2020-02-29 +- 2 days"
    assert repr(constant(np.array([1.0, 2.0]), np.array([0.5, 0.5]))) == "[1. 2.] +- [0.5 0.5]"
    assert f"{constant(0.07041, 0.00123):.1%}" == "7.0%"
    assert f"{constant(0.07041, 0.00123)}" == "0.0704 +- 0.0012"


def test_times_are_marked_and_durations_have_units() -> None:
    noon = np.datetime64("2020-02-29T12:00:00")
    assert repr(constant(noon, np.timedelta64(90, "m"))) == "2020-02-29T12:00:00Z +- 1.5 hours"
    several = constant(np.array([noon, noon + 1]), np.array([60, 0], dtype="m8[s]"))
    assert repr(several) == "[2020-02-29T12:00:00Z 2020-02-29T12:00:01Z] +- [1 minute 0 seconds]"
    assert format_length(np.timedelta64(0, "D")) == "0 days"
    days = constant(np.array(["2020-02-29"], dtype="M8[D]"), np.array([2], dtype="m8[D]"))
    assert repr(days) == "[2020-02-29] +- [2 days]"


def test_rounded_value() -> None:
    assert round(constant(0.07041, 0.00123), 3) == 0.07
    assert round(constant(0.07041, 0.00123)) == 0
    with pytest.raises(TypeError):
        round(constant(np.datetime64("2020-02-29"), np.timedelta64(2, "D")))


def bounded(*bounds: float) -> Estimate[float]:
    """A mass of 0.3 with a standard error of 0.01 and these bounds of its cells."""
    return Estimate(0.3, Constant(0.3, 0.01), lambda: (bounds[0], bounds[1]))


def test_bounds_of_cells_beyond_the_interval() -> None:
    low, high = constant(0.3, 0.01).interval()
    assert bounded(0.1, 0.3).cell_bounds == (0.1, high)
    assert bounded(0.29, 0.5).cell_bounds == (low, 0.5)
    assert bounded(low - 0.009, high + 0.009).cell_bounds is None
    assert constant(0.3, 0.01).cell_bounds is None
    assert Estimate(0.3, Constant(0.3, 0.01, resolved=False), lambda: (0.0, 1.0)).cell_bounds is None
    assert repr(bounded(0.1, 0.5)) == "0.300 +- 0.010, cells allow 0.100 to 0.500"


def test_arrays_of_estimates(generator: hp.Generator) -> None:
    assert np.array_equal(np.asarray(generator.cdf([1, 2])), generator.cdf([1, 2]).value)
    assert np.isclose(generator.mass((0, 5)), generator.cdf(5).value)
    assert np.asarray(generator.mass((0, 5)), dtype=np.float32).dtype == np.float32


def test_repr_of_rounding_errors() -> None:
    assert repr(constant(1.0, 1e-17)) == "1.0000 +- 0.0000"
    assert repr(constant(0.0, 1e-17)) == "0 +- 1e-17"
    assert repr(constant(3.25e-14, 1e-15)) == "3.25e-14 +- 1e-15"


def test_comparison_with_number_is_refused(generator: hp.Generator) -> None:
    estimate = generator.mass((0, 5))
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for number in (0.5, 1, np.float64(0.5)):
            with pytest.raises(TypeError, match=r"compute with float\(estimate\) or estimate.value"):
                compare(estimate, number)
        with pytest.raises(TypeError, match="not a number"):
            compare(0.5, estimate)
    assert estimate == estimate
    assert estimate != generator.mass((0, 5))
    assert estimate in {estimate}
    assert estimate != "text"


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]


def test_arithmetic_is_refused_with_advice(generator: hp.Generator) -> None:
    estimate = generator.mass((0, 5))
    for compute in BINARY:
        for operands in ((estimate, 2), (2, estimate), (estimate, estimate)):
            with pytest.raises(TypeError, match=r"compute with float\(estimate\) or estimate.value"):
                compute(*operands)
    for sign in (operator.neg, operator.abs):
        with pytest.raises(TypeError, match="an Estimate is not a number"):
            sign(estimate)
    assert np.array([2.0]) * estimate == 2 * estimate.value


@pytest.mark.parametrize("value", [None, [None, 0.5], "a", ["0.5", "a"], object(), [[1], [2, 3]], 1j, {}, "NaT"])
@pytest.mark.parametrize("domain", [hp.Interval(0, 1), hp.Integers(0, 9), hp.Time("2020-01-01", "2021-01-01")])
def test_values_of_other_types_are_refused(domain: hp.Domain, value: Any) -> None:
    generator = hp.Summary(hp.Plan(domain, epsilon=1, budgets={1: 1}, exact_depth=1)).release()
    for query in (generator.cdf, generator.quantile):
        with pytest.raises(hp.QueryError, match="expected "):
            query(value)


def test_cdf_of_readable_values(generator: hp.Generator, trips: hp.Generator) -> None:
    expected = generator.cdf(5).value
    assert generator.cdf("5").value == expected
    assert generator.cdf(Fraction(5)).value == expected
    assert generator.cdf([Decimal(5)]).value == [expected]
    for value in (np.datetime64("2020-01-01"), np.timedelta64(5, "s")):
        with pytest.raises(hp.QueryError, match="expected numbers for a cdf"):
            generator.cdf(value)


def test_advice_for_domains_without_order(trips: hp.Generator) -> None:
    for query in ("cdf", "quantile"):
        with pytest.raises(hp.DomainError, match=r"has no order.*; use marginal\(COLUMN\)$"):
            getattr(trips, query)(0.5)
        with pytest.raises(
            hp.DomainError, match=r"has no order.*; use marginal\('delay', null=False\), the values that are not null$"
        ):
            getattr(trips.marginal("delay"), query)(0.5)
        with pytest.raises(hp.DomainError, match=r"no quantiles$"):
            getattr(trips.marginal("kind"), query)(0.5)


def test_estimate_can_be_pickled(trips: hp.Generator) -> None:
    for estimate in (trips.mass({"fare": (0, 5)}), trips.marginal("delay", null=False).quantile([0.1, 0.5])):
        again = pickle.loads(pickle.dumps(estimate))
        assert np.array_equal(again.value, estimate.value)
        assert np.array_equal(again.stderr, estimate.stderr)


# Marginals


def test_mass_of_marginal_has_standard_error_of_joint_region(trips: hp.Generator) -> None:
    for region in ((0, 5), (3.3, 17.1), (None, 40)):
        expected = trips.mass({"fare": region}).stderr
        assert trips.marginal("fare").mass(region).stderr == pytest.approx(expected, rel=1e-9)
        assert trips.marginal(["fare"]).mass({"fare": region}).stderr == pytest.approx(expected, rel=1e-9)
        twice = trips.marginal(["fare", "kind"]).marginal("fare")
        assert twice.mass(region).stderr == pytest.approx(expected, rel=1e-9)
    region = {"kind": "a", "delay": None}
    assert trips.marginal(["kind", "delay"]).mass(region).stderr == pytest.approx(trips.mass(region).stderr, rel=1e-9)
    assert trips.marginal("delay").mass(None).stderr == pytest.approx(trips.mass({"delay": None}).stderr, rel=1e-9)


def test_quantile_of_marginal_has_standard_error_of_cdf(trips: hp.Generator) -> None:
    fares = trips.marginal("fare")
    median = fares.quantile(0.5)
    cdf = fares.cdf(median.value)
    assert cdf.stderr == pytest.approx(trips.mass({"fare": (None, median.value)}).stderr, rel=1e-6)
    low, high = median.interval(0.9)
    assert low <= median.value <= high
    for value in np.linspace(low - 1, high + 1, 41):
        possible = fares.cdf(value).interval(0.9)
        # The standard error varies with the value, so intervals between the ends may miss the share narrowly.
        assert possible[0] - 0.001 <= 0.5 <= possible[1] + 0.001 or not low + 0.05 < value < high - 0.05
        assert not possible[0] + 0.001 < 0.5 < possible[1] - 0.001 or low - 0.05 < value < high + 0.05


def test_conditional_mass_of_values_without_null_is_ratio(trips: hp.Generator) -> None:
    """Conditioning on a value is a ratio: its standard error lies near that of the joint region over the share."""
    values, share = trips.marginal("delay", null=False), trips.mass({"delay": (None, None)}).value
    for region in ((0, 3), (0, 31), (20, 55)):
        joint = trips.mass({"delay": region})
        estimate = values.mass(region)
        assert estimate.value == pytest.approx(joint.value / share)
        assert 0.3 * joint.stderr / share < estimate.stderr < 1.5 * joint.stderr / share
    assert values.mass((None, None)).stderr == pytest.approx(0, abs=1e-9)
    low, high = values.quantile(0.5).interval()
    assert low <= values.quantile(0.5).value <= high


def test_answers_of_an_array(generator: hp.Generator) -> None:
    shares = [0.1, 0.5, 0.9]
    whole = generator.quantile(shares)
    assert len(whole) == 3
    for own, share, alone in zip(whole, shares, map(generator.quantile, shares), strict=True):
        assert repr(own) == repr(alone)
        assert isinstance(own.value, float)
        assert (own.value, own.stderr, own.interval(0.5)) == (alone.value, alone.stderr, alone.interval(0.5))
        assert own.asked[0] == "share"
        assert own.asked[1] == share
    several = whole[1:]
    assert several.value.tolist() == whole.value[1:].tolist()
    assert several.interval()[1].tolist() == whole.interval()[1][1:].tolist()
    with pytest.raises(IndexError):
        whole[3]


def test_answers_of_an_array_are_resolved_by_themselves(trips: hp.Generator) -> None:
    regions = [{"fare": (0, 50)}, {"fare": (99.9990, 99.9991)}]
    whole = trips.masses(regions)
    assert not whole.resolved
    assert [whole[place].resolved for place in range(2)] == [trips.mass(region).resolved for region in regions]
    assert [own.resolved for own in whole] == [True, False]


def test_times_of_an_array() -> None:
    domain = hp.Time("2024-01-01", "2024-02-01", zone="Europe/Berlin")
    whole = fitted(domain, np.full(100, np.datetime64("2024-01-10"))).quantile([0.2, 0.8])
    assert isinstance(whole[0].value, np.datetime64)
    assert whole[0].zone == whole.zone == "Europe/Berlin"


def test_a_single_answer_is_no_array(generator: hp.Generator) -> None:
    single = generator.mass((0, 1))
    for ask in (len, list, lambda own: own[0]):
        with pytest.raises(TypeError, match=r"a single answer; use estimate.value"):
            ask(single)
    assert single
    assert generator.masses([])  # as any object
