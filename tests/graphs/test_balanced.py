"""Neighbours of every object in every stratum."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from unmask.graphs import SearchEdges, SearchRows, SearchTable, _balanced, balanced_neighbours


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 4)), rng.choice(3, size=90, p=[0.6, 0.3, 0.1])


def as_dict(found):
    return {
        (int(row), near.stratum): list(
            zip(near.lengths[at].round(6).tolist(), near.neighbours[at].tolist(), strict=True)
        )
        for near in found
        for at, row in enumerate(near.rows)
    }


def plainly(D, strata, k):
    """The same by sorting, an object at a time."""
    expected = {}
    for row in range(len(D)):
        for stratum, size in enumerate(np.bincount(strata)):
            number = max(4, round(k * size / len(D)))
            others = [j for j in np.flatnonzero(strata == stratum) if j != row]
            nearest = sorted(others, key=lambda j: D[row, j])[:number]
            expected[row, stratum] = [(round(float(D[row, j]), 6), int(j)) for j in nearest]
    return expected


@pytest.mark.parametrize("form", ["rows", "table", "edges"])
def test_every_stratum_gives_neighbours_by_its_size(data, form):
    X, strata = data
    D = cdist(X, X)
    search = {
        "rows": lambda: SearchRows(X, "euclidean"),
        "table": lambda: SearchTable(D),
        "edges": lambda: SearchEdges(sp.csr_array(D)),
    }[form]()
    assert as_dict(balanced_neighbours(search, strata, 15)) == plainly(D, strata, 15)


def test_one_stratum_is_the_plain_graph(data):
    X, _ = data
    (near,) = balanced_neighbours(SearchRows(X, "euclidean"), np.zeros(90, dtype=int), 7)
    D = cdist(X, X) + np.diag(np.full(90, np.inf))
    np.testing.assert_array_equal(near.neighbours, np.argsort(D, axis=1)[:, :7])
    assert near.share == 1.0


def test_new_objects_may_lie_on_fitted_ones(data):
    X, strata = data
    found = as_dict(balanced_neighbours(SearchRows(X, "euclidean", X[:5]), strata, 15, strata[:5]))
    assert all(found[row, strata[row]][0] == (0.0, row) for row in range(5))


def test_duplicates_and_small_strata():
    X, strata = np.zeros((12, 3)), np.array([0] * 11 + [1])
    found = list(balanced_neighbours(SearchRows(X, "euclidean"), strata, 6))
    for near in found:
        assert not (near.neighbours == near.rows[:, None]).any()
        assert (near.lengths == 0.0).all()
    assert sum(len(near.rows) for near in found if near.stratum == 1) == 11  # the only one has no other of its own


def test_absent_edges_are_infinitely_far():
    graph = sp.csr_array(([1.0, 2.0], ([0, 1], [1, 0])), shape=(3, 3))
    (near,) = balanced_neighbours(SearchEdges(graph), np.zeros(3, dtype=int), 2)
    assert near.lengths.tolist() == [[1.0, np.inf], [2.0, np.inf], [np.inf, np.inf]]


def test_usearch_finds_nearly_all_and_the_same_each_time(monkeypatch):
    pytest.importorskip("usearch")
    X = np.random.default_rng(1).normal(size=(3000, 20)).astype(np.float32)
    strata = np.arange(3000) % 2
    exact = {
        key: {j for _, j in found}
        for key, found in as_dict(balanced_neighbours(SearchRows(X, "euclidean"), strata, 20)).items()
    }
    monkeypatch.setattr(_balanced, "MOST_EXACT", 0.0)
    runs = [as_dict(balanced_neighbours(SearchRows(X, "euclidean", threads=threads), strata, 20)) for threads in (1, 2)]
    assert runs[0] == runs[1]
    assert np.mean([len(exact[key] & {j for _, j in found}) / 10 for key, found in runs[0].items()]) > 0.95
