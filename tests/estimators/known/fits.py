"""Fits to N objects of which something is known, and the formula to check them by."""

import numpy as np
from scipy.spatial.distance import pdist

from unmask import ConditionalMDS

N = 24
TIGHT = {"tol": 1e-15, "max_iter": 20_000}


def fit(D, known=None, pair_weights=None, **options):
    options = {"metric": "precomputed", "random_state": 0, "n_init": 3} | options
    return ConditionalMDS(**options).fit(D, known=known, weights=pair_weights)


def plain_stress(D, *coordinates):
    """Return the normalised stress of some columns of coordinates, by the formula."""
    d, delta = pdist(np.column_stack(coordinates)), D[np.triu_indices(len(D), 1)]
    return np.sum((delta - d) ** 2) / np.sum(delta**2)
