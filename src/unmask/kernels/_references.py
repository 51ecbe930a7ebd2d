"""All objects against a few references: the pass of the stochastic solver, compiled.

References are the rows and objects the columns of a strip of dissimilarities, so that the innermost loops run over
contiguous objects; a stretch of them as long as a tile keeps its coordinates and gradients in the first-level cache
while the references go by. Nothing is added to the references themselves: each is an object too, and gets its share as
one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ._fused import _jit, _read_pairs
from ._pairs import Pairs, ReferenceSums, Weighting
from ._sources import TILE, Source, read_only, reads_by_number, rectangle
from ._workers import Workers

OBJECTS = 16 * TILE  # read together: with 128 references, 2 MB in single precision


@_jit
def _squared_to(z, Zt, start, count, out):  # type: ignore[no-untyped-def]
    """Leave the squared distances of some objects to the point z."""
    for j in range(count):
        out[j] = 0.0
    for c in range(Zt.shape[0]):
        own, others = z[c], Zt[c, start : start + count]
        for j in range(count):
            difference = own - others[j]
            out[j] += difference * difference


@_jit
def _pull_objects(z, Zt, start, count, pull, G):  # type: ignore[no-untyped-def]
    """Add ``pull * (z_j - z)`` to the gradient of every object j of a stretch."""
    for c in range(Zt.shape[0]):
        own, others, theirs = z[c], Zt[c, start : start + count], G[c, start : start + count]
        for j in range(count):
            theirs[j] += pull[j] * (others[j] - own)


@_jit
def _residuals(delta, weight, squared, pull, own, count):  # type: ignore[no-untyped-def]
    """Return a reference's stress, add each object's to ``own`` and leave ``w (1 - delta/d)`` in ``pull``."""
    zero, one = pull.dtype.type(0.0), pull.dtype.type(1.0)
    total = zero
    for j in range(count):
        inverse = one / np.sqrt(squared[j]) if squared[j] > zero else zero
        residual = delta[j] - squared[j] * inverse
        error = weight[j] * residual * residual
        pull[j] = weight[j] * (one - delta[j] * inverse)
        own[j] += error
        total += error
    return total


@_jit
def _sizes(delta, weight, mass, count):  # type: ignore[no-untyped-def]
    """Return a reference's weighted sum of squares and add each object's weight to ``mass``."""
    total = weight.dtype.type(0.0)
    for j in range(count):
        total += weight[j] * delta[j] * delta[j]
        mass[j] += weight[j]
    return total


@_jit
def _reference_strip(  # type: ignore[no-untyped-def]
    strip, mode, scale, floor, factor, references, Zt, first, G, degrees, shares, stresses, sizes
):
    """Add what a strip of dissimilarities (references x objects from ``first`` on) says.

    ``G`` (coordinates x objects) gets the half-gradient, ``degrees`` and ``shares`` each object's weight and weighted
    squared error, ``stresses`` and ``sizes`` each reference's weighted squared error and sum of squares.
    """
    number = Zt.dtype.type
    scale, floor = number(scale), number(floor)
    squared, pull = np.empty(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    delta, weight = np.empty(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    own, mass = np.empty(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    nothing = strip[0, :0]
    for begin in range(0, strip.shape[1], TILE):
        count = min(TILE, strip.shape[1] - begin)
        start = first + begin
        for j in range(count):
            own[j] = mass[j] = 0.0
        for r in range(strip.shape[0]):
            _squared_to(references[r], Zt, start, count, squared)
            _read_pairs(strip[r, begin : begin + count], nothing, mode, scale, floor, factor, delta, weight)
            stresses[r] += _residuals(delta, weight, squared, pull, own, count)
            sizes[r] += _sizes(delta, weight, mass, count)
            _pull_objects(references[r], Zt, start, count, pull, G)
        for j in range(count):
            shares[start + j] += own[j]
            degrees[start + j] += mass[j]


class Stretch(NamedTuple):
    """What the pairs of some objects with the references say: as `ReferenceSums`, but a reference is no object yet."""

    G: Array  # coordinates x objects, in the type of the coordinates
    degrees: Array
    shares: Array
    stresses: Array
    sizes: Array


def reference_stretch(
    source: Source,
    rule: tuple[int, float, float, float],
    references: IntArray,
    near: Array,
    Z: Array,
    first: int,
    workers: Workers,
) -> Stretch:
    """Return what the dissimilarities of the objects from ``first`` on, at ``Z``, to references at ``near`` say.

    Only objects are dealt to the threads, and each reference's sums over them are added in order: the result does not
    depend on the number of threads.
    """
    m, b = len(Z), len(references)
    Zt, near = np.ascontiguousarray(Z.T), np.ascontiguousarray(near)
    G, degrees, shares = np.zeros_like(Zt), np.zeros(m), np.zeros(m)
    count = -(-m // OBJECTS)
    stresses, sizes = np.zeros((count, b)), np.zeros((count, b))
    whole = None if reads_by_number(source) else rectangle(source, references, slice(first, first + m))

    def run(block: int) -> None:
        top = block * OBJECTS
        end = min(top + OBJECTS, m)
        strip = rectangle(source, references, slice(first + top, first + end)) if whole is None else whole[:, top:end]
        _reference_strip(read_only(strip), *rule, near, Zt, top, G, degrees, shares, stresses[block], sizes[block])

    workers.run(run, count)
    return Stretch(G, degrees, shares, stresses.sum(axis=0), sizes.sum(axis=0))


def reference_pass(pairs: Pairs, references: IntArray, Z: Array, workers: Workers) -> ReferenceSums:
    """Return what the dissimilarities of all objects to some references say, in the type of ``Z``."""
    found = reference_stretch(pairs.source, pairs.rule, references, Z[references], Z, 0, workers)
    return together(pairs, references, [found])


def together(pairs: Pairs, references: IntArray, found: list[Stretch]) -> ReferenceSums:
    """Return what all objects say, from stretches in their order."""
    G = np.concatenate([stretch.G.T for stretch in found], dtype=np.float64)
    degrees, shares = (np.concatenate([stretch[at] for stretch in found]) for at in (1, 2))
    stresses, sizes = (np.sum([stretch[at] for stretch in found], axis=0) for at in (3, 4))
    # A reference's pair with itself adds a weight, and nothing else: neither a distance nor a dissimilarity.
    degrees[references] -= pairs.factor / pairs.floor if pairs.weighting == Weighting.SAMMON else 1.0
    return ReferenceSums(np.ascontiguousarray(G), degrees, shares, stresses, sizes)
