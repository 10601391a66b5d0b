"""All measurements of a release as one tree, solved by least squares.

Takes a release, gives a count for every cell that was measured, with what its
parts say of it and how much of that is noise. Layers go from coarse to fine;
the cells of one layer have their parts in the next.
"""

from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.estimators import combined, projected, sparse_guess
from privhp.answers.sketch_decoding import decoded
from privhp.core.cells import Codes, Counts, Floats, descendants, domain_order
from privhp.kernels import buckets
from privhp.planning.partition import Cells, Partition
from privhp.planning.plan import Plan
from privhp.release import Release

Bond = Literal["same", "after", "split"]
"""What the parts of a cell have counted: its records once more, those after it was cut, or hashed with others."""


class Family(NamedTuple):
    """Cells of a layer with equally many parts in the next.

    Args:
        parents: Where in the layer the m cells are.
        parts: Where in the next layer their g parts are, shape (m, g).
        bond: What the parts tell of the parents.
    """

    parents: NDArray[np.int64]
    parts: NDArray[np.int64]
    bond: Bond


class Layer:
    """Cells that are as many steps from the root.

    Attributes:
        codes: The cells.
        levels: Their levels.
        live: Which can hold a record.
        own: What was measured for each.
        own_variances: Variance of its noise.
        seen: What a cell and its parts together say of it, without what is above.
        variances: Variance of that.
        doubts: Variance of what is known of it given the count of its parent.
        found: The consistent count of each.
        families: The cells that have parts in the next layer.
    """

    def __init__(
        self, codes: Codes, levels: NDArray[np.int64], live: NDArray[np.bool_], own: Floats, variances: Floats
    ) -> None:
        self.codes, self.levels, self.live = codes, levels, live
        self.own, self.own_variances = own, variances
        self.seen, self.variances, self.doubts = own.copy(), variances.copy(), variances.copy()
        self.found = np.zeros(own.shape)
        self.families: list[Family] = []

    def leaves(self) -> NDArray[np.bool_]:
        """Which cells have no parts."""
        childless = np.ones(self.codes.shape, dtype=np.bool_)
        for family in self.families:
            childless[family.parents] = False
        return childless

    @staticmethod
    def joined(layers: "list[Layer]") -> "Layer":
        """Several layers without parts as one."""
        names = ("codes", "levels", "live", "own", "own_variances")
        return Layer(*(np.concatenate([getattr(layer, name) for layer in layers]) for name in names))


