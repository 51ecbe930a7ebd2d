"""Studies of so many objects that a table of all pairs is neither made nor written."""

import pickle

import numpy as np
import pandas as pd
import pytest

from tests.many import N, let_few_be_many, no_square, some_features
from unmask.discovery import Discovery
from unmask.discovery._clusters import group_numbers
from unmask.discovery._data import ComparedFeatures, SquareTable, TableInFile, table_among
from unmask.dissimilarities import Metric
from unmask.io import FileProblem

pytestmark = pytest.mark.filterwarnings("ignore::unmask.LeakWarning", "ignore::unmask.checking.AdjustmentWarning")
QUICK = {"solver": "stochastic", "adjust": False, "n_init": 1, "tol": 1e-5}


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Let a few thousand objects be many."""
    let_few_be_many(monkeypatch)


@pytest.fixture(scope="module")
def fitted():
    """Return a study with one fit, and its features."""
    with pytest.MonkeyPatch.context() as patch:
        let_few_be_many(patch)
        features, known, table = some_features()
        with no_square():
            study = Discovery(features, known=known, table=table, metric="euclidean")
            study.fit(2, **QUICK)
    return study, features


def test_features_are_kept_instead_of_a_table(fitted):
    study, features = fitted
    assert isinstance(study.material.data, ComparedFeatures)
    some = [5, 900, 77]
    expected = np.asarray(Metric().fit_transform(features))[np.ix_(some, some)]
    np.testing.assert_allclose(study.material.among(some), expected, atol=1e-9)
    assert list(study.material.among(some).index) == ["o5", "o900", "o77"]
    with pytest.raises(ValueError, match=r"no table of 3,000 x 3,000 dissimilarities.*material\.among"):
        _ = study.dissimilarities


def test_few_objects_are_a_table_as_ever():
    features, *_ = some_features(60)
    assert isinstance(Discovery(features, metric="euclidean").material.data, SquareTable)


def test_a_step_says_how_it_was_fitted(fitted):
    step = fitted[0].step
    assert step.solver == "stochastic: as asked for"
    assert 0 < step.stress_se < step.stress


def test_suggestions_say_that_they_are_from_samples(fitted):
    study, _ = fitted
    with no_square():
        table = study.suggest(n_permutations=99, n_references=9).set_index("what")
    assert table.loc["factor", "p_value"] <= 0.05 < table.loc["noise", "p_value"]
    assert table.loc["factor", "note"] == "compared by 500 of the 3,000 objects"
    assert table.loc["factor", "adopt"] == 'adopt("factor", column="factor")'
    assert table["note"].str.match("compared by 500|looked for among 300 of").all()


def test_saving_writes_the_features_and_comes_back(fitted, tmp_path):
    study, features = fitted
    with no_square():
        study.save(tmp_path / "study")
        again = Discovery.load(tmp_path / "study")
    assert sum(file.stat().st_size for file in (tmp_path / "study").iterdir()) < 2 * N * 10 * 25
    pd.testing.assert_frame_equal(again.material.data.features, features)
    pd.testing.assert_frame_equal(again.embedding, study.embedding)
    assert (again.step.solver, again.step.stress_se) == (study.step.solver, study.step.stress_se)
    assert len(again.branch().steps) == 1


def test_the_script_makes_the_same_map(fitted, tmp_path):
    study, _ = fitted
    study.save(tmp_path / "study")
    names: dict = {}
    exec(compile(study.to_script(tmp_path / "study"), "script", "exec"), names)
    np.testing.assert_allclose(names["maps"][1], study.embedding, atol=1e-9)


def test_groups_of_many_objects_are_found_among_some(fitted):
    study, _ = fitted
    with no_square():
        adoption = study.branch().adopt("groups", groups=3)
    assert adoption.origin == "3 groups on map 1, found among 500 objects"
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N)
    places = rng.normal(size=(N, 2)) + 20 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    groups = group_numbers(places, 3)
    assert len(set(zip(groups, truth, strict=True))) == 3


def test_paths_from_landmarks_are_a_study_too():
    features, known, _ = some_features()
    study = Discovery(features.to_numpy(), known=known.to_numpy()[:, :1].astype(float), metric="euclidean")
    with no_square():
        step = study.fit(2, estimator="isomap", n_landmarks=30, n_neighbors=8, n_init=1, tol=1e-4, adjust=False)
    assert step.embedding.shape == (N, 2)
    assert len(study.suggest(n_permutations=19, n_references=3)) == 2


def test_a_metric_without_a_name_is_refused_before_it_is_computed():
    features, *_ = some_features()

    def never(a, b):
        raise AssertionError

    with pytest.raises(ValueError, match=r"3,000 objects.*Use a metric by its name, or a sample"):
        Discovery(features, metric=never)


@pytest.fixture
def table_in_file(tmp_path):
    """Write a square table that is too large to be read."""
    X, *_ = some_features()
    np.save(tmp_path / "D.npy", Metric(dtype="float32").fit_transform(X))
    return tmp_path / "D.npy"


def test_a_large_table_stays_in_its_file(table_in_file, tmp_path):
    with no_square():
        study = Discovery(table_in_file)
        study.fit(2, **QUICK)
        study.save(tmp_path / "study")
        again = Discovery.load(tmp_path / "study").branch()
    assert isinstance(again.material.data, TableInFile)
    assert not list((tmp_path / "study").glob("dissimilarities*"))
    np.testing.assert_array_equal(again.material.among([3, 1]), np.load(table_in_file)[np.ix_([3, 1], [3, 1])])
    assert isinstance(Discovery(np.load(table_in_file, mmap_mode="r")).material.data, TableInFile)
    names: dict = {}
    exec(compile(again.to_script(tmp_path / "study"), "script", "exec"), names)
    np.testing.assert_allclose(names["maps"][1], study.embedding, atol=1e-9)


@pytest.mark.parametrize("other", ["reversed", "transposed", "edited"])
def test_a_memory_map_that_is_not_its_file_is_taken_as_it_is(table_in_file, other):
    mapped = np.load(table_in_file, mmap_mode="c")
    if other == "edited":
        mapped[3, 1] = mapped[1, 3] = 77.0
    else:
        mapped = np.load(table_in_file, mmap_mode="r")
        mapped = mapped[::-1, ::-1] if other == "reversed" else mapped.T
    material = Discovery(mapped).material
    assert isinstance(material.data, SquareTable)
    np.testing.assert_array_equal(material.among([3, 1]), np.asarray(mapped)[np.ix_([3, 1], [3, 1])])


def test_a_pickled_study_has_no_table(table_in_file, fitted):
    study = Discovery(table_in_file)
    study.material.among([3, 1])
    again = pickle.loads(pickle.dumps(study.material.data))
    assert again == study.material.data
    by_features = fitted[0].material.data
    table_among(by_features, np.array([3, 1]))
    for data in (study.material.data, by_features):
        size = len(pickle.dumps(data))
        assert size < 2 * N * 10 * 8
    pd.testing.assert_frame_equal(
        table_among(pickle.loads(pickle.dumps(by_features)), np.array([3, 1])),
        table_among(by_features, np.array([3, 1])),
    )


@pytest.mark.parametrize(("spoil", "message"), [("remove", "put it back"), ("change", "has been changed since then")])
def test_a_study_says_what_became_of_its_file(table_in_file, tmp_path, spoil, message):
    Discovery(table_in_file).save(tmp_path / "study")
    if spoil == "remove":
        table_in_file.unlink()
    else:
        np.save(table_in_file, 2 * np.load(table_in_file))
    with pytest.raises(FileProblem, match=message):
        Discovery.load(tmp_path / "study")


def test_the_guard_notices_a_table():
    with pytest.raises(AssertionError, match="a table of all pairs"), no_square():
        np.ones((N, N), dtype=np.float32)
