"""The function that is minimised: lift, pass, penalties, adjoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Array
from ..engines import Engine
from ..problem import LeakPenalty, Penalty, Problem, Structure, coef_blocks, known_space


class Point(NamedTuple):
    """A place in parameter space with what one pass says about it; ``gradient`` is half the derivative."""

    theta: Array
    value: float
    gradient: Array


class Objective:
    """Stress plus penalties as a function of theta; counts its passes over the pairs."""

    def __init__(self, engine: Engine, structure: Structure, penalties: tuple[Penalty, ...] = ()) -> None:
        self.engine = engine
        self.structure = structure
        self.penalties = penalties
        self.total = engine.total
        self.passes = 0

    def __call__(self, theta: Array) -> Point:
        Z = self.structure.lift(theta)
        value, G = self.engine.stress(Z)
        self.passes += 1
        for penalty in self.penalties:
            value += penalty.add_to(G, Z)
        return Point(theta, value, self.structure.adjoint(G))

    def safe_step(self) -> float:
        """Return the length of a step along the gradient, in theta, that can never raise the objective.

        Theta is measured in the root of H's diagonal. For unit weights the majoriser is then the identity; for others
        H <= 2 diag(H), as for every Laplacian. A penalty's curvature is at most its strength times H's.
        """
        curvature = 1.0 if self.engine.complete else 2.0
        return 1.0 / (curvature + sum(penalty.strength for penalty in self.penalties))

    def exact_majoriser(self) -> Callable[[Array], Array]:
        """Return the step of conditional SMACOF: the gradient times the inverse of the majoriser, H factorised once."""
        split = self.structure.n_unknown
        shape, root = (self.structure.n, self.structure.p), self.structure.root_degrees
        solve = self.engine.laplacian_solver()
        relax = 1.0 / (1.0 + sum(penalty.strength for penalty in self.penalties))

        def step(gradient: Array) -> Array:
            # In U: H+ G. Theta is root * U and the gradient is G / root.
            out = gradient.copy()
            G = gradient[:split].reshape(shape) * root
            out[:split] = (solve(G) * root * relax).ravel()
            return out

        return step


def make_objective(problem: Problem, engine: Engine) -> Objective:
    """Build the structure and the penalties of a problem for an engine."""
    known, p = problem.known, problem.p
    HV = engine.laplacian(known.values)
    root = np.sqrt(engine.degrees[:1] if engine.complete else engine.degrees[:, None])
    separate = p > 0 and known.n_kept > 0
    space = known_space(known, HV) if separate and (problem.orthogonal or problem.leak_penalty > 0) else None
    structure = Structure(problem.n, p, root, coef_blocks(known, HV), orthogonal=space if problem.orthogonal else None)
    penalised = space is not None and problem.leak_penalty > 0
    penalties = (LeakPenalty(problem.leak_penalty, space, p),) if penalised and space is not None else ()
    return Objective(engine, structure, penalties)
