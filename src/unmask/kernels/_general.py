"""The pass of a general cost, which calls compiled functions of a pair a row at a time.

The tiles are those of the stress, so the result is the same to the last bit for any number of threads. The pass is
kept on disk; only what computes a row is compiled for each combination of functions, once a session.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError

from .._typing import Array
from ._costs import Cost, Form, PairFunction
from ._fused import _chunks
from ._loops import _MATH, _scatter, _squared_distances
from ._sources import TILE
from ._workers import Workers

_jit: Any = numba.njit(nogil=True, fastmath=_MATH, error_model="numpy")
SHARED = 16  # rows of shares that are computed together
_SQUARED, _INNER = int(Form.SQUARED), int(Form.INNER)
_F, _I = types.float64, types.int64
_ROW, _TABLE, _TILES = types.Array(_F, 1, "C"), types.Array(_F, 2, "C"), types.Array(_I, 2, "C")
# x, targets, weights (none: all 1), the two parameters, share; room for pull and spread -> total, moved
_LOSSES = types.UniTuple(_F, 2)(_ROW, _ROW, _ROW, _F, _F, _F, _ROW, _ROW)
_SUM = _F(_ROW, _F)


def _jit_on_disk(signature: Any = None) -> Any:
    return numba.njit(signature, nogil=True, cache=True, fastmath=_MATH, error_model="numpy")


@lru_cache(maxsize=64)
def compiled(function: PairFunction) -> Any:
    """Return a function of a pair as compiled code can call it."""
    return function if hasattr(function, "py_func") else _jit(function)


def why_not_compiled(function: PairFunction, arguments: int) -> str | None:
    """Return why a function of a pair cannot be compiled, or None."""
    try:
        ready = compiled(function)
        if hasattr(ready, "compile"):  # unless compilation is switched off
            ready.compile((_F,) * arguments)
    except (NumbaError, TypeError) as error:
        lines = [line.strip() for line in str(error).splitlines()]
        return next((line for line in lines if line and not line.startswith("Failed in")), type(error).__name__)
    return None


@lru_cache(maxsize=64)
def _losses_of_row(link: PairFunction, loss: PairFunction) -> Any:
    """Return what computes a row's losses.

    It returns the loss and the sum of slope times fitted value, and leaves the forces in ``pull`` and ``spread``. With
    shares the derivative has a second part, ``spread``, the same multiple of which every pair gets.
    """
    link, loss = compiled(link), compiled(loss)

    @numba.njit(_LOSSES, nogil=True, fastmath=_MATH, error_model="numpy")
    def losses(x, targets, weights, link_parameter, loss_parameter, share, pull, spread):  # type: ignore[no-untyped-def]
        total, moved = 0.0, 0.0
        for j in range(targets.shape[0]):
            target = targets[j]
            weight = weights[j] if weights.shape[0] > 0 else 1.0
            if target != target or weight == 0.0:
                pull[j] = spread[j] = 0.0
                continue
            k, dk = link(x[j], link_parameter)
            value, slope = loss(k * share, target, loss_parameter)
            total += weight * value
            moved += weight * slope * k * share
            pull[j] = weight * slope * dk * share
            spread[j] = dk * share
        return total, moved

    return losses


@lru_cache(maxsize=64)
def _sum_of_row(link: PairFunction) -> Any:
    """Return what adds up the fitted values of a row."""
    link = compiled(link)

    @numba.njit(_SUM, nogil=True, fastmath=_MATH, error_model="numpy")
    def total(x, link_parameter):  # type: ignore[no-untyped-def]
        out = 0.0
        for j in range(x.shape[0]):
            out += link(x[j], link_parameter)[0]
        return out

    return total


@_jit_on_disk()
def _arguments_of_row(Zt, i, start, stop, form, smoothing, out):  # type: ignore[no-untyped-def]
    """Leave what the fitted values of a row are functions of."""
    if form == _SQUARED:
        _squared_distances(Zt[:, i], Zt, start, stop, out)
        return
    for j in range(stop - start):
        out[j] = 0.0
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        others = Zt[c, start:stop]
        if form == _INNER:
            for j in range(stop - start):
                out[j] += z * others[j]
        else:
            for j in range(stop - start):
                difference = z - others[j]
                out[j] += np.sqrt(difference * difference + smoothing * smoothing) - smoothing


@_jit_on_disk()
def _scatter_any(Zt, i, start, stop, form, smoothing, pull, G):  # type: ignore[no-untyped-def]
    """Add the pull of a row's pairs to the half-gradients of both objects."""
    if form == _SQUARED:
        _scatter(Zt, i, Zt, start, stop, pull, G, G)
        return
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        others, theirs = Zt[c, start:stop], G[c, start:stop]
        own = 0.0
        if form == _INNER:
            for j in range(stop - start):
                own += 0.5 * pull[j] * others[j]
                theirs[j] += 0.5 * pull[j] * z
        else:
            for j in range(stop - start):
                difference = z - others[j]
                force = 0.5 * pull[j] * difference / np.sqrt(difference * difference + smoothing * smoothing)
                own += force
                theirs[j] -= force
        G[c, i] += own


