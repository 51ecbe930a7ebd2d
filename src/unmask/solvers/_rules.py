"""Step rules: conditional SMACOF, and limited-memory BFGS in the majoriser's metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .. import kernels
from .._typing import Array
from ._loop import MakeRule, Rule
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
        theta, value, gradient = point
        if self._count:
            memory = self._steps, self._changes, self._inverse_curvatures, self._count
            direction = self._direction_of(*memory, gradient)
            slope = 2.0 * float(np.einsum("i,i->", direction, gradient))
            step = 1.0
            for _ in range(self.trials if slope < 0.0 else 0):
                yield theta + step * direction, value + self.sufficient * step * slope
                step /= 2.0
            self._count = 0  # the memory misled: forget it
        for halving in range(self._halvings + 1):
            yield theta - 0.5**halving * self._safe_step * gradient, value

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
    return partial(Smacof, objective.structure.step(objective.engine.graph.solver()), objective.halvings)


def lbfgs(objective: Objective) -> Callable[[], Rule]:
    """Return a maker of L-BFGS rules, each with a memory of its own."""
    return partial(Lbfgs, objective.structure.size, objective.safe_step, objective.halvings)


RULES: dict[str, MakeRule] = {"lbfgs": lbfgs, "smacof": smacof}
