"""What a fit says beyond its map: of any step, and stopped by a callback."""

import numpy as np
import pandas as pd
import pytest

from unmask import Cyclic
from unmask.discovery import Discovery, LeftOut, Stopped, _reading
from unmask.discovery._reading import RecordedFit
from unmask.inspection import Stability, bootstrap, compare, leak_report, scree, shepard

N = 16


def distances(n=N, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    noise = np.triu(np.random.default_rng(seed + 1).uniform(0.8, 1.2, (n, n)), 1)
    return X, np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) * (noise + noise.T)


def features(n=N):
    X, _ = distances(n)
    columns = {"number": X[:, 0], "name": list("abcd" * (n // 4)), "hour": np.arange(n) % 24, "copy": 2 * X[:, 0] + 1}
    return pd.DataFrame(columns)


def read(known=None, types=None, weights=None, **params):
    study = Discovery(distances()[1], known=known, known_types=types, weights=weights)
    study.fit(2, **{"n_init": 1} | params)
    return study.reading()


def weights(n=N):
    W = np.random.default_rng(5).uniform(0.2, 2.0, (n, n))
    return W + W.T


# ---- of any step


@pytest.fixture(scope="module")
def study():
    """Two branches: 1 fit, 2 number, 3 fit; 4 name, 5 fit."""
    study = Discovery(distances()[1], table=features())
    study.fit(2, n_init=2)
    study.adopt("number", column="number")
    study.fit(2, n_init=2)
    study.go(1)
    study.adopt("name", column="name")
    study.fit(1, n_init=2)
    return study


@pytest.mark.parametrize("id_", [1, 3, 5])
def test_any_step_is_read_as_inspection_reads_its_estimator(study, id_):
    step = study.tree[id_ - 1]
    reading = study.reading(step)
    mds, known, D = study.estimator_of(step), study.known_of(step), study.dissimilarities
    pd.testing.assert_frame_equal(reading.scree(), scree(mds, D, known))
    found, expected = reading.bootstrap(3, random_state=1), bootstrap(mds, D, known, n_resamples=3, random_state=1)
    assert isinstance(found, Stability)
    pd.testing.assert_frame_equal(found.objects, expected.objects)
    given = {"n_components": step.n_components, "methods": ["partial-dbrda", "mds"], "random_state": 0}
    columns = ["stress", "leak", "trustworthiness"]
    rivals = reading.rivals(["partial-dbrda", "mds"])
    pd.testing.assert_frame_equal(rivals[columns], compare(D, known, **given)[columns])
    pd.testing.assert_frame_equal(reading.shepard(), shepard(D, mds.fit(D, known=known)), rtol=1e-6)
    if step.known:
        pd.testing.assert_frame_equal(reading.leaks(), leak_report(step.embedding, known))


def test_a_step_is_named_by_its_number_or_itself(study):
    assert study.reading().step is study.step
    assert study.reading(1).step is study.tree[0]
    for wrong in (0, 3, True, "1", study.step.copy()):
        with pytest.raises(ValueError, match="must be a fit of this study, or the number of one, from 1 to 2"):
            study.reading(wrong)


def test_what_cannot_be_read_says_why(study):
    with pytest.raises(LeftOut, match="nothing was known to it"):
        study.reading(1).leaks()
    flat = Discovery(distances()[1], known=features()[["number"]])
    flat.fit(0, n_init=1)
    with pytest.raises(LeftOut, match="they need at least one dimension"):
        flat.reading().rivals(["mds"])


def test_the_default_rivals_are_all_methods_but_that_of_the_step(study):
    names = study.reading().other_methods()  # two starts are no default
    assert "conditional-mds" in names
    plain = Discovery(distances()[1])
    plain.fit(2)
    assert "conditional-mds" not in plain.reading().other_methods()


# ---- callbacks


@pytest.mark.parametrize("what", ["scree", "bootstrap", "rivals"])
def test_a_callback_hears_of_every_fit(study, what):
    reading, heard = study.reading(), []
    given = {"bootstrap": [3], "rivals": [["mds", "mds-then-regress"]]}.get(what, [])
    getattr(reading, what)(*given, callback=lambda progress: heard.append((progress.stage, progress.iteration)))
    parts = [iteration for stage, iteration in heard if stage == what]
    assert parts == list(range(len(parts)))
    assert len(parts) == {"scree": 8, "bootstrap": 3, "rivals": 2}[what]
    assert any(stage == "search" and iteration > 0 for stage, iteration in heard)


@pytest.mark.parametrize("what", ["scree", "bootstrap", "rivals"])
@pytest.mark.parametrize("stage", ["own", "search"])
def test_a_callback_stops_what_it_hears(study, what, stage):
    """Between two fits, and in the middle of one."""
    heard = []

    def stop(progress):
        heard.append(progress.stage == (what if stage == "own" else stage) and progress.iteration == 1)
        return heard[-1]

    given = {"bootstrap": [5], "rivals": [["mds", "mds-then-regress"]]}.get(what, [])
    with pytest.raises(Stopped, match="stopped by its callback"):
        getattr(study.reading(), what)(*given, callback=stop)
    assert heard.index(True) == len(heard) - 1  # nothing was heard after it had stopped


def test_a_diagram_that_needs_a_fit_can_be_stopped():
    reading = read(known=features()[["number"]], level="ordinal")
    assert len(reading.shepard()) == N * (N - 1) // 2
    with pytest.raises(Stopped):
        reading.shepard(callback=lambda progress: progress.iteration >= 2)


def test_an_interrupt_is_no_stop(study):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.reading().scree(callback=interrupt)


# ---- pairs: from the record, or fitted again


RECORDED = {
    "nothing known": {},
    "numbers": {"known": features()[["number"]]},
    "names": {"known": features()[["name", "number"]]},
    "names, diagonal": {"known": features()[["name", "number"]], "coef": "diagonal"},
    "hours": {"known": features()[["hour"]], "types": {"hour": Cyclic(24)}},
    "sammon": {"known": features()[["number"]], "weights_": "sammon"},
    "weights": {"known": features()[["number"]], "weights": weights()},
    "closed form": {"known": features()[["number"]], "estimator": "classical", "n_init": None},
}


def make(case):
    given = dict(RECORDED[case])
    if "weights_" in given:
        study = Discovery(distances()[1], known=given["known"])
        study.fit(2, n_init=1, weights="sammon")
        return study.reading()
    if given.get("estimator") == "classical":
        study = Discovery(distances()[1], known=given["known"])
        study.fit(2, estimator="classical")
        return study.reading()
    return read(**given)


@pytest.mark.parametrize("case", RECORDED)
def test_distances_from_the_record_are_those_of_the_fit(case):
    asked = make(case)
    pairs = asked.pairs()
    assert isinstance(pairs.fit, RecordedFit)  # nothing was fitted again
    again = asked.estimator.fit(asked.dissimilarities, known=asked.known, **pairs.weights)
    np.testing.assert_allclose(
        pairs.fit.predict_dissimilarities(), again.predict_dissimilarities(), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(pairs.stress_per_point()["stress"].sum(), asked.step.stress, rtol=1e-9, atol=1e-12)


def test_a_redundant_column_changes_nothing():
    with pytest.warns(UserWarning, match="no information of their own"):
        asked = read(known=features()[["number", "copy"]])
    assert isinstance(asked.pairs().fit, RecordedFit)


@pytest.mark.parametrize(
    "params",
    [{"level": "ordinal"}, {"level": "interval"}, {"estimator": "isomap", "n_neighbors": 6}],
    ids=["ordinal", "interval", "isomap"],
)
def test_what_the_record_does_not_hold_is_fitted_again(params):
    asked = read(known=features()[["number"]], **params)
    found = asked.pairs()
    assert not isinstance(found.fit, RecordedFit)
    np.testing.assert_allclose(found.fit.stress_, asked.step.stress, rtol=1e-9, atol=1e-12)


def test_missing_cells_are_filled_in_by_the_fit():
    known = features()[["number"]].copy()
    known.iloc[3, 0] = np.nan
    assert not isinstance(read(known=known).pairs().fit, RecordedFit)


def test_weights_that_moved_with_the_map_are_fitted_again():
    study = Discovery(distances()[1])
    study.fit(2, n_init=1, weights="curvilinear")
    asked = study.reading()
    assert not isinstance(asked.pairs().fit, RecordedFit)


def test_an_interrupted_fit_is_shown_as_it_was():
    study = Discovery(distances()[1])
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, callback=lambda progress: progress.iteration >= 2)
    asked = study.reading()
    np.testing.assert_allclose(
        asked.pairs().stress_per_point()["stress"].sum(), asked.step.stress, rtol=1e-9, atol=1e-12
    )


def test_another_map_is_not_shown_in_place_of_the_last():
    study = Discovery(distances()[1])
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, level="ordinal", callback=lambda progress: progress.iteration >= 2)
    with pytest.raises(LeftOut, match="it would show another map"):
        study.reading().pairs()


# ---- many objects


def test_a_sample_of_many_objects_has_the_distances_of_the_fit(monkeypatch):
    monkeypatch.setattr(_reading, "MOST_IN_PAIRS", 10)
    monkeypatch.setattr(_reading, "CHUNK", 7)
    asked = read(known=features()[["name", "number"]])
    pairs = asked.pairs()
    assert len(pairs.dissimilarities) == 10
    again = asked.estimator.fit(asked.dissimilarities, known=asked.known)
    picked = pairs.dissimilarities.index
    expected = again.predict_dissimilarities().iloc[picked, picked]
    np.testing.assert_allclose(pairs.fit.predict_dissimilarities(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(pairs.dissimilarities, asked.dissimilarities.iloc[picked, picked])


@pytest.mark.parametrize("params", [{"level": "interval"}, {"weights": weights()}], ids=["level", "weights"])
def test_a_sample_is_not_taken_where_the_record_does_not_hold_the_distances(monkeypatch, params):
    monkeypatch.setattr(_reading, "MOST_IN_PAIRS", 10)
    assert not isinstance(read(**params).pairs().fit, RecordedFit)
