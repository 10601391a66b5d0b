"""Prefixes of codes from a release and from a noisy histogram of all codes: the figures of docs/howto-codes.md.

python -m benchmarks.codes
"""

import numpy as np
from numpy.typing import NDArray

import privhp as hp
from privhp.core.cells import Floats

DOMAIN = hp.Pattern("[A-Z][0-9]{2}([.][0-9]{1,2})?")
SIZES = (10_000, 100_000, 1_000_000)
EPSILON = 1
FITS = 5
FREQUENT = 50

Texts = NDArray[np.str_]


def zipf(rng: np.random.Generator, size: int, values: int) -> NDArray[np.int64]:
    """Numbers below `values` with frequencies 1, 1/2, 1/3, ... in random order."""
    weights = 1 / np.arange(1, values + 1)
    return rng.permutation(values)[rng.choice(values, size, p=weights / weights.sum())]


def stream(size: int) -> Texts:
    """Codes of diseases: a chapter, a category and a detail of it, each by Zipf's law; one in four has no detail."""
    rng = np.random.default_rng(5)
    chapters, categories = zipf(rng, size, 26), zipf(rng, size, 100)
    details = zipf(rng, size, 110)
    texts = [
        f"{chr(65 + chapter)}{(category + 37 * chapter) % 100:02}"
        + f".{_detail((detail + 41 * category) % 110)}" * long
        for chapter, category, detail, long in zip(
            chapters.tolist(), categories.tolist(), details.tolist(), (rng.random(size) < 0.75).tolist(), strict=True
        )
    ]
    return np.array(texts)


def _detail(number: int) -> str:
    return str(number) if number < 10 else f"{number - 10:02}"


def all_codes() -> Texts:
    """Every text of the pattern."""
    categories = [f"{chr(65 + letter)}{number:02}" for letter in range(26) for number in range(100)]
    details = ["", *(f".{_detail(number)}" for number in range(110))]
    return np.array([category + detail for category in categories for detail in details])


def flat(counts: Floats, rng: np.random.Generator) -> Floats:
    """Counts of all codes with discrete Laplace noise of the whole budget."""
    share = 1 - np.exp(-EPSILON)
    noisy: Floats = counts + rng.geometric(share, counts.size) - rng.geometric(share, counts.size)
    return noisy


def regions_of(records: Texts) -> list[list[str]]:
    """All chapters, the most frequent categories, and the most frequent codes."""
    chapters, categories, codes = (_by_frequency(records.astype(kind)) for kind in ("U1", "U3", "U6"))
    return [[f"{own}*" for own in chapters], [f"{own}*" for own in categories[:FREQUENT]], codes[:FREQUENT]]


def _by_frequency(texts: Texts) -> list[str]:
    found, counts = np.unique(texts, return_counts=True)
    return [str(own) for own in found[np.argsort(-counts)]]


def shares(counts: Floats, codes: Texts, regions: list[list[str]], size: float) -> list[Floats]:
    """Share of each region, from counts of all codes."""
    members = [
        [np.strings.startswith(codes, own[:-1]) if own[-1] == "*" else codes == own for own in group]
        for group in regions
    ]
    return [np.array([counts[own].sum() for own in group]) / size for group in members]


def main() -> None:
    """Print errors of prefixes and W1 distances."""
    codes, rng = all_codes(), np.random.default_rng()
    print(f"epsilon = {EPSILON}; means of {FITS} fits; errors in percentage points, and W1 in the tree of prefixes")
    for size in SIZES:
        records = stream(size)
        known, counted = np.unique(records, return_counts=True)
        counts = np.zeros(codes.size)
        order = np.argsort(codes)
        counts[order[np.searchsorted(codes, known, sorter=order)]] = counted
        regions = regions_of(records)
        truths = shares(counts, codes, regions, size)
        found: dict[str, list[list[float]]] = {"privhp": [], "flat": [], "flat, negative counts removed": []}
        for _ in range(FITS):
            generator = hp.fit(records, DOMAIN, epsilon=EPSILON, expected_records=size)
            answers = [np.array([float(generator.mass(own)) for own in group]) for group in regions]
            distance = hp.tree_wasserstein(generator, records, depth=DOMAIN.depth)
            found["privhp"].append([*_errors(answers, truths), distance])
            noisy = flat(counts, rng)
            found["flat"].append([*_errors(shares(noisy, codes, regions, size), truths), np.nan])
            kept = np.maximum(noisy, 0)
            sample = rng.choice(codes, size, p=kept / kept.sum())
            distance = hp.tree_wasserstein(sample, records, domain=DOMAIN, depth=DOMAIN.depth)
            errors = _errors(shares(kept, codes, regions, kept.sum()), truths)
            found["flat, negative counts removed"].append([*errors, distance])
        print(
            f"\n{size:,} records of {known.size:,} codes; counters of the release: "
            f"{generator.plan.nbytes >> 10} KiB, of the histogram: {codes.size * 8 >> 10} KiB"
        )
        print(f"method: chapters, {FREQUENT} categories, {FREQUENT} codes, W1")
        for name, rows in found.items():
            print(f"{name}: " + ", ".join(f"{own:.3g}" for own in np.mean(rows, axis=0)))


def _errors(answers: list[Floats], truths: list[Floats]) -> list[float]:
    """Mean error of each group, in percentage points."""
    return [100 * float(np.abs(own - truth).mean()) for own, truth in zip(answers, truths, strict=True)]


if __name__ == "__main__":
    main()
