"""A map whose objects lie along a circle, or an arc of one: an order of the objects that no axis shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array

# What is less than a quarter of a circle is hardly told from a line, for which an axis will do.
LEAST_SPAN = 90.0
# A circle of which more than this is empty is an arc, with a beginning and an end.
ARC_GAP = 90.0


@dataclass(frozen=True)
class Circle:
    """A circle near all places of a map (its first two axes)."""

    centre: Array
    radius: float
    radii: Array  # of the objects
    angles: Array  # of the objects: degrees from 0 to 360
    share: float  # of the sum of squares around the mean that the circle accounts for

    @property
    def gap(self) -> tuple[float, float]:
        """Where the largest empty part ends, and how large it is, in degrees."""
        order = np.sort(self.angles)
        steps = np.diff(order, append=order[0] + 360.0)
        at = int(np.argmax(steps))
        return float(order[(at + 1) % len(order)]), float(steps[at])

    @property
    def span(self) -> float:
        """Degrees from the first object to the last."""
        return 360.0 - self.gap[1]

    @property
    def is_closed(self) -> bool:
        """Whether it is a whole circle rather than an arc."""
        return self.gap[1] <= ARC_GAP

    @property
    def along(self) -> Array:
        """Degrees from the end of the largest gap, where an arc begins."""
        # The object at the beginning is at 0, and not, by rounding, at 360.
        return np.asarray(np.round(self.angles - self.gap[0], 9) % 360.0)

    @property
    def strength(self) -> float:
        """Share that the circle accounts for; 0 if the arc is almost a line."""
        return self.share if self.span >= LEAST_SPAN else 0.0


def fit_circle(U: Array) -> Circle:
    """Fit a circle to the first two axes: least squares in |u|² = 2 u·centre + constant, which is linear."""
    points = U[:, :2] - U[:, :2].mean(axis=0)
    system = np.column_stack([2 * points, np.ones(len(points))])
    squares = np.sum(points**2, axis=1)
    (x, y, _), *_ = np.linalg.lstsq(system, squares, rcond=None)
    offsets = points - [x, y]
    radii = np.hypot(*offsets.T)
    angles = np.degrees(np.arctan2(offsets[:, 1], offsets[:, 0])) % 360.0
    share = 1.0 - float(np.sum((radii - radii.mean()) ** 2) / squares.sum())
    return Circle(np.array([x, y]) + U[:, :2].mean(axis=0), float(radii.mean()), radii, angles, share)
