"""The pass with disparities: its gradient, its normalisation, and its NumPy twin."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.helpers import noisy_distances, symmetric_weights, with_missing
from unmask.checking import check_dissimilarities
from unmask.engines import LevelEngine, TableEngine, make_engine
from unmask.kernels import Workers
from unmask.problem import build_pairs, make_level
from unmask.problem._graph import TableGraph

N = 12
CASES = [("interval", "primary"), ("ordinal", "primary"), ("ordinal", "secondary"), ("spline", "primary")]
PAIRS = ["unit", "missing", "array", "array and missing"]


@pytest.fixture
def make(rng):
    def engine(level, ties, pairs, dtype=np.float64):
        D = np.round(noisy_distances(rng, N), 2).astype(dtype)
        W = symmetric_weights(rng, N) if "array" in pairs else None
        D = with_missing(rng, D, 0.2) if "missing" in pairs else D
        workers = Workers(1)
        with np.errstate(all="raise"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("unmask.checking._dissimilarities.warn_user", lambda *_: None)
            checked = check_dissimilarities(D, workers=workers)
        if W is not None:
            W[0, 5] = W[5, 0] = 0.0
        return make_engine(build_pairs(checked, None, W, workers), workers, level, ties), D, W

    return engine


def twin(D, W, scale, Z, level, ties):
    """Return the normalised stress, the sum of squares and the disparities with plain loops over pairs."""
    pairs = [
        (i, j)
        for i in range(len(D))
        for j in range(i + 1, len(D))
        if not np.isnan(D[i, j]) and (W is None or W[i, j] > 0)
    ]
    delta = np.array([D[i, j] for i, j in pairs], dtype=float) * scale
    weights = np.ones(len(pairs)) if W is None else np.array([W[i, j] for i, j in pairs])
    d = np.array([np.linalg.norm(Z[i] - Z[j]) for i, j in pairs])
    fitted = make_level(level, ties, delta, weights)(d)
    fitted = fitted * np.sqrt(np.sum(weights * delta**2) / np.sum(weights * fitted**2))
    return np.sum(weights * (fitted - d) ** 2) / np.sum(weights * delta**2), dict(zip(pairs, fitted, strict=True))


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize(("level", "ties"), CASES)
def test_the_pass_equals_its_twin(make, rng, level, ties, pairs):
    engine, D, W = make(level, ties, pairs)
    Z = rng.standard_normal((N, 3))
    expected, disparities = twin(D, W, engine.scale, Z, level, ties)
    assert isinstance(engine, LevelEngine)
    assert engine.stress(Z)[0] / engine.total == pytest.approx(expected, rel=1e-9)
    assert engine.point_stress(Z).sum() / (2 * engine.total) == pytest.approx(expected, rel=1e-9)
    table = engine.disparity_table(Z)
    np.testing.assert_array_equal(table, table.T)
    assert np.count_nonzero(np.isfinite(table)) == N + 2 * len(disparities)
    for (i, j), value in disparities.items():
        assert table[i, j] == pytest.approx(value, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize(("level", "ties"), CASES)
def test_the_gradient_is_that_of_the_stress_with_the_best_disparities(make, rng, level, ties, pairs):
    """Disparities move with the map, and yet the gradient is the usual one: they are optimal."""
    engine, _, _ = make(level, ties, pairs)
    Z, step = rng.standard_normal((N, 2)), 1e-6
    G = engine.stress(Z)[1]
    for i, c in [(0, 0), (3, 1), (7, 0), (11, 1), (5, 0)]:
        ahead, behind = Z.copy(), Z.copy()
        ahead[i, c] += step
        behind[i, c] -= step
        numeric = (engine.stress(ahead)[0] - engine.stress(behind)[0]) / (2 * step)
        assert 2 * G[i, c] == pytest.approx(numeric, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize(("level", "ties"), CASES)
def test_disparities_have_the_dissimilarities_sum_of_squares_however_small_the_map(make, rng, level, ties, pairs):
    engine, D, W = make(level, ties, pairs)
    W = np.ones((N, N)) if W is None else W
    total = np.nansum(np.triu(W * (D * engine.scale) ** 2, 1))
    for size in (1.0, 1e-6, 1e6):
        table = engine.disparity_table(size * rng.standard_normal((N, 2)))
        factor = total / np.nansum(np.triu(W * table**2, 1))
        np.testing.assert_allclose(factor, 1.0, rtol=1e-9)
    # All objects in one place cannot be had for nothing.
    assert engine.stress(np.zeros((N, 2)))[0] == pytest.approx(engine.total, rel=1e-12)


@pytest.mark.parametrize(("level", "ties"), CASES)
def test_what_does_not_depend_on_the_level_is_the_table_engines(make, level, ties):
    engine, _, _ = make(level, ties, "array and missing")
    table = TableEngine(engine.pairs, Workers(1))
    assert isinstance(engine.graph, TableGraph)
    assert engine.graph.pairs is engine.pairs
    assert (engine.n, engine.scale, engine.total) == (table.n, table.scale, table.total)
    assert engine.one_thread is table.one_thread


def test_single_precision_is_kept_in_double_inside(make, rng):
    engine, D, W = make("ordinal", "primary", "unit", np.float32)
    Z = rng.standard_normal((N, 2))
    expected, _ = twin(D.astype(float), W, engine.scale, Z, "ordinal", "primary")
    assert engine.stress(Z)[0] / engine.total == pytest.approx(expected, rel=1e-6)
    assert engine.disparities(cdist(Z, Z[:2])).dtype == np.float64
