"""The pass of a general cost: one pass for all of them, calling the functions of a pair a row at a time.

The tiles are those of the stress, so the result is the same to the last bit for any number of threads. What is kept on
disk is the pass; it calls the losses of a row, and only these are compiled for the functions they are made of: some
tenths of a second for each new combination, once a session.
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
from ._fused import _MATH, _chunks, _scatter, _squared_distances
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
    if form == _SQUARED:
        _squared_distances(Zt, i, start, stop, out)
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
def _scatter_inner(Zt, i, start, stop, pull, G):  # type: ignore[no-untyped-def]
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        others, theirs = Zt[c, start:stop], G[c, start:stop]
        own = 0.0
        for j in range(stop - start):
            own += 0.5 * pull[j] * others[j]
            theirs[j] += 0.5 * pull[j] * z
        G[c, i] += own


@_jit_on_disk()
def _scatter_columns(Zt, i, start, stop, pull, smoothing, G):  # type: ignore[no-untyped-def]
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        others, theirs = Zt[c, start:stop], G[c, start:stop]
        own = 0.0
        for j in range(stop - start):
            difference = z - others[j]
            force = 0.5 * pull[j] * difference / np.sqrt(difference * difference + smoothing * smoothing)
            own += force
            theirs[j] -= force
        G[c, i] += own


@_jit_on_disk()
def _scatter_any(Zt, i, start, stop, form, smoothing, pull, G):  # type: ignore[no-untyped-def]
    if form == _SQUARED:
        _scatter(Zt, i, Zt, start, stop, pull, G, G)
    elif form == _INNER:
        _scatter_inner(Zt, i, start, stop, pull, G)
    else:
        _scatter_columns(Zt, i, start, stop, pull, smoothing, G)


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


@_jit_on_disk(_F(_TABLE, types.FunctionType(_LOSSES), _F, _F, _TABLE, _TABLE))
def _add_own_products(T, losses, link_parameter, loss_parameter, Zt, G):  # type: ignore[no-untyped-def]
    """Add what each object's inner product with itself costs, half a pair, and return it."""
    cost = 0.0
    x, pull, spread, unweighted = np.empty(1), np.empty(1), np.empty(1), np.empty(0)
    for i in range(Zt.shape[1]):
        x[0] = 0.0
        for c in range(Zt.shape[0]):
            x[0] += Zt[c, i] * Zt[c, i]
        cost += 0.5 * losses(x, T[i, i : i + 1], unweighted, link_parameter, loss_parameter, 1.0, pull, spread)[0]
        for c in range(Zt.shape[0]):
            G[c, i] += 0.5 * pull[0] * Zt[c, i]
    return cost


def cost_pass(cost: Cost, Z: Array, workers: Workers) -> tuple[float, Array]:
    """Return the cost at ``Z`` and half its derivative; each target is read once."""
    Zt = np.ascontiguousarray(Z.T, dtype=np.float64)
    chunks = _chunks(cost.n)
    count = len(chunks)
    share = _share(cost, Zt, workers)
    G, S = np.zeros((count, *Zt.shape)), np.zeros((count, *(Zt.shape if cost.normalised else (0, 0))))
    sums = np.zeros((count, 2))
    arguments = _arguments(cost)

    def run(c: int) -> None:
        sums[c] = _cost_chunk(*arguments, share, Zt, chunks[c], G[c], S[c])

    workers.run(run, count)
    gradient, value = G.sum(axis=0), float(sums[:, 0].sum())
    if cost.normalised:
        gradient -= (sums[:, 1].sum() + cost.gathering) * S.sum(axis=0)
        value += cost.gathering * math.log(share)
    if cost.counts_itself:
        value += _add_own_products(arguments[0], *arguments[3:], Zt, gradient)
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


