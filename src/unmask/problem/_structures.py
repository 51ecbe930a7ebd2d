"""Structures: the only code that knows what is known.

A structure maps a flat parameter vector to coordinates and gradients back::

    theta = (U, B)  -- lift -->  Z = [U, VB]  -- pass -->  G = (H - C) Z  -- adjoint -->  gradient in theta

The parameters are measured in the majoriser's metric: U is multiplied by the root of H's diagonal (N for unit
weights), and each block of V is rotated and scaled so that V'HV = I. In these units the majoriser is the identity for
the coefficients always and for U with unit weights, so a step of conditional SMACOF is "theta minus gradient", and
a limited-memory method needs no preconditioner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from .._typing import Array
from ._blocks import Cells, CoefBlock, coef_blocks
from ._graph import WeightGraph
from ._problem import Problem
from .linalg import orthonormal_basis, symmetric_root


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
    """theta = (U, B) for U free or orthogonal to the known features, and B in blocks."""

    n: int
    p: int
    root_degrees: Array  # root of H's diagonal, as a column, or one number for unit weights
    blocks: tuple[CoefBlock, ...]
    space: KnownSpace | None = None  # to which U is orthogonal

    @cached_property
    def layout(self) -> list[tuple[CoefBlock, slice, slice]]:
        """Return each block with its place in theta and its columns of Z."""
        layout, in_theta, in_Z = [], self.n_unknown, self.p
        for block in self.blocks:
            next_theta, next_Z = in_theta + block.size, in_Z + block.width
            layout.append((block, slice(in_theta, next_theta), slice(in_Z, next_Z)))
            in_theta, in_Z = next_theta, next_Z
        return layout

    @cached_property
    def n_unknown(self) -> int:
        """Number of parameters of U; they come first in theta."""
        return self.n * self.p

    @cached_property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_unknown + sum(block.size for block in self.blocks)

    @cached_property
    def k(self) -> int:
        """Number of columns of Z."""
        return self.p + sum(block.width for block in self.blocks)

    def unknown(self, theta: Array) -> Array:
        """Return U."""
        U = theta[: self.n_unknown].reshape(self.n, self.p) / self.root_degrees
        return U if self.space is None else self.space.off(U)

    def lift(self, theta: Array) -> Array:
        """Return Z = [U, VB]."""
        Z = np.empty((self.n, self.k))
        Z[:, : self.p] = self.unknown(theta)
        for block, part, columns in self.layout:
            Z[:, columns] = block.lift(theta[part])
        return Z

    @cached_property
    def nonlinear(self) -> bool:
        """Whether cells of the known table move, so that the lift is not linear and a step may overshoot."""
        return any(block.nonlinear for block in self.blocks)

    @cached_property
    def constrained(self) -> bool:
        """Whether some parts of theta must stay in a convex set: ordered levels, mixtures."""
        return any(block.constrained for block in self.blocks)

    def project(self, theta: Array) -> Array:
        """Return the nearest permitted parameters."""
        if not self.constrained:
            return theta
        theta = theta.copy()
        for block, part, _ in self.layout:
            theta[part] = block.project(theta[part])
        return theta

    def price(self, theta: Array) -> float:
        """Return the penalty on values moved within their measurement error; `adjoint` has its gradient."""
        return sum(block.price(theta[part]) for block, part, _ in self.layout)

    def moved(self, theta: Array) -> list[tuple[Cells, Array]]:
        """Return the estimated cells, each with its mixture of levels or its change."""
        return [cell for block, part, _ in self.layout for cell in block.moved(theta[part])]

    def adjoint(self, theta: Array, G: Array) -> Array:
        """Return the gradient in theta for the gradient G in Z."""
        g = np.empty(self.size)
        GU = G[:, : self.p]
        if self.space is not None:
            GU = self.space.off(GU)
        np.divide(GU, self.root_degrees, out=g[: self.n_unknown].reshape(self.n, self.p))
        for block, part, columns in self.layout:
            g[part] = block.adjoint(theta[part], G[:, columns])
        return g

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
        parts: list[Array] = [(U * self.root_degrees).ravel()]
        parts += [block.pack(B[np.ix_(block.columns, block.columns)], rng) for block in self.blocks]
        return self.project(np.concatenate(parts))

    def carry(self, theta: Array, to: Structure) -> Array:
        """Return the same map and coefficients as parameters of another structure of the same known features."""
        q = sum(len(block.columns) for block in self.blocks)
        B = np.zeros((q, q))
        for block in self.blocks:
            own = np.ix_(block.columns, block.columns)
            B[own] = symmetric_root(self.gram(theta)[own])
        carried = to.pack(self.unknown(theta), B)
        estimated = {tuple(cells.columns): r for cells, r in self.moved(theta) if cells.price == 0.0}
        for block, part, _ in to.layout:
            carried[part] = block.with_cells(carried[part], estimated)
        return carried

    def gram(self, theta: Array) -> Array:
        """Return BB' in standard units (kept columns x kept columns)."""
        q = sum(len(block.columns) for block in self.blocks)
        M = np.zeros((q, q))
        for block, part, _ in self.layout:
            M[np.ix_(block.columns, block.columns)] = block.gram(theta[part])
        return M


def make_structure(problem: Problem, graph: WeightGraph) -> Structure:
    """Return the structure of a problem's parameters."""
    known, HV = problem.known, graph.laplacian(problem.known.values)
    degrees = graph.degrees
    blocks = coef_blocks(known, HV, degrees, problem.error_price)
    if not (problem.orthogonal and problem.p and known.n_kept):
        root = np.sqrt(degrees[:1] if graph.unit_weights else degrees[:, None])
        return Structure(problem.n, problem.p, root, blocks)
    space = KnownSpace(orthonormal_basis(known.values))
    # One scale for all objects, so that the projection stays symmetric in theta and the step safe.
    return Structure(problem.n, problem.p, np.sqrt(degrees.max(keepdims=True)), blocks, space)
