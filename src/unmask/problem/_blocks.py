"""Blocks of coefficients: how some known columns become columns of Z.

A block's columns of Z are ``basis @ table``, where the table holds the block's part of theta. The basis is measured in
the majoriser's metric: the majoriser of the stress is the identity for unit weights, and at most twice that for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from .._typing import Array, IntArray
from .linalg import whitening

if TYPE_CHECKING:
    from ._known import KnownFeatures


class Layout:
    """Which parameter stands in each entry of a table: its number, or -1 for an entry that is always 0."""

    def __init__(self, parameters: IntArray) -> None:
        self.shape, self.size = parameters.shape, int(parameters.max(initial=-1)) + 1
        self.entries = np.flatnonzero(parameters >= 0)
        self.parameters = parameters.ravel()[self.entries]

    def table(self, values: Array) -> Array:
        """Return the table with these values of the parameters."""
        table = np.zeros(self.shape)
        table.ravel()[self.entries] = values[self.parameters]
        return table

    def gather(self, table: Array) -> Array:
        """Return the sum of the entries that belong to each parameter."""
        return np.asarray(np.bincount(self.parameters, table.ravel()[self.entries], self.size), dtype=np.float64)


class Block:
    """Coefficients of some known columns; here any, as in a full B.

    ``T @ table`` are the coefficients in standard units.
    """

    free: ClassVar[bool] = False  # whether the columns act by any linear combination
    one_axis: ClassVar[bool] = False  # whether they become one column of Z, however many they are
    one_scale: ClassVar[bool] = False  # whether they are measured in one unit
    constrained: ClassVar[bool] = False  # whether the part must stay in a convex set: see `project`

    def __init__(self, known: KnownFeatures, columns: list[int], HV: Array, degrees: Array) -> None:
        self.columns = columns
        self.basis, self.T = self.units(known, HV, degrees)
        self.parameters = self.layout(self.basis.shape[1])

    def units(self, known: KnownFeatures, HV: Array, degrees: Array) -> tuple[Array, Array]:
        """Return a basis with the metric of the identity, and T; ``degrees`` is H's diagonal."""
        V = known.values[:, self.columns]
        metric = V.T @ HV[:, self.columns]
        T = self.whitener((metric + metric.T) / 2)
        return V @ T, T

    @staticmethod
    def whitener(metric: Array) -> Array:
        """Return the inverse of a root of V'HV, as far as coefficients of this kind see it."""
        roots, vectors = whitening(metric)  # B'(V'HV)B = |RB|^2 with R = roots vectors'
        return vectors / roots

    @staticmethod
    def layout(q: int) -> IntArray:
        """Return the number of the parameter of each coefficient of q columns (rows); -1: always 0."""
        return np.arange(q * q).reshape(q, q)

    @staticmethod
    def nearest(B: Array) -> Array:
        """Return coefficients of this kind for any B of the same columns."""
        return B

    def pack(self, B: Array) -> Array:
        """Return this block's part of theta for coefficients in standard units."""
        inverse = (self.T / np.sum(self.T**2, axis=0)).T
        layout = Layout(self.parameters)
        return layout.gather(inverse @ self.nearest(B)) / layout.gather(np.ones(layout.shape))

    def project(self, part: Array) -> Array:
        """Return the nearest permitted parameters."""
        return part

    def corners(self, columns: list[int], standard: Array) -> Array:
        """Return rows of the basis for these values in some known columns."""
        rows = np.zeros((len(standard), len(self.columns)))
        rows[:, [self.columns.index(c) for c in columns]] = standard
        return rows @ self.T


class DenseBlock(Block):
    """Columns that share a full block."""

    free = True


class DiagonalBlock(Block):
    """Columns that have one coefficient each, all of them in one block."""

    @staticmethod
    def whitener(metric: Array) -> Array:
        return np.asarray(np.diag(1.0 / np.sqrt(np.diagonal(metric))))

    @staticmethod
    def layout(q: int) -> IntArray:
        return np.where(np.eye(q, dtype=bool), np.arange(q), -1)


class CommonBlock(Block):
    """Columns that share one coefficient: a circle stays a circle, and levels stay equally far from each other."""

    one_scale = True

    @staticmethod
    def whitener(metric: Array) -> Array:
        return np.asarray(np.eye(len(metric)) / np.sqrt(np.trace(metric)))

    @staticmethod
    def layout(q: int) -> IntArray:
        return np.eye(q, dtype=int) - 1

    @staticmethod
    def nearest(B: Array) -> Array:
        return np.asarray(np.sqrt(np.mean(np.sum(B**2, axis=1))) * np.eye(len(B)))


class FunctionBlock(Block):
    """Columns that are a basis of functions of one feature, which becomes one column of Z."""

    one_axis = True

    @staticmethod
    def layout(q: int) -> IntArray:
        return np.arange(q)[:, None]

    @staticmethod
    def nearest(B: Array) -> Array:
        """Return the leading eigenvector of BB' as a column: a function has one direction."""
        values, vectors = np.linalg.eigh(B @ B.T)
        return np.asarray(np.sqrt(max(values[-1], 0.0)) * vectors[:, -1:])


