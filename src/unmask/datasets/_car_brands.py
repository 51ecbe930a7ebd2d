"""Simulated perceptions of car brands: seven features, some of them known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from .._typing import Array

FEATURES = ("quality", "safety", "value", "performance", "economy", "design", "technology")
WEIGHTS = np.array([90.0, 88.0, 83.0, 82.0, 81.0, 70.0, 68.0])


def make_car_brands(n: int = 30, *, noise: float = 0.2, known_noise: float = 0.05, random_state: Any = None) -> Bunch:
    """Simulate dissimilarities of car brands that arise from seven features of known weight.

    Features are uniform on (0, 1). The dissimilarity of two brands is the Euclidean distance of their weighted
    features plus normal noise proportional to it; the features are observed with proportional noise as well.

    Parameters
    ----------
    n : int, default=30
        Number of brands.
    noise : float, default=0.2
        Standard deviation of the dissimilarities' noise as a fraction of each; values below 0 become 0.
    known_noise : float, default=0.05
        Standard deviation of the observed features' noise as a fraction of each value.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Bunch
        ``dissimilarities`` (DataFrame n x n), ``known`` (DataFrame n x 7: features as observed), ``features``
        (DataFrame n x 7: the truth), ``coef`` (Series of 7: the true diagonal of B), ``noiseless`` (DataFrame n x n).

    Examples
    --------
    >>> from unmask.datasets import make_car_brands
    >>> cars = make_car_brands(n=10, random_state=0)
    >>> cars.dissimilarities.shape, cars.known.columns[0]
    ((10, 10), 'quality')
    """
    import pandas as pd

    rng = check_random_state(random_state)
    weights = WEIGHTS / WEIGHTS.sum()
    truth = rng.uniform(size=(n, len(FEATURES)))
    observed = truth * (1.0 + known_noise * rng.standard_normal(truth.shape))
    weighted = truth * weights
    squares = np.sum(weighted**2, axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * weighted @ weighted.T, 0.0))
    np.fill_diagonal(distances, 0.0)
    upper = np.triu(rng.standard_normal((n, n)), 1)
    noisy = np.maximum(distances * (1.0 + noise * (upper + upper.T)), 0.0)
    brands = [f"brand {i + 1}" for i in range(n)]

    def table(values: Array, columns: list[str]) -> pd.DataFrame:
        return pd.DataFrame(values, index=brands, columns=columns)

    return Bunch(
        dissimilarities=table(noisy, brands),
        known=table(observed, list(FEATURES)),
        features=table(truth, list(FEATURES)),
        coef=pd.Series(weights, index=list(FEATURES), name="coef"),
        noiseless=table(distances, brands),
        DESCR=make_car_brands.__doc__,
    )
