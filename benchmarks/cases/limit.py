"""Case 9: how far the pass is from the machine's limit.

Two floors, each measured with as many threads as the pass:

(a) reading: a sum over the upper triangle, row by row. No pass can be faster than its data arrive.

(b) arithmetic: what one pair costs for k = 7 is
        7 subtractions, 7 multiply-adds            squared distance
        1 square root, 1 division                  1 / d
        1 multiplication, 2 subtractions,
        2 multiply-adds                            distance, residual, its square, pull = 1 - delta / d
        7 multiply-adds                            gradient of i
        7 multiply-adds                            gradient of j
    41 operations in all. The micro-kernel below does just these on vectors of values that stay in the first-level
    cache: differences are taken from one loaded number instead of seven, and the forces on j are folded into a sum
    instead of being written back. So it needs the same vector units for the same time, but no data to speak of.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data import Array, dissimilarities
from ..measure import OURS, Results, clock
from ..plan import Plan
from .one_pass import DTYPES, THREADS, time_pass

CASE = "limit"
READ, ARITHMETIC = "reading the upper triangle once", "arithmetic floor"
BLOCK = 1024  # numbers in the first-level cache
CHUNKS = 16


def task(dtype: str) -> str:
    """Return the name of a pass and its floors."""
    return f"one pass, {dtype}, unit weights, against the machine"


def _jit() -> Callable[..., Any]:
    """Return a compiler with the same floating-point freedom as unmask's kernels."""
    import numba

    jit: Callable[..., Any] = numba.njit(
        nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp", "afn"}, error_model="numpy"
    )
    return jit


@functools.cache
def _reading() -> Callable[..., Any]:
    """Compile the sum over a part of the upper triangle."""

    @_jit()
    def read(D, first, last):  # type: ignore[no-untyped-def]
        total = 0.0
        for i in range(first, last):
            row = D[i, i + 1 :]
            part = D.dtype.type(0.0)
            for j in range(row.shape[0]):
                part += row[j]
            total += part
        return total

    return read  # type: ignore[no-any-return]


@functools.cache
def _arithmetic() -> Callable[..., Any]:
    """Compile the arithmetic of some pairs, without their data."""

    @_jit()
    def arithmetic(x, z, e, rounds):  # type: ignore[no-untyped-def]
        one = x.dtype.type(1.0)
        stress = g0 = g1 = g2 = g3 = g4 = g5 = g6 = back = x.dtype.type(0.0)
        for _ in range(rounds):
            z0, z1, z2, z3, z4, z5, z6 = z[0], z[1], z[2], z[3], z[4], z[5], z[6]
            for j in range(x.shape[0]):
                v = x[j]
                f0, f1, f2, f3, f4, f5, f6 = z0 - v, z1 - v, z2 - v, z3 - v, z4 - v, z5 - v, z6 - v
                s = f0 * f0 + f1 * f1 + f2 * f2 + f3 * f3 + f4 * f4 + f5 * f5 + f6 * f6
                inverse = one / np.sqrt(s)
                residual = v - s * inverse
                stress += residual * residual
                pull = one - v * inverse
                g0, g1, g2, g3 = g0 + pull * f0, g1 + pull * f1, g2 + pull * f2, g3 + pull * f3
                g4, g5, g6 = g4 + pull * f4, g5 + pull * f5, g6 + pull * f6
                t = f0 * e[0] + f1 * e[1] + f2 * e[2] + f3 * e[3] + f4 * e[4] + f5 * e[5] + f6 * e[6]
                back += t * pull
            z[0] += g0 * e[0]  # the next round depends on this one: nothing can be left out
        return stress + g0 + g1 + g2 + g3 + g4 + g5 + g6 + back

    return arithmetic  # type: ignore[no-any-return]


def _triangle_edges(n: int) -> list[int]:
    """Return row numbers that cut the upper triangle into parts of equal area."""
    shares = np.arange(CHUNKS + 1) / CHUNKS
    return [int(edge) for edge in np.round(n * (1.0 - np.sqrt(1.0 - shares)))]


def _read_all(D: Array, workers: Any) -> None:
    read, edges = _reading(), _triangle_edges(len(D))
    workers.run(lambda c: read(D, edges[c], edges[c + 1]), CHUNKS)


def _compute_all(n: int, dtype: str, workers: Any) -> None:
    """Do the arithmetic of all pairs, split evenly."""
    rounds = max(1, n * (n - 1) // 2 // (BLOCK * CHUNKS))
    x = np.linspace(0.1, 0.2, BLOCK).astype(dtype)
    z, e = np.linspace(0.3, 0.9, 7).astype(dtype), np.linspace(1e-8, 2e-8, 7).astype(dtype)
    workers.run(lambda _: _arithmetic()(x, z.copy(), e, rounds), CHUNKS)


def run(results: Results, plan: Plan) -> None:
    """Measure the pass and its two floors at the main size and the largest."""
    from unmask.kernels import Workers

    with Workers(THREADS) as workers:
        for n in sorted({plan.main, max(plan.sizes)}):
            for dtype in DTYPES:
                D = dissimilarities(n, dtype)
                repeats = 3 * plan.repeats
                results.add(time_pass(n, dtype, "unit", THREADS, repeats).named(CASE, task(dtype), OURS, n))
                for floor, call in (
                    (READ, functools.partial(_read_all, D, workers)),
                    (ARITHMETIC, functools.partial(_compute_all, n, dtype, workers)),
                ):
                    call()
                    results.add(clock(call, repeats).named(CASE, task(dtype), floor, n))
