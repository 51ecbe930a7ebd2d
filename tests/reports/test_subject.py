"""What sections share: what is known, what is left out."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS, Numeric, Ordinal
from unmask.discovery import Discovery, LeftOut
from unmask.reports._subject import ReportOptions, Subject

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


def subject(known=None, types=None, n=N, **params):
    study = Discovery(distances(n)[1], known=known, known_types=types)
    study.fit(2, **{"n_init": 1} | params)
    return Subject(study, settings())


# ---- many objects


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
    with pytest.raises(LeftOut, match="no dimension to add"):
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
    asked = subject(known=features()[["number"]], types={"number": Numeric(error=0.1)})
    assert asked.fit_without_known().coef_.empty


# ---- parts that fail


def test_a_part_that_fails_says_so_and_takes_nothing_with_it():
    asked = subject()

    def fail():
        raise RuntimeError("no <room>")

    (note,) = asked.attempt(fail)
    assert "(RuntimeError: no <room>)" in note.text
    assert asked.left_out == ["This part could not be made (RuntimeError: no <room>)"]
    asked.attempt(fail)
    assert len(asked.left_out) == 1


def test_what_is_warned_of_is_kept_once():
    import warnings

    asked = subject()

    def part():
        warnings.warn("careful", UserWarning, stacklevel=1)
        warnings.warn("Tensorflow not installed", ImportWarning, stacklevel=1)  # nothing about what was found
        return ["made"]

    assert asked.attempt(part) == asked.attempt(part) == ["made"]
    assert asked.remarks == ["careful"]
