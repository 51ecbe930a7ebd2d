"""The pass of a general cost, compiled for the functions it is made of.

The tiles are those of the stress, so the result is the same to the last bit for any number of threads. The functions of
a pair are compiled into the pass: a second or so for each new combination, once a session, because a compiled function
that takes others as arguments cannot be kept on disk.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np

from .._typing import Array
from ._costs import Cost, Form, PairFunction
from ._fused import _MATH, TILE, _chunks, _over_rows, _scatter, _squared_distances
from ._workers import Workers

_jit: Any = numba.njit(nogil=True, fastmath=_MATH, error_model="numpy")
_SQUARED, _INNER = int(Form.SQUARED), int(Form.INNER)


@lru_cache(maxsize=64)
def compiled(function: PairFunction) -> Any:
    """Return a function of a pair as compiled code can call it."""
    return function if hasattr(function, "py_func") else _jit(function)


@_jit
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


@_jit
def _scatter_inner(Zt, i, start, stop, pull, G):  # type: ignore[no-untyped-def]
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        own = 0.0
        for j in range(stop - start):
            own += 0.5 * pull[j] * Zt[c, start + j]
            G[c, start + j] += 0.5 * pull[j] * z
        G[c, i] += own


@_jit
def _scatter_columns(Zt, i, start, stop, pull, smoothing, G):  # type: ignore[no-untyped-def]
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        own = 0.0
        for j in range(stop - start):
            difference = z - Zt[c, start + j]
            force = 0.5 * pull[j] * difference / np.sqrt(difference * difference + smoothing * smoothing)
            own += force
            G[c, start + j] -= force
        G[c, i] += own


@_jit
def _scatter_any(Zt, i, start, stop, form, smoothing, pull, G):  # type: ignore[no-untyped-def]
    if form == _SQUARED:
        _scatter(Zt, i, start, stop, pull, G)
    elif form == _INNER:
        _scatter_inner(Zt, i, start, stop, pull, G)
    else:
        _scatter_columns(Zt, i, start, stop, pull, smoothing, G)


@_jit
def _link_sum_chunk(form, link, link_parameter, Zt, tiles):  # type: ignore[no-untyped-def]
    """Return the sum of the fitted values of a chunk's pairs."""
    x = np.empty(TILE)
    n = Zt.shape[1]
    total = 0.0
    for t in range(tiles.shape[0]):
        first = tiles[t, 1] * TILE
        stop = min(first + TILE, n)
        for i in range(tiles[t, 0] * TILE, min((tiles[t, 0] + 1) * TILE, n)):
            start = max(first, i + 1)
            if start >= stop:
                continue
            _arguments_of_row(Zt, i, start, stop, form, link_parameter, x)
            for j in range(stop - start):
                total += link(x[j], link_parameter)[0]
    return total


@_jit
def _losses_of_row(x, targets, weights, weighted, link, link_parameter, loss, loss_parameter, share, pull, spread):  # type: ignore[no-untyped-def]
    """Return a row's loss and the sum of slope times fitted value; leave the forces in ``pull`` and ``spread``.

    With shares the derivative has a second part, ``spread``, the same multiple of which every pair gets.
    """
    total, moved = 0.0, 0.0
    for j in range(targets.shape[0]):
        target = targets[j]
        weight = weights[j] if weighted else 1.0
        if target != target or weight == 0.0:
            pull[j] = 0.0
            continue
        k, dk = link(x[j], link_parameter)
        value, slope = loss(k * share, target, loss_parameter)
        total += weight * value
        moved += weight * slope * k * share
        pull[j] = weight * slope * dk * share
        spread[j] = dk * share
    return total, moved


@_jit
def _cost_chunk(T, W, weighted, form, link, link_parameter, loss, loss_parameter, share, Zt, tiles, G, S):  # type: ignore[no-untyped-def]
    x, pull, spread = np.empty(TILE), np.empty(TILE), np.zeros(TILE)
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
            weights = W[i, start:stop] if weighted else W[0, :0]
            value, slope = _losses_of_row(
                x, T[i, start:stop], weights, weighted, link, link_parameter, loss, loss_parameter, share, pull, spread
            )
            cost += value
            moved += slope
            _scatter_any(Zt, i, start, stop, form, link_parameter, pull, G)
            if S.shape[0] > 0:
                _scatter_any(Zt, i, start, stop, form, link_parameter, spread, S)
    return cost, moved


@_jit
def _add_own_products(T, link, link_parameter, loss, loss_parameter, Zt, G):  # type: ignore[no-untyped-def]
    """Add what each object's inner product with itself costs, half a pair, and return it."""
    cost = 0.0
    for i in range(Zt.shape[1]):
        product = 0.0
        for c in range(Zt.shape[0]):
            product += Zt[c, i] * Zt[c, i]
        if T[i, i] == T[i, i]:
            fitted, fitted_slope = link(product, link_parameter)
            value, slope = loss(fitted, T[i, i], loss_parameter)
            cost += 0.5 * value
            for c in range(Zt.shape[0]):
                G[c, i] += 0.5 * slope * fitted_slope * Zt[c, i]
    return cost


