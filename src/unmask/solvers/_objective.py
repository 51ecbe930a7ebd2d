"""The function that is minimised: lift, pass, adjoint."""

from __future__ import annotations

from typing import NamedTuple

from .._typing import Array
from ..engines import Engine
from ..problem import Problem, Structure, make_structure


class Point(NamedTuple):
    """The parameters theta, the value of the objective there, and half its derivative."""

    theta: Array
    value: float
    gradient: Array


class Objective:
    """The stress as a function of theta: one pass over the pairs a call. Several threads may call it.

    Theta is measured in the root of H's diagonal. A step of length ``safe_step`` along the gradient never raises the
    stress: for unit weights the majoriser is then the identity, for others H <= 2 diag(H), as for every Laplacian.
    Where the lift is not linear, or the cost is another one, it may have to be halved up to ``halvings`` times.
    """

    def __init__(self, engine: Engine, structure: Structure) -> None:
        self.engine, self.structure, self.total = engine, structure, engine.total
        self.safe_step = 1.0 if engine.graph.unit_weights else 0.5
        self.halvings = 30 if structure.nonlinear or not engine.majorises else 0

    def __call__(self, theta: Array) -> Point:
        structure = self.structure
        theta = structure.project(theta)
        value, G = self.engine.stress(structure.lift(theta))
        gradient = structure.adjoint(theta, G)
        if structure.nonlinear:
            value += structure.price(theta)
        if structure.constrained:
            # What is left of a majorisation step that stays permitted: the gradient where nothing holds it back, and
            # zero at the constrained minimum. Every rule goes by it as by a gradient.
            gradient = theta - structure.project(theta - gradient)
        return Point(theta, value, gradient)


def make_objective(problem: Problem, engine: Engine) -> Objective:
    """Return the objective of a problem for an engine, with its structure."""
    return Objective(engine, make_structure(problem, engine.graph))
