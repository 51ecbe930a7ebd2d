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
from typing import Protocol

import numpy as np
import scipy.linalg

from .._typing import Array
from ._known import KnownFeatures


class CoefBlock(Protocol):
    """Coefficients of some known columns: a part of theta that lifts to columns of Z."""

    @property
    def columns(self) -> list[int]: ...
    @property
    def size(self) -> int: ...
    def lift(self, part: Array) -> Array:
        """Return this block's columns of Z."""

    def adjoint(self, G: Array) -> Array:
        """Return the gradient in this block's part of theta."""

    def gram(self, part: Array) -> Array:
        """Return BB' of this block in standard units."""

    def pack(self, B: Array) -> Array:
        """Return this block's part of theta for coefficients in standard units."""


@dataclass(frozen=True)
class DenseBlock:
    """Columns that share a full block: B = T B_theta, where the columns times T are ``basis``."""

    columns: list[int]
    basis: Array
    T: Array
    inverse: Array  # of T

    @property
    def size(self) -> int:
        return len(self.columns) ** 2

    def lift(self, part: Array) -> Array:
        return np.asarray(self.basis @ part.reshape(self.T.shape))

    def adjoint(self, G: Array) -> Array:
        return np.asarray((self.basis.T @ G).ravel())

    def gram(self, part: Array) -> Array:
        B = self.T @ part.reshape(self.T.shape)
        return np.asarray(B @ B.T)

    def pack(self, B: Array) -> Array:
        return np.asarray((self.inverse @ B).ravel())


@dataclass(frozen=True)
class DiagonalBlock:
    """Columns that have one coefficient each, all of them in one vectorised block."""

    columns: list[int]
    basis: Array
    scale: Array

    @property
    def size(self) -> int:
        return len(self.columns)

    def lift(self, part: Array) -> Array:
        return self.basis * part

    def adjoint(self, G: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->j", self.basis, G))

    def gram(self, part: Array) -> Array:
        return np.diag((part * self.scale) ** 2)

    def pack(self, B: Array) -> Array:
        return np.asarray(np.diagonal(B) / self.scale)


def coef_blocks(known: KnownFeatures, HV: Array) -> tuple[CoefBlock, ...]:
    """Return one block per group of columns, all groups of one column in a single diagonal block."""
    singles = [group[0] for group in known.groups if len(group) == 1]
    blocks: list[CoefBlock] = []
    for group in known.groups:
        if len(group) > 1:
            columns = list(group)
            V = known.values[:, columns]
            metric = V.T @ HV[:, columns]
            values, vectors = np.linalg.eigh((metric + metric.T) / 2)
            # B'(V'HV)B = |RB|^2 with R = root(values) vectors', so B_theta = RB and T is the inverse of R.
            # Values lost to rounding are raised: a larger metric only means shorter steps.
            roots = np.sqrt(np.maximum(values, values[-1] * 1e-14))
            T = vectors / roots
            blocks.append(DenseBlock(columns, V @ T, T, roots[:, None] * vectors.T))
    if singles:
        V = known.values[:, singles]
        scale = 1.0 / np.sqrt(np.einsum("ij,ij->j", V, HV[:, singles]))
        blocks.append(DiagonalBlock(singles, V * scale, scale))
    return tuple(blocks)


@dataclass(frozen=True)
class KnownSpace:
    """The space spanned by the known features, as an orthonormal basis Q of the centred columns."""

    Q: Array

    def scale(self, U: Array, factor: float) -> Array:
        """Multiply the part of U that the known features explain; with 0 nothing of it is left."""
        return np.asarray(U + (factor - 1.0) * (self.Q @ (self.Q.T @ U)))

    def stiffen(self, solve: Callable[[Array], Array], stiffness: float) -> Callable[[Array], Array]:
        """Turn H+ into the inverse of H + stiffness QQ'; when infinite, steps of U stay in the complement of Q."""
        S = solve(self.Q)
        QS = self.Q.T @ S
        if np.isinf(stiffness):
            correction = scipy.linalg.solve(QS, S.T)
        else:
            correction = stiffness * scipy.linalg.solve(np.eye(len(QS)) + stiffness * QS, S.T)
        return lambda X: np.asarray(solve(X) - S @ (correction @ X))


@dataclass(frozen=True)
class Structure:
    """theta = (U, B) for U free, kept apart from what is known, or orthogonal to it, and B in blocks.

    ``keep`` is what U has of theta's part in the known space: 1 all of it, 0 none (orthogonal), in between so much that
    a penalty on it weighs as much as the stress on the rest.
    """

    n: int
    p: int
    root_degrees: Array  # root of H's diagonal, as a column, or one number for unit weights
    blocks: tuple[CoefBlock, ...]
    space: KnownSpace | None = None
    keep: float = 1.0

    @cached_property
    def layout(self) -> list[tuple[CoefBlock, slice, slice]]:
        """Return each block with its place in theta and its columns of Z."""
        layout, in_theta, in_Z = [], self.n_unknown, self.p
        for block in self.blocks:
            next_theta, next_Z = in_theta + block.size, in_Z + len(block.columns)
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
        return self.p + sum(len(block.columns) for block in self.blocks)

    def unknown(self, theta: Array) -> Array:
        """Return U."""
        U = theta[: self.n_unknown].reshape(self.n, self.p) / self.root_degrees
        return U if self.space is None else self.space.scale(U, self.keep)

    def lift(self, theta: Array) -> Array:
        """Return Z = [U, VB]."""
        Z = np.empty((self.n, self.k))
        Z[:, : self.p] = self.unknown(theta)
        for block, part, columns in self.layout:
            Z[:, columns] = block.lift(theta[part])
        return Z

    def adjoint(self, G: Array) -> Array:
        """Return the gradient in theta for the gradient G in Z."""
        g = np.empty(self.size)
        GU = G[:, : self.p]
        if self.space is not None:
            GU = self.space.scale(GU, self.keep)
        np.divide(GU, self.root_degrees, out=g[: self.n_unknown].reshape(self.n, self.p))
        for block, part, columns in self.layout:
            g[part] = block.adjoint(G[:, columns])
        return g

    def step(self, solve: Callable[[Array], Array]) -> Callable[[Array], Array]:
        """Return the step of conditional SMACOF in theta, given the inverse of U's majoriser; B's is the identity."""

        def step(gradient: Array) -> Array:
            # In U the step is H+ G. Theta is root * U and its gradient is G / root.
            out = gradient.copy()
            G = self._expand(gradient[: self.n_unknown].reshape(self.n, self.p)) * self.root_degrees
            out[: self.n_unknown] = (self._expand(solve(G)) * self.root_degrees).ravel()
            return out

        return step

    def _expand(self, U: Array) -> Array:
        """Undo what ``keep`` did to the part of U in the known space; nothing undoes keeping none of it."""
        return U if self.space is None or self.keep == 0.0 else self.space.scale(U, 1.0 / self.keep)

    def pack(self, U: Array, B: Array) -> Array:
        """Return theta for a map U and coefficients B in standard units (kept columns)."""
        parts: list[Array] = [(self._expand(U) * self.root_degrees).ravel()]
        parts += [block.pack(B[np.ix_(block.columns, block.columns)]) for block in self.blocks]
        return np.concatenate(parts)

    def gram(self, theta: Array) -> Array:
        """Return BB' in standard units (kept columns x kept columns)."""
        q = sum(len(block.columns) for block in self.blocks)
        M = np.zeros((q, q))
        for block, part, _ in self.layout:
            M[np.ix_(block.columns, block.columns)] = block.gram(theta[part])
        return M
