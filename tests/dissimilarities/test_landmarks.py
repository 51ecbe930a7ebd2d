"""Shortest paths from some objects only, and maps of them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll

from unmask import Checkpoint, ConditionalIsomap, ConditionalMDS
from unmask.dissimilarities import Geodesic, LandmarkRows
from unmask.kernels import Source, Workers


@pytest.fixture(scope="module")
def roll():
    X, t = make_swiss_roll(800, random_state=0)
    walked = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return X, walked


@pytest.fixture(scope="module")
def paths(roll):
    return Geodesic(8, n_landmarks=40, random_state=0).fit_transform(roll[0])


@pytest.fixture(scope="module")
def table(roll):
    return Geodesic(8).fit_transform(roll[0])


def expected(table, references):
    """Return the whole table with NaN for all pairs without a landmark."""
    whole = np.where(np.eye(len(table), dtype=bool), 0.0, np.nan)
    whole[references], whole[:, references] = table[references], table[:, references]
    return whole


def test_rows_are_those_of_the_whole_table(paths, table):
    assert isinstance(paths, LandmarkRows)
    assert isinstance(paths, Source)
    assert (paths.n, len(paths), paths.shape, paths.dtype) == (800, 800, (800, 800), np.float64)
    assert len(np.unique(paths.references)) == 40
    np.testing.assert_allclose(paths.rows(paths.references), table[paths.references], rtol=1e-12)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (slice(0, 800), slice(0, 800)),
        (slice(100, 200), slice(150, 400)),
        (np.array([3, 799, 0]), np.array([7, 3])),
        (np.array([], dtype=int), slice(0, 5)),
    ],
)
def test_tiles_are_the_table_where_there_is_a_landmark_and_missing_elsewhere(paths, table, rows, columns):
    whole = expected(table, paths.references)
    np.testing.assert_allclose(paths.tile(rows, columns), whole[rows][:, columns], rtol=1e-12)


def test_pairs_are_listed_once(paths, table):
    i, j, delta = paths.stored_pairs()
    assert (i < j).all()
    there = np.argwhere(np.triu(~np.isnan(expected(table, paths.references)), 1))
    assert {*zip(i.tolist(), j.tolist(), strict=True)} == {*map(tuple, there.tolist())}
    assert len(i) == len(there) == 40 * 760 + 40 * 39 // 2
    np.testing.assert_allclose(delta, table[i, j], rtol=1e-12)
    assert paths.survey(Workers(1)).missing == 800 * 799 // 2 - len(i)


def test_the_type_and_the_seed(roll):
    one, same, other = (
        Geodesic(8, n_landmarks=5, dtype="float32", random_state=seed).fit_transform(roll[0]) for seed in (0, 0, 1)
    )
    assert one.dtype == np.float32
    assert one.tile(slice(3), slice(3)).dtype == np.float32
    np.testing.assert_array_equal(one.strip, same.strip)
    assert not np.array_equal(one.references, other.references)


def test_new_objects_have_paths_to_landmarks(roll):
    X, _ = roll
    some, all_of_them = (Geodesic(8, n_landmarks=number, random_state=0).fit(X[:700]) for number in (40, None))
    new, exact = some.transform(X[700:]), all_of_them.transform(X[700:])
    landmarks = some.dissimilarities_.references
    np.testing.assert_allclose(new[:, landmarks], exact[:, landmarks], rtol=1e-12)
    # Elsewhere a path through a neighbour that is a landmark is known; it is no shorter than the shortest.
    there = ~np.isnan(new)
    assert not there.all()
    assert (new[there] >= exact[there] - 1e-9).all()


def test_all_objects_as_landmarks_are_the_whole_table(roll, table):
    paths = Geodesic(8, n_landmarks=800).fit_transform(roll[0])
    np.testing.assert_allclose(paths.tile(slice(800), slice(800)), table, rtol=1e-12)


# ---- maps


def isomap(**params):
    return ConditionalIsomap(1, n_neighbors=8, n_init=1, random_state=0, **params)


def test_a_map_of_landmarks_is_nearly_that_of_all_pairs(roll, table):
    X, walked = roll
    some, whole = (isomap(**params).fit(X, known=X[:, 1]) for params in ({"n_landmarks": 60}, {}))
    assert some.geodesic_.dissimilarities_.strip.shape == (60, 800)

    def stress(fitted):
        return np.sum((fitted.predict_dissimilarities().to_numpy() - table) ** 2) / np.sum(table**2)

    assert stress(whole) == pytest.approx(whole.stress_, rel=1e-6)
    assert whole.stress_ <= stress(some) < 1.2 * whole.stress_
    assert abs(np.corrcoef(some.embedding_[:, 0], walked)[0, 1]) > 0.999
    np.testing.assert_allclose(some.coef_, whole.coef_, rtol=0.02)


def test_the_stress_is_that_of_the_pairs_with_a_landmark(roll):
    X, _ = roll
    fitted = isomap(n_landmarks=30).fit(X, known=X[:, 1])
    i, j, delta = fitted.geodesic_.dissimilarities_.stored_pairs()
    distances = fitted.predict_dissimilarities().to_numpy()[i, j]
    assert fitted.stress_ == pytest.approx(np.sum((distances - delta) ** 2) / np.sum(delta**2), rel=1e-9)


def test_it_is_geodesic_and_mds_one_after_the_other(roll):
    X, _ = roll
    fitted = isomap(n_landmarks=30).fit(X, known=X[:, 1])
    paths = Geodesic(8, n_landmarks=30, random_state=0).fit_transform(X)
    mds = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0).fit(paths, known=X[:, 1])
    np.testing.assert_array_equal(mds.embedding_, fitted.embedding_)


def test_new_objects_are_placed_by_landmarks(roll):
    X, walked = roll
    fitted = isomap(n_landmarks=60).fit(X[:700], known=X[:700, 1])
    placed = fitted.transform(X[700:], known=X[700:, 1])
    assert abs(np.corrcoef(placed[:, 0], walked[700:])[0, 1]) > 0.999
    np.testing.assert_allclose(fitted.transform(X[:20], known=X[:20, 1]), fitted.embedding_[:20], atol=1e-6)


@pytest.mark.parametrize(
    "params",
    [{"weights": "sammon"}, {"adjust": True}, {"orthogonal": True}, {"level": "interval"}],
)
def test_other_choices_work_with_landmarks(params, roll):
    X, _ = roll
    fitted = isomap(n_landmarks=40, **params).fit(X, known=X[:, 1])
    assert fitted.converged_
    assert np.isfinite(fitted.embedding_).all()


def test_the_same_landmarks_are_drawn_when_a_fit_is_continued(roll, tmp_path):
    X, _ = roll
    unseeded = isomap(n_landmarks=20).set_params(random_state=None)
    whole = clone(unseeded).fit(X, callback=Checkpoint(tmp_path / "fit.npz", every=5))
    resumed = clone(unseeded).set_params(init=tmp_path / "fit.npz").fit(X)
    np.testing.assert_array_equal(resumed.embedding_, whole.embedding_)
