"""Clusters far from the core of a variable, and what the moments of groups hold of them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import privhp as hp
from privhp.answers.far_clusters import find_clusters
from privhp.answers.variables import Variable
from privhp.release import Release

LEAVES = 2_000


def search(counts: NDArray[np.float64], scale: float, **changed: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Clusters among leaves of independent noise with a scale, at the distances 1, 2, 3 ..."""
    variances = np.full(LEAVES, 2.0 * scale**2)

    def noise(weights: NDArray[np.float64]) -> float:
        return float(np.sqrt(weights**2 @ variances))

    given: dict[str, Any] = {
        "offsets": np.arange(1.0, LEAVES + 1),
        "counts": counts,
        "variances": variances,
        "side": np.arange(LEAVES),
        "noise": noise,
        "core_noise": scale,
        "least_z": 3.0,
    }
    return find_clusters(**(given | changed))


def test_noise_is_no_cluster() -> None:
    """Of 200 tails of exponential noise, hardly any has a cluster; at the threshold of normal noise many would."""
    rng = np.random.default_rng(0)
    found = [search(rng.laplace(0, 3, LEAVES), 3.0) for _ in range(200)]
    assert sum(clusters.any() for clusters, _ in found) <= 5
    assert sum(possible.any() for _, possible in found) >= 20


@pytest.mark.parametrize(("place", "width"), [(700, 1), (1990, 4), (20, 64)])
def test_records_in_a_window_are_a_cluster(place: int, width: int) -> None:
    counts = np.random.default_rng(1).laplace(0, 3, LEAVES)
    counts[place : place + width] += 3 * 40 / np.sqrt(width)
    clusters, possible = search(counts, 3.0)
    assert clusters[place : place + width].mean() > 0.9
    assert clusters.sum() < 3 * width
    assert not (clusters & possible).any()


def test_leaves_with_the_same_value_count_together() -> None:
    rng = np.random.default_rng(2)
    counts, side = rng.laplace(0, 3, LEAVES), rng.permutation(LEAVES) // 20
    counts[side == 50] += 20.0
    assert search(counts, 3.0, side=side, offsets=1.0 + side)[0][side == 50].all()
    assert not search(counts, 3.0)[0].any(), "one by one they are noise"


def test_no_leaf_has_no_cluster() -> None:
    clusters, possible = search(np.zeros(LEAVES), 3.0, variances=np.zeros(LEAVES))
    assert not clusters.any()
    assert not possible.any()


REGIONS, DRUGS = [f"r{number}" for number in range(8)], list("ABC")
TABLE = hp.Table(price=hp.Interval(0, 1000, step="0.01"), region=hp.Categories(REGIONS), drug=hp.Categories(DRUGS))
SIZE = 60_000


def prices(seed: int) -> dict[str, NDArray[Any]]:
    """Prices around 10, of which one of 200 is near 250."""
    rng = np.random.default_rng(seed)
    price = np.round(rng.lognormal(2.2, 0.6, SIZE), 2).clip(0, 150)
    far = rng.random(SIZE) < 0.005
    price[far] = 249.99 + rng.choice([0, 1, 2, 5], np.count_nonzero(far))
    return {"price": price, "region": rng.choice(REGIONS, SIZE), "drug": rng.choice(DRUGS, SIZE)}


def held(releases: list[Release], data: dict[str, NDArray[Any]], regions: list[str]) -> int:
    """Number of intervals of the mean of a region that hold."""
    found = 0
    for generator in map(hp.Generator, releases):
        for region in regions:
            low, high = generator.marginal("price", where={"region": region}).mean().interval(0.9)
            found += bool(low <= data["price"][data["region"] == region].mean() <= high)
    return found


def test_means_of_groups_hold_a_cluster_of_all_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what all records show, the cluster is missing from many groups: the arm that must lose.

    Of 80 intervals of ten releases, 71 to 73 held, and 15 to 22 in that arm.
    """
    data = prices(0)
    releases = [hp.fit(data, TABLE, epsilon="0.5", expected_records=SIZE).release for _ in range(10)]
    assert held(releases, data, REGIONS) >= 65
    nothing = property(lambda own: np.zeros(own.present.shape, dtype=np.bool_))
    monkeypatch.setattr(Variable, "_shown_by_all", nothing)
    assert held(releases, data, REGIONS) <= 55


def test_a_group_without_the_cluster_holds_too() -> None:
    data = prices(1)
    here = data["region"] == "r0"
    data["price"][here] = np.minimum(data["price"][here], 150.0)
    releases = [hp.fit(data, TABLE, epsilon=1, expected_records=SIZE).release for _ in range(4)]
    assert held(releases, data, ["r0"]) >= 2
