"""Step rules: conditional SMACOF, and limited-memory BFGS in the majoriser's metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .. import kernels
from .._typing import Array
from ._loop import Rule
from ._objective import Objective, Point


class Smacof:
    """Plain conditional SMACOF: the minimum of the majorising quadratic, every time."""

    patience = 1

    def __init__(self, step: Callable[[Array], Array], halvings: int = 0) -> None:
        self._step = step
        self._halvings = halvings

    def candidates(self, point: Point) -> Iterator[tuple[Array, float]]:
        step = self._step(point.gradient)
        for halving in range(self._halvings + 1):
            yield point.theta - 0.5**halving * step, point.value

    def learn(self, old: Point, new: Point) -> None:
        """Keep no memory."""


class Lbfgs:
    """Limited-memory BFGS on the same pass, with Armijo backtracking and a majorisation step as a last resort.

    Theta is measured in the majoriser's metric, so the identity is the natural first guess of the curvature. On the
    raw scale of B the method is slower than SMACOF (221 passes against 189); in this metric it takes 32.
    """

    # One small decrease can be chance (a short step after backtracking).
    patience = 3
    most = 8  # steps that are remembered
    trials = 4
    sufficient = 1e-4

    def __init__(self, size: int, safe_step: float, halvings: int = 0) -> None:
        self._safe_step = safe_step
        self._halvings = halvings
        self._steps = np.zeros((self.most, size))
        self._changes = np.zeros((self.most, size))
        self._inverse_curvatures = np.zeros(self.most)
        self._direction_of = kernels.lbfgs.lbfgs_direction
        self._count = 0

    def candidates(self, point: Point) -> Iterator[tuple[Array, float]]:
        if self._count:
            yield from self._backtrack(point)
            self._count = 0  # the memory misled: forget it
        for halving in range(self._halvings + 1):
            yield point.theta - 0.5**halving * self._safe_step * point.gradient, point.value

    def _backtrack(self, point: Point) -> Iterator[tuple[Array, float]]:
        direction = self._direction_of(
            self._steps, self._changes, self._inverse_curvatures, self._count, point.gradient
        )
        slope = 2.0 * float(np.einsum("i,i->", direction, point.gradient))
        if not slope < 0.0:
            return
        step = 1.0
        for _ in range(self.trials):
            yield point.theta + step * direction, point.value + self.sufficient * step * slope
            step /= 2.0

    def learn(self, old: Point, new: Point) -> None:
        self._count += kernels.lbfgs.lbfgs_remember(
            self._steps,
            self._changes,
            self._inverse_curvatures,
            self._count % self.most,
            new.theta - old.theta,
            new.gradient - old.gradient,
        )


def smacof(objective: Objective) -> Callable[[], Rule]:
    """Return a maker of SMACOF rules that share one factorisation of H."""
    step = objective.smacof_step()
    return lambda: Smacof(step, objective.halvings)


def lbfgs(objective: Objective) -> Callable[[], Rule]:
    """Return a maker of L-BFGS rules, each with a memory of its own."""
    return lambda: Lbfgs(objective.structure.size, objective.safe_step(), objective.halvings)


RULES: dict[str, Callable[[Objective], Callable[[], Rule]]] = {"lbfgs": lbfgs, "smacof": smacof}
