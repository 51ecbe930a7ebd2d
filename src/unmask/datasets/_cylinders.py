"""Simulated surfaces of machined cylinders: two settings of the lathe are known, an angle is hidden."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import Bunch, check_random_state

from .._typing import Array
from ..checking import require_integer, require_number

HEIGHTS, DIRECTIONS = 210, 64
SPEEDS, DEPTHS = (80.0, 70.0, 65.0), (0.4, 0.8, 1.2)  # metres per minute, millimetres
# How a surface answers, in micrometres: the free upper end yields to the tool in proportion to the depth of the cut,
# and the middle grows with the speed. With these constants each setting stands out more than the angle does: depth
# 10, speed 9, the angle's sine and cosine 4 each (standard deviations, root mean square over the surface).
TAPER_PER_DEPTH, WAIST_PER_SPEED = 53.0, 3.2
# Standard deviations of the drift of the two settings, and how much of it one cylinder hands on to the next.
SPEED_DRIFT, DEPTH_DRIFT, MEMORY = 0.7, 0.03, 0.9


def make_cylinders(
    n_per_setting: int = 10,
    *,
    ovality: float = 14.0,
    drift: float = 1.0,
    noise: float = 1.5,
    random_state: Any = None,
) -> Bunch:
    """Simulate the surfaces of cylinders that were turned on a lathe with nine known settings.

    Each surface is measured as radial deviations from the norm, in micrometres, at 210 heights and in 64 directions.
    Three speeds times three depths of cut make nine settings. A cylinder is fixed at the bottom, so that its top is
    wider, the more so the deeper the cut; with the speed its middle grows; and its cross-sections are oval, the more
    so the higher up. In which direction they are oval is the hidden angle. The speed and depth that were really at work
    drift away from the set ones, slowly, from one cylinder to the next. A stand-in for measured cylinders that are
    not published.

    Parameters
    ----------
    n_per_setting : int, default=10
        Number of cylinders for each of the nine settings.
    ovality : float, default=14.0
        Half the difference of the longest and the shortest diameter at the top, in micrometres, on average; that of
        single cylinders varies by 15 per cent.
    drift : float, default=1.0
        Size of the drift; 1 has standard deviations of 0.7 metres per minute and 0.03 millimetres.
    noise : float, default=1.5
        Standard deviation of the error of measurement in micrometres.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Bunch
        ``surfaces`` (array n x 210 x 64, from bottom to top), ``dissimilarities`` (DataFrame n x n: root mean square
        differences of the surfaces, their Euclidean distances divided by the root of 210 x 64), ``known`` (DataFrame
        n x 2: ``speed`` and ``depth`` as they were set), ``actual`` (DataFrame n x 2: as they were), ``angle`` (Series
        of n: degrees from -90 to 90, at which a cross-section is longest), ``directions`` (array of 64: degrees),
        ``DESCR``.

    Examples
    --------
    >>> from unmask.datasets import make_cylinders
    >>> cylinders = make_cylinders(random_state=0)
    >>> cylinders.surfaces.shape
    (90, 210, 64)
    >>> cylinders.known.drop_duplicates().shape
    (9, 2)
    """
    import pandas as pd

    require_integer("n_per_setting", n_per_setting, 1)
    for name, value in {"ovality": ovality, "drift": drift, "noise": noise}.items():
        require_number(name, value, 0.0)
    rng = check_random_state(random_state)
    known = np.repeat([(speed, depth) for speed in SPEEDS for depth in DEPTHS], n_per_setting, axis=0)
    n = len(known)
    actual = known + drift * np.array([SPEED_DRIFT, DEPTH_DRIFT]) * _slow_drift(n, rng)
    angle = rng.uniform(-90.0, 90.0, n)
    sizes = ovality * (1.0 + 0.15 * rng.standard_normal(n))
    surfaces = _shape(actual, angle, sizes)
    surfaces += noise * rng.standard_normal(surfaces.shape)
    distances = squareform(pdist(surfaces.reshape(n, -1))) / np.sqrt(HEIGHTS * DIRECTIONS)
    names = pd.Index([f"cylinder {i + 1}" for i in range(n)])
    return Bunch(
        surfaces=surfaces,
        dissimilarities=pd.DataFrame(distances, index=names, columns=names),
        known=pd.DataFrame(known, index=names, columns=["speed", "depth"]),
        actual=pd.DataFrame(actual, index=names, columns=["speed", "depth"]),
        angle=pd.Series(angle, index=names, name="angle"),
        directions=_directions(),
        DESCR=make_cylinders.__doc__,
    )


def _directions() -> Array:
    """Return the directions of measurement around the axis, in degrees."""
    return np.arange(DIRECTIONS) * 360.0 / DIRECTIONS


def _slow_drift(n: int, rng: Any) -> Array:
    """Return two series of standard deviation 1 in which every value keeps most of the one before."""
    steps = rng.standard_normal((n, 2))
    series = np.empty((n, 2))
    series[0] = steps[0]
    for i in range(1, n):
        series[i] = MEMORY * series[i - 1] + np.sqrt(1.0 - MEMORY**2) * steps[i]
    return series


def _shape(actual: Array, angle: Array, sizes: Array) -> Array:
    """Return surfaces without errors: n x heights x directions."""
    height = np.linspace(0.0, 1.0, HEIGHTS)
    speed, depth = actual.T
    # The waist is 0 on average and, over the height, uncorrelated with the taper.
    along = TAPER_PER_DEPTH * depth[:, None] * height
    along = along + WAIST_PER_SPEED * (speed - np.mean(SPEEDS))[:, None] * (6.0 * height * (1.0 - height) - 1.0)
    around = np.cos(2.0 * np.radians(_directions() - angle[:, None]))
    return np.asarray(along[:, :, None] + sizes[:, None, None] * height[:, None] * around[:, None, :])
