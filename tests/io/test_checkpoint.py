"""Keeping a fit in a file, and going on from there."""

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
    ConditionalTSNE,
    GeneralMDS,
    Numeric,
    UnfinishedWarning,
)
from unmask.io import FileProblem

SEARCHING = {
    "mds": ConditionalMDS(n_init=4, random_state=0),
    "smacof": ConditionalMDS(n_init=3, solver="smacof", tol=1e-7, random_state=0),
    "ordinal": ConditionalMDS(n_init=2, level="ordinal", tol=1e-6, random_state=0),
    "orthogonal": ConditionalMDS(n_init=2, orthogonal=True, random_state=0),
    "adjusted": ConditionalMDS(n_init=2, adjust=True, random_state=0),
    "errors": ConditionalMDS(n_init=2, known_types={"known0": Numeric(error=0.1)}, random_state=0),
    "curvilinear": ConditionalMDS(1, weights="curvilinear", n_init=2, random_state=0),
    "isomap": ConditionalIsomap(n_init=3, n_neighbors=6, random_state=0),
    "general": GeneralMDS(n_init=3, loss="huber", random_state=0),
    "tsne": ConditionalTSNE(perplexity=5, n_init=2, random_state=0),
    "random": ConditionalMDS(n_init=4, init="random"),  # no seed: the drawn one is kept
    "general-random": GeneralMDS(n_init=2, init="random"),
}
TABLES = ("starts_", "coef_")


class StopError(Exception):
    """As if the process had ended."""


class Break:
    """Raises after so many iterations."""

    def __init__(self, after):
        self.left = after

    def __call__(self, progress):
        self.left -= progress.iteration > 0
        if self.left == 0:
            raise StopError


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 3))


@pytest.fixture
def known(X, rng):
    return X[:, :1] + 0.1 * rng.standard_normal((40, 1))


def iterations_of(estimator, X, known):
    heard = []
    clone(estimator).fit(X, known=known, callback=lambda progress: heard.append(progress.iteration > 0))
    return sum(heard)


def assert_same(one, other):
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    for name in TABLES:
        assert getattr(one, name).equals(getattr(other, name))
    for name in ("stress_path_", "cost_path_"):
        np.testing.assert_array_equal(getattr(one, name, 0), getattr(other, name, 0))
    assert (one.n_iter_, one.stop_reason_) == (other.n_iter_, other.stop_reason_)


@pytest.mark.parametrize("name", SEARCHING)
@pytest.mark.parametrize("share", [0.1, 0.6, 0.97])
def test_a_fit_that_broke_off_goes_on_to_the_same_map(name, share, X, known, tmp_path):
    estimator, file = SEARCHING[name], tmp_path / "fit.npz"
    if estimator.random_state is None:
        seeded = np.random.RandomState(3)
        estimator = clone(estimator).set_params(random_state=seeded)
    else:
        seeded = None
    whole = clone(estimator).fit(X, known=known)
    after = max(2, int(share * iterations_of(estimator, X, known)))
    with pytest.raises(StopError):
        clone(estimator).fit(X, known=known, callback=[Checkpoint(file, every=2), Break(after)])
    heard = []
    resumed = clone(estimator)
    if seeded is not None:
        resumed.set_params(random_state=None)
    resumed.fit(X, known=known, resume_from=file, callback=heard.append)
    assert_same(resumed, whole)
    assert sum(progress.iteration > 0 for progress in heard) < iterations_of(estimator, X, known)


def test_finished_starts_are_not_followed_again(X, tmp_path):
    mds, file = ConditionalMDS(n_init=5, random_state=0), tmp_path / "fit.npz"
    counts = clone(mds).fit(X).starts_["n_iter"]
    after = int(counts[:3].sum()) + 2
    with pytest.raises(StopError):
        clone(mds).fit(X, callback=[Checkpoint(file, every=1), Break(after)])
    heard = []
    mds.fit(X, resume_from=file, callback=lambda progress: heard.append((progress.start, progress.iteration)))
    assert heard[:4] == [*((start, counts[start - 1]) for start in (1, 2, 3)), (4, 2)]
    assert mds.starts_["n_iter"].tolist() == counts.tolist()


def test_an_interrupted_fit_is_kept_where_it_was_interrupted(X, tmp_path):
    mds, file = ConditionalMDS(n_init=3, random_state=0), tmp_path / "fit.npz"
    whole = clone(mds).fit(X)

    def stop(progress):
        return progress.start == 2 and progress.iteration == 3

    with pytest.warns(UnfinishedWarning):
        clone(mds).fit(X, callback=[stop, Checkpoint(file, every=10_000)])
    heard = []
    resumed = clone(mds).fit(X, resume_from=file, callback=heard.append)
    assert [(progress.start, progress.iteration) for progress in heard[1:3]] == [(2, 3), (2, 4)]
    assert_same(resumed, whole)


def test_more_iterations_and_starts_may_follow(X, tmp_path):
    file, mds = tmp_path / "fit.npz", ConditionalMDS(n_init=2, random_state=0)
    with pytest.warns(ConvergenceWarning):
        clone(mds).set_params(max_iter=5).fit(X, callback=Checkpoint(file, every=3))
    resumed = clone(mds).set_params(n_init=4).fit(X, resume_from=file)
    assert_same(resumed, clone(mds).set_params(n_init=4).fit(X))


