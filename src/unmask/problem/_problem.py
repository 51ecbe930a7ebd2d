"""The frozen problem, and the structure of its parameters: the only code that knows what is known.

A structure maps a flat parameter vector to coordinates and gradients back::

    theta = (U, B, cells)  -- lift -->  Z = [U, VB]  -- pass -->  G = (H - C) Z  -- adjoint -->  gradient in theta

The parameters are measured in the majoriser's metric: U is multiplied by the root of H's diagonal (N for unit
weights), and each block of V is rotated and scaled so that V'HV = I. In these units the majoriser is the identity for
the coefficients always and for U with unit weights, so a step of conditional SMACOF is "theta minus gradient", and
a limited-memory method needs no preconditioner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.linalg

from .._typing import Array
from ..checking import count
from ..kernels import Edges, Pairs
from ._blocks import Block, Cells, coef_blocks, moving_cells
from ._graph import WeightGraph
from ._known import KnownFeatures
from .linalg import orthonormal_basis, symmetric_root

# A cell of a known table is measured in this share of the coefficients' unit: of the order of one, in dissimilarities
# that are of the order of one.
TYPICAL_COEFFICIENT = 0.3


@dataclass(frozen=True)
class Problem:
    """What is minimised: pairs, known features, the number of unknown dimensions, and whether U is orthogonal to V."""

    pairs: Pairs | Edges
    known: KnownFeatures
    p: int
    orthogonal: bool = False
    error_price: float = 0.0  # of moving a measured cell by its standard error; 0: it does not move

    @property
    def n(self) -> int:
        return self.pairs.n

    def require_room(self) -> None:
        """Raise if a map orthogonal to the known features would put all objects in one place."""
        if self.orthogonal and self.p > 0 and self.known.n_kept:
            taken = orthonormal_basis(self.known.values).shape[1]
            if taken >= self.n - 1:
                raise ValueError(
                    f"orthogonal=True: the known features fill all {taken} dimensions of the {self.n} objects: "
                    "nothing is left for a map; pass fewer known features."
                )


def check_dimension(p: int, n: int, known: KnownFeatures) -> None:
    """Raise when the objects cannot fill the dimensions asked for, or when there is nothing to estimate."""
    taken = known.n_dimensions
    most = n - 1 - taken
    if p == 0 and known.n_kept == 0:
        raise ValueError(
            "n_components=0 fits the coefficients of known features alone; pass known, or n_components >= 1."
        )
    if p <= most:
        return
    counted = count(len(known.features), "known feature")
    if taken != len(known.features):
        counted += f" ({count(taken, 'column')})"
    if most < 0:
        raise ValueError(
            f"{counted} are too many for {n} objects; keep at most {n - 1} columns "
            "(a nominal feature has one for each level but one)."
        )
    raise ValueError(f"n_components={p} is too many: {n} objects and {counted} leave at most n_components={most}.")


@dataclass(frozen=True)
class KnownSpace:
    """The space spanned by the known features, as an orthonormal basis Q of the centred columns."""

    Q: Array

    def off(self, U: Array) -> Array:
        """Return the part of U that is orthogonal to the known features."""
        return np.asarray(U - self.Q @ (self.Q.T @ U))

    def hold(self, solve: Callable[[Array], Array]) -> Callable[[Array], Array]:
        """Turn the inverse of H into the inverse on the complement of Q, so that steps of U stay there."""
        S = solve(self.Q)
        correction = scipy.linalg.solve(self.Q.T @ S, S.T)
        return lambda X: np.asarray(solve(X) - S @ (correction @ X))


@dataclass(frozen=True)
class Structure:
    """theta = (U, B, cells) for U free or orthogonal to the known features, B in blocks, and cells that move."""

    n: int
    p: int
    root_degrees: Array  # root of H's diagonal, as a column, or one number for unit weights
    blocks: list[Block]
    space: KnownSpace | None = None  # to which U is orthogonal
    cells: list[Cells] = field(default_factory=list)
    cell_unit: float = 1.0  # a cell's r times this is its theta

    @cached_property
    def parts(self) -> list[slice]:
        """The places in theta of U, of each block and of each group of cells."""
        return _consecutive([self.n * self.p, *(b.size for b in self.blocks), *(c.size for c in self.cells)])

    @cached_property
    def axes(self) -> list[slice]:
        """The columns in Z of U and of each block."""
        return _consecutive([self.p, *(block.width for block in self.blocks)])

    @property
    def n_unknown(self) -> int:
        """Number of parameters of U; they come first in theta."""
        return self.n * self.p

    @property
    def size(self) -> int:
        """Number of parameters."""
        return int(self.parts[-1].stop)

    @property
    def k(self) -> int:
        """Number of columns of Z."""
        return int(self.axes[-1].stop)

    @property
    def nonlinear(self) -> bool:
        """Whether cells of the known table move, so that the lift is not linear and a step may overshoot."""
        return bool(self.cells)

    @cached_property
    def constrained(self) -> bool:
        """Whether some parts of theta must stay in a convex set: ordered levels, cells."""
        return self.nonlinear or any(block.constrained for block in self.blocks)

    def unknown(self, theta: Array) -> Array:
        """Return U."""
        U = theta[: self.n_unknown].reshape(self.n, self.p) / self.root_degrees
        return U if self.space is None else self.space.off(U)

    def tables(self, theta: Array) -> list[Array]:
        """Return the table of each block's parameters."""
        return [block.table(theta[part]) for block, part in zip(self.blocks, self.parts[1:], strict=False)]

    def moved(self, theta: Array) -> list[tuple[Cells, Array]]:
        """Return the estimated cells, each with its mixture of levels or its change."""
        parts = self.parts[1 + len(self.blocks) :]
        return [(c, theta[part].reshape(c.shape) / self.cell_unit) for c, part in zip(self.cells, parts, strict=True)]

    def lift(self, theta: Array) -> Array:
        """Return Z = [U, VB]."""
        Z, tables = np.empty((self.n, self.k)), self.tables(theta)
        Z[:, self.axes[0]] = self.unknown(theta)
        for block, table, axes in zip(self.blocks, tables, self.axes[1:], strict=True):
            Z[:, axes] = block.basis @ table
        for cells, r in self.moved(theta):
            Z[cells.rows, self.axes[1 + cells.block]] += r @ cells.corners @ tables[cells.block]
        return Z

    def adjoint(self, theta: Array, G: Array) -> Array:
        """Return the gradient in theta for the gradient G in Z."""
        GU = G[:, self.axes[0]] if self.space is None else self.space.off(G[:, self.axes[0]])
        slopes = [block.basis.T @ G[:, axes] for block, axes in zip(self.blocks, self.axes[1:], strict=True)]
        moves = []
        if self.cells:
            tables = self.tables(theta)
            for cells, r in self.moved(theta):
                own = G[cells.rows, self.axes[1 + cells.block]]
                slopes[cells.block] += (r @ cells.corners).T @ own
                slope = own @ tables[cells.block].T @ cells.corners.T + cells.price * r
                moves.append(slope.ravel() / self.cell_unit)
        gathered = [block.gather(slope) for block, slope in zip(self.blocks, slopes, strict=True)]
        return np.concatenate([(GU / self.root_degrees).ravel(), *gathered, *moves])

    def project(self, theta: Array) -> Array:
        """Return the nearest permitted parameters."""
        if not self.constrained:
            return theta
        held = [block.project(theta[part]) for block, part in zip(self.blocks, self.parts[1:], strict=False)]
        cells = [(cells.project(r) * self.cell_unit).ravel() for cells, r in self.moved(theta)]
        return np.concatenate([theta[: self.n_unknown], *held, *cells])

    def price(self, theta: Array) -> float:
        """Return the penalty on values moved within their measurement error; `adjoint` has its gradient."""
        return sum(float(cells.price * np.sum(r**2)) for cells, r in self.moved(theta))

    def gram(self, theta: Array) -> Array:
        """Return BB' in standard units (kept columns x kept columns)."""
        q = sum(len(block.columns) for block in self.blocks)
        M = np.zeros((q, q))
        for block, part in zip(self.blocks, self.parts[1:], strict=False):
            M[np.ix_(block.columns, block.columns)] = block.gram(theta[part])
        return M

    def step(self, solve: Callable[[Array], Array]) -> Callable[[Array], Array]:
        """Return the step of conditional SMACOF in theta, given the inverse of H; B's majoriser is the identity."""
        solve = solve if self.space is None else self.space.hold(solve)

        def step(gradient: Array) -> Array:
            # In U the step is H+ G. Theta is root * U and its gradient is G / root.
            out = gradient.copy()
            G = gradient[: self.n_unknown].reshape(self.n, self.p) * self.root_degrees
            out[: self.n_unknown] = (solve(G) * self.root_degrees).ravel()
            return out

        return step

    def pack(self, U: Array, B: Array, rng: np.random.Generator | None = None) -> Array:
        """Return theta for a map U and coefficients B in standard units (kept columns); ``rng`` scatters free cells."""
        blocks = [block.pack(B[np.ix_(block.columns, block.columns)]) for block in self.blocks]
        cells = [cells.start(rng).ravel() * self.cell_unit for cells in self.cells]
        return self.project(np.concatenate([(U * self.root_degrees).ravel(), *blocks, *cells]))

    def carry(self, theta: Array, to: Structure) -> Array:
        """Return the same map and coefficients as parameters of another structure of the same known features."""
        gram = self.gram(theta)
        B = np.zeros_like(gram)
        for block in self.blocks:
            own = np.ix_(block.columns, block.columns)
            B[own] = symmetric_root(gram[own])
        carried = to.pack(self.unknown(theta), B)
        estimated = {tuple(cells.columns): r for cells, r in self.moved(theta) if cells.price == 0.0}
        for cells, part in zip(to.cells, to.parts[1 + len(to.blocks) :], strict=True):
            if cells.price == 0.0 and tuple(cells.columns) in estimated:
                carried[part] = estimated[tuple(cells.columns)].ravel() * to.cell_unit
        return carried


def _consecutive(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def make_structure(problem: Problem, graph: WeightGraph) -> Structure:
    """Return the structure of a problem's parameters."""
    known, n = problem.known, problem.n
    HV = graph.laplacian(known.values)  # before the degrees, which the same reading of the pairs gives
    degrees = graph.degrees
    blocks = coef_blocks(known, HV, degrees)
    cells = moving_cells(known, blocks, problem.error_price)
    unit = TYPICAL_COEFFICIENT * float(np.sqrt(degrees.mean()))
    if not (problem.orthogonal and problem.p and known.n_kept):
        root = np.sqrt(degrees[:1] if graph.unit_weights else degrees[:, None])
        return Structure(n, problem.p, root, blocks, None, cells, unit)
    # One scale for all objects, so that the projection stays symmetric in theta and the step safe.
    root, space = np.sqrt(degrees.max(keepdims=True)), KnownSpace(orthonormal_basis(known.values))
    return Structure(n, problem.p, root, blocks, space, cells, unit)
