"""The compiled passes in plain NumPy: what they must equal. Readable, with N x N temporaries and no threads."""

import math

import numpy as np

from unmask.kernels import Form, ReferenceSums, Sums, Survey, Weighting, plain


def _residuals(pairs, Z):
    """Return weights, fitted distances and dissimilarities (0 where the weight is)."""
    differences = Z[:, None, :].astype(np.float64) - Z[None, :, :]
    distances = np.sqrt((differences**2).sum(axis=2))
    weights = pair_weights(pairs)
    return weights, distances, np.where(weights > 0, scaled_dissimilarities(pairs), 0.0)


def stress_pass(pairs, Z):
    """Return the stress at ``Z`` and its half-gradient ``(H - C) Z``."""
    W, d, delta = _residuals(pairs, Z)
    stress = float((W * (delta - d) ** 2).sum()) / 2
    ratio = np.divide(delta, d, out=np.zeros_like(d), where=d > 0)
    L = W * (1.0 - ratio)
    return stress, L.sum(axis=1)[:, None] * Z - L @ Z


def reference_pass(pairs, references, Z):
    """Return what the dissimilarities of all objects to some references say."""
    W, d, delta = (table[references] for table in _residuals(pairs, Z))
    ratio = np.divide(delta, d, out=np.zeros_like(d), where=d > 0)
    pull = W * (1.0 - ratio)
    error, size = W * (delta - d) ** 2, W * delta**2
    G = pull.sum(axis=0)[:, None] * Z - pull.T @ Z[references]
    return ReferenceSums(G, error.sum(axis=0), error.sum(axis=1), size.sum(axis=1))


def rectangle_sums(pairs, rows, columns, Z):
    """Return the weighted squared error and the sum of squares of some rectangles of the table."""
    W, d, delta = (table[rows[:, :, None], columns[:, None, :]] for table in _residuals(pairs, Z))
    return (W * (delta - d) ** 2).sum(axis=(1, 2)), (W * delta**2).sum(axis=(1, 2))


def between(rows, others, start, stop, formula):
    """Return the distances of some rows to the objects ``start … stop`` of features stored by column."""
    differences = rows[:, None, :] - others.T[None, start:stop]
    by_formula = (
        lambda: np.sqrt((differences**2).sum(axis=2)),
        lambda: (differences**2).sum(axis=2),
        lambda: np.abs(differences).sum(axis=2),
    )
    return np.asarray(by_formula[formula]())


def lbfgs_direction(steps, changes, inverse_curvatures, count, gradient):
    """Return minus the limited-memory inverse Hessian times the gradient, the matrix formed by its definition."""
    memory, size = steps.shape
    kept = [(count - used + i) % memory for used in [min(count, memory)] for i in range(used)]
    newest = kept[-1]
    inverse = np.eye(size) / (inverse_curvatures[newest] * changes[newest] @ changes[newest])
    for at in kept:
        left = np.eye(size) - inverse_curvatures[at] * np.outer(steps[at], changes[at])
        inverse = left @ inverse @ left.T + inverse_curvatures[at] * np.outer(steps[at], steps[at])
    return np.asarray(-inverse @ gradient)


def lbfgs_remember(steps, changes, inverse_curvatures, at, step, change):
    """Put a step and the change of the gradient along it into place ``at`` if it curves upwards; tell whether."""
    curvature = float(step @ change)
    if not curvature > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):
        return False
    steps[at], changes[at], inverse_curvatures[at] = step, change, 1.0 / curvature
    return True


def place(delta, weight, known, U, fitted_known, given_known, fingerprints):
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


def _twin(delta, weight, U, c, apart, fingerprints):
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


def _place_stress(u, delta, weight, U, c):
    return float(weight @ (delta - np.sqrt(np.sum((u - U) ** 2, axis=1) + c)) ** 2)


def _descend(u, delta, weight, U, c):
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


def likelihood_pass(Z, rows, columns, delta, precision, log_s, gamma, G):
    """Return the log likelihood and its derivatives in ``log_s`` and ``gamma``; that in Z is left in ``G``.

    A dissimilarity is normal about its distance d, with variance ``s^2 (d^2 + NEAREST_NOISE^2)^gamma / precision``.
    """
    difference = Z[rows] - Z[columns]
    d = np.sqrt((difference**2).sum(axis=1))
    size = d**2 + plain.NEAREST_NOISE**2
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


# ---- general costs


def _arguments(cost, Z):
    """Return for all i and j what the fitted value is a function of, and its derivative by the column of z_i."""
    difference = Z[:, None, :] - Z[None, :, :]
    if cost.form == Form.SQUARED:
        return (difference**2).sum(axis=2), 2.0 * difference
    if cost.form == Form.INNER:
        return Z @ Z.T, np.broadcast_to(Z[None, :, :], difference.shape)
    size = np.sqrt(difference**2 + cost.link_parameter**2)
    return (size - cost.link_parameter).sum(axis=2), difference / size


