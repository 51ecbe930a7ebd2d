"""The passes in plain NumPy: what the compiled ones must equal. Readable, N x N temporaries, no threads."""

from __future__ import annotations

import numpy as np

from .._typing import Array, IntArray
from ._pairs import Pairs, ReferenceSums, Sums, Survey, Weighting
from ._sources import Source, square_array
from ._workers import Workers

# Distances below this share of the mean dissimilarity have the noise of this one: with none at all, a pair whose
# dissimilarity is 0 would make any map on which the two coincide infinitely likely.
NEAREST_NOISE = 0.01


def scaled_dissimilarities(pairs: Pairs) -> Array:
    """Return the scaled upper triangle mirrored, missing ones NaN, diagonal 0."""
    upper = np.triu(pairs.values.astype(np.float64), 1) * pairs.scale
    return upper + upper.T


def pair_weights(pairs: Pairs) -> Array:
    """Return the N x N weights: symmetric, 0 on the diagonal and where the dissimilarity is missing."""
    delta = scaled_dissimilarities(pairs)
    if pairs.weighting == Weighting.SAMMON:
        weights = pairs.factor / np.maximum(delta, pairs.floor)
    elif pairs.weighting == Weighting.ARRAY:
        upper = np.triu(pairs.W.astype(np.float64), 1) * pairs.factor
        weights = upper + upper.T
    else:
        weights = np.ones_like(delta)
    weights[np.isnan(delta)] = 0.0
    np.fill_diagonal(weights, 0.0)
    return weights


def _residuals(pairs: Pairs, Z: Array) -> tuple[Array, Array, Array]:
    """Return weights, fitted distances and dissimilarities (0 where the weight is)."""
    differences = Z[:, None, :].astype(np.float64) - Z[None, :, :]
    distances = np.sqrt((differences**2).sum(axis=2))
    weights = pair_weights(pairs)
    return weights, distances, np.where(weights > 0, scaled_dissimilarities(pairs), 0.0)


def stress_pass(pairs: Pairs, Z: Array, workers: Workers | None = None) -> tuple[float, Array]:
    """Return the stress at ``Z`` and its half-gradient ``(H - C) Z``."""
    W, d, delta = _residuals(pairs, Z)
    stress = float((W * (delta - d) ** 2).sum()) / 2
    ratio = np.divide(delta, d, out=np.zeros_like(d), where=d > 0)
    L = W * (1.0 - ratio)
    return stress, L.sum(axis=1)[:, None] * Z - L @ Z


def last_pass(pairs: Pairs, Z: Array, x: Array, workers: Workers | None = None) -> tuple[Array, Array]:
    """Return each object's weighted squared error, and ``D2 x`` for the squares of dissimilarities that count."""
    W, d, delta = _residuals(pairs, Z)
    return np.asarray((W * (delta - d) ** 2).sum(axis=1)), np.asarray(delta**2 @ x)


def reference_pass(pairs: Pairs, references: IntArray, Z: Array, workers: Workers | None = None) -> ReferenceSums:
    """Return what the dissimilarities of all objects to some references say."""
    W, d, delta = (table[references] for table in _residuals(pairs, Z))
    ratio = np.divide(delta, d, out=np.zeros_like(d), where=d > 0)
    pull = W * (1.0 - ratio)
    error, size = W * (delta - d) ** 2, W * delta**2
    G = pull.sum(axis=0)[:, None] * Z - pull.T @ Z[references]
    return ReferenceSums(G, error.sum(axis=0), error.sum(axis=1), size.sum(axis=1))


def rectangle_sums(
    pairs: Pairs, rows: IntArray, columns: IntArray, Z: Array, workers: Workers | None = None
) -> tuple[Array, Array]:
    """Return the weighted squared error and the sum of squares of some rectangles of the table."""
    W, d, delta = (table[rows[:, :, None], columns[:, None, :]] for table in _residuals(pairs, Z))
    return (W * (delta - d) ** 2).sum(axis=(1, 2)), (W * delta**2).sum(axis=(1, 2))


def laplacian_pass(pairs: Pairs, X: Array, workers: Workers | None = None) -> tuple[Array, Array]:
    """Return the diagonal of ``H`` (sum of each object's weights) and ``H X``."""
    W = pair_weights(pairs)
    degrees = W.sum(axis=1)
    return degrees, degrees[:, None] * X - W @ X


