"""Simulated recordings: a stick figure that stands and then runs, and a robot that measures WiFi on a square loop."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from .._typing import Array

FRAMES, STANDING, STRIDES = 55, 10, 3
STOPS, SIDE = 215, 40.0  # metres
ACCESS_POINTS, MARGIN = 30, 10.0
# Strength falls by 10 times this exponent, in decibels, for every tenfold distance.
EXPONENT, AT_ONE_METRE, WEAKEST = 3.0, -35.0, -92.0
SHADOWS, SHADOW_WIDTH, SHADOW_DEPTH = 200, 8.0, 5.0


def make_running_figure(*, noise: float = 0.002, random_state: Any = None) -> Bunch:
    """Simulate markers on a stick figure that stands, sets off and runs three strides.

    55 frames of 34 markers (x forward, y sideways, z up, in units of the body's height); the mean of the markers is
    taken off each frame, so that the figure runs on the spot. A stand-in for recordings of a runner, in which time and
    the phase of the stride are both hidden: given the one, a map shows the other.

    Parameters
    ----------
    noise : float, default=0.002
        Standard deviation of the markers' error.
    random_state : int, RandomState or None
        Seed of the error.

    Returns
    -------
    Bunch
        ``features`` (DataFrame 55 x 102), ``time`` (Series of 55, from 0 to 1), ``phase`` (Series of 55, radians from 0
        to 2 pi; 0 while standing), ``effort`` (Series of 55: 0 standing, 1 running), ``DESCR``.

    Examples
    --------
    >>> from unmask.datasets import make_running_figure
    >>> run = make_running_figure(random_state=0)
    >>> run.features.shape
    (55, 102)
    """
    import pandas as pd

    rng = check_random_state(random_state)
    time = np.linspace(0.0, 1.0, FRAMES)
    turns, effort = _gait(np.arange(FRAMES))
    bodies = np.stack([_body(2 * np.pi * turn, push, t) for turn, push, t in zip(turns, effort, time, strict=True)])
    bodies -= bodies.mean(axis=1, keepdims=True)
    bodies += noise * rng.standard_normal(bodies.shape)
    columns = [f"marker {marker + 1} {axis}" for marker in range(bodies.shape[1]) for axis in "xyz"]
    frames = pd.Index([f"frame {frame + 1}" for frame in range(FRAMES)])
    return Bunch(
        features=pd.DataFrame(bodies.reshape(FRAMES, -1), index=frames, columns=columns),
        time=pd.Series(time, index=frames, name="time"),
        phase=pd.Series(2 * np.pi * (turns % 1.0), index=frames, name="phase"),
        effort=pd.Series(effort, index=frames, name="effort"),
        DESCR=make_running_figure.__doc__,
    )


def _gait(frame: Array | Any) -> tuple[Array, Array]:
    """Return for each frame the strides done so far and how much of a run it is, from 0 (standing) to 1."""
    running = np.maximum(frame - STANDING, 0) / (FRAMES - 1 - STANDING)
    share = np.clip(running * STRIDES, 0.0, 1.0)  # within the first stride the figure gets up speed
    return STRIDES * running, share**2 * (3 - 2 * share)


def _body(angle: float, effort: float, time: float) -> Array:
    """Return the 34 markers of a body: 2 legs and 2 arms of 7 markers each, and 6 on trunk and head."""
    lean = 0.05 + (0.2 + 0.1 * time) * effort  # a runner leans further forward as he speeds up
    hips = np.array([0.0, 0.0, 0.53 + 0.02 * effort * np.cos(2 * angle)])
    up = np.array([np.sin(lean), 0.0, np.cos(lean)])
    shoulders = hips + 0.29 * up
    limbs = []
    for side, swing in ((-1.0, angle), (1.0, angle + np.pi)):
        out = np.array([0.0, side, 0.0])
        limbs.append(_limb(hips + 0.06 * out, _leg(swing, effort, 0.3 * time), (0.245, 0.246)))
        # Arms swing against the leg of their side.
        limbs.append(_limb(shoulders + 0.11 * out, _arm(swing + np.pi, effort), (0.186, 0.146)))
    trunk = [hips + share * (shoulders - hips) for share in (0.0, 0.5, 1.0)]
    head = [
        shoulders + height * up + side * np.array([0.0, 0.04, 0.0])
        for height, side in ((0.08, 0), (0.14, -1), (0.14, 1))
    ]
    return np.concatenate([*limbs, np.array(trunk + head)])


def _leg(swing: float, effort: float, lift: float) -> tuple[float, float]:
    """Return the angles of thigh and shank from the vertical, forward above 0; the knee bends backward."""
    thigh = effort * (0.15 + 0.6 * np.sin(swing))
    bend = 0.05 + effort * (0.75 + lift) * (1.0 + np.cos(swing))
    return float(thigh), float(thigh - bend)


def _arm(swing: float, effort: float) -> tuple[float, float]:
    """Return the angles of upper arm and forearm from the vertical; the elbow bends forward."""
    upper = effort * (0.55 * np.sin(swing) - 0.15)
    return float(upper), float(upper + 0.15 + effort * (1.3 + 0.2 * np.sin(swing)))


def _limb(start: Array, angles: tuple[float, float], lengths: tuple[float, float]) -> Array:
    """Return 7 markers along a limb of two bones: its three joints and two between on each bone."""
    ends = [start]
    for angle, length in zip(angles, lengths, strict=True):
        ends.append(ends[-1] + length * np.array([np.sin(angle), 0.0, -np.cos(angle)]))
    between = [first + share * (last - first) for first, last in pairwise(ends) for share in (0.33, 0.67)]
    return np.array(ends + between)


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
    corners = SIDE * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    position = np.column_stack([np.interp(4 * time, np.arange(5), corners[:, axis]) for axis in range(2)])
    places = rng.uniform(-MARGIN, SIDE + MARGIN, (ACCESS_POINTS, 2))
    distance = np.linalg.norm(position[:, None] - places[None], axis=2)
    strength = AT_ONE_METRE - 10.0 * EXPONENT * np.log10(np.maximum(distance, 1.0)) + _shadows(position, rng)
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


def _shadows(position: Array, rng: Any) -> Array:
    """Return for each place and access point a smooth random field: the same place has the same shadow.

    Random waves whose frequencies are normal make a field with a squared exponential covariance.
    """
    waves = rng.standard_normal((2, SHADOWS)) / SHADOW_WIDTH
    shifts = rng.uniform(0.0, 2 * np.pi, SHADOWS)
    sizes = SHADOW_DEPTH * np.sqrt(2.0 / SHADOWS) * rng.standard_normal((SHADOWS, ACCESS_POINTS))
    return np.asarray(np.cos(position @ waves + shifts) @ sizes)
