"""Saving a fit in a file, and continuing it."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from unmask import (
    Checkpoint,
    ConditionalIsomap,
    ConditionalMDS,
    GeneralMDS,
    UnfinishedWarning,
)
from unmask.datasets import load_kinship
from unmask.inspection import permutation_test
from unmask.progress import SavedFit

SEARCHING = {
    "mds": ConditionalMDS(n_init=4, random_state=0),
    "smacof": ConditionalMDS(n_init=3, solver="smacof", tol=1e-7, random_state=0),
    "ordinal": ConditionalMDS(n_init=2, level="ordinal", tol=1e-6, random_state=0),
    "orthogonal": ConditionalMDS(n_init=2, orthogonal=True, random_state=0),
    "adjusted": ConditionalMDS(n_init=2, adjust=True, random_state=0),
    "curvilinear": ConditionalMDS(1, weights="curvilinear", n_init=2, random_state=0),
    "isomap": ConditionalIsomap(n_init=3, n_neighbors=6, random_state=0),
    "general": GeneralMDS(n_init=3, loss="huber", random_state=0),
    "random": ConditionalMDS(n_init=4, init="random"),  # no seed: the file has it
    "landmarks": ConditionalIsomap(n_init=2, n_neighbors=6, n_landmarks=15),
}


class StopError(Exception):
    """As if the process had ended."""


class Break:
    """Raises in an iteration of a start of a search with so many dimensions."""

    def __init__(self, start, iteration=2, dimensions=None):
        self.at, self.dimensions = (start, iteration), dimensions

    def __call__(self, progress):
        if progress.stage != "search" or (progress.start, progress.iteration) != self.at:
            return
        if self.dimensions in (None, progress.embedding().shape[1]):
            raise StopError


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 3))


@pytest.fixture
def known(X, rng):
    return X[:, :1] + 0.1 * rng.standard_normal((40, 1))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.npz"


def broken_off(estimator, path, at, X, **data):
    with pytest.raises(StopError):
        clone(estimator).fit(X, **data, callback=[Checkpoint(path, every=2), at])


def assert_same(one, other):
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    for name in ("starts_", "coef_"):
        assert getattr(one, name).equals(getattr(other, name))
    for name in ("stress_path_", "cost_path_"):
        np.testing.assert_array_equal(getattr(one, name, 0), getattr(other, name, 0))
    assert (one.n_iter_, one.stop_reason_) == (other.n_iter_, other.stop_reason_)


@pytest.mark.parametrize("name", SEARCHING)
def test_a_fit_continues_to_the_same_map(name, X, known, path):
    estimator, seen = SEARCHING[name], []
    broken_off(estimator, path, Break(2), X, known=known)
    resumed = clone(estimator).set_params(init=str(path)).fit(X, known=known, callback=seen.append)
    seed = SavedFit.read(path).about["random_state"]
    assert_same(resumed, clone(estimator).set_params(random_state=seed).fit(X, known=known))
    assert next(progress.start for progress in seen if progress.stage == "search") == 2


@pytest.mark.parametrize(("start", "dimensions"), [(3, 1), (1, 2), (3, 2)])
def test_an_adjusted_map_of_kinship_is_the_same_wherever_the_fit_stopped(start, dimensions, rng, path):
    kin = load_kinship()
    U = ConditionalMDS(2, metric="precomputed", n_init=4, random_state=0).fit_transform(kin.dissimilarities)
    known = rng.standard_normal((len(U), 1))
    # It acts along the weaker axis, so that the fit is repeated with a further dimension.
    U = np.asarray(U) / np.std(U, axis=0) * [1.0, 0.5]
    data = {"X": squareform(pdist(U + [0.0, 3.0] * known)), "known": known}
    mds = ConditionalMDS(1, metric="precomputed", adjust=True, n_init=6, random_state=0)
    whole = clone(mds).fit(**data)
    broken_off(mds, path, Break(start, dimensions=dimensions), **data)
    resumed = mds.set_params(init=path).fit(**data)
    assert resumed.n_free_ == whole.n_free_ == 2
    assert resumed.stress_ == pytest.approx(whole.stress_, abs=1e-8)
    assert resumed.free_leak_ == pytest.approx(whole.free_leak_, abs=1e-8)


def test_an_adjusted_map_of_kinship_continues_in_start_3(path):
    kin = load_kinship()
    data = {"X": kin.dissimilarities, "known": kin.known[["gender"]]}
    mds = ConditionalMDS(metric="precomputed", adjust=True, n_init=6, random_state=0)
    broken_off(mds, path, Break(3), **data)
    resumed = clone(mds).set_params(init=path).fit(**data)
    assert_same(resumed, mds.fit(**data))


def test_the_first_start_continues_from_its_last_map(X, path):
    mds, seen = ConditionalMDS(n_init=2, random_state=0), []
    whole = clone(mds).fit(X)
    broken_off(mds, path, Break(1, 20), X)
    resumed = mds.set_params(init=path).fit(X, callback=seen.append)
    assert seen[0].stress == whole.stress_path_[20]
    assert resumed.stress_ == pytest.approx(whole.stress_, abs=1e-8)


def test_an_interrupted_fit_continues(X, path):
    mds, seen = ConditionalMDS(n_init=3, random_state=0), []
    whole = clone(mds).fit(X)
    with pytest.warns(UnfinishedWarning):
        clone(mds).fit(X, callback=[lambda progress: progress.start == 2, Checkpoint(path)])
    resumed = mds.set_params(init=path).fit(X, callback=seen.append)
    assert {progress.start for progress in seen} == {2, 3}
    assert_same(resumed, whole)


def test_a_given_start_continues(X, rng, path):
    start = rng.standard_normal((40, 2)), None
    mds = ConditionalMDS(init=start, random_state=0)
    broken_off(mds, path, Break(1, 12), X)
    resumed = clone(mds).set_params(init=path).fit(X)
    assert resumed.starts_["kind"].tolist() == ["given"]
    assert resumed.stress_ == pytest.approx(mds.fit(X).stress_, abs=1e-8)


def test_more_iterations_and_starts_may_follow(X, path):
    mds = ConditionalMDS(n_init=2, random_state=0)
    with pytest.warns(ConvergenceWarning):
        few = clone(mds).set_params(max_iter=5).fit(X, callback=Checkpoint(path))
    resumed = clone(mds).set_params(n_init=4, init=path).fit(X)
    whole = mds.set_params(n_init=4).fit(X)
    assert len(resumed.starts_) == 4
    assert resumed.converged_
    assert resumed.stress_ < few.stress_
    assert resumed.starts_.iloc[2:].equals(whole.starts_.iloc[2:])


def test_starts_side_by_side_continue(rng, path):
    X = rng.standard_normal((220, 3))
    mds = ConditionalMDS(n_init=4, random_state=0, n_jobs=2)
    whole = clone(mds).fit(X)
    broken_off(mds, path, Break(3), X)
    resumed = mds.set_params(init=path).fit(X)
    np.testing.assert_allclose(resumed.embedding_, whole.embedding_, atol=1e-6)


def test_a_killed_process_is_continued(X, path, tmp_path):
    np.save(tmp_path / "X.npy", X)
    killed = """
