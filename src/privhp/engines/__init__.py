"""Fits on engines that run many workers: one fold, and thin adapters over it."""

from privhp.engines.fold import PassFold as PassFold
from privhp.engines.fold import fit_passes as fit_passes
from privhp.engines.fold import release_groups as release_groups
