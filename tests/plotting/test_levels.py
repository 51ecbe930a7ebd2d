"""Levels of known features as pictures: what is drawn where, and what is refused."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from unmask import ConditionalMDS
from unmask.plotting._levels import plot_levels


@pytest.fixture
def ax():
    return Figure(figsize=(5, 5)).add_subplot()


def positions(**features):
    """Return a table like ``level_positions_``: by feature, a dictionary of levels and their places."""
    rows = {(name, level): place for name, levels in features.items() for level, place in levels.items()}
    width = max(map(len, rows.values()))
    values = [list(place) + [np.nan] * (width - len(place)) for place in rows.values()]
    index = pd.MultiIndex.from_tuples(rows, names=["feature", "level"])
    return pd.DataFrame(values, index=index, columns=[f"axis{a + 1}" for a in range(width)])


@pytest.fixture
def table():
    return positions(
        habitat={"bog": (0.0, 3.0), "heath": (4.0, 0.0), "wood": (-4.0, -3.0)},
        size={"small": (-2.0,), "medium": (0.5,), "large": (1.5,)},
    )


def drawn(ax):
    return np.concatenate([collection.get_offsets() for collection in ax.collections])


def texts(ax):
    return sorted(text.get_text() for text in ax.texts)


def test_levels_of_a_feature_are_drawn_at_equal_aspect(table, ax):
    assert plot_levels(table, "habitat", ax=ax) is ax
    np.testing.assert_array_equal(drawn(ax), table.loc["habitat"])
    assert texts(ax) == ["bog", "heath", "wood"]
    assert ax.get_aspect() == 1.0
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("dimension 1", "dimension 2", "habitat")


def test_one_axis_is_drawn_along_a_line(table, ax):
    plot_levels(table, "size", ax=ax)
    np.testing.assert_array_equal(drawn(ax), [[-2.0, 0.0], [0.5, 0.0], [1.5, 0.0]])
    (line,) = [line for line in ax.lines if len(set(line.get_ydata())) == 1 and line.get_ydata()[0] == 0.0]
    assert line.get_zorder() < min(collection.get_zorder() for collection in ax.collections)
    assert not ax.yaxis.get_visible()
    assert texts(ax) == ["large", "medium", "small"]


def test_labels_along_a_line_cover_neither_each_other_nor_the_points():
    places = np.sort(np.random.default_rng(0).normal(size=9))
    figure = Figure(figsize=(6, 2), layout="constrained")
    ax = plot_levels(
        positions(grade={f"grade {i}": (x,) for i, x in enumerate(places)}), merge=0, ax=figure.add_subplot()
    )
    figure.draw_without_rendering()
    # Without the lines that lead from the labels to their points.
    boxes = [Text.get_window_extent(text, figure._get_renderer()) for text in ax.texts]
    assert len(boxes) == 9
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    points = ax.transData.transform(drawn(ax))
    assert not [(box, point) for box in boxes for point in points if box.contains(*point)]
    centres = {text.get_text(): (box.x0 + box.x1) / 2 for text, box in zip(ax.texts, boxes, strict=True)}
    np.testing.assert_allclose([centres[f"grade {i}"] for i in range(9)], points[:, 0], rtol=0, atol=1.0)


def test_labels_of_a_line_can_be_left_out(table, ax):
    plot_levels(table, "size", max_labels=0, ax=ax)
    assert texts(ax) == []


def test_levels_that_coincide_share_a_label_unless_told_otherwise(ax):
    table = positions(size={"small": (-2.0,), "medium": (1.99,), "large": (2.0,)})
    plot_levels(table, ax=ax)
    assert texts(ax) == ["medium / large", "small"]
    other = plot_levels(table, merge=0.0, max_labels=2, ax=Figure().add_subplot())
    assert len(other.texts) == 2


def test_the_only_feature_need_not_be_named(ax):
    plot_levels(positions(size={"s": (0.0,), "m": (1.0,), "l": (3.0,)}), ax=ax, title="Sizes")
    assert ax.get_title(loc="left") == "Sizes"
    assert texts(ax) == ["l", "m", "s"]


def test_counts_stand_beside_their_levels(table, ax):
    habitat = pd.Series(["wood", "bog", "wood", None])
    plot_levels(table, "habitat", counts=habitat.value_counts(), ax=ax)
    assert texts(ax) == ["bog (1)", "heath (0)", "wood (2)"]


@pytest.mark.parametrize(("feature", "size"), [("habitat", (6.4, 6.0)), ("size", (6.4, 1.8))])
def test_without_axes_a_figure_is_made(table, feature, size):
    ax = plot_levels(table, feature)
    assert isinstance(ax, Axes)
    assert tuple(ax.figure.get_size_inches()) == size
    pyplot.close(ax.figure)


def test_a_fitted_estimator_shows_its_levels(rng, ax):
    places = {"a": (0.0, 0.0), "b": (3.0, 0.0), "c": (0.0, 4.0)}
    group = np.repeat(list(places), 8)
    X = np.column_stack([rng.normal(size=(24, 1)), [places[g] for g in group]])
    mds = ConditionalMDS(1, random_state=0, tol=1e-14).fit(X, known=pd.DataFrame({"group": group}))
    plot_levels(mds, ax=ax)
    assert texts(ax) == ["a", "b", "c"]
    found = drawn(ax)
    # The triangle that was put in: sides of 3, 4 and 5.
    sides = [np.linalg.norm(found[i] - found[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(sides, [3.0, 4.0, 5.0], rtol=1e-3, atol=0)


def test_the_table_is_not_changed(table, ax):
    before = table.copy()
    plot_levels(table, "size", ax=ax)
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"feature": "colour"}, r"feature='colour' is not among .* pass one of 'habitat', 'size'\."),
        ({}, r"feature is needed, because several have levels; pass one of 'habitat', 'size'\."),
        ({"feature": "size", "counts": {"tiny": 3}}, r"counts names 'tiny', which is no level of 'size'; its levels"),
        ({"feature": "size", "counts": {"a": 3, "b": 1}}, r"counts names 'a', 'b', which are no levels of 'size'"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(table, ax, arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_levels(table, ax=ax, **arguments)


def test_no_levels_at_all_are_refused(rng, ax):
    mds = ConditionalMDS(1, n_init=1, random_state=0).fit(rng.normal(size=(10, 3)), known=rng.normal(size=10))
    with pytest.raises(ValueError, match=r"no levels in its level_positions_: .* declare others in known_types\."):
        plot_levels(mds, ax=ax)


@pytest.mark.parametrize("given", [ConditionalMDS(), [[1.0]], pd.Series([1.0])])
def test_what_has_no_levels_is_refused(given, ax):
    with pytest.raises(ValueError, match=r"is of type .* and has no level_positions_; pass a fitted"):
        plot_levels(given, ax=ax)


def test_a_table_of_another_shape_is_refused(ax):
    with pytest.raises(ValueError, match=r"has 1 level of index but level_positions_ has 2"):
        plot_levels(pd.DataFrame({"axis1": [1.0, 2.0]}), ax=ax)
