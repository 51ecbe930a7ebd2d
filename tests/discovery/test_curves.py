"""Curves that are drawn on a map, in any plane of it; and looking before adopting."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from unmask import Cyclic
from unmask.discovery import Discovery, Preview, along_curve

from .studies import FAST, assert_same

# Two points between grandparents and grandchildren, as one would draw them.
DRAWN = [[-8.0, -20.0], [-15.0, 5.0]]

# ---- curves


def brute_force(U, corners, parts=20_000):
    """Walk along the curve in small steps, and return how far the nearest was."""
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    marks = np.concatenate([[0], np.cumsum(lengths)])
    walked = np.linspace(0, marks[-1], parts)
    way = np.column_stack([np.interp(walked, marks, axis) for axis in np.transpose(corners)])
    return np.array([walked[np.argmin(((way - u) ** 2).sum(axis=1))] for u in U]), marks[-1] / parts


@pytest.mark.parametrize("p", [2, 3])
def test_the_nearest_point_of_a_curve_is_found(p):
    rng = np.random.default_rng(0)
    U, corners = rng.normal(size=(40, p)), rng.normal(size=(5, p))
    expected, step = brute_force(U, corners)
    np.testing.assert_allclose(along_curve(U, corners), expected, atol=2 * step)


def test_a_straight_curve_is_a_line_between_its_ends(fitted):
    U = fitted.embedding.to_numpy()
    ends = U[[0, 5]]
    line = fitted.preview(along=(ends[0], ends[1])).values.to_numpy()
    curve = fitted.preview(along=[ends[0], ends.mean(axis=0), ends[1]]).values.to_numpy()
    np.testing.assert_allclose(curve, np.clip(line, 0, np.linalg.norm(ends[1] - ends[0])), atol=1e-9)


def test_a_corner_twice_changes_nothing():
    U, corners = np.random.default_rng(1).normal(size=(20, 2)), [[0, 0], [1, 0], [1, 2]]
    np.testing.assert_array_equal(along_curve(U, corners), along_curve(U, [*corners[:2], *corners[1:]]))


def test_generations_are_along_a_curve_that_no_arc_shows(kinship):
    """The first story of the workbench: given gender and degree, grandparents, parents, children, grandchildren."""
    study = Discovery(kinship.dissimilarities, known=kinship.known[["gender", "degree"]])
    study.fit(2)
    generation = kinship.known["generation"]
    assert abs(spearmanr(study.preview(along="arc").values, generation).statistic) == pytest.approx(0.11, abs=0.01)
    curve = ["Grandfather", "Father", "Son", "Grandson"]
    assert spearmanr(study.preview(along=curve).values, generation).statistic == pytest.approx(0.91, abs=0.01)
    drawn = [study.embedding.loc["Grandfather"].tolist(), *DRAWN, study.embedding.loc["Grandson"].tolist()]
    found = study.adopt("generation", along=drawn, why="from grandparents to grandchildren")
    assert spearmanr(found.values, generation).statistic == pytest.approx(0.92, abs=0.01)
    assert found.origin.count(" to ") == 3


# ---- planes


@pytest.fixture
def deep(study):
    study.fit(3, **FAST)
    return study


def test_axes_say_in_which_plane_a_line_was_drawn(deep):
    plane = deep.embedding.iloc[:, [0, 2]].to_numpy()
    start, end = np.array([0.0, -1.0]), np.array([2.0, 3.0])
    expected = (plane - start) @ (end - start) / np.linalg.norm(end - start)
    line = deep.adopt("line", along=(start, end), axes=(0, 2))
    np.testing.assert_allclose(line.values, expected)
    assert line.source == {"along": [[0.0, -1.0], [2.0, 3.0]], "axes": [0, 2]}
    assert line.origin == "along (0, -1) to (2, 3) on map 1, axes 1 and 3"
    corners = [[-20.0, 0.0], [0.0, 15.0], [20.0, 0.0]]
    np.testing.assert_allclose(deep.preview(along=corners, axes=[0, 2]).values, along_curve(plane, corners))
    other = deep.preview(along="circle", axes=(1, 2)).values
    assert not np.allclose(other, deep.preview(along="circle").values)
    np.testing.assert_allclose(
        deep.preview(along=("Aunt", "Son"), axes=(2, 0)).values,
        deep.preview(along=("Aunt", "Son"), axes=(0, 2)).values,
        atol=1e-9,
    )


@pytest.mark.parametrize("axes", [(0, 3), (0,), (1, 1), (0, True), "02", 1, (0.0, 1.0), (-1, 0)])
def test_axes_must_be_two_of_the_map(deep, axes):
    with pytest.raises(ValueError, match="must be two axes of the map, counted from 0; it has 3"):
        deep.adopt("x", along=("Aunt", "Son"), axes=axes)


def test_axes_belong_to_what_is_drawn(deep):
    with pytest.raises(ValueError, match=r"axes=.* says where along=… was drawn, and from_axis was given"):
        deep.adopt("x", from_axis=1, axes=(0, 1))
    with pytest.raises(ValueError, match=r"nor a point of the map \(3 numbers\)"):
        deep.adopt("x", along=([0.0, 0.0], [1.0, 1.0]))


def test_curves_and_planes_are_saved_replayed_and_in_the_script(deep, tmp_path):
    deep.adopt("curve", along=["Aunt", [0.0, 1.0], "Son", "Uncle"], axes=(0, 2))
    deep.adopt("line", along=("Aunt", [1.0, 2.0]), axes=(2, 1))
    deep.adopt("bend", along=["Aunt", "Son", "Uncle"])
    deep.fit(1, **FAST)
    path = deep.save(tmp_path / "study")
    loaded = Discovery.load(path)
    assert_same(deep, loaded)
    assert loaded.replay()["same"].all()
    names = {}
    exec(deep.to_script(path), names)
    for name in ("curve", "line", "bend"):
        np.testing.assert_allclose(names["study"].known[name], deep.known[name], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(names["maps"][2], deep.embedding, atol=1e-6)


# ---- looking before adopting


def test_a_preview_is_what_would_be_adopted_and_changes_nothing(fitted):
    before = fitted.tree
    for way in ({"along": "circle"}, {"along": ("Aunt", "Son")}, {"from_axis": 1}, {"groups": 3}, {"column": "degree"}):
        seen = fitted.preview(**way)
        assert isinstance(seen, Preview)
        assert fitted.tree == before
        adopted = fitted.branch().adopt("x", **way)
        pd.testing.assert_series_equal(seen.values, adopted.values, check_names=False)
    assert fitted.preview(groups=3).type == "nominal"
    assert fitted.preview(along="circle").type == "cyclic"
    assert fitted.preview(from_axis=0).type == "numeric"
    assert fitted.preview(column="degree", kind="ordinal").type == "ordinal"


def test_a_preview_says_how_far_it_is_known(fitted, kinship):
    assert fitted.preview(column="degree").r2 == 0
    fitted.adopt("degree", column="degree")
    fitted.adopt("gender", column="gender", kind="nominal")
    x = np.arange(14.0) ** 2
    V = np.column_stack([np.ones(14), kinship.known[["degree", "gender"]]])
    residual = x - V @ np.linalg.lstsq(V, x, rcond=None)[0]
    seen = fitted.preview(values=x)
    assert seen.r2 == pytest.approx(1 - residual @ residual / ((x - x.mean()) ** 2).sum())
    assert seen.r2_by_chance == pytest.approx(2 / 13)
    known = fitted.preview(values=3 - 2 * kinship.known["degree"])
    assert known.r2 == pytest.approx(1)
    assert known.warnings == ("it is known already: the known features account for 100% of it.",)
    hours = kinship.known["degree"] * 1.0
    assert fitted.preview(values=hours, kind=Cyclic(24)).r2 > 0.9


def test_a_preview_warns_of_gaps_and_of_single_objects(fitted):
    values = dict.fromkeys(fitted.material.objects, 1.0) | {"Aunt": None, "Son": 2.0}
    assert fitted.preview(values).warnings == (
        "1 object without a value: every fit will estimate it.",
        "it sets a single object apart from all others.",
    )
    with pytest.raises(ValueError, match="is the same for all objects"):
        fitted.preview([1] * 14)
