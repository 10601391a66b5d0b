"""Steps of constrained inference on sibling cells: inverse-variance weighting, shrinkage and projection.

The functions take counts with their variances and know nothing of how they
were measured. `inverse_variance_mean` is the step of the bottom-up pass,
`project_to_simplex` the step of the top-down pass of least squares, and
`spike_and_slab_posterior` shrinks estimates of empty cells in between.
`temper_splits` shrinks splits that show nothing but noise.
`enforce_consistency` is the paper's rule, a projection with equal variances.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Floats

EM_ITERATIONS = 20
"""Iterations of the expectation-maximisation for the share of empty cells; it converges in fewer."""

BIAS_BLOCK = 16
"""Neighbouring sums whose bias is estimated together."""

LEAST_DIFFERENCE = 0.1
"""Least variance of the difference of the unbiased and the shrunk count, as a share of that of the unbiased count."""

BIAS_MARGIN = 0.1
"""Standard deviations of the estimated squared bias of a block that are added to it."""

SQUARE_VARIANCE = 3.5
"""Variance of a squared difference, over its squared expectation: 2 for normal noise, 5 for Laplace noise, and this for
the sum of two Laplace draws."""

TEMPERED_BLOCK = 32
"""Neighbouring splits of a level that are tempered together."""

FEW_SPLITS = 8
"""Depths with fewer splits are tempered together."""

SPLIT_Z = 2.0
"""Standard deviations from which the difference of a split counts for itself, whatever its neighbours show."""

LARGEST_EXPONENT = 600.0
"""Largest logarithm of a likelihood ratio, whose products with other factors stay finite."""

LEAST_RANGE = 2.0
"""Largest count of the slab in standard deviations, at least."""

NEGLIGIBLE_PROBABILITY = 0.01
"""Posterior probability of being empty below which an estimate stays unchanged."""


def inverse_variance_mean(
    first: Floats, first_variance: Floats, second: Floats, second_variance: Floats
) -> tuple[Floats, Floats]:
    """Mean of two independent estimates of the same counts, weighted by inverse variance, and its variance.

    The first variance may be infinite, or both may be 0: the mean is then the second estimate.
    """
    total = first_variance + second_variance
    weight = np.divide(second_variance, total, out=np.zeros(total.shape), where=total > 0.0)
    return weight * first + (1.0 - weight) * second, (1.0 - weight) * second_variance


def project_to_simplex(parents: Floats, estimates: Floats, variances: Floats, possible: NDArray[np.bool_]) -> Floats:
    """Nearest non-negative counts of children that sum to their parent's count, distances in standard deviations.

    The counts x minimise the sum of (x - estimate)^2 / variance subject to x >= 0
    and sum(x) = parent. By the Karush-Kuhn-Tucker conditions
    x = max(estimate - multiplier * variance, 0). The children that stay positive
    are those with the largest estimate / variance, so the multiplier of each
    parent follows from one sort.

    Args:
        parents: Non-negative counts of m parents.
        estimates: Estimates of their g children, shape (m, g).
        variances: Variance of each estimate, above 0.
        possible: Children that can hold a record, the others get 0; a parent with a positive count has at least one.
    """
    variances = np.where(possible, variances, 1.0)  # structural zeros are 0, whatever their noisy counter
    # Subtracting a multiple of the variances changes no result. It makes large integers cancel without rounding.
    ratios = np.where(possible, estimates / variances, -np.inf)
    largest = ratios.max(axis=1, keepdims=True)
    values = np.where(possible, estimates - np.where(np.isfinite(largest), largest, 0.0) * variances, 0.0)
    order = np.argsort(-ratios, axis=1, kind="stable")
    ranked_values = np.take_along_axis(values, order, axis=1)
    ranked_variances = np.take_along_axis(variances, order, axis=1)
    multipliers = (np.cumsum(ranked_values, axis=1) - parents[:, None]) / np.cumsum(ranked_variances, axis=1)
    positive = (ranked_values > multipliers * ranked_variances) & np.take_along_axis(possible, order, axis=1)
    support = np.maximum(positive.sum(axis=1), 1)
    multiplier = np.take_along_axis(multipliers, support[:, None] - 1, axis=1)
    return np.where(possible, np.maximum(values - multiplier * variances, 0.0), 0.0)


def temper_splits(estimates: Floats, unbiased: Floats, variances: Floats, measures: Floats, parents: Floats) -> Floats:
    """Counts of children whose splits are shrunk towards the base measure where they show nothing but noise.

    The children of a parent are the leaves of a binary tree. Each split of this
    tree has a found share for its first half. The share is shrunk towards that of
    the base measure, by the factor of `_split_factors`.

    Args:
        estimates: Non-negative counts of the g children of m parents, shape (m, g); g is a power of 2.
        unbiased: Unbiased estimates of the same counts, with independent errors.
        variances: Variance of each unbiased estimate; 0 for structural zeros.
        measures: Base measure of each child; 0 for structural zeros.
        parents: Counts of the parents.
    """
    shares, evens, squares = [], [], []
    for depth in range(estimates.shape[1].bit_length() - 1):
        halves = (parents.size, 2**depth, 2, -1)
        (count, other), (found, rest), (noise, more), (part, left) = (
            np.moveaxis(each.reshape(halves).sum(axis=3), 2, 0) for each in (estimates, unbiased, variances, measures)
        )
        even = _ratio(part, part + left, otherwise=0.5)
        difference = (1.0 - even) * found - even * rest
        evens.append(even)
        shares.append(_ratio(count, count + other, otherwise=even))
        squares.append(_ratio(difference**2, (1.0 - even) ** 2 * noise + even**2 * more, otherwise=np.nan))
    tempered: Floats = parents[:, None]
    for share, even, factors in zip(shares, evens, _split_factors(squares), strict=True):
        first = even + factors * (share - even)
        tempered = np.stack([tempered * first, tempered * (1.0 - first)], axis=2).reshape(parents.size, -1)
    return tempered


def _ratio(numerator: Floats, denominator: Floats, *, otherwise: float | Floats) -> Floats:
    """Quotients, with another value where the denominator is 0."""
    filled = np.broadcast_to(np.asarray(otherwise, dtype=np.float64), numerator.shape).copy()
    return np.divide(numerator, denominator, out=filled, where=denominator > 0.0)


def _split_factors(squares: list[Floats]) -> list[Floats]:
    """Share of the differences of splits that is signal, by the rule of James and Stein in blocks of neighbours.

    A block has splits of one depth. Depths with few splits are one block. A
    difference far above its own noise keeps most of it, whatever its neighbours are.

    Args:
        squares: Squared difference over its variance for the splits of each depth; NaN where there is no noise.
    """
    few = [own.ravel() for own in squares if own.size < FEW_SPLITS]
    factors = []
    for own in squares:
        pool = np.concatenate(few) if own.size < FEW_SPLITS else own.ravel()
        starts = np.arange(0, pool.size, TEMPERED_BLOCK)
        numbers, sums = (np.add.reduceat(each, starts) for each in (~np.isnan(pool) * 1.0, np.nan_to_num(pool)))
        block = 1.0 - np.maximum(numbers - 2.0, 0.0) / np.maximum(sums, 1e-300)
        shared = np.resize(np.repeat(block, np.diff(np.append(starts, pool.size))), own.shape)
        alone = 1.0 - SPLIT_Z**2 / np.maximum(own, 1e-300)
        factors.append(np.where(np.isnan(own), 1.0, np.maximum(np.maximum(shared, alone), 0.0)))
    return factors


def enforce_consistency(parents: Floats, estimates: Floats, possible: NDArray[np.bool_]) -> Floats:
    """Non-negative counts of children that sum to their parent's count, by the paper's Algorithm 3.

    Negative estimates become 0; then the counts are projected with equal
    variances. For two children this is Algorithm 3; for more children it is the
    nearest point of the simplex.

    Args:
        parents: Non-negative counts of m parents.
        estimates: Estimates of their g children, shape (m, g).
        possible: Children that can hold a record; a parent with a positive count has at least one.
    """
    clipped = np.where(possible, np.maximum(estimates, 0.0), 0.0)
    return project_to_simplex(parents, clipped, np.ones(clipped.shape), possible)


def trusted_sums(
    own: Floats, own_variances: Floats, sums: Floats, variances: Floats, shrunk: Floats, shrunk_variances: Floats
) -> tuple[Floats, Floats]:
    """Counts from their own measurements and the sums of their parts, shrunk where shrinkage shows no bias.

    The sum of many parts that are mostly empty is mostly noise. The sum of their
    posterior means has less noise, but may be biased. The squared bias is estimated
    from the differences between it and the unbiased counts in a block of neighbours. Both come from
    the same measurements, so the result is never more certain than the posterior.
    A count with a measurement of its own stays unbiased unless its parts show no record.

    Args:
        own: Measurements of the counts themselves.
        own_variances: Their variances; infinite for counts that are not measured.
        sums: Sums of the unbiased estimates of the parts.
        variances: Variances of these sums.
        shrunk: Sums of the posterior means of the parts.
        shrunk_variances: Sums of their posterior variances.
    """
    starts = np.arange(0, sums.size, BIAS_BLOCK)
    sizes = np.diff(np.append(starts, sums.size))
    unbiased, unbiased_variances = inverse_variance_mean(own, own_variances, sums, variances)
    # The shrunk sum is efficient among estimates from the parts, so its covariance with their sum is its variance.
    covariances = _ratio(unbiased_variances, variances, otherwise=1.0) * shrunk_variances
    expected = np.maximum(
        unbiased_variances + shrunk_variances - 2.0 * covariances, LEAST_DIFFERENCE * unbiased_variances
    )
    excess = np.add.reduceat((unbiased - shrunk) ** 2 - expected, starts) / sizes
    margin = BIAS_MARGIN * np.add.reduceat(expected, starts) / sizes * np.sqrt(SQUARE_VARIANCE / BIAS_BLOCK)
    squared_bias = np.repeat(np.maximum(excess, 0.0) + margin, sizes)
    below, below_variances = inverse_variance_mean(sums, variances, shrunk, shrunk_variances + squared_bias)
    mean, variance = inverse_variance_mean(own, own_variances, below, np.maximum(below_variances, shrunk_variances))
    trusted = np.isinf(own_variances) | (shrunk < np.sqrt(shrunk_variances))
    return np.where(trusted, mean, unbiased), np.where(trusted, variance, unbiased_variances)


def spike_and_slab_posterior(
    estimates: Floats, variances: Floats, possible: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Empirical-Bayes posterior means and variances of counts under a prior with many empty cells.

    The spike of the prior is an empty cell. The slab is a log-uniform count
    between one standard deviation and the largest estimate. The noise is
    modelled as Laplace with scale b. An estimate y then has likelihood exp(-|y| / b) / 2b
    under the spike, and approximately the prior density at y under the slab;
    below one standard deviation s that density falls off as exp((y - s) / b).
    Expectation-maximisation estimates the prior probability of the spike from
    all cells. If all cells hold records it tends to 0, and estimates stay unchanged.

    Args:
        estimates: Unbiased estimates of the counts.
        variances: Variance of each estimate.
        possible: Cells that can hold a record.
    """
    deviations = np.where(possible, np.sqrt(variances), 1.0)  # structural zeros are 0, whatever their noisy counter
    scale = deviations / np.sqrt(2.0)
    largest = float(np.max(estimates[possible] / deviations[possible], initial=LEAST_RANGE))
    tail = np.minimum(estimates - deviations, 0.0)
    spike_ratio = np.exp(np.minimum((np.abs(estimates) + tail) / scale, LARGEST_EXPONENT))
    slab_odds = spike_ratio * 2.0 * scale / (np.maximum(estimates, deviations) * np.log(largest))
    prior_empty = 0.5
    for _ in range(EM_ITERATIONS):
        empty = prior_empty / (prior_empty + (1.0 - prior_empty) * slab_odds)
        # Half an empty cell and half another one are added, so that the prior is never 0 or 1.
        prior_empty = float((empty[possible].sum() + 0.5) / (np.count_nonzero(possible) + 1.0))
    clipped = np.maximum(estimates, 0.0)
    means = np.where(empty > NEGLIGIBLE_PROBABILITY, (1.0 - empty) * clipped, estimates)
    # The last term keeps variances positive.
    posterior_variances = (
        (1.0 - empty) * variances + empty * (1.0 - empty) * clipped**2 + NEGLIGIBLE_PROBABILITY * variances
    )
    return means, posterior_variances
