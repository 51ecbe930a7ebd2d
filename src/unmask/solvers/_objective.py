"""The function that is minimised: lift, pass, adjoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .._typing import Array
from ..engines import Engine
from ..problem import Problem, Structure, make_structure


class Point(NamedTuple):
    """A place in parameter space with what one pass says about it; ``gradient`` is half the derivative."""

    theta: Array
    value: float
    gradient: Array


class Objective:
    """The stress as a function of theta: one pass over the pairs a call. Several threads may call it."""

    def __init__(self, engine: Engine, structure: Structure) -> None:
        self.engine = engine
        self.structure = structure
        self.total = engine.total

    def __call__(self, theta: Array) -> Point:
        structure = self.structure
        theta = structure.project(theta)
        Z = structure.lift(theta)
        value, G = self.engine.stress(Z)
        gradient = structure.adjoint(theta, G)
        if structure.nonlinear:
            value += structure.price(theta)
        if structure.constrained:
            # What is left of a majorisation step that stays permitted: the gradient where nothing holds it back, and
            # zero at the constrained minimum. Every rule goes by it as by a gradient.
            gradient = theta - structure.project(theta - gradient)
        return Point(theta, value, gradient)

    @property
    def halvings(self) -> int:
        """Number of times a step along the gradient may have to be halved: none for the stress and a linear lift."""
        return 30 if self.structure.nonlinear or not self.engine.majorises else 0

    def safe_step(self) -> float:
        """Return the length of a step along the gradient, in theta, that can never raise the objective.

        Theta is measured in the root of H's diagonal. For unit weights the majoriser is then the identity; for others
        H <= 2 diag(H), as for every Laplacian.
        """
        return 1.0 if self.engine.graph.unit_weights else 0.5

    def smacof_step(self) -> Callable[[Array], Array]:
        """Return the step of conditional SMACOF: the gradient times the inverse of the majoriser, H factorised once."""
        return self.structure.step(self.engine.graph.solver())


def make_objective(problem: Problem, engine: Engine) -> Objective:
    """Return the objective of a problem for an engine, with its structure."""
    return Objective(engine, make_structure(problem, engine.graph))
