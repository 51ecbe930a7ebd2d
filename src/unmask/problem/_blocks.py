"""Blocks of coefficients: how some known columns become coordinates, and gradients come back.

Each block is a part of theta, measured in the majoriser's metric: ``design @ coef(part)`` are its columns of Z, and in
theta's units the majoriser of the stress is the identity (for unit weights; at most twice that for others).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from .._typing import Array, IntArray
from .linalg import whitening

if TYPE_CHECKING:
    from ._known import Feature, KnownFeatures

# A cell of a known table is measured in this share of the coefficients' unit: of the order of one, in dissimilarities
# that are of the order of one.
TYPICAL_COEFFICIENT = 0.3
# The one corner of a cell that is a number: its move is the move of its column.
ONE = np.ones((1, 1))


class CoefBlock:
    """Coefficients of some known columns: a part of theta that lifts to columns of Z."""

    free: ClassVar[bool] = False  # whether the columns act by any linear combination
    one_axis: ClassVar[bool] = False  # whether they become one column of Z, however many they are
    one_scale: ClassVar[bool] = False  # whether they are measured in one unit
    nonlinear: ClassVar[bool] = False  # whether the lift is not linear, so that a step may overshoot
    constrained: ClassVar[bool] = False  # whether the part must stay in a convex set: see `project`

    columns: list[int]

    @classmethod
    def make(cls, known: KnownFeatures, columns: list[int], HV: Array, degrees: Array | None) -> CoefBlock:
        """Return the block of some columns; H's diagonal is needed where levels are ordered."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Return the number of parameters."""
        return len(self.columns)

    @property
    def width(self) -> int:
        """Return the number of columns of Z."""
        return 1 if self.one_axis else len(self.columns)

    def lift(self, part: Array) -> Array:
        """Return this block's columns of Z."""
        raise NotImplementedError

    def adjoint(self, part: Array, G: Array) -> Array:
        """Return the gradient in this block's part of theta."""
        raise NotImplementedError

    def coef(self, part: Array) -> Array:
        """Return the coefficients: what rows of the design are multiplied by."""
        raise NotImplementedError

    def pull(self, gradient: Array) -> Array:
        """Return the gradient in theta for a gradient in the coefficients."""
        raise NotImplementedError

    def gram(self, part: Array) -> Array:
        """Return BB' of this block in standard units."""
        B = self.coef(part)
        return np.asarray(B @ B.T)

    def pack(self, B: Array, rng: np.random.Generator | None = None) -> Array:
        """Return this block's part of theta for coefficients in standard units; ``rng`` scatters free cells."""
        raise NotImplementedError

    def project(self, part: Array) -> Array:
        """Return the nearest permitted parameters."""
        return part

    def mixed(self, at: list[int], standard: Array) -> tuple[list[int], Array]:
        """Return where in the design a missing cell is, and the rows of the design that it may be a mixture of."""
        return at, standard

    def price(self, part: Array) -> float:
        """Return the penalty on values moved within their measurement error; `adjoint` has its gradient."""
        return 0.0

    def moved(self, part: Array) -> list[tuple[Cells, Array]]:
        """Return the estimated cells, each with its mixture of levels or its change."""
        return []

    def with_cells(self, part: Array, estimated: dict[tuple[int, ...], Array]) -> Array:
        """Return the part with the estimates of missing cells that another structure found, by their columns."""
        return part


@dataclass(frozen=True)
class _Whitened(CoefBlock):
    """Columns in the metric V'HV = I: ``basis`` is the columns times T."""

    columns: list[int]
    basis: Array
    T: Array
    inverse: Array  # of T

    @classmethod
    def make(cls, known: KnownFeatures, columns: list[int], HV: Array, degrees: Array | None) -> CoefBlock:
        V = known.values[:, columns]
        metric = V.T @ HV[:, columns]
        # B'(V'HV)B = |RB|^2 with R = roots vectors', so B_theta = RB and T is the inverse of R.
        # Values lost to rounding are raised: a larger metric only means shorter steps.
        roots, vectors = whitening((metric + metric.T) / 2)
        T = vectors / roots
        return cls(columns, V @ T, T, roots[:, None] * vectors.T)