def squared_product(pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers | None = None) -> Array:
    """Return ``D2 X`` for squared dissimilarities ``D2``, ``offset + |fill_i - fill_j|^2`` where pairs do not count."""
    with np.errstate(over="ignore"):  # a pair without weight may hold anything
        D2 = scaled_dissimilarities(pairs) ** 2
    if pairs.weighting == Weighting.ARRAY:
        D2[pairs.W == 0] = np.nan
    differences = fill[:, None, :] - fill[None, :, :]
    D2 = np.where(np.isnan(D2), offset + (differences**2).sum(axis=2), D2)
    np.fill_diagonal(D2, 0.0)
    return np.asarray(D2 @ X)


def pair_sums(pairs: Pairs, workers: Workers | None = None) -> Array:
    """Return ``[sum of w, sum of w delta, sum of w delta^2]`` over the pairs i < j."""
    W = np.triu(pair_weights(pairs))
    delta = np.where(W > 0, scaled_dissimilarities(pairs), 0.0)
    return np.array([W.sum(), (W * delta).sum(), (W * delta**2).sum()])


def survey(source: Source, workers: Workers | None = None) -> Survey:
    """Look at every entry once: extremes, missing pairs, infinities, the largest asymmetry, and sums."""
    D = square_array(source, "this survey")
    upper = np.triu_indices(len(D), 1)
    return survey_pairs(D[upper], D.T[upper])