@_jit_on_disk(_F(_I, types.FunctionType(_SUM), _F, _TABLE, _TILES))
def _sum_chunk(form, total_of, link_parameter, Zt, tiles):  # type: ignore[no-untyped-def]
    """Return the sum of the fitted values of a chunk's pairs."""
    x = np.empty(TILE)
    n = Zt.shape[1]
    total = 0.0
    for t in range(tiles.shape[0]):
        first = tiles[t, 1] * TILE
        stop = min(first + TILE, n)
        for i in range(tiles[t, 0] * TILE, min((tiles[t, 0] + 1) * TILE, n)):
            start = max(first, i + 1)
            if start < stop:
                _arguments_of_row(Zt, i, start, stop, form, link_parameter, x)
                total += total_of(x[: stop - start], link_parameter)
    return total


@_jit_on_disk(
    types.UniTuple(_F, 2)(_TABLE, _TABLE, _I, types.FunctionType(_LOSSES), _F, _F, _F, _TABLE, _TILES, _TABLE, _TABLE)
)
def _cost_chunk(T, W, form, losses, link_parameter, loss_parameter, share, Zt, tiles, G, S):  # type: ignore[no-untyped-def]
    x, pull, spread = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    n = Zt.shape[1]
    cost, moved = 0.0, 0.0
    for t in range(tiles.shape[0]):
        first = tiles[t, 1] * TILE
        stop = min(first + TILE, n)
        for i in range(tiles[t, 0] * TILE, min((tiles[t, 0] + 1) * TILE, n)):
            start = max(first, i + 1)
            if start >= stop:
                continue
            _arguments_of_row(Zt, i, start, stop, form, link_parameter, x)
            weights = W[i, start:stop] if W.shape[1] > 0 else W[0, :0]
            value, slope = losses(
                x[: stop - start], T[i, start:stop], weights, link_parameter, loss_parameter, share, pull, spread
            )
            cost += value
            moved += slope
            _scatter_any(Zt, i, start, stop, form, link_parameter, pull, G)
            if S.shape[0] > 0:
                _scatter_any(Zt, i, start, stop, form, link_parameter, spread, S)
    return cost, moved


def cost_pass(cost: Cost, Z: Array, workers: Workers) -> tuple[float, Array]:
    """Return the cost at ``Z`` and half its derivative; each target is read once."""
    Zt, chunks = np.ascontiguousarray(Z.T, dtype=np.float64), _chunks(cost.n)
    targets, weights = _readable(cost.targets), _readable(cost.weights)
    losses, share = _losses_of_row(cost.link, cost.loss), _share(cost, Zt, workers)
    parameters = float(cost.link_parameter), float(cost.loss_parameter), share
    G, S = (np.zeros((len(chunks), *shape)) for shape in (Zt.shape, Zt.shape if cost.normalised else (0, 0)))
    sums = np.zeros((len(chunks), 2))

    def run(c: int) -> None:
        sums[c] = _cost_chunk(targets, weights, int(cost.form), losses, *parameters, Zt, chunks[c], G[c], S[c])

    workers.run(run, len(chunks))
    gradient, value = G.sum(axis=0), float(sums[:, 0].sum())
    if cost.normalised:
        gradient -= sums[:, 1].sum() * S.sum(axis=0)
    if cost.counts_itself:  # half a pair
        pull, products = np.empty(cost.n), np.sum(Zt**2, axis=0)
        own = np.diagonal(targets).copy()
        value += 0.5 * losses(products, own, np.empty(0), *parameters, pull, np.empty(cost.n))[0]
        gradient += 0.5 * pull * Zt
    return value, np.ascontiguousarray(gradient.T)