class DenseBlock(_Whitened):
    """Columns that share a full block: B = T B_theta."""

    free = True

    @property
    def size(self) -> int:
        return len(self.columns) ** 2

    def lift(self, part: Array) -> Array:
        return np.asarray(self.basis @ part.reshape(self.T.shape))

    def adjoint(self, part: Array, G: Array) -> Array:
        return np.asarray((self.basis.T @ G).ravel())

    def coef(self, part: Array) -> Array:
        return np.asarray(self.T @ part.reshape(self.T.shape))

    def pull(self, gradient: Array) -> Array:
        return np.asarray((self.T.T @ gradient).ravel())

    def pack(self, B: Array, rng: np.random.Generator | None = None) -> Array:
        return np.asarray((self.inverse @ B).ravel())


@dataclass(frozen=True)
class DiagonalBlock(CoefBlock):
    """Columns that have one coefficient each, all of them in one vectorised block."""

    columns: list[int]
    basis: Array
    scale: Array

    @classmethod
    def make(cls, known: KnownFeatures, columns: list[int], HV: Array, degrees: Array | None) -> CoefBlock:
        V = known.values[:, columns]
        scale = 1.0 / np.sqrt(np.einsum("ij,ij->j", V, HV[:, columns]))
        return cls(columns, V * scale, scale)

    def lift(self, part: Array) -> Array:
        return self.basis * part

    def adjoint(self, part: Array, G: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->j", self.basis, G))

    def coef(self, part: Array) -> Array:
        return np.diag(part * self.scale)

    def pull(self, gradient: Array) -> Array:
        return np.asarray(np.diagonal(gradient) * self.scale)

    def gram(self, part: Array) -> Array:
        return np.diag((part * self.scale) ** 2)

    def pack(self, B: Array, rng: np.random.Generator | None = None) -> Array:
        return np.asarray(np.diagonal(B) / self.scale)


@dataclass(frozen=True)
class CommonBlock(CoefBlock):
    """Columns that share one coefficient: a circle stays a circle, and levels stay equally far from each other."""

    one_scale = True

    columns: list[int]
    basis: Array
    scale: float

    @classmethod
    def make(cls, known: KnownFeatures, columns: list[int], HV: Array, degrees: Array | None) -> CoefBlock:
        V = known.values[:, columns]
        scale = float(1.0 / np.sqrt(np.sum(V * HV[:, columns])))
        return cls(columns, V * scale, scale)

    @property
    def size(self) -> int:
        return 1

    def lift(self, part: Array) -> Array:
        return np.asarray(self.basis * part[0])

    def adjoint(self, part: Array, G: Array) -> Array:
        return np.array([np.sum(self.basis * G)])

    def coef(self, part: Array) -> Array:
        return np.asarray(part[0] * self.scale * np.eye(len(self.columns)))

    def pull(self, gradient: Array) -> Array:
        return np.array([np.trace(gradient) * self.scale])

    def pack(self, B: Array, rng: np.random.Generator | None = None) -> Array:
        return np.array([np.sqrt(np.mean(np.sum(B**2, axis=1))) / self.scale])


class _OneAxis(CoefBlock):
    """What blocks share that become one column of Z: a basis times their part of theta."""

    one_axis = True
    basis: Array

    def lift(self, part: Array) -> Array:
        return np.asarray(self.basis @ part)[:, None]

    def adjoint(self, part: Array, G: Array) -> Array:
        return np.asarray(self.basis.T @ G[:, 0])


class FunctionBlock(_OneAxis, _Whitened):
    """Columns that are a basis of functions of one feature, which becomes one column of Z."""

    def coef(self, part: Array) -> Array:
        return np.asarray(self.T @ part)[:, None]

    def pull(self, gradient: Array) -> Array:
        return np.asarray(self.T.T @ gradient[:, 0])

    def pack(self, B: Array, rng: np.random.Generator | None = None) -> Array:
        """Keep the leading eigenvector of BB': a function has one direction."""
        values, vectors = np.linalg.eigh(B @ B.T)
        return np.asarray(self.inverse @ (np.sqrt(max(values[-1], 0.0)) * vectors[:, -1]))


@dataclass(frozen=True)
class MonotoneBlock(_OneAxis):
    """Ordered levels, whose positions on one axis must not fall: the design is who has which level.

    A position's majoriser is the sum of the degrees of the objects at that level, so the nearest permitted positions
    in theta's metric are a weighted isotonic regression.
    """

    constrained = True

    columns: list[int]  # the steps between levels, standardised
    basis: Array  # who has which level, divided by the root of each level's mass
    mass: Array
    step_scale: Array  # of the columns: a step in standard units is the difference of two positions times this

    @classmethod
    def make(cls, known: KnownFeatures, columns: list[int], HV: Array, degrees: Array | None) -> CoefBlock:
        steps = known.values
        # Back from standard units to steps of 0 and 1: a level is the difference of the steps to it and beyond it.
        raw = [known.restore(steps[:, c], c) for c in columns]
        members = -np.diff(np.column_stack([np.ones(len(steps)), *raw, np.zeros(len(steps))]), axis=1)
        members[known.feature_of(columns[0]).missing] = 0.0
        # Row sums bound the majoriser from above; where each object has one level, it is diagonal and they are it.
        weighted = members if degrees is None else degrees[:, None] * members
        mass = np.abs(members.T @ weighted).sum(axis=1)
        return cls(columns, members / np.sqrt(mass), mass, known.scale[[known.kept[c] for c in columns]])

    @property
    def size(self) -> int:
        return len(self.mass)

    def coef(self, part: Array) -> Array:
        return np.asarray(part / np.sqrt(self.mass))[:, None]

    def pull(self, gradient: Array) -> Array:
        return np.asarray(gradient[:, 0] / np.sqrt(self.mass))

    def gram(self, part: Array) -> Array:
        b = np.diff(self.coef(part)[:, 0]) * self.step_scale
        return np.outer(b, b)

    def pack(self, B: Array, rng: np.random.Generator | None = None) -> Array:
        steps = np.sqrt(np.sum(B**2, axis=1)) / self.step_scale
        return np.asarray(np.concatenate([[0.0], np.cumsum(steps)]) * np.sqrt(self.mass))

    def project(self, part: Array) -> Array:
        positions = isotonic_regression(part / np.sqrt(self.mass), weights=self.mass).x
        return np.asarray(positions * np.sqrt(self.mass))

    def mixed(self, at: list[int], standard: Array) -> tuple[list[int], Array]:
        return list(range(self.size)), np.eye(self.size)


@dataclass(frozen=True)
class Cells:
    """Cells of one known feature that may move: missing ones freely, measured ones within their error at a price.

    A row's design is moved by ``r @ corners``. Where ``mixture`` holds, r is a mixture of levels: at least 0, with sum
    1; the cells of a numeric feature have one corner and any r from ``low`` to ``high``.
    """

    rows: IntArray
    at: list[int]  # columns of the design
    corners: Array  # in the design's units
    columns: list[int]  # of the known values
    standard: Array  # the corners in the known values' units
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
        """Return the nearest permitted mixtures or moves."""
        return _onto_mixtures(r) if self.mixture else np.clip(r, self.low, self.high)


@dataclass(frozen=True)
class MovingBlock(CoefBlock):
    """A block of which some rows of the design are estimated: Z is the inner block's plus the moved rows' share."""

    nonlinear = True
    constrained = True

    inner: CoefBlock
    cells: tuple[Cells, ...]
    unit: float  # a cell's r times this is its theta

    @property
    def columns(self) -> list[int]:  # type: ignore[override]
        return self.inner.columns

    @property
    def width(self) -> int:
        return self.inner.width

    @property
    def size(self) -> int:
        return self.inner.size + sum(cells.size for cells in self.cells)

    def parts(self, part: Array) -> tuple[Array, list[Array]]:
        """Return the inner block's part and each group of cells' r."""
        first, moves = self.inner.size, []
        for cells in self.cells:
            moves.append(part[first : first + cells.size].reshape(cells.shape) / self.unit)
            first += cells.size
        return part[: self.inner.size], moves

    def lift(self, part: Array) -> Array:
        own, moved = self.parts(part)
        Z, B = self.inner.lift(own).copy(), self.inner.coef(own)
        for cells, r in zip(self.cells, moved, strict=True):
            Z[cells.rows] += r @ cells.corners @ B[cells.at]
        return Z

    def adjoint(self, part: Array, G: Array) -> Array:
        own, moved = self.parts(part)
        B = self.inner.coef(own)
        gradient_B, out = np.zeros_like(B), []
        for cells, r in zip(self.cells, moved, strict=True):
            gradient_B[cells.at] += (r @ cells.corners).T @ G[cells.rows]
            out.append((G[cells.rows] @ B[cells.at].T @ cells.corners.T + cells.price * r).ravel() / self.unit)
        return np.concatenate([self.inner.adjoint(own, G) + self.inner.pull(gradient_B), *out])

    def price(self, part: Array) -> float:
        return float(sum(c.price * np.sum(r**2) for c, r in zip(self.cells, self.parts(part)[1], strict=True)))

    def coef(self, part: Array) -> Array:
        return self.inner.coef(self.parts(part)[0])

    def gram(self, part: Array) -> Array:
        return self.inner.gram(self.parts(part)[0])

    def pack(self, B: Array, rng: np.random.Generator | None = None) -> Array:
        starts = [cells.start(rng).ravel() * self.unit for cells in self.cells]
        return np.concatenate([self.inner.pack(B), *starts])

    def moved(self, part: Array) -> list[tuple[Cells, Array]]:
        return list(zip(self.cells, self.parts(part)[1], strict=True))

    def with_cells(self, part: Array, estimated: dict[tuple[int, ...], Array]) -> Array:
        own, moved = self.parts(part)
        known = [
            estimated.get(tuple(cells.columns), r) if cells.price == 0.0 else r
            for cells, r in zip(self.cells, moved, strict=True)
        ]
        return np.concatenate([own, *((r * self.unit).ravel() for r in known)])

    def project(self, part: Array) -> Array:
        own, moved = self.parts(part)
        moved = [cells.project(r) for cells, r in zip(self.cells, moved, strict=True)]
        return np.concatenate([self.inner.project(own), *((r * self.unit).ravel() for r in moved)])


def _onto_mixtures(r: Array) -> Array:
    """Project each row onto the simplex: no share below 0, and their sum 1."""
    descending = -np.sort(-r, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, r.shape[1] + 1)
    last = np.sum(descending > excess, axis=1) - 1
    return np.asarray(np.maximum(r - excess[np.arange(len(r)), last][:, None], 0.0))


# ---- making them


def coef_blocks(
    known: KnownFeatures, HV: Array, degrees: Array | None = None, price: float = 0.0
) -> tuple[CoefBlock, ...]:
    """Return one block per group of columns, all groups of one free column in a single diagonal block.

    ``price`` is what moving a cell by its standard error costs; at 0 only missing cells move. ``degrees`` (H's
    diagonal) are needed where levels are ordered or cells move.
    """
    together: dict[bool, list[tuple[list[int], type[CoefBlock]]]] = {False: [], True: []}
    for group, kind in zip(known.groups, known.block_types, strict=True):
        together[len(group) == 1 and not kind.one_axis].append((list(group), kind))
    blocks = [kind.make(known, group, HV, degrees) for group, kind in together[False]]
    if singles := [column for group, _ in together[True] for column in group]:
        blocks.append(DiagonalBlock.make(known, singles, HV, degrees))
    return tuple(_moving(known, block, degrees, price) for block in blocks)


def _moving(known: KnownFeatures, block: CoefBlock, degrees: Array | None, price: float) -> CoefBlock:
    """Let the block's missing cells move, and its measured ones where they have an error and a price."""
    cells = []
    for feature in known.features:
        columns = [c for c in known.columns_of(feature) if c in block.columns]
        if columns and len(feature.missing):
            cells.append(_missing_cells(known, block, feature, columns))
        if columns and price > 0 and columns[0] in known.errors:
            cells.append(_measured_cells(known, block, feature, columns, price / known.errors[columns[0]] ** 2))
    if not cells:
        return block
    unit = TYPICAL_COEFFICIENT * float(np.sqrt(1.0 if degrees is None else degrees.mean()))
    return MovingBlock(block, tuple(cells), unit)


def _missing_cells(known: KnownFeatures, block: CoefBlock, feature: Feature, columns: list[int]) -> Cells:
    at, standard = [block.columns.index(c) for c in columns], known.vertices_of(feature)
    if standard is None:
        low, high = known.bounds_of(feature)
        return Cells(feature.missing, at, ONE, columns, ONE, mixture=False, low=low, high=high)
    return Cells(feature.missing, *block.mixed(at, standard), columns, standard, mixture=True)


def _measured_cells(
    known: KnownFeatures, block: CoefBlock, feature: Feature, columns: list[int], price: float
) -> Cells:
    rows = np.setdiff1d(np.arange(len(known.values)), feature.missing)
    given = known.values[rows, columns[0]][:, None]
    low, high = (bound - given for bound in known.bounds_of(feature))
    at = [block.columns.index(columns[0])]
    return Cells(rows, at, ONE, columns, ONE, mixture=False, price=price, low=low, high=high)
