"""RadViz and star coordinates: where objects lie, and what stands around them."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from pandas.plotting import radviz

from unmask.plotting._radial import plot_radviz, plot_star_coordinates

BOTH = pytest.mark.parametrize("plot", [plot_radviz, plot_star_coordinates])


@pytest.fixture
def ax():
    return Figure(figsize=(5, 5)).add_subplot()


@pytest.fixture
def table():
    return pd.DataFrame(np.random.default_rng(0).uniform(size=(20, 5)), columns=list("abcde"))


def points(ax):
    return np.concatenate([one.get_offsets() for one in ax.collections if isinstance(one, PathCollection)])


def anchors(ax):
    return ax.lines[-1].get_xydata()


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_radviz_is_that_of_pandas(table, ax):
    assert plot_radviz(table, ax=ax) is ax
    theirs = radviz(table.assign(kind="one"), "kind", ax=Figure().add_subplot())
    np.testing.assert_allclose(points(ax), points(theirs), rtol=1e-12, atol=1e-12)
    assert texts(ax) == list("abcde")
    np.testing.assert_allclose(np.linalg.norm(anchors(ax), axis=1), 1.0, rtol=1e-12, atol=0)


def test_only_proportions_matter_to_radviz_and_nothing_at_all_is_the_centre(ax):
    rows = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.2, 0.4, 0.0], [0.4, 0.8, 0.0]])
    plot_radviz(rows, ax=ax)
    found = points(ax)
    np.testing.assert_allclose(found[:2], 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-12, atol=0)
    angle = 2 * np.pi / 3
    np.testing.assert_allclose(found[2], [(1 + 2 * np.cos(angle)) / 3, 2 * np.sin(angle) / 3], rtol=1e-12, atol=1e-12)


def test_star_coordinates_add_up_standardised_features(table, ax):
    assert plot_star_coordinates(table, ax=ax) is ax
    expected = np.zeros((20, 2))
    for j, name in enumerate(table):  # by the formula, term by term
        z = (table[name] - table[name].mean()) / table[name].std(ddof=0)
        expected += np.outer(z, [np.cos(2 * np.pi * j / 5), np.sin(2 * np.pi * j / 5)])
    np.testing.assert_allclose(points(ax), expected, rtol=1e-9, atol=1e-12)
    far = np.linalg.norm(expected, axis=1).max()
    np.testing.assert_allclose(np.linalg.norm(anchors(ax), axis=1), far, rtol=1e-9, atol=0)
    (spokes,) = [one for one in ax.collections if isinstance(one, LineCollection)]
    assert len(spokes.get_segments()) == 5


@BOTH
def test_units_do_not_matter_and_the_order_of_anchors_can_be_chosen(plot, table, ax):
    plot(table, ax=ax)
    other = plot(table * [1, 10, 0.1, 5, 2] + 7, ax=Figure().add_subplot())
    np.testing.assert_allclose(points(other), points(ax), rtol=1e-9, atol=1e-9)
    order = list("cabed")
    turned = plot(table, order=order, ax=Figure().add_subplot())
    assert texts(turned) == order
    np.testing.assert_allclose(
        points(turned), points(plot(table[order], ax=Figure().add_subplot())), rtol=1e-12, atol=0
    )


@BOTH
def test_colours_and_labels(plot, table, ax):
    kind = pd.Series(["x", "y"] * 10, name="kind")
    plot(table, color=kind, labels=[f"o{i}" for i in range(20)], ax=ax, title="Radial")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y"]
    assert len([text for text in texts(ax) if text.startswith("o")]) >= 10
    assert ax.get_title(loc="left") == "Radial"
    other = plot(table, color=table["a"], ax=Figure().add_subplot())
    (scatter,) = [one for one in other.collections if isinstance(one, PathCollection)]
    assert scatter.colorbar.ax.get_ylabel() == "a"


@BOTH
def test_names_stand_outside_and_everything_is_inside_the_axes(plot, table):
    figure = Figure(figsize=(5, 5), layout="constrained")
    ax = plot(table, ax=figure.add_subplot())
    figure.draw_without_rendering()
    centre = ax.transData.transform([0.0, 0.0])
    for text, anchor in zip(ax.texts, ax.transData.transform(anchors(ax)), strict=True):
        box = text.get_window_extent(figure._get_renderer())
        middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
        assert np.linalg.norm(middle - centre) > np.linalg.norm(anchor - centre)
    inside = ax.transAxes.inverted().transform(ax.transData.transform(points(ax)))
    assert inside.min() > 0
    assert inside.max() < 1
    assert ax.get_aspect() == 1.0


@BOTH
def test_crowds_become_hexagons(plot, ax):
    plot(np.random.default_rng(0).normal(size=(20_001, 4)), ax=ax)
    assert [one for one in ax.collections if type(one) is PolyCollection]


def test_features_that_cancel_out_leave_all_in_the_centre(ax):
    plot_star_coordinates([[1.0, 0.0], [3.0, 0.5]], ax=ax)
    np.testing.assert_allclose(points(ax), 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(anchors(ax), [[1.0, 0.0], [-1.0, 0.0]], rtol=0, atol=1e-12)


@BOTH
def test_without_axes_a_figure_is_made(plot, table):
    ax = plot(table)
    assert ax.figure.number
    pyplot.close(ax.figure)


@BOTH
@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: t["a"], {}, "table has 1 column; a radial picture needs at least two"),
        (lambda t: t["a"].to_numpy(), {}, "table has 1 column; a radial picture needs at least two"),
        (lambda t: t.assign(b=1.0), {}, "table has columns in which all objects are the same: 'b'; leave them out"),
        (lambda t: t.assign(b="x"), {}, "table: column 'b' holds text"),
        (lambda t: t.mask(t == t.iloc[3, 1]), {}, "table has nan in row 3 of column 'b'"),
        (lambda t: t, {"order": ["a", "b"]}, "order has 'a', 'b' but the columns are 'a', 'b', 'c', 'd', 'e'"),
        (lambda t: t, {"color": [1]}, "color has 1 entries but table has 20 objects"),
        (lambda t: t, {"merge": -1}, "merge=-1 must be a number of at least 0"),
    ],
)
def test_bad_input_is_named(plot, table, change, options, message, ax):
    with pytest.raises(ValueError, match=message):
        plot(change(table), ax=ax, **options)