def cost_pass(cost, Z):
    """Return the cost at ``Z`` and half its derivative."""
    x, dx = _arguments(cost, Z)
    k, dk = _vectorised(cost.link)(x, cost.link_parameter)
    weights = _pair_weights(cost)
    total = float((np.triu(np.ones_like(k), 1) * k).sum()) if cost.normalised else 1.0
    value, slope = _vectorised(cost.loss)(k / total, _targets_that_count(cost), cost.loss_parameter)
    pull = weights * slope
    if cost.normalised:
        pull = (pull - (pull * k).sum() / 2 / total) * (weights > 0)
    price = float((weights * value).sum()) / 2
    return price, np.einsum("ij,ijc->ic", pull * dk / total, dx) / 2


def point_costs(cost, Z):
    """Return each object's share of the cost: half of each of its pairs."""
    x, _ = _arguments(cost, Z)
    k, _ = _vectorised(cost.link)(x, cost.link_parameter)
    total = float(np.triu(k, 1).sum()) if cost.normalised else 1.0
    value, _ = _vectorised(cost.loss)(k / total, _targets_that_count(cost), cost.loss_parameter)
    return np.asarray((_pair_weights(cost) * value).sum(axis=1) / 2)


def _pair_weights(cost):
    weights = np.ones_like(cost.targets) if cost.weights is None else cost.weights.copy()
    np.fill_diagonal(weights, 1.0 if cost.counts_itself else 0.0)
    weights[np.isnan(cost.targets)] = 0.0
    return weights


def _targets_that_count(cost):
    """Return the targets, 1 where a pair does not count: every function of a pair has a value there."""
    return np.where(_pair_weights(cost) > 0, cost.targets, 1.0)


def _vectorised(function):
    return np.vectorize(getattr(function, "py_func", function), otypes=[np.float64, np.float64])


def neighbour_shares(squares, perplexity):
    """Return for each row the shares exp(-b squares) whose entropy is log(perplexity), none on the diagonal."""
    shares = np.zeros_like(squares)
    for i, row in enumerate(squares):
        others = np.delete(row, i)
        others = others - others.min()
        others = others / (others.mean() or 1.0)
        low, high, precision = 0.0, np.inf, 1.0
        for _ in range(200):
            p = np.exp(-precision * others)
            p /= p.sum()
            entropy = -float(np.sum(p[p > 0] * np.log(p[p > 0])))
            if abs(entropy - math.log(perplexity)) < 1e-10:
                break
            low, high = (precision, high) if entropy > math.log(perplexity) else (low, precision)
            precision = 2.0 * low if np.isinf(high) else (low + high) / 2.0
        shares[i] = np.insert(p, i, 0.0)
    return shares


# ---- passes that are made once


def scaled_dissimilarities(pairs):
    """Return the scaled upper triangle mirrored, missing ones NaN, diagonal 0."""
    upper = np.triu(pairs.source.array.astype(np.float64), 1) * pairs.scale
    return upper + upper.T


def pair_weights(pairs):
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


def last_pass(pairs, Z, x):
    """Return each object's weighted squared error, and ``D2 x`` for the squares of dissimilarities that count."""
    W = pair_weights(pairs)
    delta = np.where(W > 0, scaled_dissimilarities(pairs), 0.0)
    d = np.sqrt(((Z[:, None, :].astype(np.float64) - Z[None, :, :]) ** 2).sum(axis=2))
    return np.asarray((W * (delta - d) ** 2).sum(axis=1)), np.asarray(delta**2 @ x)


def laplacian_pass(pairs, X):
    """Return the diagonal of ``H`` (sum of each object's weights) and ``H X``."""
    W = pair_weights(pairs)
    degrees = W.sum(axis=1)
    return degrees, degrees[:, None] * X - W @ X


def squared_product(pairs, X, fill, offset):
    """Return ``D2 X`` for squared dissimilarities ``D2``, ``offset + |fill_i - fill_j|^2`` where pairs do not count."""
    with np.errstate(over="ignore"):  # a pair without weight may hold anything
        D2 = scaled_dissimilarities(pairs) ** 2
    if pairs.weighting == Weighting.ARRAY:
        D2[pairs.W == 0] = np.nan
    differences = fill[:, None, :] - fill[None, :, :]
    D2 = np.where(np.isnan(D2), offset + (differences**2).sum(axis=2), D2)
    np.fill_diagonal(D2, 0.0)
    return np.asarray(D2 @ X)


def pair_sums(pairs):
    """Return ``[sum of w, sum of w delta, sum of w delta^2]`` over the pairs i < j."""
    W = np.triu(pair_weights(pairs))
    delta = np.where(W > 0, scaled_dissimilarities(pairs), 0.0)
    return np.array([W.sum(), (W * delta).sum(), (W * delta**2).sum()])


def survey(source):
    """Look at every entry once: extremes, missing pairs, infinities, the largest asymmetry, and sums."""
    D = source.array
    upper = np.triu_indices(len(D), 1)
    return survey_pairs(D[upper], D.T[upper])


def survey_pairs(a, b):
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
