"""Fits of a study: numbers of the estimators, warnings kept, refusals, and interruptions."""

import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from tests.helpers import with_missing
from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    MissingDissimilarityWarning,
    Ordinal,
)
from unmask.discovery import Discovery, Step, UnfinishedWarning

from .studies import FAST


@pytest.mark.parametrize(
    ("name", "estimator"),
    [("mds", ConditionalMDS), ("isomap", ConditionalIsomap), ("classical", ConditionalClassicalMDS)],
)
def test_a_step_has_the_numbers_of_the_estimator(kinship, name, estimator):
    known = kinship.known[["gender", "degree"]]
    params = {} if name == "classical" else {"random_state": 3, "n_init": 5}
    step = Discovery(kinship.dissimilarities, known=known).fit(2, estimator=name, **params)
    mds = estimator(n_components=2, metric="precomputed", **params).fit(kinship.dissimilarities, known=known)
    np.testing.assert_array_equal(step.embedding, mds.embedding_)
    assert list(step.embedding.index) == list(kinship.dissimilarities.index)
    assert list(step.embedding.columns) == ["axis1", "axis2"]
    pd.testing.assert_frame_equal(step.coef, mds.coef_)
    pd.testing.assert_frame_equal(step.importance, mds.importance_)
    np.testing.assert_array_equal(step.stress_per_point, mds.stress_per_point_)
    assert (step.stress, step.leak) == (mds.stress_, mds.leak_)
    assert step.known == ("gender", "degree")
    assert step.params == {"n_components": 2, "adjust": False, **params}
    assert step.converged
    assert step.finished
    assert step.seconds > 0
    assert {"python", "unmask", "numpy"} <= set(step.versions)


def test_the_seed_is_0_unless_another_is_given(study):
    assert study.fit(2, **FAST).params["random_state"] == 0
    again = study.fit(2, **FAST)
    np.testing.assert_array_equal(again.embedding, study.steps[0].embedding)


def test_a_step_cannot_be_changed(fitted):
    with pytest.raises(ValueError, match="frozen"):
        fitted.step.stress = 0.0


def test_types_and_weights_reach_the_fit(kinship):
    D, known = kinship.dissimilarities, kinship.known[["degree"]]
    W = np.random.default_rng(0).uniform(0.5, 2, D.shape)
    W = pd.DataFrame(W + W.T, index=D.index, columns=D.columns)
    study = Discovery(D, known=known, known_types={"degree": Ordinal()}, weights=W.iloc[::-1, ::-1])
    mds = ConditionalMDS(metric="precomputed", known_types={"degree": "ordinal"}, random_state=0, **FAST)
    mds.fit(D, known=known, weights=W)
    np.testing.assert_array_equal(study.fit(2, **FAST).embedding, mds.embedding_)
    np.testing.assert_array_equal(study.material.weights, W)
    assert study.known_types == {"degree": Ordinal()}
    with pytest.raises(ValueError, match="estimator='classical' takes no weights but the study has some"):
        study.fit(estimator="classical")


def test_types_may_be_declared_for_one_fit(kinship):
    study = Discovery(kinship.dissimilarities, known=kinship.known[["degree"]])
    step = study.fit(2, known_types={"degree": "nominal"}, **FAST)
    assert step.known_types == {"degree": "nominal"}
    assert step.coef.shape == (2, 2)  # three levels
    assert study.fit(2, **FAST).coef.shape == (1, 1)


def test_warnings_are_kept_and_given(kinship, rng):
    D = with_missing(rng, kinship.dissimilarities.to_numpy(dtype=float), 0.1)
    study = Discovery(D)
    with pytest.warns(MissingDissimilarityWarning):
        step = study.fit(1, **FAST)
    assert step.warnings[0].startswith("MissingDissimilarityWarning: ")
    assert step.warnings[0].endswith("they are treated as missing (weight 0).")
    with pytest.warns(ConvergenceWarning), pytest.warns(MissingDissimilarityWarning):
        step = study.fit(1, max_iter=1, n_init=1)
    assert not step.converged
    assert step.finished
    assert study.history["warnings"].tolist() == [1, 2]


