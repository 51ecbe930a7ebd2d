"""Schemes of weights: rules with a name, by which pairs count.

A new one is a subclass of Scheme, and a line that registers it: a name, and how a dissimilarity weighs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array
from ..checking import Dissimilarities
from ..kernels import Edges, Pairs, Sums, Weighting, Workers, power_of_two_near, square_array
from ._weights import list_edges


class Scheme:
    """How pairs are weighted; unless a subclass says otherwise, by their dissimilarities."""

    name: str | None
    summary: str  # half a sentence for those who choose
    follows_map = False  # weights that change with the map are kept as a square table

    def require(self, level: str, n_components: int) -> None:
        """Raise where other parameters of an estimator contradict the scheme."""
        if level != "ratio":
            raise ValueError(
                f"weights={self.name!r} with level={level!r}: these weights need dissimilarities in units that "
                "mean something; use weights=None (or an array in fit), or level='ratio'."
            )

    def weigh(self, delta: Array, smallest: float) -> Array:
        """Return weights, up to a common factor, for dissimilarities in any unit, those of new objects too.

        ``smallest`` is the smallest positive one of the fit, as which one of 0 may count.
        """
        raise NotImplementedError

    def of_pairs(self, delta: Array) -> Array:
        """Return the weights of all pairs of a fit, from a list of their dissimilarities."""
        return self.weigh(delta, float(np.min(delta, where=delta > 0, initial=np.inf)))

    def weights_for(self, dissimilarities: Dissimilarities) -> Any:
        """Return weights such as may be given to a fit: a sparse matrix if only some pairs are stored, or an array.

        None where they are not kept but computed while passing, for which :meth:`build` prepares.
        """
        source, scale = dissimilarities.source, power_of_two_near(dissimilarities.largest)
        if source.lists_pairs:
            rows, columns, delta = source.stored_pairs()
            weight = self.of_pairs(delta.astype(np.float64) * scale)
            return sp.coo_array(
                (np.tile(weight, 2), (np.r_[rows, columns], np.r_[columns, rows])), (source.n, source.n)
            )
        D = square_array(source, f"weights={self.name!r}", "use weights=None")
        W = np.where(np.isnan(D), 0.0, self.weigh(D * scale, source.smallest_positive() * scale))
        np.fill_diagonal(W, 0.0)
        return W

    def build(self, dissimilarities: Dissimilarities, workers: Workers) -> Pairs | Edges:
        """Return what the passes read: a list if only some pairs are stored, and a table otherwise."""
        source, scale = dissimilarities.source, power_of_two_near(dissimilarities.largest)
        if source.lists_pairs:
            rows, columns, delta = source.stored_pairs()
            return list_edges(source.n, rows, columns, delta, self.of_pairs(delta.astype(np.float64) * scale))
        weighting = Weighting.MASKED if dissimilarities.missing else Weighting.UNIT
        sums = None if dissimilarities.sums is None else dissimilarities.sums.scaled(scale)
        pairs = Pairs(source, scale, weighting, every_pair=not dissimilarities.missing, sums=sums)
        return self._weighted(pairs, workers)

    def _weighted(self, pairs: Pairs, workers: Workers) -> Pairs:
        """Give weights to the pairs of a table."""
        return pairs

    def refine(self, problem: Any, stage: Any, workers: Workers, settings: Any) -> tuple[Any, float | None]:
        """Go on from the best start where weights follow the map; return the last stage, and their radius if any."""
        return stage, None


class Equal(Scheme):
    """Every pair counts the same."""

    name: str | None = None
    summary = "every pair counts the same"

    def require(self, level: str, n_components: int) -> None:
        """Nothing contradicts it."""

    def weigh(self, delta: Array, smallest: float) -> Array:
        return np.ones_like(delta)

    def weights_for(self, dissimilarities: Dissimilarities) -> Any:
        return None


class Sammon(Equal):
    """1 / (delta * sum of delta), a dissimilarity of 0 counted as the smallest positive one; computed while passing."""

    name = "sammon"
    summary = "small dissimilarities count more, each by its reciprocal"
    require = Scheme.require

    def weigh(self, delta: Array, smallest: float) -> Array:
        return np.asarray(1.0 / np.maximum(delta, smallest))

    def of_pairs(self, delta: Array) -> Array:
        return super().of_pairs(delta) / float(np.nansum(delta))

    def _weighted(self, pairs: Pairs, workers: Workers) -> Pairs:
        sums = pairs.sums
        if sums is None:
            _, lengths, squares = pairs.source.passes_once.pair_sums(
                replace(pairs, weighting=Weighting.MASKED), workers
            )
            sums = Sums(float(lengths), float(squares), pairs.source.smallest_positive() * pairs.scale)
        return replace(pairs, weighting=Weighting.SAMMON, floor=sums.least, factor=1.0 / sums.lengths, sums=sums)


SCHEMES: dict[str | None, Scheme] = {}


def register_scheme(scheme: Scheme) -> None:
    """Offer a scheme by its name, wherever one is chosen."""
    SCHEMES[scheme.name] = scheme


register_scheme(Equal())
register_scheme(Sammon())
