"""All objects against a few references: the pass of the stochastic solver, compiled.

References are the rows and objects the columns of a strip of dissimilarities: the innermost loops run over contiguous
objects, a tile of which stays in the first-level cache while the references go by. References get no gradient here;
each is one of the objects too.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array, IntArray
from ._loops import _SAMMON, _jit, _squared_distances
from ._pairs import Pairs, ReferenceSums, Rule
from ._sources import TILE, Source, read_only, rectangle, strip_reader
from ._workers import Workers

OBJECTS = 16 * TILE  # read together: with 128 references, 2 MB in single precision


@_jit
def _pull_objects(z, Zt, start, count, pull, G):  # type: ignore[no-untyped-def]
    """Add ``pull * (z_j - z)`` to the gradient of every object j of a stretch."""
    for c in range(Zt.shape[0]):
        own, others, theirs = z[c], Zt[c, start : start + count], G[c, start : start + count]
        for j in range(count):
            theirs[j] += pull[j] * (others[j] - own)


@_jit
def _residuals(row, mode, scale, floor, factor, squared, weight, pull, own, count):  # type: ignore[no-untyped-def]
    """Return a reference's stress and sum of squares, and add each object's stress to ``own``.

    ``pull`` is left with ``w (1 - delta/d)``. ``weight`` comes in as 1. What is missing makes all of it NaN.
    """
    zero, one = pull.dtype.type(0.0), pull.dtype.type(1.0)
    total, size = zero, zero
    if mode == _SAMMON:
        for j in range(count):
            weight[j] = factor / max(pull.dtype.type(row[j]) * scale, floor)
    for j in range(count):
        delta = pull.dtype.type(row[j]) * scale
        inverse = one / np.sqrt(squared[j]) if squared[j] > zero else zero
        residual = delta - squared[j] * inverse
        error = weight[j] * residual * residual
        pull[j] = weight[j] * (one - delta * inverse)
        own[j] += error
        total += error
        size += weight[j] * delta * delta
    return total, size


@_jit
def _reference_strip(  # type: ignore[no-untyped-def]
    strip, mode, scale, floor, factor, references, Zt, first, G, shares, stresses, sizes
):
    """Add what a strip of dissimilarities (references x objects from ``first`` on) says.

    ``G`` (coordinates x objects) gets the half-gradient, ``shares`` each object's weighted squared error, ``stresses``
    and ``sizes`` each reference's weighted squared error and sum of squares.
    """
    number = Zt.dtype.type
    scale, floor, factor = number(scale), number(floor), number(factor)
    squared, pull = np.empty(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    weight, own = np.ones(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    for begin in range(0, strip.shape[1], TILE):
        count = min(TILE, strip.shape[1] - begin)
        start = first + begin
        for j in range(count):
            own[j] = 0.0
        for r in range(strip.shape[0]):
            row = strip[r, begin : begin + count]
            _squared_distances(references[r], Zt, start, start + count, squared)
            stress, size = _residuals(row, mode, scale, floor, factor, squared, weight, pull, own, count)
            stresses[r] += stress
            sizes[r] += size
            _pull_objects(references[r], Zt, start, count, pull, G)
        for j in range(count):
            shares[start + j] += own[j]


def reference_pass(pairs: Pairs, references: IntArray, Z: Array, workers: Workers) -> ReferenceSums:
    """Return sums over the pairs of all objects with some references, in the type of ``Z``."""
    shared = pairs.rule, references, np.ascontiguousarray(Z[references])
    stretches = pairs.source.over_stretches("references", compare_stretch, workers, shared, Z)
    G, shares, stresses, sizes = zip(*(sums for _, sums in stretches), strict=True)
    return ReferenceSums(np.concatenate(G), np.concatenate(shares), np.sum(stresses, axis=0), np.sum(sizes, axis=0))


def compare_stretch(
    source: Source, objects: slice, workers: Workers, shared: tuple[Rule, IntArray, Array], Z: Array
) -> ReferenceSums:
    """Return sums over the pairs of a stretch of objects, at ``Z``, with references; ``shared`` has their coordinates.

    Only objects are dealt to the threads, and each reference's sums over them are added in order: the result does not
    depend on the number of threads.
    """
    rule, references, near = shared
    m, b = len(Z), len(references)
    Zt = np.ascontiguousarray(Z.T)
    G, shares = np.zeros_like(Zt), np.zeros(m)
    count = -(-m // OBJECTS)
    stresses, sizes = np.zeros((count, b)), np.zeros((count, b))
    strip = strip_reader(source, references)

    def run(block: int) -> None:
        top = block * OBJECTS
        part = read_only(strip(slice(objects.start + top, objects.start + min(top + OBJECTS, m))))
        _reference_strip(part, *rule, near, Zt, top, G, shares, stresses[block], sizes[block])

    workers.run(run, count)
    G = np.ascontiguousarray(G.T, dtype=np.float64)
    return ReferenceSums(G, shares, stresses.sum(axis=0), sizes.sum(axis=0))


def rectangle_sums(pairs: Pairs, rows: IntArray, columns: IntArray, Z: Array, workers: Workers) -> tuple[Array, Array]:
    """Return the weighted squared error and the sum of squares of some rectangles of the table, one a row of numbers.

    The objects of a rectangle's rows and columns are different ones.
    """
    stresses, sizes = np.zeros(rows.shape), np.zeros(rows.shape)

    def run(at: int) -> None:
        Zt = np.ascontiguousarray(Z[columns[at]].T)
        part = read_only(rectangle(pairs.source, rows[at], columns[at]))
        nowhere = np.zeros_like(Zt), np.zeros(Zt.shape[1])
        _reference_strip(part, *pairs.rule, Z[rows[at]], Zt, 0, *nowhere, stresses[at], sizes[at])

    workers.run(run, len(rows))
    return stresses.sum(axis=1), sizes.sum(axis=1)
