"""What sections share: the last fit from the record, what is known, what is left out."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS, Cyclic, Ordinal
from unmask.discovery import Discovery
from unmask.reports import _subject
from unmask.reports._subject import LeftOut, RecordedFit, ReportOptions, Subject

from .studies import distances

N = 16


def settings(**changes):
    asked = {"scree": True, "resamples": 4, "rivals": (), "seed": 0, "max_objects": 100, "saved_as": "study"}
    return ReportOptions(**asked | changes)


def features(n=N):
    X, _ = distances(n)
    return pd.DataFrame(
        {
            "number": X[:, 0],
            "name": list("abcd" * (n // 4)),
            "hour": np.arange(n) % 24,
            "size": [("s", "m", "l")[i % 3] for i in range(n)],
            "copy": 2 * X[:, 0] + 1,
        }
    )


def subject(known=None, types=None, weights=None, n=N, **params):
    study = Discovery(distances(n)[1], known=known, known_types=types, weights=weights)
    study.fit(2, **{"n_init": 1} | params)
    return Subject(study, settings())


def weights(n=N):
    W = np.random.default_rng(5).uniform(0.2, 2.0, (n, n))
    return W + W.T


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
        study = Discovery(distances(N)[1], known=given["known"])
        study.fit(2, n_init=1, weights="sammon")
        return Subject(study, settings())
    if given.get("estimator") == "classical":
        study = Discovery(distances(N)[1], known=given["known"])
        study.fit(2, estimator="classical")
        return Subject(study, settings())
    return subject(**given)


@pytest.mark.parametrize("case", RECORDED)
def test_distances_from_the_record_are_those_of_the_fit(case):
    asked = make(case)
    pairs = asked.pairs
    assert isinstance(pairs.fit, RecordedFit)  # nothing was fitted again
    again = asked.study.estimator_of(asked.last).fit(
        asked.dissimilarities, known=asked.study.known_of(asked.last), **pairs.weights
    )
    np.testing.assert_allclose(
        pairs.fit.predict_dissimilarities(), again.predict_dissimilarities(), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(pairs.stress_per_point()["stress"].sum(), asked.last.stress, rtol=1e-9, atol=1e-12)


def test_a_redundant_column_changes_nothing():
    with pytest.warns(UserWarning, match="no information of their own"):
        asked = subject(known=features()[["number", "copy"]])
    assert isinstance(asked.pairs.fit, RecordedFit)


@pytest.mark.parametrize(
    "params",
    [{"level": "ordinal"}, {"level": "interval"}, {"estimator": "isomap", "n_neighbors": 6}],
    ids=["ordinal", "interval", "isomap"],
)
def test_what_the_record_does_not_hold_is_fitted_again(params):
    asked = subject(known=features()[["number"]], **params)
    found = asked.pairs
    assert not isinstance(found.fit, RecordedFit)
    np.testing.assert_allclose(found.fit.stress_, asked.last.stress, rtol=1e-9, atol=1e-12)


def test_missing_cells_are_filled_in_by_the_fit():
    known = features()[["number"]].copy()
    known.iloc[3, 0] = np.nan
    assert not isinstance(subject(known=known).pairs.fit, RecordedFit)


def test_weights_that_moved_with_the_map_are_fitted_again():
    study = Discovery(distances(N)[1])
    study.fit(2, n_init=1, weights="curvilinear")
    asked = Subject(study, settings())
    assert not isinstance(asked.pairs.fit, RecordedFit)


def test_an_interrupted_fit_is_shown_as_it_was():
    study = Discovery(distances(N)[1])
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, callback=lambda progress: progress.iteration >= 2)
    asked = Subject(study, settings())
    np.testing.assert_allclose(asked.pairs.stress_per_point()["stress"].sum(), asked.last.stress, rtol=1e-9, atol=1e-12)


def test_another_map_is_not_shown_in_place_of_the_last():
    study = Discovery(distances(N)[1])
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, level="ordinal", callback=lambda progress: progress.iteration >= 2)
    with pytest.raises(LeftOut, match="it would show another map"):
        _ = Subject(study, settings()).pairs


# ---- many objects


def test_a_sample_of_many_objects_has_the_distances_of_the_fit(monkeypatch):
    monkeypatch.setattr(_subject, "MOST_IN_PAIRS", 10)
    monkeypatch.setattr(_subject, "CHUNK", 7)
    asked = subject(known=features()[["name", "number"]])
    pairs = asked.pairs
    assert len(pairs.dissimilarities) == 10
    again = asked.study.estimator_of(asked.last).fit(asked.dissimilarities, known=asked.study.known_of(asked.last))
    picked = pairs.dissimilarities.index
    expected = again.predict_dissimilarities().iloc[picked, picked]
    np.testing.assert_allclose(pairs.fit.predict_dissimilarities(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(pairs.dissimilarities, asked.dissimilarities.iloc[picked, picked])


@pytest.mark.parametrize("params", [{"level": "interval"}, {"weights": weights()}], ids=["level", "weights"])
def test_a_sample_is_not_taken_where_the_record_does_not_hold_the_distances(monkeypatch, params):
    monkeypatch.setattr(_subject, "MOST_IN_PAIRS", 10)
    assert not isinstance(subject(**params).pairs.fit, RecordedFit)


def test_parts_that_need_fits_are_left_out_of_many_objects():
    asked = subject(known=features()[["number"]])
    asked.options = settings(max_objects=N - 1)
    with pytest.raises(LeftOut, match=r"The scree is left out: it needs 13 further fits.*max_objects=16"):
        _ = asked.scree
    with pytest.raises(LeftOut, match="The bootstrap is left out: it needs 4 further fits"):
        _ = asked.stability
    asked.options = settings(max_objects=1)  # ten times as many, where one fit is enough
    with pytest.raises(LeftOut, match=r"A map with nothing known is left out.*more than the 10.*max_objects=2\."):
        asked.fit_without_known()


def test_scree_leaves_room_for_what_is_known():
    asked = subject(known=features(8)[["number", "hour"]], n=8)
    assert list(asked.scree.index) == [0, 1, 2, 3, 4, 5]


def test_no_scree_where_what_is_known_fills_all_dimensions():
    study = Discovery(distances(4)[1], known=pd.DataFrame(np.eye(4)[:, :3]))
    study.fit(0, n_init=1)
    with pytest.raises(LeftOut, match="leaves no dimension to add"):
        _ = Subject(study, settings()).scree


# ---- what is known


def test_a_step_has_what_it_was_given_and_not_what_came_later():
    study = Discovery(distances(N)[1], known=features()[["number", "name"]], known_types={"name": "nominal"})
    study.fit(2, n_init=1)
    study.forget("number", why="not needed")
    study.adopt("first", from_axis=0)
    study.fit(2, n_init=1)
    asked = Subject(study, settings())
    first, last = study.steps
    assert list(asked.study.known_of(first).columns) == ["number", "name"]
    assert list(asked.study.known_of(last).columns) == ["name", "first"]
    np.testing.assert_array_equal(asked.study.known_of(last)["first"], first.embedding["axis1"])
    assert [action.name for action in asked.after(1)] == ["number", "first"]
    assert asked.after(0) == asked.after(2) == []


def test_the_plain_map_is_that_of_an_estimator_told_nothing():
    asked = subject(known=features()[["size"]], types={"size": Ordinal(("s", "m", "l"))})
    found = asked.fit_without_known()
    expected = ConditionalMDS(2, metric="precomputed", n_init=1, random_state=0).fit(asked.dissimilarities)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, rtol=1e-12, atol=1e-12)


def test_the_plain_map_of_a_fit_with_errors_of_what_is_known():
    asked = subject(known=features()[["number"]], known_error={"number": 0.1})
    assert asked.fit_without_known().coef_.empty


# ---- parts that fail


def test_a_part_that_fails_says_so_and_takes_nothing_with_it():
    asked = subject()

    def fail():
        raise RuntimeError("no <room>")

    assert "(RuntimeError: no &lt;room&gt;)" in asked.attempt(fail)
    assert asked.left_out == ["This part could not be made (RuntimeError: no <room>)"]
    asked.attempt(fail)
    assert len(asked.left_out) == 1


def test_what_is_warned_of_is_kept_once():
    import warnings

    asked = subject()

    def part():
        warnings.warn("careful", UserWarning, stacklevel=1)
        return _subject.Html("made")

    assert asked.attempt(part) == asked.attempt(part) == "made"
    assert asked.heard == ["careful"]
