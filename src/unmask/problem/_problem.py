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
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from .._typing import Array
from ..checking import count
from ._blocks import Block, Cells, Layout, coef_blocks, moving_cells
from ._graph import WeightGraph
from ._known import KnownFeatures
from .linalg import orthonormal_basis, symmetric_root

# A cell of a known table is measured in this share of the coefficients' unit: of the order of one, in dissimilarities
# that are of the order of one.
TYPICAL_COEFFICIENT = 0.3


@dataclass(frozen=True)
class Problem:
    """What is minimised: pairs, known features, the number of unknown dimensions, and whether U is orthogonal to V."""

    pairs: Any  # Pairs or Edges, as the engine of the fit reads them
    known: KnownFeatures
    p: int
    orthogonal: bool = False
    error_price: float = 0.0  # of moving a measured cell by its standard error; 0: it does not move

    @property
    def n(self) -> int:
        return int(self.pairs.n)

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


class Structure:
    """The parameters theta = (U, B, cells): U free or orthogonal to ``space``, B in blocks, and cells that move.

    ``root_degrees`` is the root of H's diagonal as a column, or one number for unit weights; a cell's r times
    ``cell_unit`` is its theta.
    """

    def __init__(
        self,
        n: int,
        p: int,
        root_degrees: Array,
        blocks: list[Block],
        space: KnownSpace | None,
        cells: list[Cells],
        cell_unit: float,
    ) -> None:
        self.n, self.p, self.root_degrees, self.space = n, p, root_degrees, space
        self.blocks, self.cells, self.cell_unit = blocks, cells, cell_unit
        self.n_unknown = first = n * p  # parameters of U; they come first in theta
        self.block_parts: list[slice] = []  # the places of the blocks in theta
        for block in blocks:
            self.block_parts.append(slice(first, first := first + int(block.parameters.max()) + 1))
        self.coefficients = slice(self.n_unknown, first)  # their place in theta
        self.cell_parts: list[slice] = []
        for group in cells:
            self.cell_parts.append(slice(first, first := first + group.size))
        self.size = first
        # The blocks side by side: the known columns of Z are basis @ table.
        self.basis = np.hstack([np.empty((n, 0)), *(block.basis for block in blocks)])
        self.T = np.zeros((sum(len(block.columns) for block in blocks), self.basis.shape[1]))
        parameters = np.full((self.basis.shape[1], sum(block.parameters.shape[1] for block in blocks)), -1)
        row = column = 0
        for block, part in zip(blocks, self.block_parts, strict=True):
            height, width = block.parameters.shape
            own = block.parameters + (part.start - self.n_unknown)
            parameters[row : row + height, column : column + width] = np.where(block.parameters < 0, -1, own)
            self.T[block.columns, row : row + height] = block.T
            row, column = row + height, column + width
        self.layout = Layout(parameters)
        self.k = p + column  # columns of Z
        # Whether cells of the known table move, so that the lift is not linear and a step may overshoot.
        self.nonlinear = bool(cells)
        # Whether some parts of theta must stay in a convex set: ordered levels, cells.
        self.constrained = self.nonlinear or any(block.constrained for block in blocks)

    def table(self, theta: Array) -> Array:
        """Return the coefficients as a table, by which the basis is multiplied."""
        return self.layout.table(theta[self.coefficients])

    def unknown(self, theta: Array) -> Array:
        """Return U."""
        U = theta[: self.n_unknown].reshape(self.n, self.p) / self.root_degrees
        return U if self.space is None else self.space.off(U)

    def moved(self, theta: Array) -> list[tuple[Cells, Array]]:
        """Return the estimated cells, each with its mixture of levels or its change."""
        if not self.cells:  # of most fits, in every pass
            return []
        each = zip(self.cells, self.cell_parts, strict=True)
        return [(cells, (theta[part] / self.cell_unit).reshape(cells.shape)) for cells, part in each]

    def lift(self, theta: Array) -> Array:
        """Return Z = [U, VB]."""
        Z, table = np.empty((self.n, self.k)), self.table(theta)
        Z[:, : self.p] = self.unknown(theta)
        np.matmul(self.basis, table, out=Z[:, self.p :])
        for cells, r in self.moved(theta):
            Z[cells.rows, self.p :] += r @ cells.corners @ table
        return Z

    def adjoint(self, theta: Array, G: Array) -> Array:
        """Return the gradient in theta for the gradient G in Z."""
        g, GU, GV = np.empty(self.size), G[:, : self.p], G[:, self.p :]
        if self.space is not None:
            GU = self.space.off(GU)
        np.divide(GU, self.root_degrees, out=g[: self.n_unknown].reshape(self.n, self.p))
        in_table = self.basis.T @ GV
        for (cells, r), own in zip(self.moved(theta), self.cell_parts, strict=True):
            G_rows = GV[cells.rows]
            in_table += (r @ cells.corners).T @ G_rows
            slope = G_rows @ self.table(theta).T @ cells.corners.T + cells.price * r
            g[own] = slope.ravel() / self.cell_unit
        g[self.coefficients] = self.layout.gather(in_table)
        return g

    def project(self, theta: Array) -> Array:
        """Return the nearest permitted parameters."""
        if not self.constrained:
            return theta
        held = [block.project(theta[part]) for block, part in zip(self.blocks, self.block_parts, strict=True)]
        cells = [(cells.project(r) * self.cell_unit).ravel() for cells, r in self.moved(theta)]
        return np.concatenate([theta[: self.n_unknown], *held, *cells])

    def price(self, theta: Array) -> float:
        """Return the penalty on values moved within their measurement error; `adjoint` has its gradient."""
        return sum(float(cells.price * np.sum(r**2)) for cells, r in self.moved(theta))

    def gram(self, theta: Array) -> Array:
        """Return BB' in standard units (kept columns x kept columns)."""
        table = self.table(theta)
        B = self.T @ table
        # Two ordered levels at one place differ by rounding: that is a coefficient of 0.
        B[np.abs(B) <= 4 * np.finfo(float).eps * (np.abs(self.T) @ np.abs(table))] = 0.0
        return np.asarray(B @ B.T)

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
        for cells, part in zip(to.cells, to.cell_parts, strict=True):
            if cells.price == 0.0 and tuple(cells.columns) in estimated:
                carried[part] = estimated[tuple(cells.columns)].ravel() * to.cell_unit
        return carried


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
