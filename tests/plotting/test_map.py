"""Maps as pictures: what is drawn, where labels go, what is refused."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import colors, pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unmask.plotting import plot_map
from unmask.plotting._color import OKABE_ITO
from unmask.plotting._labels import join_labels, spread


@pytest.fixture
def ax():
    return Figure(figsize=(5, 5)).add_subplot()


def cloud(n, columns=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, columns))


def drawn(ax):
    """Return the points of all scatter plots of the Axes."""
    return np.concatenate([collection.get_offsets() for collection in ax.collections])


def texts(ax):
    return sorted(text.get_text() for text in ax.texts)


def boxes(ax):
    renderer = ax.figure._get_renderer()
    ax.figure.draw_without_rendering()
    return [text.get_window_extent(renderer) for text in ax.texts]


def test_first_two_columns_are_drawn_at_equal_aspect(ax):
    X = cloud(20, columns=3)
    assert plot_map(X, ax=ax) is ax
    np.testing.assert_array_equal(drawn(ax), X[:, :2])
    assert ax.get_aspect() == 1.0
    assert texts(ax) == []


@pytest.mark.parametrize("shape", [(9, 3), (3, 9)])
def test_one_unit_has_the_same_length_in_both_directions_on_paper(shape):
    ax = plot_map(cloud(20) * [5, 1], ax=Figure(figsize=shape).add_subplot())
    ax.figure.draw_without_rendering()
    origin, right, up = ax.transData.transform([[0, 0], [1, 0], [0, 1]])
    assert right[0] - origin[0] == pytest.approx(up[1] - origin[1])
    inside = ax.transAxes.inverted().transform(ax.transData.transform(drawn(ax)))
    assert inside.min() > 0
    assert inside.max() < 1


def test_limits_stay_where_labels_were_placed_for():
    figure = Figure(figsize=(6, 6), layout="constrained")
    ax = plot_map(cloud(40), labels=range(40), color=np.arange(40.0), ax=figure.add_subplot())
    limits = ax.get_xlim(), ax.get_ylim()
    figure.draw_without_rendering()
    assert (ax.get_xlim(), ax.get_ylim()) == limits


def test_axes_that_share_both_scales_show_all_points():
    left, right = Figure().subplots(1, 2, sharex=True, sharey=True)
    plot_map(cloud(10), labels=range(10), ax=left)
    plot_map(5 * cloud(10), labels=range(10), ax=right)
    right.figure.draw_without_rendering()
    assert left.get_xlim() == right.get_xlim()
    assert right.get_xlim()[0] < drawn(right)[:, 0].min()
    assert right.get_xlim()[1] > drawn(right)[:, 0].max()


def test_a_single_column_is_drawn_along_a_line(ax):
    plot_map(cloud(6, columns=1), labels=list("abcdef"), merge=0.0, ax=ax)
    np.testing.assert_array_equal(drawn(ax), np.column_stack([cloud(6, columns=1), np.zeros(6)]))
    assert not ax.yaxis.get_visible()
    assert texts(ax) == list("abcdef")


def test_a_single_object_has_a_map(ax):
    plot_map([[3.0, 4.0]], labels=["only"], ax=ax)
    assert texts(ax) == ["only"]


def test_frame_labels_objects_and_axes(ax):
    frame = pd.DataFrame([[0.0, 0.0], [1.0, 3.0], [4.0, 1.0]], index=["x", "y", "z"], columns=["u1", "u2"])
    plot_map(frame, ax=ax, title="Given nothing")
    assert texts(ax) == ["x", "y", "z"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("u1", "u2", "Given nothing")


def test_given_labels_replace_the_index_and_a_series_follows_its_labels(ax):
    frame = pd.DataFrame([[0.0, 0.0], [9.0, 9.0]], index=["x", "y"])
    plot_map(frame, labels=pd.Series({"y": "why", "x": "ex"}), ax=ax)
    nearest = {text.get_text(): int(np.argmin(np.abs(text.get_position()[0] - np.array([0, 9])))) for text in ax.texts}
    assert nearest == {"ex": 0, "why": 1}


def test_near_objects_share_a_label_and_far_ones_do_not(ax):
    X = [[0, 0], [0.01, 0], [10, 0], [10, 10], [10, 10.01]]
    plot_map(X, labels=["Brother", "Sister", "Aunt", "Father", "Mother"], ax=ax)
    assert texts(ax) == ["Aunt", "Brother / Sister", "Father / Mother"]


def test_without_merging_only_objects_at_the_same_place_share_a_label(ax):
    plot_map([[0, 0], [0, 0], [1, 0], [1, 1]], labels=list("abcd"), merge=0.0, ax=ax)
    assert texts(ax) == ["a / b", "c", "d"]


def test_a_chain_of_neighbours_is_not_one_label():
    chain = np.column_stack([np.arange(10) * 0.9, np.zeros(10)])
    places, joined = join_labels(chain, [str(i) for i in range(10)], 1.0)
    assert max(len(text.split(" / ")) for text in joined) == 2
    assert len(places) == len(joined) >= 5


def test_many_objects_at_one_place_are_counted():
    _, joined = join_labels(np.zeros((9, 2)), list("abcdefghi"), 0.0)
    assert joined == ["a / b / c / d + 5 more"]


@pytest.mark.parametrize("n", [14, 100])
def test_labels_do_not_overlap_and_stay_inside(n):
    ax = plot_map(cloud(n), labels=[f"object {i}" for i in range(n)], ax=Figure(figsize=(7, 7)).add_subplot())
    placed, frame = boxes(ax), ax.get_window_extent()
    assert len(placed) >= 0.5 * n
    assert [pair for pair in combinations(placed, 2) if pair[0].overlaps(pair[1])] == []
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 for box in placed)


def test_every_label_of_a_small_map_is_drawn():
    ax = plot_map(cloud(14), labels=list("abcdefghijklmn"), merge=0.0, ax=Figure(figsize=(5, 5)).add_subplot())
    assert texts(ax) == list("abcdefghijklmn")


def test_of_many_objects_a_selection_is_labelled(ax):
    plot_map(cloud(400), labels=range(400), max_labels=12, merge=0.0, ax=ax)
    assert 0 < len(ax.texts) <= 12
    assert len(drawn(ax)) == 400


def test_no_labels_on_request(ax):
    plot_map(pd.DataFrame(cloud(5)), max_labels=0, ax=ax)
    assert texts(ax) == []


def test_selection_is_spread_over_the_map():
    X = np.concatenate([cloud(200) * 0.01, [[10.0, 0.0], [-10.0, 0.0], [0.0, 12.0]]])
    assert set(spread(X, 4)) >= {200, 201, 202}
    np.testing.assert_array_equal(spread(X[:3], 4), [0, 1, 2])


def test_categories_get_colours_of_their_own_and_a_legend(ax):
    kind = pd.Series(["b", "a", None, "b"], index=list("wxyz"), name="kind")
    frame = pd.DataFrame(cloud(4), index=list("zyxw"))
    plot_map(frame, color=kind, ax=ax)
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "missing"]
    assert legend.get_title().get_text() == "kind"
    # Aligned by label: "a" is x, the third row of the map; "b" are z and w.
    first, second, missing = ax.collections
    np.testing.assert_array_equal(first.get_offsets(), frame.loc[["x"]])
    np.testing.assert_array_equal(second.get_offsets(), frame.loc[["z", "w"]])
    np.testing.assert_array_equal(missing.get_offsets(), frame.loc[["y"]])
    assert colors.to_hex(first.get_facecolor()[0]).upper() == OKABE_ITO[0]
    assert colors.to_hex(second.get_facecolor()[0]).upper() == OKABE_ITO[1]


def test_order_of_categories_is_kept_and_booleans_are_categories(ax):
    plot_map(cloud(3), color=pd.Categorical(["low", "high", "low"], categories=["low", "high"]), ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["low", "high"]
    other = plot_map(cloud(3), color=[True, False, True], ax=Figure().add_subplot())
    assert [text.get_text() for text in other.get_legend().get_texts()] == ["False", "True"]


def test_every_category_looks_different(ax):
    plot_map(cloud(32), color=[f"{i:02d}" for i in range(32)], ax=ax)
    looks = {
        (colors.to_hex(c.get_facecolor()[0]), tuple(c.get_paths()[0].vertices.ravel().round(3))) for c in ax.collections
    }
    assert len(looks) == 32


def test_numbers_get_a_colour_bar(ax):
    values = pd.Series([1.0, 2.5, np.nan, 4.0], name="size")
    plot_map(cloud(4), color=values, ax=ax)
    (points,) = ax.collections
    assert points.get_clim() == (1.0, 4.0)
    assert len(points.get_offsets()) == 4
    bar = points.colorbar.ax
    assert bar.get_ylabel() == "size"
    assert ax.get_legend() is None


def test_few_whole_numbers_get_a_legend_in_the_colours_of_the_scale(ax):
    grades = pd.Series([3, 1, 2, np.nan, 1], name="grade")
    plot_map(cloud(5), color=grades, ax=ax)
    (points,) = ax.collections
    assert points.colorbar is None
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["1", "2", "3", "missing"]
    assert legend.get_title().get_text() == "grade"
    ax.figure.draw_without_rendering()
    shown = [colors.to_hex(handle.get_color()) for handle in legend.legend_handles]
    drawn = [colors.to_hex(color) for color in points.get_facecolors()]
    assert shown == [drawn[1], drawn[2], drawn[0], drawn[3]]


@pytest.mark.parametrize(("number", "legend"), [(7, True), (8, False)])
def test_more_whole_numbers_than_a_legend_names_get_a_colour_bar(ax, number, legend):
    plot_map(cloud(40), color=np.arange(40) % number, ax=ax)
    assert (ax.get_legend() is not None) is legend
    assert (ax.collections[0].colorbar is None) is legend


def test_crowds_of_grades_have_a_colour_bar_for_their_means(ax):
    plot_map(cloud(300), color=np.arange(300) % 3, density=True, ax=ax)
    assert ax.get_legend() is None
    assert len(ax.figure.axes) == 2


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["conditionalmds0", "conditionalmds1"], ("dimension 1", "dimension 2")),
        (["generalmds0", "generalmds2"], ("dimension 1", "dimension 3")),
        (["pca0", "pca1"], ("dimension 1", "dimension 2")),
        (["axis1", "axis3"], ("dimension 1", "dimension 3")),
        (["x0", "x1"], ("x0", "x1")),
        (["axis 1", "size"], ("axis 1", "size")),
    ],
)
def test_axes_have_the_names_that_people_gave(ax, columns, names):
    import sklearn.decomposition  # noqa: F401 - whose estimators name their output likewise

    plot_map(pd.DataFrame(np.asarray(cloud(6))[:, :2], columns=columns), max_labels=0, ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == names


@pytest.mark.parametrize(("n", "raster"), [(2000, False), (2001, True)])
def test_points_are_rasterised_when_there_are_many(ax, n, raster):
    plot_map(cloud(n), ax=ax)
    assert bool(ax.collections[0].get_rasterized()) is raster


def test_without_axes_a_new_figure_is_made():
    with pyplot.rc_context({"backend": "Agg"}):
        before = pyplot.get_fignums()
        ax = plot_map(cloud(3))
        assert isinstance(ax, Axes)
        assert len(pyplot.get_fignums()) == len(before) + 1
        pyplot.close(ax.figure)


def test_subfigures_can_hold_maps_without_labels():
    part = Figure().subfigures(1, 2)[0]
    assert len(drawn(plot_map(cloud(3), ax=part.add_subplot()))) == 3
    with pytest.raises(ValueError, match=r"not an Axes of a plain Figure.*max_labels=0"):
        plot_map(cloud(3), labels="abc", ax=part.add_subplot())


@pytest.mark.parametrize(
    ("embedding", "options", "message"),
    [
        (np.zeros((3, 0)), {}, r"embedding has shape \(3, 0\).*at least one column"),
        (np.zeros((2, 2, 2)), {}, r"embedding has shape \(2, 2, 2\)"),
        ([[0.0, 1.0], [np.nan, 2.0]], {}, r"embedding has nan in row 1, column 0.*leave the object out"),
        (cloud(3), {"labels": ["a"]}, r"labels has 1 entries but the map has 3 objects"),
        (cloud(3), {"color": [1, 2]}, r"color has 2 entries but the map has 3 objects"),
        (
            pd.DataFrame(cloud(2), index=["a", "b"]),
            {"color": pd.Series([1, 2], index=["a", "c"])},
            r"color and embedding disagree on labels.*'a', 'c'.*color\.to_numpy\(\)",
        ),
        (cloud(3), {"merge": -0.1}, r"merge=-0.1 must be a number of at least 0"),
        (cloud(3), {"max_labels": -1}, r"max_labels=-1 must be an integer of at least 0"),
        (cloud(33), {"color": [f"c{i}" for i in range(33)]}, r"color has 33 categories.*at most 32.*join the rare"),
    ],
)
def test_bad_input_is_named(ax, embedding, options, message):
    with pytest.raises(ValueError, match=message):
        plot_map(embedding, ax=ax, **options)


def test_axes_without_a_figure_are_refused(ax):
    ax.remove()
    with pytest.raises(ValueError, match="ax belongs to no figure"):
        plot_map(cloud(3), ax=ax)


def test_importing_the_package_and_this_room_does_not_import_matplotlib():
    code = "import sys, unmask, unmask.plotting; print([m for m in sys.modules if m.startswith('matplotlib')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
