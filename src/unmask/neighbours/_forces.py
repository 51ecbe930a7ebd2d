"""Compiled loops: bandwidths, grids, and the forces on each object.

Every object gathers its own forces, and its random numbers come from a counter, so the result does not depend on how
the objects are shared among threads.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

GOLD = np.uint64(0x9E3779B97F4A7C15)
STEPS = 64  # of the search for a bandwidth
ACCURACY, NARROWEST = 1e-5, 1e-3  # of what is reached, and share of the mean length
ONE, NIL = np.float32(1.0), np.float32(0.0)
CLOSE = np.float32(1e-3)  # UMAP's repulsion of objects in one place
_jit: Any = nb.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "arcp", "nsz"})


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _width(excess, target, entropy):
    """Return s such that the entropy, or the sum, of exp(-excess / s) is the target."""
    mean = excess.mean() if len(excess) else 0.0
    if not mean > 0.0:
        return 1.0  # all in one place
    low, high, s = 0.0, np.inf, mean
    for _ in range(STEPS):
        total, moment = 0.0, 0.0
        for x in excess:
            total += np.exp(-x / s)
            moment += np.exp(-x / s) * x / s
        reached = np.log(total) + moment / total if entropy else total
        if abs(reached - target) < ACCURACY:
            break
        low, high = (low, s) if reached > target else (s, high)
        s = 2.0 * s if np.isinf(high) else 0.5 * (low + high)
    return max(s, NARROWEST * mean)


@nb.njit(cache=True, nogil=True, error_model="numpy")
def bandwidths(lengths, target, entropy):
    """Return exp(-(length - shortest) / s) by rows, s such that the entropy of the shares or the sum is ``target``.

    Rows are sorted. Infinite lengths have the weight 0. With ``entropy`` the weights of a row are divided by their sum.
    """
    weights = np.zeros(lengths.shape)
    for i in range(len(lengths)):
        finite = int(np.isfinite(lengths[i]).sum())
        if finite:
            excess = lengths[i, :finite] - lengths[i, 0]
            weights[i, :finite] = np.exp(-excess / _width(excess, target, entropy))
            if entropy:
                weights[i] /= weights[i].sum()
    return weights


@_jit
def make_grid(U, n, size):
    """Return a grid of size x size cells.

    It holds the first n objects in the order of their cells, where each cell begins in it, and column and row of every
    object's cell.
    """
    left, low = U[:n, 0].min(), U[:n, 1].min()
    width = max(U[:n, 0].max() - left, U[:n, 1].max() - low) / size * 1.00001 + 1e-12
    column, row = np.empty(len(U), np.int32), np.empty(len(U), np.int32)
    begin = np.zeros(size * size + 2, np.int32)
    for i in range(len(U)):
        column[i] = max(0, min(int((U[i, 0] - left) / width), size - 1))
        row[i] = max(0, min(int((U[i, 1] - low) / width), size - 1))
        if i < n:
            begin[row[i] * size + column[i] + 2] += 1
    for cell in range(1, len(begin)):
        begin[cell] += begin[cell - 1]
    order = np.empty(n, np.int32)
    for i in range(n):
        cell = row[i] * size + column[i] + 1
        order[begin[cell]] = i
        begin[cell] += 1
    return order, begin, column, row, size


@nb.njit(inline="always")
def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@nb.njit(inline="always")
def _below(z, n):
    return np.int64(((z >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@nb.njit(inline="always")
def _strip(grid, i, y):
    """Return where the three cells around an object in row y of a grid begin in its order, and how many they hold."""
    column, size = grid[2][i], grid[4]
    first = grid[1][y * size + max(column - 1, 0)]
    return first, grid[1][y * size + min(column + 1, size - 1) + 1] - first


@nb.njit(inline="always")
def _around(grid, i):
    """Return how many objects are in the nine cells around an object."""
    count = 0
    for y in range(max(grid[3][i] - 1, 0), min(grid[3][i] + 2, grid[4])):
        count += _strip(grid, i, y)[1]
    return count


@nb.njit(inline="always")
def _pick(grid, i, number):
    """Return one of them by its number."""
    for y in range(max(grid[3][i] - 1, 0), min(grid[3][i] + 2, grid[4])):
        first, count = _strip(grid, i, y)
        if number < count:
            return np.int64(grid[0][first + number])
        number -= count
    return np.int64(-1)


@nb.njit(inline="always")
def _near(grid, i, j):
    return abs(grid[2][j] - grid[2][i]) <= 1 and abs(grid[3][j] - grid[3][i]) <= 1


@_jit
def student_forces(U, first, last, offset, n, begin, ends, weights, grids, tries, key, pull, push, kernels):
    """Compute the attraction of t-SNE, and estimates of the repulsion and of the sum of kernels, for some objects.

    Others that repel are drawn in four parts: those around the object in each of three nested grids but not in the
    finer one, and the rest. Near ones, which count most, are so drawn most often; the estimate is unbiased for any
    partition, so the grids may be some iterations old. Rows of the graph begin at object ``offset``.
    """
    for i in range(first, last):
        at, x, y = i - offset, U[i, 0], U[i, 1]
        ax, ay, rx, ry, total = NIL, NIL, NIL, NIL, NIL
        for edge in range(begin[at], begin[at + 1]):
            dx, dy = x - U[ends[edge], 0], y - U[ends[edge], 1]
            w = weights[edge] / (ONE + dx * dx + dy * dy)
            ax += w * dx
            ay += w * dy
        counter = _mix(key + np.uint64(i) * GOLD)
        for part in range(4):
            count = n if part == 3 else _around(grids[part], i)
            if count == 0:
                continue
            share = np.float32(count) / np.float32(tries)
            for _ in range(tries):
                counter += GOLD
                number = _below(_mix(counter), count)
                j = number if part == 3 else _pick(grids[part], i, number)
                if j == i or (part > 0 and _near(grids[part - 1], i, j)):
                    continue
                dx, dy = x - U[j, 0], y - U[j, 1]
                kernel = ONE / (ONE + dx * dx + dy * dy)
                total += share * kernel
                rx += share * kernel * kernel * dx
                ry += share * kernel * kernel * dy
        pull[at, 0], pull[at, 1], push[at, 0], push[at, 1], kernels[at] = ax, ay, rx, ry, total


@_jit
def smooth_forces(U, first, last, offset, n, begin, ends, weights, a, b, tries, key, pull, push):
    """Leave the attraction of UMAP and an estimate of the mean repulsion of all others, for some objects."""
    for i in range(first, last):
        at, x, y = i - offset, U[i, 0], U[i, 1]
        ax, ay, rx, ry = NIL, NIL, NIL, NIL
        for edge in range(begin[at], begin[at + 1]):
            dx, dy = x - U[ends[edge], 0], y - U[ends[edge], 1]
            d = max(dx * dx + dy * dy, CLOSE * CLOSE)
            power = a * d**b
            w = weights[edge] * np.float32(2.0) * b * power / (d * (ONE + power))
            ax += w * dx
            ay += w * dy
        counter = _mix(key + np.uint64(i) * GOLD)
        for _ in range(tries):
            counter += GOLD
            j = _below(_mix(counter), n)
            if j == i:
                continue
            dx, dy = x - U[j, 0], y - U[j, 1]
            d = max(dx * dx + dy * dy, CLOSE * CLOSE)
            w = np.float32(2.0) * b / ((CLOSE + d) * (ONE + a * d**b) * np.float32(tries))
            rx += w * dx
            ry += w * dy
        pull[at, 0], pull[at, 1], push[at, 0], push[at, 1] = ax, ay, rx, ry