import os, sys
import numpy as np
from unmask import Checkpoint, ConditionalMDS
def kill(progress):
    if progress.start == 2 and progress.iteration == 4:
        os._exit(9)
ConditionalMDS(n_init=3, random_state=0).fit(np.load(sys.argv[1]), callback=[Checkpoint(sys.argv[2], 1), kill])
"""
    arguments = [sys.executable, "-c", killed, tmp_path / "X.npy", path]
    assert subprocess.run(arguments, check=False).returncode == 9
    mds = ConditionalMDS(n_init=3, random_state=0)
    resumed = clone(mds).set_params(init=path).fit(X)
    # Eigenvectors of the start differ by rounding from process to process.
    np.testing.assert_allclose(resumed.embedding_, mds.fit(X).embedding_, atol=1e-9)


def test_refits_do_not_continue_the_checkpoint_of_a_fit(path):
    kin = load_kinship()
    data = kin.dissimilarities, kin.known[["gender"]]
    mds = ConditionalMDS(metric="precomputed", n_init=2, random_state=0)
    tested = permutation_test(mds, *data, n_permutations=9, random_state=0)
    mds.fit(data[0], known=data[1], callback=Checkpoint(path))
    assert permutation_test(mds.set_params(init=path), *data, n_permutations=9, random_state=0).equals(tested)


def test_a_write_that_fails_leaves_the_file_as_it_was(X, path, monkeypatch):
    mds = ConditionalMDS(n_init=1, random_state=0)
    mds.fit(X, callback=Checkpoint(path))
    before = path.read_bytes()

    def half(file, **_):
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(np, "savez", half)
    with pytest.raises(OSError, match="the disk is full"):
        mds.fit(X, callback=Checkpoint(path, every=1))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# ---- what is refused


@pytest.fixture
def saved(X, known, path):
    ConditionalMDS(n_init=2, random_state=0).fit(X, known=known, callback=Checkpoint(path))
    return path


@pytest.mark.parametrize(
    ("params", "change", "message"),
    [
        ({"n_components": 3}, {}, "n_components was 2 and is 3"),
        ({"tol": 1e-5}, {}, "tol was 1e-09 and is 1e-05"),
        ({"random_state": 1}, {}, "random_state was 0 and is 1"),
        ({"metric": "cityblock"}, {}, "metric was 'euclidean' and is 'cityblock'"),
        ({}, {"known": None}, r"known was \['known0'\] and is \[\]"),
        ({}, {"known": "other"}, "its map has another stress"),
        ({}, {"X": "other"}, "its map has another stress"),
        ({}, {"X": "fewer"}, "the number of objects was 40 and is 39"),
        ({}, {"weights": "own"}, "its map has another stress"),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused(params, change, message, X, known, saved):
    rows = slice(39) if change.get("X") == "fewer" else slice(None)
    data = {"X": X**2 if change.get("X") == "other" else X[rows], "known": known[rows]}
    if "known" in change:
        data["known"] = None if change["known"] is None else known**2
    if "weights" in change:
        data["weights"] = squareform(np.where(pdist(X) > 1, 1.0, 2.0))
    with pytest.raises(ValueError, match=f"of another fit: {message}.*pass the same data.*, or begin anew"):
        ConditionalMDS(**{"n_init": 2, "random_state": 0, "init": saved} | params).fit(**data)


def test_another_estimator_is_refused(X, known, saved):
    with pytest.raises(ValueError, match="the estimator was ConditionalMDS and is GeneralMDS"):
        GeneralMDS(n_init=2, random_state=0, init=saved).fit(X, known=known)


@pytest.mark.parametrize("content", ["missing", "text", "array", "pickle", "half", "number", "npy"])
def test_other_files_are_refused(content, X, saved, tmp_path):
    other, message = tmp_path / "other.npz", "is not a checkpoint of this version"
    if content == "missing":
        message = "is not one of 'auto', 'closed-form', 'random', nor a file of unmask.Checkpoint"
    elif content == "text":
        other.write_text("stress", encoding="utf-8")
    elif content == "array":
        np.savez(other, theta=X)
    elif content == "pickle":
        np.savez(other, head=np.array([object()]))
    elif content == "half":
        other.write_bytes(saved.read_bytes()[:2000])
    elif content == "npy":
        np.save(tmp_path / "other.npy", X)
        other = tmp_path / "other.npy"
    else:
        other, message = 7, "init=7 is not one of"
    with pytest.raises(ValueError, match=message):
        ConditionalMDS(init=other).fit(X)


@pytest.mark.parametrize(("arguments", "message"), [(("none/fit.npz",), "no such folder"), (("fit.npz", 0), "every=0")])
def test_arguments_are_checked_before_the_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        Checkpoint(*arguments)