class MonotoneBlock(FunctionBlock):
    """Ordered levels, whose positions on one axis must not fall: the basis is a table of objects by levels.

    A position's majoriser is the sum of the degrees of the objects at that level, so the nearest permitted positions
    in theta's metric are a weighted isotonic regression.
    """

    constrained = True

    def units(self, known: KnownFeatures, HV: Array, degrees: Array) -> tuple[Array, Array]:
        # Back from standard units to steps of 0 and 1: a level is the difference of the steps to it and beyond it.
        raw = [known.restore(known.values[:, c], c) for c in self.columns]
        n = len(known.values)
        members = -np.diff(np.column_stack([np.ones(n), *raw, np.zeros(n)]), axis=1)
        feature = next(feature for feature in known.features if known.kept[self.columns[0]] in feature.columns)
        members[feature.missing] = 0.0
        # Row sums bound the majoriser from above; where each object has one level, it is diagonal and they are it.
        self.mass = np.abs(members.T @ (degrees[:, None] * members)).sum(axis=1)
        # A step in standard units is the difference of two positions times this.
        self.step_scale = known.scale[[known.kept[c] for c in self.columns]]
        steps = np.diff(np.diag(1.0 / np.sqrt(self.mass)), axis=0)
        return members / np.sqrt(self.mass), self.step_scale[:, None] * steps

    def pack(self, B: Array) -> Array:
        steps = np.sqrt(np.sum(B**2, axis=1)) / self.step_scale
        return np.asarray(np.concatenate([[0.0], np.cumsum(steps)]) * np.sqrt(self.mass))

    def project(self, part: Array) -> Array:
        positions = isotonic_regression(part / np.sqrt(self.mass), weights=self.mass).x
        return np.asarray(positions * np.sqrt(self.mass))

    def corners(self, columns: list[int], standard: Array) -> Array:
        return np.diag(1.0 / np.sqrt(self.mass))


@dataclass(frozen=True)
class Cells:
    """Cells of one known feature that may move: missing ones freely, measured ones within their error at a price.

    A row's design is moved by ``r @ corners``. Where ``mixture`` holds, r is a mixture of levels: at least 0, with sum
    1; the cells of a numeric feature have one corner and any r from ``low`` to ``high``.
    """

    rows: IntArray
    columns: list[int]  # of the known values
    standard: Array  # the corners in the known values' units
    corners: Array  # the corners as rows of the basis of all blocks
    mixture: bool
    price: float = 0.0
    low: Array | float = -np.inf
    high: Array | float = np.inf

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.corners)

    @property
    def size(self) -> int:
        return len(self.rows) * len(self.corners)

    def start(self, rng: np.random.Generator | None) -> Array:
        """Return even mixtures or zeros to start from; random ones with a generator."""
        if self.mixture:
            r = np.full(self.shape, 1.0 / len(self.corners))
            return r if rng is None else rng.dirichlet(np.ones(len(self.corners)), len(self.rows))
        return np.zeros(self.shape) if rng is None or self.price > 0 else rng.standard_normal(self.shape)

    def project(self, r: Array) -> Array:
        """Return the nearest permitted moves, or mixtures: no share below 0, and their sum 1."""
        if not self.mixture:
            return np.clip(r, self.low, self.high)
        descending = -np.sort(-r, axis=1)
        excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, r.shape[1] + 1)
        last = np.sum(descending > excess, axis=1) - 1
        return np.asarray(np.maximum(r - excess[np.arange(len(r)), last][:, None], 0.0))


def coef_blocks(known: KnownFeatures, HV: Array, degrees: Array) -> list[Block]:
    """Return one block per group of columns, all groups of one free column in a single diagonal block."""
    blocks: list[Block] = []
    single: list[int] = []
    for group, kind in zip(known.groups, known.block_types, strict=True):
        if len(group) == 1 and not kind.one_axis:
            single += group
        else:
            blocks.append(kind(known, list(group), HV, degrees))
    return [*blocks, DiagonalBlock(known, single, HV, degrees)] if single else blocks


def moving_cells(known: KnownFeatures, blocks: list[Block], price: float = 0.0) -> list[Cells]:
    """Return the missing cells, and the measured ones if moving one by its standard error has a price."""
    cells, first, width = [], 0, sum(block.basis.shape[1] for block in blocks)
    for block in blocks:
        place = slice(first, first := first + block.basis.shape[1])  # of the block in the basis of all
        for feature in known.features:
            columns = [c for c in known.columns_of(feature) if c in block.columns]
            moves: list[tuple[IntArray, Array | None, float, Any, Any]] = []  # rows, levels, price, bounds
            if columns and len(feature.missing):
                levels = known.vertices_of(feature)
                low, high = known.bounds_of(feature) if levels is None else (-np.inf, np.inf)
                moves.append((feature.missing, levels, 0.0, low, high))
            if columns and price > 0 and (error := known.errors.get(columns[0])):
                rows = np.setdiff1d(np.arange(len(known.values)), feature.missing)
                given = known.values[rows][:, columns]
                moves.append((rows, None, price / error**2, *(bound - given for bound in known.bounds_of(feature))))
            for rows, levels, own_price, low, high in moves:
                standard = np.ones((1, 1)) if levels is None else levels
                corners = np.zeros((len(standard), width))
                corners[:, place] = block.corners(columns, standard)
                cells.append(Cells(rows, columns, standard, corners, levels is not None, own_price, low, high))
    return cells