@pytest.mark.filterwarnings("error")
def test_where_warnings_are_errors_the_study_stays_as_it_was(study):
    with pytest.raises(ConvergenceWarning):
        study.fit(2, max_iter=1, n_init=1)
    assert study.actions == ()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"random_state": np.random.RandomState(0)},
            "random_state=RandomState.*",
        ),
        ({"random_state": None}, "random_state=None"),
        ({"init": (np.zeros((14, 2)), None)}, r"init=\(array.*"),
        ({"metric": "euclidean"}, "metric='euclidean'"),
        ({"n_inits": 3}, "fit"),
        (
            {"estimator": "classical", "random_state": 0},
            "fit",
        ),
        ({"estimator": "umap"}, "estimator='umap'"),
        ({"n_components": -1}, "n_components=-1"),
        ({"level": "nominal"}, "level='nominal'"),
    ],
)
def test_parameters_that_cannot_be_are_refused_and_nothing_is_added(study, params, message):
    with pytest.raises(ValueError, match=message):
        study.fit(**params)
    assert study.actions == ()


def slow_study(n=60):
    X = np.random.default_rng(0).normal(size=(n, 8))
    return Discovery(np.linalg.norm(X[:, None] - X, axis=2))


def test_a_callback_hears_of_every_iteration_and_may_stop(capsys):
    study, heard = slow_study(), []
    step = study.fit(2, callback=heard.append, n_init=1, verbose=2)
    assert step.finished
    assert [progress.iteration for progress in heard] == list(range(len(heard)))
    assert capsys.readouterr().out.count(", stress ") == len(heard) + 1  # and one about the start
    with pytest.warns(UnfinishedWarning, match="the fit of step 2 was interrupted; its map is unfinished"):
        stopped = study.fit(2, callback=lambda progress: progress.iteration == 3, n_init=2)
    assert not stopped.finished
    assert not stopped.converged
    assert stopped.embedding.shape == (60, 2)
    assert stopped.stress > step.stress
    assert not any("ConvergenceWarning" in said for said in stopped.warnings)
    assert study.history["finished"].tolist() == [True, False]
    assert "unfinished" in repr(study)
    assert study.replay()["note"].tolist() == ["", "was interrupted"]
    assert study.replay()["same"].tolist() == [True, False]
    assert "# This fit was interrupted" in study.to_script()


@pytest.fixture
def heard():
    """Let Ctrl-C be heard: in a process that was started in the background it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_keeps_the_map_and_the_handler():
    study = slow_study()

    def press(progress):
        if progress.iteration == 2:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(UnfinishedWarning):
        step = study.fit(2, callback=press, n_init=3)
    assert not step.finished
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("heard")
def test_a_second_ctrl_c_ends_the_fit_and_leaves_the_study_as_it_was():
    study = slow_study()

    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        study.fit(2, callback=press, n_init=3)
    assert study.actions == ()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_of_ones_own_stays_in_place():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append("own"))
    try:
        step = slow_study().fit(
            2, callback=lambda progress: progress.iteration == 2 and os.kill(os.getpid(), signal.SIGINT), n_init=1
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert step.finished
    assert calls == ["own"]


def test_fits_run_in_other_threads_too():
    study, found = slow_study(), []
    thread = threading.Thread(target=lambda: found.append(study.fit(1, n_init=1)))
    thread.start()
    thread.join()
    assert isinstance(found[0], Step)


def test_a_map_that_is_no_better_than_chance_raises_the_question_of_similarities(kinship):
    D = kinship.dissimilarities
    turned = (D.to_numpy().max() - D).where(~np.eye(14, dtype=bool), 0)
    step = Discovery(turned).fit(2, **FAST)
    assert step.warnings[-1].startswith("MapWarning: the map is no better than chance: its stress is 0.3, ")
    assert "Are these similarities?" in step.warnings[-1]
    assert Discovery(D).fit(2, **FAST).warnings == ()
