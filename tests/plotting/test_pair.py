"""Two maps of the same objects: how the second is aligned, and what is joined."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import colors, pyplot
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch
from matplotlib.quiver import Quiver
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import procrustes

from unmask import ConditionalMDS
from unmask.plotting._color import OKABE_ITO
from unmask.plotting._pair import align, mean_moves, plot_pair


@pytest.fixture
def ax():
    return Figure(figsize=(5, 5)).add_subplot()


def cloud(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2))


def moved(X, angle=1.0, size=3.0, flip=False):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return size * X @ turn * ([1, -1] if flip else [1, 1]) + [5.0, -7.0]


def offsets(ax):
    return [np.asarray(one.get_offsets()) for one in ax.collections if isinstance(one, PathCollection)]


# ---- aligning


@pytest.mark.parametrize("flip", [False, True])
def test_a_moved_map_comes_back(flip):
    X = cloud(12)
    np.testing.assert_allclose(align(X, moved(X, flip=flip), scale=True), X, rtol=1e-9, atol=1e-12)
    kept = align(X, moved(X, flip=flip), scale=False)
    centre = X.mean(axis=0)
    np.testing.assert_allclose(kept, centre + 3 * (X - centre), rtol=1e-9, atol=1e-12)


def test_what_is_left_over_is_what_scipy_finds():
    X, Y = cloud(15), cloud(15, seed=1)
    left = np.sum((align(X, Y, scale=True) - X) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert left == pytest.approx(procrustes(X, Y)[2], rel=1e-9)
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    turned = Yc @ orthogonal_procrustes(Yc, Xc)[0] + X.mean(axis=0)
    np.testing.assert_allclose(align(X, Y, scale=False), turned, rtol=1e-9, atol=1e-12)


def test_neither_turning_nor_shifting_the_second_map_matters():
    X, Y = cloud(15), cloud(15, seed=1)
    np.testing.assert_allclose(align(X, moved(Y), scale=True), align(X, Y, scale=True), rtol=1e-9, atol=1e-12)


# ---- one Axes


def test_both_places_of_each_object_are_drawn_and_joined(ax):
    X = cloud(12)
    Y = moved(X + 0.2 * cloud(12, seed=1))
    assert plot_pair(X, Y, ax=ax, titles=("then", "now")) is ax
    rings, dots = offsets(ax)
    np.testing.assert_array_equal(rings, X)
    np.testing.assert_allclose(dots, align(X, Y, scale=True), rtol=1e-12, atol=0)
    (lines,) = [one for one in ax.collections if isinstance(one, LineCollection)]
    np.testing.assert_allclose(lines.get_segments(), np.stack([rings, dots], axis=1), rtol=1e-12, atol=0)
    assert lines.get_zorder() < 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["then", "now"]
    assert len(ax.texts) == 0  # arrays have no labels
    assert ax.get_aspect() == 1.0


def test_frames_are_matched_by_label_and_label_the_objects(ax):
    before = pd.DataFrame(cloud(5) * 4, index=list("abcde"), columns=["u1", "u2"])
    plot_pair(before, before.iloc[::-1] * 2, ax=ax)
    rings, dots = offsets(ax)
    np.testing.assert_allclose(dots, rings, rtol=1e-9, atol=1e-9)
    assert sorted(text.get_text() for text in ax.texts) == list("abcde")
    assert ax.get_xlabel() == "u1"


def test_categories_colour_rings_and_dots(ax):
    plot_pair(cloud(4), cloud(4, seed=1), color=pd.Series(list("abab"), name="kind"), ax=ax)
    rings, *dots = [one for one in ax.collections if isinstance(one, PathCollection)]
    assert [colors.to_hex(c).upper() for c in rings.get_edgecolor()] == [OKABE_ITO[0], OKABE_ITO[1]] * 2
    assert len(rings.get_facecolor()) == 0
    assert [colors.to_hex(one.get_facecolor()[0]).upper() for one in dots] == list(OKABE_ITO[:2])
    titles = {one.get_title().get_text() for one in ax.get_children() if hasattr(one, "get_texts")}
    assert titles == {"kind", ""}


def test_labels_can_be_given_and_left_out(ax):
    plot_pair(cloud(3), cloud(3, seed=1), labels=["x", "y", "z"], ax=ax)
    assert sorted(text.get_text() for text in ax.texts) == ["x", "y", "z"]
    other = plot_pair(pd.DataFrame(cloud(3)), pd.DataFrame(cloud(3, seed=1)), max_labels=0, ax=Figure().add_subplot())
    assert len(other.texts) == 0


def test_many_objects_are_joined_by_the_mean_moves_of_cells(ax):
    X = cloud(2001)
    plot_pair(X, X + np.array([1.0, 0.0]), ax=ax)
    assert not [one for one in ax.collections if isinstance(one, LineCollection)]
    (moves,) = [one for one in ax.collections if isinstance(one, Quiver)]
    np.testing.assert_allclose(np.abs(moves.U).max(), 0.0, rtol=0, atol=1e-9)  # a shift is aligned away
    assert "mean moves" in ax.get_legend().get_texts()[0].get_text()


def test_mean_moves_are_the_means_of_their_cells():
    first = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [3, 4, 2], axis=0)
    second = first + np.arange(9)[:, None] * [1.0, 0.0]
    starts, ends = mean_moves(first, second)
    np.testing.assert_allclose(starts, [[0.0, 0.0], [1.0, 0.0]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(ends, [[1.0, 0.0], [5.5, 0.0]], rtol=0, atol=1e-12)


def test_very_many_objects_are_drawn_as_hexagons(ax):
    plot_pair(cloud(20_001), cloud(20_001) + 0.1 * cloud(20_001, seed=1), ax=ax)
    assert [one for one in ax.collections if type(one) is PolyCollection]


# ---- two Axes


def connections(figure):
    return [artist for artist in figure.artists if isinstance(artist, ConnectionPatch)]


def test_two_axes_show_a_map_each_on_the_same_scale_joined_across():
    figure = Figure(figsize=(8, 4), layout="constrained")
    both = figure.subplots(1, 2)
    X, Y = cloud(6), 0.1 * cloud(6, seed=1)
    assert plot_pair(X, Y, scale=False, ax=both, color=list("ababab"), titles=("then", "now")) is both
    left, right = both
    np.testing.assert_array_equal(np.sort(np.concatenate(offsets(left)), axis=0), np.sort(X, axis=0))
    aligned = align(X, Y, scale=False)
    np.testing.assert_allclose(np.sort(np.concatenate(offsets(right)), axis=0), np.sort(aligned, axis=0), rtol=1e-12)
    assert (left.get_xlim(), left.get_ylim()) == (right.get_xlim(), right.get_ylim())
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("then", "now")
    joined = {(one.xy1, one.xy2) for one in connections(figure)}
    assert joined == {(tuple(x), tuple(y)) for x, y in zip(X, aligned, strict=True)}
    figure.draw_without_rendering()
    lengths = [np.ptp(one.transData.transform([[0, 0], [1, 0]])[:, 0]) for one in both]
    assert lengths[0] == pytest.approx(lengths[1])


def test_of_many_objects_some_are_joined_across():
    figure = Figure()
    plot_pair(cloud(400), cloud(400, seed=1), ax=list(figure.subplots(1, 2)))
    assert len(connections(figure)) == 150


# ---- refusals


def test_without_axes_a_figure_is_made():
    ax = plot_pair(cloud(4), cloud(4, seed=1))
    assert ax.figure.number
    pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("before", "after", "options", "message"),
    [
        (cloud(3), cloud(4), {}, "after has 4 objects but before has 3; pass the same objects"),
        (cloud(3), np.zeros((3, 2)), {}, "after has all objects in one place"),
        (np.ones((3, 2)), cloud(3), {}, "before has all objects in one place"),
        ([[np.nan, 0.0]], cloud(1), {}, "before has nan in row 0, column 0"),
        (cloud(1), [[0.0, np.inf]], {}, "after has inf in row 0, column 1"),
        (cloud(3), cloud(3), {"scale": "yes"}, "scale='yes' must be True or False"),
        (cloud(3), cloud(3), {"color": [1]}, "color has 1 entries but before has 3 objects"),
        (
            pd.DataFrame(cloud(2), index=["a", "b"]),
            pd.DataFrame(cloud(2), index=["a", "c"]),
            {},
            r"after and before disagree on labels .*'a', 'c'",
        ),
    ],
)
def test_bad_input_is_named(ax, before, after, options, message):
    with pytest.raises(ValueError, match=message):
        plot_pair(before, after, ax=ax, **options)


def test_two_axes_must_be_two_of_one_figure():
    with pytest.raises(ValueError, match=r"ax has 3 Axes but drawing two maps side by side needs two of one figure"):
        plot_pair(cloud(3), cloud(3), ax=Figure().subplots(1, 3))
    with pytest.raises(ValueError, match=r"ax has 2 Axes but .* needs two of one figure"):
        plot_pair(cloud(3), cloud(3), ax=[Figure().add_subplot(), Figure().add_subplot()])


def test_fitted_estimators_are_matched_by_label(ax, kinship, rng):
    D, order = kinship.dissimilarities, rng.permutation(14)
    one, other = (
        ConditionalMDS(metric="precomputed", n_init=8, random_state=0).fit(table) for table in (D, D.iloc[order, order])
    )
    plot_pair(one, other, ax=ax)
    (lines,) = ax.findobj(lambda artist: type(artist) is LineCollection)
    moved = np.array([np.linalg.norm(ends[1] - ends[0]) for ends in lines.get_segments()])
    assert moved.max() < 1e-2 * np.ptp(one.embedding_)