def survey_pairs(a: Array, b: Array) -> Survey:
    """Look at the entries of pairs in either direction."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    both = np.concatenate([a, b])
    finite = both[np.isfinite(both)]
    given = np.where(np.isnan(a), 0.0, a)
    with np.errstate(over="ignore"):
        squares = float(given @ given)
    gap = np.abs(np.subtract(a, b, where=np.isfinite(a) & np.isfinite(b), out=np.zeros(len(a))))
    return Survey(
        missing=int((np.isnan(a) & np.isnan(b)).sum()),
        one_sided=int((np.isnan(a) != np.isnan(b)).sum()),
        infinite=int(np.isinf(both).sum()),
        smallest=float(finite.min(initial=0.0)),
        largest=float(finite.max(initial=0.0)),
        asymmetry=float(gap.max(initial=0.0)),
        sums=Sums(float(given.sum()), squares, float(np.min(given, where=given > 0, initial=np.inf))),
    )


def between(rows: Array, others: Array, start: int, stop: int, formula: int) -> Array:
    """Return the distances of some rows to the objects ``start … stop`` of features stored by column."""
    differences = rows[:, None, :] - others.T[None, start:stop]
    by_formula = (
        lambda: np.sqrt((differences**2).sum(axis=2)),
        lambda: (differences**2).sum(axis=2),
        lambda: np.abs(differences).sum(axis=2),
    )
    return np.asarray(by_formula[formula]())


def lbfgs_direction(steps: Array, changes: Array, inverse_curvatures: Array, count: int, gradient: Array) -> Array:
    """Return minus the limited-memory inverse Hessian times the gradient, the matrix formed by its definition."""
    memory, size = steps.shape
    kept = [(count - used + i) % memory for used in [min(count, memory)] for i in range(used)]
    newest = kept[-1]
    inverse = np.eye(size) / (inverse_curvatures[newest] * changes[newest] @ changes[newest])
    for at in kept:
        left = np.eye(size) - inverse_curvatures[at] * np.outer(steps[at], changes[at])
        inverse = left @ inverse @ left.T + inverse_curvatures[at] * np.outer(steps[at], steps[at])
    return np.asarray(-inverse @ gradient)


def lbfgs_remember(
    steps: Array, changes: Array, inverse_curvatures: Array, at: int, step: Array, change: Array
) -> bool:
    """Put a step and the change of the gradient along it into place ``at`` if it curves upwards; tell whether."""
    curvature = float(step @ change)
    if not curvature > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):
        return False
    steps[at], changes[at], inverse_curvatures[at] = step, change, 1.0 / curvature
    return True


def place(
    delta: Array,
    weight: Array,
    known: Array,
    U: Array,
    fitted_known: Array,
    given_known: Array,
    fingerprints: Array,
    workers: Workers | None = None,
) -> Array:
    """Return coordinates for new objects, each followed from every start on all fitted objects."""
    placed = np.empty((len(delta), U.shape[1]))
    mean = U.mean(axis=0)
    radii = np.sum((U - mean) ** 2, axis=1)
    for i, (own, w, k) in enumerate(zip(delta, weight, known, strict=True)):
        c, apart = (np.sum((k - fitted) ** 2, axis=1) for fitted in (fitted_known, given_known))
        twin = _twin(own, w, U, c, apart, fingerprints)
        if twin is not None:
            placed[i] = U[twin]
            continue
        left = np.where(w > 0, np.maximum(own**2 - c, 0.0), np.inf)
        nearest = np.argsort(left, kind="stable")[: min(4, int(np.sum(w > 0)))]
        triangulated = mean - 0.5 * np.linalg.pinv(U - mean) @ np.where(w > 0, own**2 - c - radii, 0.0)
        starts = [triangulated, w @ U / w.sum(), *U[nearest]]
        placed[i] = min((_descend(u, own, w, U, c) for u in starts), key=lambda reached: reached[1])[0]
    return placed


def _twin(delta: Array, weight: Array, U: Array, c: Array, apart: Array, fingerprints: Array) -> int | None:
    """Return the fitted object that a new one is, or None."""
    squares = np.where(weight > 0, delta**2, 0.0)
    nearness = 1e-12 * (weight @ squares) / weight.sum()
    twins = np.flatnonzero((weight > 0) & (squares + apart <= nearness))
    if not len(twins):
        return None
    gap = np.abs(fingerprints[twins] - squares @ np.random.default_rng(0).standard_normal(len(U)))
    if len(twins) == 1 or gap.min() <= 1e-6 * np.sqrt(np.sum(squares**2)):
        return int(twins[np.argmin(gap)])
    return int(min(twins, key=lambda j: _place_stress(U[j], delta, weight, U, c)))


def _place_stress(u: Array, delta: Array, weight: Array, U: Array, c: Array) -> float:
    return float(weight @ (delta - np.sqrt(np.sum((u - U) ** 2, axis=1) + c)) ** 2)


def _descend(u: Array, delta: Array, weight: Array, U: Array, c: Array) -> tuple[Array, float]:
    """Return the bottom of the valley of u by Newton steps, or steps of majorisation where these do not pay."""
    stress, size = _place_stress(u, delta, weight, U, c), float(weight @ delta**2)
    for _ in range(200):
        difference = u - U
        d = np.sqrt(np.sum(difference**2, axis=1) + c)
        inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
        pull = weight * (1.0 - delta * inverse)
        gradient = pull @ difference
        hessian = pull.sum() * np.eye(len(u)) + (difference.T * (weight * delta * inverse**3)) @ difference
        steps = [-gradient / weight.sum()]
        if np.linalg.eigvalsh(hessian)[0] > 1e-8 * weight.sum():
            steps.insert(0, -np.linalg.solve(hessian, gradient))
        reached = [(u + step, _place_stress(u + step, delta, weight, U, c)) for step in steps]
        ahead, lower = next((new for new in reached if new[1] < stress), reached[-1])
        if lower > stress:
            break
        fall, u, stress = stress - lower, ahead, lower
        if fall <= 1e-12 * size:
            break
    return u, stress


def likelihood_pass(
    Z: Array,
    rows: IntArray,
    columns: IntArray,
    delta: Array,
    precision: Array,
    log_s: float,
    gamma: float,
    G: Array,
) -> tuple[float, float, float]:
    """Return the log likelihood and its derivatives in ``log_s`` and ``gamma``; that in Z is left in ``G``.

    A dissimilarity is normal about its distance d, with variance ``s^2 (d^2 + NEAREST_NOISE^2)^gamma / precision``.
    """
    difference = Z[rows] - Z[columns]
    d = np.sqrt((difference**2).sum(axis=1))
    size = d**2 + NEAREST_NOISE**2
    variance = np.exp(2 * log_s) * size**gamma / precision
    residual = d - delta
    excess = residual**2 / variance - 1.0
    pull = excess * gamma / size - residual / variance / np.maximum(d, 1e-12)
    force = pull[:, None] * difference
    G[:] = 0.0
    np.add.at(G, rows, force)
    np.add.at(G, columns, -force)
    total = -0.5 * np.sum(np.log(2 * np.pi * variance) + excess + 1.0)
    return float(total), float(excess.sum()), float(0.5 * (excess * np.log(size)).sum())
