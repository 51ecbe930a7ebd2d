"""Procrustes analysis: two maps of the same objects, compared after one is moved onto the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from sklearn.utils import Bunch

from ..checking import require_flag
from ._inputs import axis_names, labels_or_numbers, read_pair


def procrustes(first: Any, second: Any, *, scale: bool = True) -> Bunch:
    """Compare two maps after moving the second onto the first as well as possible.

    Fits determine a map only up to turning and mirroring, and often scaling. The map with fewer columns gets columns of
    zeros.

    Parameters
    ----------
    first, second : array-like of shape (n_objects, n_components), fitted estimator, or ordination of scikit-bio
        Maps of the same objects, matched by label if both have labels, else by position.
    scale : bool, default=True
        Whether to stretch the second map as well. The statistic is then the same whichever map comes first.

    Returns
    -------
    Bunch
        ``statistic`` is m², the sum of squared residuals divided by the sum of squares of the first map: 0 if the maps
        are the same, 1 if they have nothing in common. ``correlation`` is the root of 1 - m². ``residuals`` has the
        distance of each object's places, in units of the first map; ``aligned`` is the second map, moved onto the
        first, and ``reference`` the first with as many columns; ``rotation`` and ``scale`` are what moved it.

    References
    ----------
    J. C. Gower, "Generalized Procrustes analysis", Psychometrika 40, 1975.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import procrustes
    >>> triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    >>> result = procrustes(triangle, 2 * triangle[:, ::-1] + 7)
    >>> round(result.statistic, 12), round(result.scale, 12)
    (0.0, 0.5)
    """
    import pandas as pd

    require_flag("scale", scale)
    one, other = read_pair(first, second, ("first", "second"))
    columns = max(one.values.shape[1], other.values.shape[1])
    A, B = (np.pad(of.values, ((0, 0), (0, columns - of.values.shape[1]))) for of in (one, other))
    centre = A.mean(axis=0)
    X, Y = A - centre, B - B.mean(axis=0)
    size, own = float(np.sum(X**2)), float(np.sum(Y**2))
    if not (size and own):
        empty = "second" if size else "first"
        raise ValueError(f"{empty} has all objects in one place; there is nothing to compare.")
    rotation, singular_values = orthogonal_procrustes(Y, X)
    factor = float(singular_values / own) if scale else 1.0
    moved = factor * Y @ rotation
    axes = axis_names(columns)
    index = labels_or_numbers(other.labels if one.labels is None else one.labels, len(A))
    return Bunch(
        statistic=float(np.sum((X - moved) ** 2)) / size,
        correlation=float(singular_values / np.sqrt(size * own)),
        residuals=pd.Series(np.linalg.norm(A - (moved + centre), axis=1), index=index, name="residual"),
        aligned=pd.DataFrame(moved + centre, index=index, columns=axes),
        reference=pd.DataFrame(A, index=index, columns=axes),
        rotation=pd.DataFrame(rotation, index=axes, columns=axes),
        scale=factor,
    )
