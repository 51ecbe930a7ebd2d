"""How far along a line or a curve on a map objects lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array


def along_line(places: Array, ends: Array) -> Array:
    """Return the coordinate of each place along the direction from one end to the other, which is 0 at the first."""
    start, end = ends
    length = float(np.linalg.norm(end - start))
    return np.asarray(places @ (end - start) / length - start @ (end - start) / length)


def along_curve(places: Any, corners: Any) -> Array:
    """Return how far along a curve of straight pieces its nearest point is to each place.

    Parameters
    ----------
    places : array-like of shape (n_objects, n_axes)
        Where the objects are.
    corners : sequence of points
        The curve: its first point, those where it bends, and its last, each with one number per axis.

    Returns
    -------
    ndarray of shape (n_objects,)
        Lengths from the first corner on, along the curve: 0 for whatever is nearest to its beginning. Of points that
        are equally near the first is taken.

    Examples
    --------
    >>> from unmask.discovery import along_curve
    >>> along_curve([[1.0, 0.5], [3.0, 2.0], [-4.0, 0.0]], [[0.0, 0.0], [2.0, 0.0], [2.0, 5.0]])
    array([1., 4., 0.])
    """
    U = np.asarray(places, dtype=np.float64)
    bends = np.array([np.asarray(corner, dtype=np.float64) for corner in corners])
    nearest, found, before = np.full(len(U), np.inf), np.zeros(len(U)), 0.0
    for start, way in zip(bends[:-1], np.diff(bends, axis=0), strict=True):
        length = float(np.linalg.norm(way))
        if length == 0.0:
            continue
        on = np.clip((U - start) @ way / length**2, 0.0, 1.0)
        distance = np.linalg.norm(U - start - on[:, None] * way, axis=1)
        nearer = distance < nearest
        nearest[nearer], found[nearer] = distance[nearer], before + length * on[nearer]
        before += length
    return found