def _arguments(cost: Cost) -> tuple[Any, ...]:
    weights = np.empty((1, 0)) if cost.weights is None else np.require(cost.weights, np.float64, ["C", "W"])
    targets = np.require(cost.targets, np.float64, ["C", "W"])
    losses = _losses_of_row(cost.link, cost.loss)
    return targets, weights, int(cost.form), losses, float(cost.link_parameter), float(cost.loss_parameter)


@_jit_on_disk(
    types.void(_TABLE, _TABLE, _I, types.FunctionType(_LOSSES), _F, _F, _F, _TABLE, types.boolean, _I, _I, _ROW)
)
def _point_cost_rows(  # type: ignore[no-untyped-def]
    T, W, form, losses, link_parameter, loss_parameter, share, Zt, itself, first, last, out
):
    n = Zt.shape[1]
    x, pull, spread, unweighted = np.empty(n), np.empty(n), np.empty(n), np.empty(0)
    for i in range(first, last):
        _arguments_of_row(Zt, i, 0, n, form, link_parameter, x)
        total = 0.0
        for start, stop in ((0, i), (i + 1, n)):
            weights = W[i, start:stop] if W.shape[1] > 0 else unweighted
            total += losses(
                x[start:stop], T[i, start:stop], weights, link_parameter, loss_parameter, share, pull, spread
            )[0]
        if itself:
            own = T[i, i : i + 1]
            total += losses(x[i : i + 1], own, unweighted, link_parameter, loss_parameter, share, pull, spread)[0]
        out[i] = total / 2


def point_costs(cost: Cost, Z: Array, workers: Workers) -> Array:
    """Return each object's share of the cost: half of each of its pairs."""
    Zt, out = np.ascontiguousarray(Z.T, dtype=np.float64), np.empty(cost.n)
    share, arguments, itself = _share(cost, Zt, workers), _arguments(cost), cost.counts_itself
    rows = lambda at: _point_cost_rows(*arguments, share, Zt, itself, at, min(at + TILE, cost.n), out)  # noqa: E731
    workers.run(lambda strip: rows(strip * TILE), -(-cost.n // TILE))
    return out


def neighbour_shares(squares: Array, perplexity: float, workers: Workers) -> Array:
    """Return for each row the shares exp(-b squares) whose entropy is log(perplexity), none on the diagonal."""
    n = len(squares)
    out = np.empty_like(squares)

    def run(strip: int) -> None:
        at = np.arange(strip * SHARED, min((strip + 1) * SHARED, n))
        away, itself = squares[at], (np.arange(len(at)), at)
        away[itself] = np.inf
        away -= away.min(axis=1, keepdims=True)
        away[itself] = 0.0
        mean = away.sum(axis=1, keepdims=True) / (n - 1)
        away /= np.where(mean > 0.0, mean, 1.0)  # in a unit in which no precision that is tried overflows
        away[itself] = np.inf
        out[at] = _shares(away, math.log(perplexity))

    workers.run(run, -(-n // SHARED))
    return out


def _shares(away: Array, wanted: float) -> Array:
    """Return the shares of some rows by bisection for their precisions; infinitely far is no share."""
    out, left = np.empty_like(away), np.arange(len(away))
    low, high, precision = np.zeros(len(away)), np.full(len(away), np.inf), np.ones(len(away))
    for _ in range(200):
        shares = np.exp(-precision[left, None] * away[left])
        total = shares.sum(axis=1)
        moment = np.einsum("ij,ij->i", shares, np.where(np.isinf(away[left]), 0.0, away[left]))
        # The entropy of exp(-b x) / total is log total + b times the mean of x.
        entropy = np.log(total) + precision[left] * moment / total
        out[left] = shares / total[:, None]
        apart = np.abs(entropy - wanted) >= 1e-10
        left, above = left[apart], (entropy > wanted)[apart]
        if not len(left):
            break
        low[left[above]], high[left[~above]] = precision[left[above]], precision[left[~above]]
        precision[left] = np.where(np.isinf(high[left]), 2.0 * low[left], (low[left] + high[left]) / 2.0)
    return out