def cost_pass(cost: Cost, Z: Array, workers: Workers) -> tuple[float, Array]:
    """Return the cost at ``Z`` and half its derivative; each target is read once."""
    Zt = np.ascontiguousarray(Z.T, dtype=np.float64)
    chunks = _chunks(cost.n)
    count = len(chunks)
    share = 1.0 / _link_sum(cost, Zt, workers) if cost.normalised else 1.0
    G, S = np.zeros((count, *Zt.shape)), np.zeros((count, *(Zt.shape if cost.normalised else (0, 0))))
    found = np.zeros((count, 2))
    arguments = _compiled_arguments(cost)

    def run(c: int) -> None:
        found[c] = _cost_chunk(*arguments, share, Zt, chunks[c], G[c], S[c])

    workers.run(run, count)
    gradient, value = G.sum(axis=0), float(found[:, 0].sum())
    if cost.normalised:
        gradient -= found[:, 1].sum() * S.sum(axis=0)
    if cost.form == Form.INNER:
        value += _add_own_products(cost.targets, *arguments[4:], Zt, gradient)
    return value, np.ascontiguousarray(gradient.T)


def _link_sum(cost: Cost, Zt: Array, workers: Workers) -> float:
    chunks = _chunks(cost.n)
    sums = np.zeros(len(chunks))
    link = compiled(cost.link)

    def run(c: int) -> None:
        sums[c] = _link_sum_chunk(int(cost.form), link, cost.link_parameter, Zt, chunks[c])

    workers.run(run, len(chunks))
    return float(sums.sum())


def _compiled_arguments(cost: Cost) -> tuple[Any, ...]:
    weights = np.empty((1, 0)) if cost.weights is None else cost.weights
    functions = (compiled(cost.link), cost.link_parameter, compiled(cost.loss), cost.loss_parameter)
    return cost.targets, weights, cost.weights is not None, int(cost.form), *functions


@_jit
def _point_cost_rows(T, W, weighted, form, link, link_parameter, loss, loss_parameter, share, Zt, first, last, out):  # type: ignore[no-untyped-def]
    n = Zt.shape[1]
    x = np.empty(n)
    for i in range(first, last):
        _arguments_of_row(Zt, i, 0, n, form, link_parameter, x)
        total = 0.0
        for j in range(n):
            target = T[i, j]
            weight = W[i, j] if weighted else 1.0
            if i == j:
                target, weight = (target, 1.0) if form == _INNER else (target, 0.0)
            if weight > 0.0 and target == target:
                total += weight * loss(link(x[j], link_parameter)[0] * share, target, loss_parameter)[0]
        out[i] = total / 2


def point_costs(cost: Cost, Z: Array, workers: Workers) -> Array:
    """Return each object's share of the cost: half of each of its pairs."""
    Zt, out = np.ascontiguousarray(Z.T, dtype=np.float64), np.empty(cost.n)
    share = 1.0 / _link_sum(cost, Zt, workers) if cost.normalised else 1.0
    arguments = _compiled_arguments(cost)
    _over_rows(workers, cost.n, lambda _, a, b: _point_cost_rows(*arguments, share, Zt, a, b, out))
    return out


_jit_on_disk: Any = numba.njit(nogil=True, cache=True, error_model="numpy")


@_jit_on_disk
def _entropy_of(away, i, precision, out):  # type: ignore[no-untyped-def]
    """Leave exp(-precision away) in ``out``, nothing for i itself, and return the entropy of its shares and its sum."""
    total, moment = 0.0, 0.0
    for j in range(away.shape[0]):
        out[j] = np.exp(-precision * away[j]) if j != i else 0.0
        total += out[j]
        moment += out[j] * away[j]
    # The entropy of exp(-b x) / total is log total + b times the mean of x.
    return np.log(total) + precision * moment / total, total


@_jit_on_disk
def _shares_of_row(squares, i, wanted, out):  # type: ignore[no-untyped-def]
    nearest = min(squares[:i].min() if i > 0 else np.inf, squares[i + 1 :].min() if i + 1 < len(squares) else np.inf)
    away = squares - nearest
    low, high = 0.0, np.inf
    precision = 1.0 / max((away.sum() - away[i]) / (len(squares) - 1), 1e-300)
    total = 1.0
    for _ in range(200):
        entropy, total = _entropy_of(away, i, precision, out)
        if abs(entropy - wanted) < 1e-10:
            break
        if entropy > wanted:
            low = precision
        else:
            high = precision
        precision = 2.0 * low if np.isinf(high) else (low + high) / 2.0
    out /= total


@_jit_on_disk
def _shares_of_rows(squares, perplexity, first, last, out):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        _shares_of_row(squares[i], i, np.log(perplexity), out[i])


def neighbour_shares(squares: Array, perplexity: float, workers: Workers) -> Array:
    """Return for each row the shares exp(-b squares) whose entropy is log(perplexity), none on the diagonal."""
    out = np.zeros_like(squares)
    _over_rows(workers, len(squares), lambda _, a, b: _shares_of_rows(squares, perplexity, a, b, out))
    return out