class Hierarchy:
    """The measured cells of a release with their consistent, non-negative counts."""

    def __init__(self, release: Release) -> None:
        self._release, self._plan, self.depth = release, release.plan, release.plan.depth
        self.layers = [self._exact_layer(release.plan.exact_levels[0])]
        for level in release.plan.exact_levels[1:]:
            self._connect(self._exact_layer(level), self.layers[-1].levels[0])
        if release.plan.growth is not None:
            self._add_partition(release.plan)
        self._ask_parts()
        self._settle()
        for level in release.plan.sketched_levels:
            self._add_sketch(level)
        for layer in self.layers:
            layer.doubts = np.where(layer.live, layer.doubts, 0.0)

    @cached_property
    def leaf_masks(self) -> list[NDArray[np.bool_]]:
        """Cells of each layer that have no children."""
        return [layer.leaves() for layer in self.layers]

    @cached_property
    def leaf_order(self) -> NDArray[np.int64]:
        """Permutation that puts the leaves, layer after layer, in the order of the domain."""
        layers = list(zip(self.layers, self.leaf_masks, strict=True))
        codes, levels = (
            np.concatenate([getattr(layer, name)[leaf] for layer, leaf in layers]) for name in ("codes", "levels")
        )
        return domain_order(codes, levels, depth=self._plan.depth)

    def _exact_layer(self, level: int) -> Layer:
        codes = np.arange(2**level, dtype=np.uint64)
        return self._layer(codes, level, self._release.counts[level], self._variance(level))

    def _variance(self, level: int) -> float:
        return 2.0 * float(self._plan.scale(level)) ** 2 * self._release.merged

    def _layer(self, codes: Codes, level: int, counts: Counts | Floats, variances: float | Floats) -> Layer:
        live = self._plan.domain.measure(codes, level=level) > 0
        noise = np.broadcast_to(np.float64(variances), codes.shape)
        return Layer(codes, np.full(codes.shape, level), live, counts.astype(np.float64), noise)

    def _connect(self, layer: Layer, above: int) -> None:
        """Put a whole level below the last layer, which is the whole level `above`."""
        parents = np.arange(2**above)
        self.layers[-1].families.append(Family(parents, np.arange(layer.codes.size).reshape(2**above, -1), "same"))
        self.layers.append(layer)

    def _add_partition(self, plan: Plan) -> None:
        """Put the cells of the partition below the exact levels, one layer per refinement."""
        partition = Partition(
            plan.growth_level, self._release.counts[plan.growth_level], refinements=self._release.refinements
        )
        pending = list(partition.roots(2**plan.growth_level))
        layer, parents = self._partition_layer(partition, pending)
        self._connect(layer, plan.exact_depth)
        while parents:
            pending = [parts for _, parts in parents]
            layer, deeper = self._partition_layer(partition, pending)
            ends = np.cumsum([parts.slots.size for parts in pending])
            for (cut, parts), end in zip(parents, ends, strict=True):
                places = np.arange(end - parts.slots.size, end).reshape(cut.size, -1)
                self.layers[-1].families.append(Family(cut, places, "after"))
            self.layers.append(layer)
            parents = deeper

    def _partition_layer(
        self, partition: Partition, pending: list[Cells]
    ) -> tuple[Layer, list[tuple[NDArray[np.int64], Cells]]]:
        """A layer of cells of the partition, and for those that were cut, where they are and what their parts are."""
        noise = self._variance(self._plan.growth_level)
        layers, parents, start = [], [], 0
        for cells in pending:
            counts = partition.slots[cells.slots].astype(np.float64)
            alive = np.full(counts.shape, partition.refinements + 1.0 - cells.born)
            _, cut = partition.sorted_out(cells)
            for kind in cut:
                own = np.searchsorted(cells.codes, kind.cells.codes)
                counts[own] = partition.slots[kind.cells.slots]
                alive[own] = kind.born - cells.born
                parents.append((own + start, kind.parts()))
            layers.append(self._layer(cells.codes, cells.level, counts, noise * alive))
            start += counts.size
        return Layer.joined(layers), parents

    def _add_sketch(self, level: int) -> None:
        """Put the parts of the fullest cells of the last layer below it, as the sketch of a level has them."""
        above, plan = self.layers[-1], self._plan
        hot = np.sort(np.argsort(-above.found, kind="stable")[: plan.hot_cells])
        hot = hot[above.found[hot] > 0]
        codes = descendants(above.codes[hot], levels=level - int(above.levels[0]))
        layer = self._layer(codes.ravel(), level, np.zeros(codes.size), self._variance(level))
        places = np.arange(codes.size).reshape(codes.shape)
        apart = level - plan.hash_levels[level]
        words, table = plan.hash_coefficients(level), self._release.counts[level]
        fallen = buckets(words, codes.ravel(), apart=apart, width=plan.sketch_width)
        fallen = fallen.reshape(plan.sketch_rows, *codes.shape)
        layer.found[places], layer.doubts[places] = decoded(table, fallen, above.found[hot], layer.live[places])
        above.families.append(Family(hot, places, "split"))
        self.layers.append(layer)

    def _ask_parts(self) -> None:
        """Bottom-up: each cell learns what its parts say of it."""
        for layer, below in reversed(list(pairwise(self.layers))):
            for family in layer.families:
                parts = np.where(below.live, below.seen, 0.0)[family.parts].sum(axis=1)
                noise = np.where(below.live, below.variances, 0.0)[family.parts].sum(axis=1)
                own, variance = layer.own[family.parents], layer.own_variances[family.parents]
                if family.bond == "same":
                    own, variance = combined(own, variance, parts, noise)
                else:
                    own, variance = own + parts, variance + noise
                layer.seen[family.parents], layer.variances[family.parents] = own, variance

    def _settle(self) -> None:
        """Top-down: parts become non-negative and sum to what their parent was found to be."""
        guesses = []
        for layer in self.layers:
            guess, layer.doubts = sparse_guess(layer.seen, layer.variances, layer.live)
            guesses.append(guess)
        top = self.layers[0]
        total = np.maximum(np.where(top.live, top.seen, 0.0).sum(keepdims=True), 0.0)
        top.found = projected(total, guesses[0][None], top.doubts[None], top.live[None])[0]
        for (layer, below), guess in zip(pairwise(self.layers), guesses[1:], strict=True):
            for family in layer.families:
                below.found[family.parts] = self._divided(layer, below, family, guess[family.parts])

    @staticmethod
    def _divided(layer: Layer, below: Layer, family: Family, estimates: Floats) -> Floats:
        """Counts of the parts of a family."""
        totals = layer.found[family.parents]
        variances, live = below.doubts[family.parts], below.live[family.parts]
        if family.bond == "same":
            return projected(totals, estimates, variances, live)
        before = (layer.own[family.parents][:, None], layer.own_variances[family.parents][:, None])
        both = projected(
            totals,
            np.hstack([before[0], estimates]),
            np.hstack([before[1], variances]),
            np.hstack([live.any(axis=1, keepdims=True), live]),
        )
        earlier, later = both[:, :1], both[:, 1:]
        # What was counted before the cut divides like what came after it; evenly, where that is mostly noise.
        doubt = np.sqrt(np.where(live, variances, 0.0).sum(axis=1, keepdims=True))
        shares = later + doubt * live / np.maximum(live.sum(axis=1, keepdims=True), 1)
        divided: Floats = later + earlier * shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        return divided
