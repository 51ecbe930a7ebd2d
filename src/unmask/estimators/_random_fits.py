"""Stress to compare with: that of the same dissimilarities in random order, and that of known features alone.

Shuffled dissimilarities have the same sizes, between other objects. Stress of random data depends on the number of
objects, on the dimensions of map and known features together, and on the spread of the dissimilarities. So published
tables for plain scaling do not apply.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from .._typing import Array
from ._fitted_map import SAMPLE, sampled_objects

# Nine fits take 0.2 s for 14 objects and 0.5 s for 100, on two cores.
SHUFFLES = 9
# From two starts; the median of 128 is lower by a hundredth or two.
STARTS = 2
# Beyond this share of missing pairs a map of complete random data is no fair comparison.
MOST_MISSING = 0.1


@dataclass(frozen=True)
class RandomFits:
    """Stress, or cost, of maps of random data; none, and why, where these would not be comparable."""

    values: Array
    n_objects: int
    why_none: str = ""

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    @property
    def lowest(self) -> float:
        return float(np.min(self.values))


def stress_of_known(estimator: Any) -> float:
    """Return the stress of a fitted estimator's known features alone: what 0 dimensions leave.

    It is 1 with nothing known, and NaN where there is no such fit: pairs have weights of their own, or such as move
    with the map. Above 100 objects it is that of a random sample of 100.
    """
    V = estimator._map.known_values
    if not V.shape[1]:
        return 1.0
    if estimator._map.has_weights:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            twin = _twin(estimator).set_params(n_components=0)
            return _fitted(twin, squareform(estimator._map.sample), V[sampled_objects(len(V))])
        except ValueError:
            return float("nan")


def random_fits(estimator: Any) -> RandomFits:
    """Return the stress (or cost) of maps of a fitted estimator's dissimilarities in random order.

    They have its parameters, with two starts, and its known features as they are, with blocks of free coefficients (a
    little more freedom than ordinal, cyclic and spline features have).
    """
    n, V = len(estimator.embedding_), estimator._map.known_values
    size = min(n, SAMPLE)
    why = ""
    if estimator._map.has_weights:
        why = "the pairs have weights of their own"
    elif np.isnan(estimator._map.sample).mean() > MOST_MISSING:
        why = "many pairs have no dissimilarity"
    elif n > SAMPLE and not hasattr(estimator, "stress_"):
        why = f"a cost grows with the number of objects, and there are more than {SAMPLE}"
    elif size - 1 - V.shape[1] - estimator.n_free_ < 0:
        why = "there are too many known features"
    if why:
        return RandomFits(np.empty(0), 0, why)
    rng = np.random.default_rng(0)
    present = estimator._map.sample[~np.isnan(estimator._map.sample)]
    known = V[rng.permutation(n)[:size]] if n > size else V
    twin = _twin(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is worth saying about the data was said by the fit
        values = [_fitted(twin, _shuffled(present, size, rng), known) for _ in range(SHUFFLES)]
    return RandomFits(np.array(values), size)


def _shuffled(values: Array, n: int, rng: np.random.Generator) -> Array:
    """Return the values as dissimilarities in random order; some twice, where pairs were missing."""
    pairs = n * (n - 1) // 2
    drawn = rng.permutation(values)
    if len(drawn) < pairs:
        drawn = rng.permutation(np.concatenate([drawn, rng.choice(values, pairs - len(drawn))]))
    return np.asarray(squareform(drawn))


def _twin(estimator: Any) -> Any:
    """Return an unfitted estimator that maps ready dissimilarities as the fitted one did, quickly."""
    blocks = [[f"v{column}" for column in group] for group in estimator._map.known.groups]
    changes = {
        "n_components": estimator.n_free_,
        "metric": "precomputed",
        "metric_params": None,
        "coef": blocks if any(len(block) > 1 for block in blocks) else "diagonal",
        "known_types": None,
        "adjust": False,
        "init": "auto",
        "n_init": STARTS,
        "max_iter": 300,
        "tol": 1e-6,
        "random_state": 0,
        "verbose": 0,
    }
    twin = estimator._for_ready_dissimilarities()
    return twin.set_params(**{name: value for name, value in changes.items() if name in twin.get_params()})


def _fitted(twin: Any, D: Array, V: Array) -> float:
    import pandas as pd

    known = pd.DataFrame(V, columns=[f"v{column}" for column in range(V.shape[1])]) if V.shape[1] else None
    twin.fit(D, known=known)
    return float(twin.stress_ if hasattr(twin, "stress_") else twin.cost_)
