"""Penalties: something added to the stress, with its own value and half-gradient in Z.

A new one is a class here or in a file of its own, and its place in the table: by the name of the estimator's parameter
that says how strong it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Array
from ._blocks import coef_blocks
from ._graph import WeightGraph
from ._problem import Problem
from ._structures import KnownSpace, Structure
from .linalg import orthonormal_basis


class Penalty:
    """Something added to the stress."""

    space: KnownSpace | None = None  # a space in which it holds U back, which the metric of the steps then knows
    stiffness: float = 0.0  # its curvature there, in the units of H; infinite: nothing of U is there
    pull: float = 0.0  # its curvature in every direction of U, likewise
    majorised: ClassVar[bool] = False  # whether steps in that metric can never raise it

    def add_to(self, G: Array, Z: Array) -> float:
        """Return the penalty at Z and add its half-gradient to G."""
        raise NotImplementedError


@dataclass(frozen=True)
class LeakPenalty(Penalty):
    """``stiffness`` times the part of U's sum of squares that the known features explain, 0 when uncorrelated.

    It is stiffness * |Q'U|^2; the stiffness is that of the user times the mean of H's diagonal, to bring it into the
    units of the stress: for unit weights that is the sum over pairs of the squared distances within what is explained.
    """

    majorised = True

    p: int
    space: KnownSpace
    stiffness: float

    def add_to(self, G: Array, Z: Array) -> float:
        if np.isinf(self.stiffness):  # there is nothing to penalise
            return 0.0
        explained = self.space.Q.T @ Z[:, : self.p]
        G[:, : self.p] += self.stiffness * (self.space.Q @ explained)
        return float(self.stiffness * np.sum(explained**2))


@dataclass(frozen=True)
class Ridge(Penalty):
    """``pull`` times U's sum of squares: every object is drawn towards the centre of the map.

    The pull is the user's strength times the mean weight of a pair, so that neither the unit of the dissimilarities nor
    that of the weights matters: as if each object had so many more pairs, with something like itself at the centre. It
    is the prior of coordinates that are normal, the strength being the variance of a dissimilarity's error over that of
    a coordinate: for a given kind of data it does not depend on how many objects there are.
    """

    majorised = True

    p: int
    strength: float
    pull: float

    def add_to(self, G: Array, Z: Array) -> float:
        U = Z[:, : self.p]
        G[:, : self.p] += self.pull * U
        return float(self.pull * np.sum(U**2))


def _ridge(strength: float, problem: Problem, graph: WeightGraph) -> Ridge | None:
    return Ridge(problem.p, strength, strength * _mean_weight(graph)) if problem.p else None


def _mean_weight(graph: WeightGraph) -> float:
    """Return the mean weight of the pairs that count."""
    if graph.unit_weights:
        return 1.0
    counted = graph.n * (graph.n - 1) if graph.every_pair else int(graph.pair_counts().sum())
    return float(graph.degrees.sum()) / counted


def _leak(strength: float, problem: Problem, graph: WeightGraph) -> LeakPenalty | None:
    if problem.p == 0 or problem.known.n_kept == 0:
        return None
    space = KnownSpace(orthonormal_basis(problem.known.values))
    return LeakPenalty(problem.p, space, strength * float(graph.degrees.mean()))


# Each is made from its strength, the problem and the graph of its weights; None where there is nothing to penalise.
PENALTIES: dict[str, Callable[[float, Problem, WeightGraph], Penalty | None]] = {"leak_penalty": _leak, "ridge": _ridge}


def make_structure(problem: Problem, graph: WeightGraph) -> tuple[Structure, tuple[Penalty, ...]]:
    """Return the structure of a problem's parameters, and its penalties.

    A map that must be orthogonal to what is known (``orthogonal``) has a leak penalty of infinite strength.
    """
    known, HV = problem.known, graph.laplacian(problem.known.values)
    degrees = graph.degrees
    strengths = {**problem.penalties, **({"leak_penalty": np.inf} if problem.orthogonal else {})}
    made = (PENALTIES[name](strength, problem, graph) for name, strength in strengths.items() if strength > 0)
    penalties = tuple(penalty for penalty in made if penalty is not None)
    blocks = coef_blocks(known, HV, degrees, problem.error_price)
    held = next((penalty for penalty in penalties if penalty.space is not None), None)
    stiff = degrees + sum(penalty.pull for penalty in penalties)
    if held is None:
        root = np.sqrt(stiff[:1] if graph.unit_weights else stiff[:, None])
        return Structure(problem.n, problem.p, root, blocks), penalties
    # One scale for all objects, so that the projection stays symmetric in theta and the step safe.
    root = np.sqrt(stiff.max(keepdims=True))
    # In the known space the curvature is the stress's plus the penalty's: 1 + this, in theta's units.
    keep = 1.0 / np.sqrt(1.0 + held.stiffness / float(stiff.max()))
    return Structure(problem.n, problem.p, root, blocks, held.space, keep), penalties