def _share(cost: Cost, Zt: Array, workers: Workers) -> float:
    """Return what fitted values are multiplied by: 1, or one over the sum of all."""
    if not cost.normalised:
        return 1.0
    chunks = _chunks(cost.n)
    sums, total_of = np.zeros(len(chunks)), _sum_of_row(cost.link)

    def run(c: int) -> None:
        sums[c] = _sum_chunk(int(cost.form), total_of, cost.link_parameter, Zt, chunks[c])

    workers.run(run, len(chunks))
    return 1.0 / float(sums.sum())


def _readable(table: Array | None) -> Array:
    """Return a table as compiled code takes it; (1, 0) for none."""
    return np.empty((1, 0)) if table is None else np.require(table, np.float64, ["C", "W"])


def point_costs(cost: Cost, Z: Array, workers: Workers) -> Array:
    """Return each object's share of the cost: half of each of its pairs."""
    n, Zt, out = cost.n, np.ascontiguousarray(Z.T, dtype=np.float64), np.empty(cost.n)
    losses, share = _losses_of_row(cost.link, cost.loss), _share(cost, Zt, workers)
    parameters = float(cost.link_parameter), float(cost.loss_parameter), share

    def run(i: int) -> None:
        x, targets = np.empty(n), cost.targets[i].astype(np.float64)
        weights = np.ones(n) if cost.weights is None else cost.weights[i].astype(np.float64)
        weights[i] = cost.counts_itself
        _arguments_of_row(Zt, i, 0, n, int(cost.form), parameters[0], x)
        out[i] = losses(x, targets, weights, *parameters, np.empty(n), np.empty(n))[0] / 2

    workers.run(run, n)
    return out


def neighbour_shares(squares: Array, perplexity: float, workers: Workers) -> Array:
    """Return for each row the shares exp(-b squares) whose entropy is log(perplexity), none on the diagonal."""
    n, out = len(squares), np.empty_like(squares)

    def run(strip: int) -> None:
        at = np.arange(strip * SHARED, min((strip + 1) * SHARED, n))
        itself = np.arange(len(at)), at
        excess = squares[at]
        excess[itself] = np.inf
        excess -= excess.min(axis=1, keepdims=True)
        mean = np.sum(excess, axis=1, keepdims=True, where=np.isfinite(excess)) / (n - 1)
        excess /= np.where(mean > 0.0, mean, 1.0)  # in a unit in which no precision that is tried overflows
        out[at] = _shares(excess, math.log(perplexity))

    workers.run(run, -(-n // SHARED))
    return out


def _shares(excess: Array, wanted: float) -> Array:
    """Return the shares of some rows by bisection for their precisions; infinitely far is no share."""
    out, left = np.empty_like(excess), np.arange(len(excess))
    low, high, precision = np.zeros(len(excess)), np.full(len(excess), np.inf), np.ones(len(excess))
    for _ in range(200):
        own, b = excess[left], precision[left]
        shares = np.exp(-b[:, None] * own)
        total = shares.sum(axis=1)
        moment = np.einsum("ij,ij->i", shares, np.where(np.isinf(own), 0.0, own))
        entropy = np.log(total) + b * moment / total  # of exp(-b x) / total: log total + b times the mean of x
        out[left] = shares / total[:, None]
        narrow, apart = entropy <= wanted, np.abs(entropy - wanted) >= 1e-10
        low[left], high[left] = np.where(narrow, low[left], b), np.where(narrow, b, high[left])
        precision[left] = np.where(np.isinf(high[left]), 2.0 * b, (low[left] + high[left]) / 2.0)
        left = left[apart]
        if not len(left):
            break
    return out
