"""The data everybody gets: simulated perceptions of car brands, seven features, four of them known."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
N_KNOWN = 4
N_UNKNOWN = 3
N_FEATURES = N_KNOWN + N_UNKNOWN  # k = 7 columns of Z


@lru_cache(maxsize=1)
def _cars(n: int) -> tuple[Array, Array]:
    from unmask.datasets import make_car_brands

    cars = make_car_brands(n, random_state=0)
    return np.ascontiguousarray(cars.dissimilarities.to_numpy()), cars.known.to_numpy()


def dissimilarities(n: int, dtype: str = "float64") -> Array:
    """Return the (n, n) dissimilarities in a type; the array is C-contiguous."""
    return _cars(n)[0].astype(dtype, copy=False)


def known(n: int) -> Array:
    """Return the known features, (n, 4)."""
    return _cars(n)[1][:, :N_KNOWN]


def coordinates(n: int, dtype: str = "float64") -> Array:
    """Return coordinates of about the size of the dissimilarities, (n, 7)."""
    return np.random.default_rng(1).normal(scale=0.1, size=(n, N_FEATURES)).astype(dtype)
