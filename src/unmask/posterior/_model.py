"""The model: dissimilarities are distances with noise, and the unknown has a prior.

In units in which the mean dissimilarity is 1 and the known features have unit standard deviations::

    delta_ij ~ N(d_ij, s^2 (d_ij^2 + .01^2)^gamma / precision_ij),  u_i ~ N(0, tau^2 I),  B entries ~ N(0, 1/4),
    log s ~ N(-1.6, 1),  gamma ~ N(1/2, 1/4).

The parameters ``x`` that are sampled are standard normal a priori: U is tau times the first of them, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..problem import KnownFeatures
from ..problem.linalg import symmetric_root
from ._cells import Cells, uncertain_cells
from ._evidence import Evidence

COEF_SD = 0.5
LOG_S, LOG_S_SD = -1.6, 1.0
GAMMA, GAMMA_SD = 0.5, 0.5


class Parameters(NamedTuple):
    """The parameters in the model's units: the map, the coefficients, the known values, and the noise."""

    U: Array
    C: Array  # known columns x columns of Z
    V: Array
    log_s: float
    gamma: float

    @property
    def Z(self) -> Array:  # noqa: N802
        return np.hstack([self.U, self.V @ self.C])


@dataclass(frozen=True)
class Coefficients:
    """The parameter of each coefficient by its number, -1 if it is 0; ``folded`` ones are taken without sign."""

    which: IntArray  # known columns x columns of Z
    folded: Any  # of each parameter

    @classmethod
    def of(cls, known: KnownFeatures) -> Coefficients:
        """Return the layout of the coefficients, which is that of the block of each group of known columns."""
        which = np.full((known.n_kept, known.n_dimensions), -1)
        folded: list[bool] = []
        at = 0
        for group, kind in zip(known.groups, known.block_types, strict=True):
            own = kind.layout(len(group))
            which[list(group), at : at + own.shape[1]] = np.where(own < 0, -1, own + len(folded))
            at += own.shape[1]
            # Ordered levels: no step between them is negative.
            folded += [kind.constrained] * (int(own.max()) + 1)
        return cls(which, np.array(folded, dtype=bool))

    @property
    def size(self) -> int:
        return len(self.folded)

    def table(self, b: Array) -> Array:
        return np.append(np.where(self.folded, np.abs(b), b), 0.0)[self.which]

    def pull(self, b: Array, gradient: Array) -> Array:
        """Return the gradient in the parameters for one in the table."""
        summed = np.bincount(self.which.ravel() + 1, gradient.ravel(), self.size + 1)[1:]
        return np.where(self.folded & (b < 0), -summed, summed)

    def pack(self, gram: Array, known: KnownFeatures) -> Array:
        """Return parameters whose table times its transpose is nearly this."""
        b = np.zeros(self.size)
        for group, kind in zip(known.groups, known.block_types, strict=True):
            own = self.which[list(group)]
            own = own[:, (own >= 0).any(axis=0)]
            b[own[own >= 0]] = kind.nearest(symmetric_root(gram[np.ix_(group, group)]))[own >= 0]
        return b


