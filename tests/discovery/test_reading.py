"""What a fit says beyond its map: of any step, and stopped by a callback."""

import numpy as np
import pandas as pd
import pytest

from unmask import Cyclic, Numeric
from unmask.discovery import Discovery, LeftOut, Stopped, _reading
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
    for wrong in (0, 3, True, "1", study.step.model_copy()):
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


def test_an_interrupt_is_no_stop(study):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.reading().scree(callback=interrupt)


# ---- pairs: nothing is fitted again


def gaps():
    known = features()[["number"]].copy()
    known.iloc[3, 0] = np.nan
    return known


NUMBER = {"known": features()[["number"]]}
FITS = {
    "nothing known": {},
    "numbers": NUMBER,
    "names": {"known": features()[["name", "number"]]},
    "names, diagonal": {"known": features()[["name", "number"]], "coef": "diagonal"},
    "hours": {"known": features()[["hour"]], "types": {"hour": Cyclic(24)}},
    "redundant": {"known": features()[["number", "copy"]]},
    "missing cell": {"known": gaps()},
    "measured with error": NUMBER | {"types": {"number": Numeric(error=0.3)}},
    "adjusted": NUMBER | {"adjust": True},
    "weights": NUMBER | {"weights": weights()},
    "closed form": NUMBER | {"estimator": "classical", "n_init": None},
    "isomap": NUMBER | {"estimator": "isomap", "n_neighbors": 6},
    "interval": NUMBER | {"level": "interval"},
    "spline": NUMBER | {"level": "spline"},
    "ordinal": NUMBER | {"level": "ordinal"},
    "ordinal, ties": {"level": "ordinal", "ties": "secondary"},
    "ordinal, weights": {"level": "ordinal", "weights": weights()},
    "isomap, ordinal": {"estimator": "isomap", "n_neighbors": 6, "level": "ordinal"},
}


def made(known=None, types=None, weights=None, **params):
    study = Discovery(distances()[1], known=known, known_types=types, weights=weights)
    study.fit(2, **{name: value for name, value in ({"n_init": 1} | params).items() if value is not None})
    return study


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", FITS)
def test_distances_and_disparities_are_those_of_the_fit(case, tmp_path):
    study = made(**FITS[case])
    asked = Discovery.load(study.save(tmp_path / "study")).reading()
    pairs = asked.pairs()
    again = asked.estimator.fit(asked.data, known=asked.known, **asked.weights)
    found = pairs.fit.predict_dissimilarities()
    np.testing.assert_allclose(found, again.predict_dissimilarities(), rtol=1e-9, atol=1e-9)
    assert hasattr(pairs.fit, "disparities_") == hasattr(again, "disparities_")
    if hasattr(again, "disparities_"):
        np.testing.assert_allclose(pairs.fit.disparities_, again.disparities_, rtol=1e-7, atol=1e-9)
    if asked.step.estimator != "isomap" or "level" in FITS[case]:  # else it shows what the paths are made of
        np.testing.assert_allclose(pairs.stress_per_point()["stress"].sum(), asked.step.stress, rtol=1e-8)


@pytest.mark.parametrize("scheme", ["sammon", "curvilinear"])
def test_weights_by_name_count_where_they_did_not_follow_the_map(scheme):
    study = Discovery(distances()[1])
    study.fit(2, n_init=1, weights=scheme)
    pairs = study.reading().pairs()
    assert len(pairs.table()) == N * (N - 1) // 2
    if scheme == "sammon":
        np.testing.assert_allclose(pairs.stress_per_point()["stress"].sum(), study.step.stress, rtol=1e-9)


@pytest.mark.parametrize("params", [{}, {"level": "ordinal"}])
def test_an_interrupted_fit_is_shown_as_it_was(params):
    study = Discovery(distances()[1])
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, callback=lambda progress: progress.iteration >= 2, **params)
    found = study.reading().pairs().stress_per_point()["stress"].sum()
    np.testing.assert_allclose(found, study.step.stress, rtol=1e-9)


@pytest.mark.parametrize(
    "params", [NUMBER, {"level": "interval"}, {"weights": weights()}], ids=["", "level", "weights"]
)
def test_a_sample_of_many_objects_has_the_distances_of_the_fit(monkeypatch, params):
    monkeypatch.setattr(_reading, "MOST_IN_PAIRS", 10)
    asked = read(**params)
    pairs = asked.pairs()
    assert len(pairs.dissimilarities) == 10
    again = asked.estimator.fit(asked.data, known=asked.known, **asked.weights)
    picked = pairs.dissimilarities.index
    expected = again.predict_dissimilarities().iloc[picked, picked]
    np.testing.assert_allclose(pairs.fit.predict_dissimilarities(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(pairs.dissimilarities, asked.data.iloc[picked, picked])
    if "level" in params:
        np.testing.assert_allclose(pairs.fit.disparities_, again.disparities_.iloc[picked, picked], rtol=1e-7)
