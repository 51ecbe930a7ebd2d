"""The closed form: regress squared dissimilarities on the known features, subtract, double-centre, eigendecompose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import cdist

from .._typing import Array, IntArray
from ..engines import Engine
from ..kernels import Which
from ..problem import KnownFeatures
from ..problem.linalg import NonNegative, whitening

# Up to this many objects a full decomposition is faster than an iterative one.
DENSE_UP_TO = 300
# A start regresses on at most this many products of columns (a full B of 31), and on the squares alone beyond that.
START_REGRESSORS = 500
MAX_REGRESSORS = 5000
# For more objects than this a start looks at the pairs of some of them, the landmarks, before it reads all pairs once.
# Measured at N = 5000, p = 7: 90 ms instead of 350, and no more iterations afterwards.
LANDMARKS_FROM = 1000
START_LANDMARKS = 500
LANDMARK_TOL = 1e-2  # the product with all pairs refines the axes; exact ones of the landmarks take five times as long
SPARE_AXES = 2  # found beside those that are asked for, so that the last of these is as good as the first


class ClosedForm(NamedTuple):
    """A map and BB' (kept columns, standard units) in the engine's units, and the leading eigenvalues."""

    U: Array
    gram: Array
    eigenvalues: Array


def closed_form(engine: Engine, known: KnownFeatures, p: int, *, tol: float = 0.0) -> ClosedForm:
    """Return the closed-form map and coefficients.

    ``tol`` is the relative accuracy of the eigenvectors (0: machine precision); 1e-2 is plenty for a start.
    """
    gram, intercept = regress_squares(engine, known, start=tol > 0)
    root = coefficients(known, gram)
    U, values = _leading_axes(engine, known.values @ root, intercept, p, tol)
    return ClosedForm(U, root @ root.T, values)


def coefficients(known: KnownFeatures, gram: Array, least: float | Array = 0.0) -> Array:
    """Return B whose BB' is positive semi-definite and nearest to ``gram`` in the metric V'V of each block.

    In this metric neither negative eigenvalues, which are cut, nor the spread of VB, which is at least ``least`` (a
    number, or one for each block) along every axis, depend on how the known features are coded.
    """
    B = np.zeros_like(gram)
    for group, shortest in zip(known.groups, np.broadcast_to(least, len(known.groups)), strict=True):
        block, V = np.ix_(group, group), known.values[:, group]
        roots, axes = whitening(V.T @ V / len(V))
        spread = (axes * roots) @ axes.T  # the symmetric root
        values, vectors = np.linalg.eigh(spread @ gram[block] @ spread)
        B[block] = np.linalg.solve(spread, vectors * np.sqrt(np.maximum(values, shortest**2)))
    return B


def regress_squares(engine: Engine, known: KnownFeatures, *, start: bool = False) -> tuple[Array, float]:
    """Regress squared dissimilarities on squared differences of known features (within a block, on products too).

    Return BB' (symmetric, perhaps not yet positive semi-definite) and the intercept: the mean square not explained. A
    start regresses on the squares alone where there are many products.
    """
    V = known.values
    together: Array = np.zeros((known.n_kept, known.n_kept), dtype=bool)
    for group in known.groups:
        together[np.ix_(group, group)] = True
    first, last = np.nonzero(np.triu(together))
    if start and len(first) > START_REGRESSORS:
        first = last = np.arange(known.n_kept)
    elif len(first) > MAX_REGRESSORS:
        raise ValueError(
            f"{known.n_kept} columns of known features have {len(first)} products within their blocks, too many to "
            "regress on; use coef='diagonal' or smaller groups."
        )
    if not len(first) and engine.graph.every_pair:
        return np.zeros((0, 0)), 0.0  # no pair is missing for which the mean would stand in
    D2X = engine.graph.squared_product(np.column_stack([np.ones(len(V)), V]), np.empty((len(V), 0)), 0.0)
    # The sum over pairs of delta^2 (v_ia - v_ja)(v_ib - v_jb) is V'LV, L the Laplacian of squared dissimilarities.
    moments = V.T @ (D2X[:, :1] * V) - V.T @ D2X[:, 1:]
    response = float(D2X[:, 0].sum()) / 2
    count, sums, second = _sums_of_products(engine, V, first, last)
    M: Array = np.zeros((V.shape[1], V.shape[1]))
    if not len(first):
        return M, response / count
    normal = second - np.outer(sums, sums) / count
    target = moments[first, last] - sums * response / count
    # A squared coefficient cannot be below zero.
    diagonal = np.array_equal(first, last)
    weights = NonNegative(normal).solve(target) if diagonal else np.linalg.lstsq(normal, target, rcond=1e-12)[0]
    # A product of two different columns stands for two entries of BB'.
    M[first, last] += weights / 2
    M[last, first] += weights / 2
    return M, float((response - sums @ weights) / count)


def _sums_of_products(engine: Engine, V: Array, a: IntArray, b: IntArray) -> tuple[float, Array, Array]:
    """Return the number of pairs that count, and the sums over them of the regressors and of their products.

    The regressors are the products of the differences in columns a and b. Over all pairs no pass is needed: V centred,
    m its second and m4 its fourth moments, the sum over i<j of dv_a dv_b dv_c dv_d is
    N m4_abcd + m_ab m_cd + m_ac m_bd + m_ad m_bc.
    """
    if engine.graph.every_pair:
        n = len(V)
        V = V - V.mean(axis=0)
        m = V.T @ V
        F = V[:, a] * V[:, b]
        second = (
            n * (F.T @ F)
            + np.outer(m[a, b], m[a, b])
            + m[np.ix_(a, a)] * m[np.ix_(b, b)]
            + m[np.ix_(a, b)] * m[np.ix_(b, a)]
        )
        return n * (n - 1) / 2, n * m[a, b], second
    count, sums, second = 0.0, np.zeros(len(a)), np.zeros((len(a), len(a)))
    for rows, columns in engine.graph.observed_pairs():  # a block of pairs at a time
        difference = V[rows] - V[columns]
        F = difference[:, a] * difference[:, b]
        count += len(rows)
        sums += F.sum(axis=0)
        second += F.T @ F
    return count, sums, second


def _leading_axes(engine: Engine, VB: Array, intercept: float, p: int, tol: float) -> tuple[Array, Array]:
    """Return the p leading axes of the double-centred squared dissimilarities less what the known features explain.

    A negative eigenvalue gives an axis of zeros. The matrix is never formed: the operator double-centres on the fly.
    """
    n, graph = engine.n, engine.graph
    if p == 0:
        return np.empty((n, 0)), np.empty(0)
    VB = VB - VB.mean(axis=0)

    def apply(X: Array) -> Array:
        X = X.reshape(n, -1)
        X = X - X.mean(axis=0)
        Y = -0.5 * graph.squared_product(X, VB, intercept)
        return np.asarray(Y - Y.mean(axis=0) - VB @ (VB.T @ X))

    if n <= DENSE_UP_TO or p >= n // 2:
        matrix = apply(np.eye(n))
        values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2, subset_by_index=[n - p, n - 1])
    elif tol > 0 and n > LANDMARKS_FROM and p < START_LANDMARKS // 2 and graph.every_pair:
        # Rayleigh and Ritz: values and axes within a basis. The product itself is a step nearer to the eigenvectors.
        X = np.linalg.qr(_landmark_axes(graph, VB, p + SPARE_AXES))[0]
        AX = apply(X)
        inner = X.T @ AX
        values, axes = np.linalg.eigh((inner + inner.T) / 2)
        values, vectors = values[-p:], AX @ axes[:, -p:]
        lengths = np.linalg.norm(vectors, axis=0)
        vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    else:
        start = np.random.default_rng(0).standard_normal(n)  # a fixed start: the same map every time
        operator = LinearOperator((n, n), matvec=lambda x: apply(x).ravel(), dtype=np.float64)
        # A start is content with a small basis; for machine precision the usual one needs fewer restarts.
        basis = min(n, 2 * p + 3) if tol > 0 else None
        values, vectors = eigsh(operator, k=p, which="LA", tol=tol, v0=start, ncv=basis)
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))), values


def _landmark_axes(graph: Any, VB: Array, p: int) -> Array:
    """Return p axes of all objects: classical scaling of the landmarks, and Gower's formula for all."""
    rng = np.random.default_rng(0)  # the same map every time
    chosen = np.sort(rng.choice(graph.n, START_LANDMARKS, replace=False))

    def rows(others: Which) -> Iterator[tuple[slice, Array]]:
        """Yield rows of the landmarks less the known part; kept, they would take more than all coordinates."""
        for part, squares in graph.squared_rows(chosen, others):
            yield part, squares - cdist(VB[chosen[part]], VB[others], "sqeuclidean") if VB.shape[1] else squares

    own = np.concatenate([squares for _, squares in rows(chosen)])
    means = own.mean(axis=0)
    inner = -0.5 * (own - means - means[:, None] + means.mean())
    start = np.random.default_rng(0).standard_normal(START_LANDMARKS)
    vectors = eigsh(inner, k=p, which="LA", tol=LANDMARK_TOL, v0=start)[1]
    # Gower: an object's coordinate is -1/2 (its squares - their means) x / value; the size of an axis does not matter.
    axes: Array = np.zeros((graph.n, p))
    for part, squares in rows(slice(0, graph.n)):
        axes += (means[part, None] - squares).T @ vectors[part]
    return np.asarray(axes - axes.mean(axis=0))
