"""Simulated photographs of two slightly different fabrics, turned and contracted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.utils import Bunch, check_random_state

from .._typing import Array
from ..checking import require_integer, require_number

# Widths of the threads across and down, in pixels, of what is smoothed out of white noise: nearly the same.
WIDTHS = (2.0, 2.2)
# A contraction leaves at least this share of a length.
SHORTEST = 0.5
BRIGHTNESS, CONTRAST = 0.5, 0.15


def make_fabrics(n: int = 30, *, size: int = 64, difference: float = 0.1, random_state: Any = None) -> Bunch:
    """Simulate photographs of two fabrics, some turned by 90 degrees and all contracted by up to half.

    A fabric is a random field: white noise, smoothed by a bell curve whose widths across and down are those of its
    threads. The second fabric has slightly wider threads across and narrower ones down. Turning a piece exchanges its
    widths, and contracting it by a share makes them smaller by that share, which is exact for such fields: nothing is
    interpolated. A stand-in for photographs of fabrics that are not free to ship.

    Parameters
    ----------
    n : int, default=30
        Number of images; the first half is of the first fabric.
    size : int, default=64
        Height and width of an image in pixels.
    difference : float, default=0.1
        By which share the widths of the second fabric differ from those of the first.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Bunch
        ``images`` (array n x size x size, brightness around 0.5), ``known`` (DataFrame n x 2: ``rotation`` and
        ``fabric``, each 0 or 1), ``hidden`` (DataFrame n x 2: ``horizontal contraction`` and ``vertical contraction``,
        from 0 to 0.5), ``DESCR``.

    Examples
    --------
    >>> from unmask.datasets import make_fabrics
    >>> fabrics = make_fabrics(random_state=0)
    >>> fabrics.images.shape, list(fabrics.known)
    ((30, 64, 64), ['rotation', 'fabric'])
    """
    import pandas as pd

    require_integer("n", n, 2)
    require_integer("size", size, 8)
    if require_number("difference", difference, 0.0) >= 1:
        raise ValueError(f"difference={difference} must be less than 1: it is a share of the threads' widths.")
    rng = check_random_state(random_state)
    contraction = rng.uniform(0.0, 1.0 - SHORTEST, (n, 2))
    known = np.column_stack([rng.randint(0, 2, n), np.repeat([0, 1], [n - n // 2, n // 2])])
    pieces = zip(known, contraction, strict=True)
    images = [_weave(_widths(*which, difference=difference) * (1 - less), size, rng) for which, less in pieces]
    labels = pd.Index([f"image {i + 1}" for i in range(n)])
    return Bunch(
        images=np.array(images),
        known=pd.DataFrame(known, index=labels, columns=["rotation", "fabric"]),
        hidden=pd.DataFrame(contraction, index=labels, columns=["horizontal contraction", "vertical contraction"]),
        DESCR=make_fabrics.__doc__,
    )


def _widths(turned: int, second: int, *, difference: float) -> Array:
    """Return the widths across and down of a piece before it is contracted."""
    widths = np.array(WIDTHS) * (1 + second * difference * np.array([1.0, -1.0]))
    return widths[::-1] if turned else widths


def _weave(widths: Array, size: int, rng: Any) -> Array:
    """Return a random field with these widths across and down."""
    across, down = widths
    field = gaussian_filter(rng.standard_normal((size, size)), (down, across), mode="wrap")
    return np.asarray(BRIGHTNESS + CONTRAST * (field - field.mean()) / field.std())