@dataclass(frozen=True)
class Model:
    """The log density of all parameters given the evidence (in units of the mean dissimilarity)."""

    evidence: Evidence
    known: KnownFeatures
    p: int
    tau: float

    @cached_property
    def coefficients(self) -> Coefficients:
        return Coefficients.of(self.known)

    @cached_property
    def cells(self) -> tuple[tuple[Cells, slice], ...]:
        """Cells with a posterior of their own, and where their parameters are."""
        found, first = [], self.evidence.n * self.p + self.coefficients.size
        for cells in uncertain_cells(self.known):
            found.append((cells, slice(first, first + cells.size)))
            first += cells.size
        return tuple(found)

    @cached_property
    def _parts(self) -> tuple[slice, slice]:
        """Where U and the coefficients are among the parameters."""
        n_unknown = self.evidence.n * self.p
        return slice(0, n_unknown), slice(n_unknown, n_unknown + self.coefficients.size)

    @cached_property
    def size(self) -> int:
        """The number of parameters; the last two are those of the noise."""
        return int(self._parts[1].stop) + sum(cells.size for cells, _ in self.cells) + 2

    def parameters(self, x: Array) -> Parameters:
        """Return the parameters in the model's units."""
        unknown, coef = self._parts
        U = self.tau * x[unknown].reshape(self.evidence.n, self.p)
        C = self.coefficients.table(COEF_SD * x[coef])
        V = self.known.values
        if self.cells:
            V = V.copy()
            for cells, part in self.cells:
                V[cells.at] = cells.values(x[part])
        return Parameters(U, C, V, LOG_S + LOG_S_SD * x[-2], GAMMA + GAMMA_SD * x[-1])

    def __call__(self, x: Array, passes: Any = None) -> tuple[float, Array]:
        """Return the log density, but for a constant, and its gradient; one pass over the pairs."""
        own, seen = self.parameters(x), self.evidence
        Z = own.Z
        G = np.empty_like(Z)
        value, in_log_s, in_gamma = (passes or kernels.likelihood).likelihood_pass(
            Z, seen.rows, seen.columns, seen.delta, seen.precision, own.log_s, own.gamma, G
        )
        gradient = -x
        unknown, coef = self._parts
        gradient[unknown] += self.tau * G[:, : self.p].ravel()
        GK = G[:, self.p :]
        gradient[coef] += COEF_SD * self.coefficients.pull(x[coef], own.V.T @ GK)
        value -= 0.5 * float(x @ x)
        for cells, part in self.cells:
            more, in_x = cells.correction(x[part])
            value += more
            in_values = GK[cells.rows] @ own.C[cells.columns].T
            gradient[part] += cells.pull(x[part], in_values) + in_x
        gradient[-2] += LOG_S_SD * in_log_s
        gradient[-1] += GAMMA_SD * in_gamma
        return value, gradient

    def start(self, U: Array, gram: Array) -> Array:
        """Return x for a map and BB', with noise as large as their residuals."""
        x = np.zeros(self.size)
        unknown, coef = self._parts
        x[unknown] = U.ravel() / self.tau
        x[coef] = self.coefficients.pack(gram, self.known) / COEF_SD
        Z, seen = self.parameters(x).Z, self.evidence
        residuals = np.linalg.norm(Z[seen.rows] - Z[seen.columns], axis=1) - seen.delta
        x[-2] = (np.log(max(np.sqrt(np.mean(residuals**2)), 0.01)) - LOG_S) / LOG_S_SD
        return x


# The least share of the fitted coordinates' mean square that is left when that of the noise is subtracted.
LEAST_LEFT = 0.25


def empirical_tau(evidence: Evidence, U: Array, Z: Array, known: KnownFeatures) -> float:
    """Return the standard deviation of the coordinates a priori, by empirical Bayes from the least-squares fit.

    It is that of the fitted coordinates, less the part that noise adds; drawn with the rest, it collapses under noise.
    The noise of a coordinate is that of a regression of the object's dissimilarities, linear at the fit.
    """
    n, p = U.shape
    if p == 0:
        return 1.0
    U = U - U.mean(axis=0)
    rows, columns = evidence.rows, evidence.columns
    d = np.linalg.norm(Z[rows] - Z[columns], axis=1)
    left = float(np.sum(evidence.precision * (evidence.delta - d) ** 2))
    # Neither place nor turn of the map counts, nor a turn of the coefficients.
    free = n * p - p * (p + 1) // 2 + sum(q * (q + 1) // 2 for q in map(len, known.groups))
    noise = left / max(len(d) - free, 1)
    share = evidence.precision[:, None] * ((U[rows] - U[columns]) / np.maximum(d, 1e-12)[:, None]) ** 2
    h = np.zeros((n, p))
    np.add.at(h, rows, share)
    np.add.at(h, columns, share)
    size = float(np.mean(U**2))
    spread = size - float(np.mean(noise / np.maximum(h, 1e-12)))
    return float(np.sqrt(max(spread, LEAST_LEFT * size, 1e-12)))