def test_what_followed_a_search_that_goes_on_is_made_anew(X, tmp_path):
    file, mds = tmp_path / "fit.npz", ConditionalMDS(1, weights="curvilinear", n_init=2, random_state=0)
    with pytest.warns(ConvergenceWarning):
        clone(mds).set_params(max_iter=7).fit(X, callback=Checkpoint(file, every=1))
    assert_same(clone(mds).fit(X, resume_from=file), clone(mds).fit(X))


def test_starts_side_by_side_go_on(rng, tmp_path):
    X, file = rng.standard_normal((220, 3)), tmp_path / "fit.npz"
    mds = ConditionalMDS(n_init=4, random_state=0, n_jobs=2)
    whole = clone(mds).fit(X)
    with pytest.raises(StopError):
        clone(mds).fit(X, callback=[Checkpoint(file, every=1), Break(60)])
    resumed = clone(mds).fit(X, resume_from=file)
    np.testing.assert_allclose(resumed.embedding_, whole.embedding_, atol=1e-6)
    assert resumed.starts_["n_iter"].tolist() == whole.starts_["n_iter"].tolist()


def test_the_state_can_be_kept_elsewhere(X):
    mds, states = ConditionalMDS(n_init=2, random_state=0), []
    whole = clone(mds).fit(X, callback=lambda progress: states.append(progress.state()))
    assert_same(clone(mds).fit(X, resume_from=states[7]), whole)


def test_another_process_goes_on(X, tmp_path):
    file = tmp_path / "fit.npz"
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
    arguments = [sys.executable, "-c", killed, tmp_path / "X.npy", file]
    assert subprocess.run(arguments, check=False).returncode == 9
    mds, heard = ConditionalMDS(n_init=3, random_state=0), []
    resumed = clone(mds).fit(X, resume_from=file, callback=heard.append)
    assert [(progress.start, progress.iteration) for progress in heard[1:3]] == [(2, 4), (2, 5)]
    # Eigenvectors of the start differ by rounding from process to process.
    np.testing.assert_allclose(resumed.embedding_, clone(mds).fit(X).embedding_, atol=1e-9)


# ---- what is refused


@pytest.fixture
def file(X, known, tmp_path):
    ConditionalMDS(n_init=2, random_state=0).fit(X, known=known, callback=Checkpoint(tmp_path / "f.npz", every=1))
    return tmp_path / "f.npz"


@pytest.mark.parametrize(
    ("params", "change", "message"),
    [
        ({"n_components": 3}, {}, r"n_components differs \(it was 2 and is 3\)"),
        ({"tol": 1e-5}, {}, r"tol differs \(it was 1e-09 and is 1e-05\)"),
        ({"random_state": 1}, {}, r"random_state differs \(it was 0 and is 1\)"),
        ({"metric": "cityblock"}, {}, r"metric differs"),
        ({}, {"known": None}, r"known differs \(it was \['known0'\] and is \[\]\)"),
        ({}, {"known": "other"}, "values of known differs;"),
        ({}, {"X": "other"}, "X differs;"),
        ({}, {"X": "fewer"}, r"number of objects differs \(it was 40 and is 39\)"),
        ({}, {"weights": "own"}, "weights of the pairs differs;"),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused(params, change, message, X, known, file):
    rows = slice(39) if change.get("X") == "fewer" else slice(None)
    data = {"X": 1.1 * X if change.get("X") == "other" else X[rows], "known": known[rows]}
    if "known" in change:
        data["known"] = None if change["known"] is None else known**2
    if "weights" in change:
        data["weights"] = squareform(np.where(pdist(X) > 1, 1.0, 2.0))
    with pytest.raises(ValueError, match=f"is a checkpoint of another fit: {message}.*leave resume_from out"):
        ConditionalMDS(**{"n_init": 2, "random_state": 0} | params).fit(**data, resume_from=file)


def test_another_estimator_is_refused(X, known, file):
    with pytest.raises(ValueError, match=r"estimator differs \(it was ConditionalMDS and is GeneralMDS\)"):
        GeneralMDS(n_init=2, random_state=0).fit(X, known=known, resume_from=file)


@pytest.mark.parametrize("what", ["missing", "text", "array", "pickle", "half", "number"])
def test_what_is_no_checkpoint_is_refused(what, X, file, tmp_path):
    other, message = tmp_path / "other.npz", "cannot be read|holds no checkpoint"
    if what == "missing":
        message = "there is no such file; without resume_from the fit begins anew"
    elif what == "text":
        other.write_text("stress", encoding="utf-8")
    elif what == "array":
        np.savez(other, theta=X)
    elif what == "pickle":
        np.savez(other, head=np.array([object()]))
    elif what == "half":
        other.write_bytes(file.read_bytes()[:2000])
    else:
        other = 7
    with pytest.raises(ValueError, match=message):
        ConditionalMDS().fit(X, resume_from=other)


def test_a_place_that_cannot_be_written_is_an_error(X, tmp_path):
    with pytest.raises(FileProblem, match="there is no folder"):
        ConditionalMDS(n_init=1).fit(X, callback=Checkpoint(tmp_path / "none" / "fit.npz", every=1))


def test_every_must_be_a_positive_integer(tmp_path):
    with pytest.raises(ValueError, match="every=0 must be"):
        Checkpoint(tmp_path / "fit.npz", every=0)
