"""Decimals with and without a declared step, and wide bounds: the figures of docs/choosing.md.

python -m benchmarks.steps
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import privhp as hp

RANGES = ((10.0, 20.0), (5.0, 50.0), (100.0, 200.0), (0.01, 4.99), (20.0, 29.99))
FITS, FITS_OF_BOUNDS = 3, 10
WIDTHS = (1e3, 1e6, 1e9)

Numbers = NDArray[np.float64]


def streams(size: int) -> Iterator[tuple[str, Numbers]]:
    """Decimals with two digits after the point, from 0 to 1000."""
    rng = np.random.default_rng(11)
    prices = np.round(rng.lognormal(2.5, 0.9, size), 2).clip(0, 999)
    prices[::2] = np.floor(prices[::2]) + 0.99
    yield "half of the prices end in .99", rng.permutation(prices)
    reported = np.round(rng.gamma(2, 30, size), 2).clip(0, 999)
    some = rng.random(size) < 0.44
    reported[some] = np.rint(reported[some] / 5) * 5
    yield "44% are multiples of 5", reported
    yield "smooth", np.round(rng.normal(500, 80, size), 2).clip(0, 1000)
    weights = 1 / np.arange(1, 301)
    yield "300 values", rng.choice(np.round(rng.random(300) * 1000, 2), size, p=weights / weights.sum())


def compare_steps(size: int, epsilon: float) -> None:
    """Print hits of samples, errors of heaps and ranges, and W1, without and with a step."""
    print(f"\n{size:,} records, epsilon = {epsilon}, 1 MiB; means of {FITS} fits")
    print("stream, step: samples that are values, error of the 20 largest shares, error of 5 ranges, W1 of a sample")
    line = hp.Interval(0, 1000)
    for name, records in streams(size):
        values, counts = np.unique(records, return_counts=True)
        heaps = np.argsort(counts)[-20:]
        truth = [np.mean((records >= low) & (records <= high)) for low, high in RANGES]
        for step in (None, "0.01"):
            found = []
            for _ in range(FITS):
                domain = hp.Interval(0, 1000, step=step)
                own = hp.fit(records, domain, epsilon=epsilon, expected_records=size, memory="1 MiB")
                sample = own.sample(size)
                shares = [np.mean(sample == value) for value in values[heaps]]
                answers = [float(own.mass(ends)) for ends in RANGES]
                found.append(
                    (
                        np.isin(sample, values).mean(),
                        np.abs(np.array(shares) - counts[heaps] / size).mean(),
                        np.abs(np.array(answers) - truth).mean(),
                        hp.wasserstein(sample, records, domain=line),
                    )
                )
            hits, heap, ranges, distance = np.mean(found, axis=0)
            print(f"{name}, {step}: {hits:.1%}, {heap:.3%}, {ranges:.4%}, {distance:.4f}", flush=True)


def compare_bounds(size: int) -> None:
    """Print the errors of median, mean, mean of a sample and W1 of amounts around 14, for bounds of several widths."""
    records = np.round(np.random.default_rng(3).lognormal(np.log(14), 0.8, size), 2).clip(0, 999)
    print(f"\n{size:,} amounts around 14, epsilon = 1; means of {FITS_OF_BOUNDS} fits")
    print("upper bound: median, mean, mean of a sample, W1 off by")
    for high in WIDTHS:
        found = []
        for _ in range(FITS_OF_BOUNDS):
            own = hp.fit(records, hp.Interval(0, high), epsilon=1, expected_records=size)
            median = abs(float(own.quantile(0.5)) / np.median(records) - 1)
            means = [abs(mean - records.mean()) for mean in (float(own.mean()), own.sample(size).mean())]
            found.append((median, *means, hp.wasserstein(own, records)))
        median, mean, of_sample, distance = np.mean(found, axis=0)
        print(f"{high:,.0f}: {median:.3%}, {mean:.4f}, {of_sample:.4f}, {distance:.4f}", flush=True)


def main() -> None:
    """Print all figures."""
    for size, epsilon in ((1_000_000, 1.0), (100_000, 0.1)):
        compare_steps(size, epsilon)
    compare_bounds(1_000_000)


if __name__ == "__main__":
    main()
