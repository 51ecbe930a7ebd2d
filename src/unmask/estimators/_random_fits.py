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

# Nine fits take 0.2 s for 14 objects and 0.5 s for 100, on two cores; the median of 128 starts each, instead of two, is
# lower by a hundredth or two.
SHUFFLES, STARTS = 9, 2
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
    """Return the stress of a fitted estimator's known features alone: that of a map with 0 dimensions.

    It is 1 without known features, and NaN where there is no such fit: pairs have weights of their own, or such as move
    with the map. Above 100 objects it is that of a random sample of 100.
    """
    fitted = estimator._map
    if not fitted.known.n_kept:
        return 1.0
    known = fitted.known_values[sampled_objects(len(fitted.U))]
    try:
        return np.nan if fitted.has_weights else _fits(estimator, [squareform(fitted.sample)], known, n_components=0)[0]
    except ValueError:
        return np.nan


def random_fits(estimator: Any) -> RandomFits:
    """Return the stress (or cost) of maps of a fitted estimator's dissimilarities in random order.

    They have its parameters, with two starts, and its known features as they are, with blocks of free coefficients (a
    little more freedom than ordinal, cyclic and spline features have).
    """
    fitted, (n, q) = estimator._map, estimator._map.known_values.shape
    size, missing = min(n, SAMPLE), np.isnan(fitted.sample)
    why = ""
    if fitted.has_weights:
        why = "the pairs have weights of their own"
    elif missing.mean() > MOST_MISSING:
        why = "many pairs have no dissimilarity"
    elif n > SAMPLE and not hasattr(estimator, "stress_"):
        why = f"a cost grows with the number of objects, and there are more than {SAMPLE}"
    elif size - 1 - q - estimator.n_free_ < 0:
        why = "there are too many known features"
    if why:
        return RandomFits(np.empty(0), 0, why)
    rng = np.random.default_rng(0)
    present, pairs = fitted.sample[~missing], size * (size - 1) // 2
    known = fitted.known_values[rng.permutation(n)[:size]] if n > size else fitted.known_values
    tables = []
    for _ in range(SHUFFLES):
        drawn = rng.permutation(present)
        if len(drawn) < pairs:  # some twice, where pairs were missing
            drawn = rng.permutation(np.concatenate([drawn, rng.choice(present, pairs - len(drawn))]))
        tables.append(squareform(drawn))
    return RandomFits(np.array(_fits(estimator, tables, known, n_components=estimator.n_free_)), size)


def _fits(estimator: Any, tables: list[Array], V: Array, **changes: Any) -> list[float]:
    """Return the stress, or cost, of quick fits like the estimator's own to tables of dissimilarities."""
    import pandas as pd

    known = pd.DataFrame(V).add_prefix("v") if V.shape[1] else None
    blocks = [[f"v{column}" for column in group] for group in estimator._map.known.groups]
    changes |= {
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
    twin.set_params(**{name: value for name, value in changes.items() if name in twin.get_params()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user's own fit gave them
        fits = (twin.fit(D, known=known) for D in tables)
        return [float(one.stress_ if hasattr(one, "stress_") else one.cost_) for one in fits]
