"""A new engine takes one file: a class with two methods, and a line that registers it."""

import numpy as np
import pytest

import unmask.engines
from unmask import ConditionalMDS
from unmask.engines import ENGINES, Engine, TableEngine, register_engine
from unmask.kernels import Source


class Line(Source):
    """Distances of points on a line."""

    def __init__(self, x):
        self.x, self.n, self.dtype = x, len(x), x.dtype

    def tile(self, rows, columns):
        return abs(self.x[rows, None] - self.x[None, columns])

    def rows(self, which):
        return self.tile(which, slice(None))


class LineEngine(Engine):
    """A pass of one's own over such distances, with the graph of equal weights as it is."""

    def __init__(self, pairs, workers):
        base = TableEngine(pairs, workers)
        self.n, self.scale, self.total, self.graph = base.n, base.scale, base.total, base.graph
        self.x, self.passes = pairs.source.x * pairs.scale, 0

    def _distances(self, Z):
        difference = Z[:, None, :] - Z[None]
        return abs(self.x[:, None] - self.x), np.sqrt((difference**2).sum(axis=2))

    def stress(self, Z):
        self.passes += 1
        delta, d = self._distances(Z)
        L = 1.0 - np.divide(delta, d, out=np.zeros_like(d), where=d > 0)
        np.fill_diagonal(L, 0.0)
        return float(((delta - d) ** 2).sum() / 2), L.sum(axis=1)[:, None] * Z - L @ Z

    def point_stress(self, Z):
        delta, d = self._distances(Z)
        return ((delta - d) ** 2).sum(axis=1)


@pytest.fixture
def made(monkeypatch):
    """Register the engine for one test, and return those that were made."""
    engines = []

    def make(pairs, workers, *_):
        engines.append(LineEngine(pairs, workers))
        return engines[-1]

    monkeypatch.setattr(unmask.engines, "ENGINES", list(ENGINES))
    register_engine(lambda pairs, _: isinstance(getattr(pairs, "source", None), Line), make)
    return engines


def fit(data, known, **options):
    return ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0, **options).fit(data, known=known)


def test_a_fit_through_it_is_the_fit_through_the_table(rng, made):
    x, known = rng.standard_normal(120), rng.standard_normal((120, 1))
    expected = fit(abs(x[:, None] - x), known)
    assert not made
    mds = fit(Line(x), known)
    assert made[0].passes > mds.n_iter_
    assert mds.n_iter_ == expected.n_iter_
    np.testing.assert_allclose(mds.stress_path_, expected.stress_path_, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(mds.stress_per_point_, expected.stress_per_point_, rtol=1e-5, atol=1e-12)
