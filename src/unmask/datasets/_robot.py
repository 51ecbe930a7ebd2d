"""A simulated robot that measures the strength of WiFi on a square loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from .._typing import Array

STOPS, SIDE = 215, 40.0  # metres
ACCESS_POINTS, MARGIN = 30, 10.0
# Strength falls by 10 times this exponent, in decibels, for every tenfold distance.
EXPONENT, AT_ONE_METRE, WEAKEST = 3.0, -35.0, -92.0
SHADOWS, SHADOW_WIDTH, SHADOW_DEPTH = 200, 8.0, 5.0


def make_robot_wifi(*, noise: float = 2.0, random_state: Any = None) -> Bunch:
    """Simulate the strengths of 30 WiFi access points along a robot's square loop.

    The robot stops 215 times on its way around a square of 40 m and comes back to where it set off. Strength falls with
    the logarithm of the distance; walls add shadows that vary smoothly with the place, and every reading has an error.
    Points too weak to be heard read -92 decibels, as in recordings of this kind, for which the data stand in.

    Parameters
    ----------
    noise : float, default=2.0
        Standard deviation of the readings' error in decibels.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Bunch
        ``features`` (DataFrame 215 x 30: ``(strength + 85) / 15``), ``position`` (DataFrame 215 x 2, in metres),
        ``access_points`` (DataFrame 30 x 2, in metres), ``time`` (Series of 215, from 0 to 1), ``DESCR``.

    Examples
    --------
    >>> from unmask.datasets import make_robot_wifi
    >>> robot = make_robot_wifi(random_state=0)
    >>> robot.features.shape
    (215, 30)
    """
    import pandas as pd

    rng = check_random_state(random_state)
    time = np.linspace(0.0, 1.0, STOPS)
    position = _square(time)
    places = rng.uniform(-MARGIN, SIDE + MARGIN, (ACCESS_POINTS, 2))
    strength = _strength(position, places) + _shadows(position, rng)
    strength += noise * rng.standard_normal(strength.shape)
    scaled = (np.maximum(strength, WEAKEST) + 85.0) / 15.0
    stops = pd.Index([f"stop {stop + 1}" for stop in range(STOPS)])
    points = [f"point {point + 1}" for point in range(ACCESS_POINTS)]
    return Bunch(
        features=pd.DataFrame(scaled, index=stops, columns=points),
        position=pd.DataFrame(position, index=stops, columns=["x", "y"]),
        access_points=pd.DataFrame(places, index=points, columns=["x", "y"]),
        time=pd.Series(time, index=stops, name="time"),
        DESCR=make_robot_wifi.__doc__,
    )


def _square(time: Array) -> Array:
    """Return the places at these shares of a loop around the square, which ends where it begins."""
    corners = SIDE * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    return np.column_stack([np.interp(4 * time, np.arange(5), corners[:, axis]) for axis in range(2)])


def _strength(position: Array, places: Array) -> Array:
    distance = np.linalg.norm(position[:, None] - places[None], axis=2)
    return np.asarray(AT_ONE_METRE - 10.0 * EXPONENT * np.log10(np.maximum(distance, 1.0)))


def _shadows(position: Array, rng: Any) -> Array:
    """Return for each place and access point a smooth random field: the same place has the same shadow.

    Random waves whose frequencies are normal make a field with a squared exponential covariance.
    """
    waves = rng.standard_normal((2, SHADOWS)) / SHADOW_WIDTH
    shifts = rng.uniform(0.0, 2 * np.pi, SHADOWS)
    sizes = SHADOW_DEPTH * np.sqrt(2.0 / SHADOWS) * rng.standard_normal((SHADOWS, ACCESS_POINTS))
    return np.asarray(np.cos(position @ waves + shifts) @ sizes)
