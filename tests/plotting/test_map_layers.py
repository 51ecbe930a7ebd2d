"""What lies on a map besides its points and labels: shapes, arrows, ellipses, pictures, and hexagons for crowds."""

import contextlib
import io
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import colormaps, colors, image
from matplotlib.collections import EllipseCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.path import Path
from scipy.stats import chi2
from sklearn.linear_model import LinearRegression

from unmask import ConditionalMDS
from unmask.inspection import bootstrap
from unmask.plotting._color import MISSING, OKABE_ITO, SHAPES
from unmask.plotting._labels import Labels, draw_labels, obstacles_of, spread
from unmask.plotting._layers import Arrows, Ellipses
from unmask.plotting._map import plot_map


@pytest.fixture
def ax():
    return Figure(figsize=(5, 5)).add_subplot()


def cloud(n, columns=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, columns))


def scatters(ax):
    return [artist for artist in ax.collections if isinstance(artist, PathCollection)]


def legends(ax):
    """Return, by title, the entries of all legends of the Axes."""
    found = [artist for artist in ax.get_children() if isinstance(artist, Legend)]
    return {one.get_title().get_text(): [text.get_text() for text in one.get_texts()] for one in found}


def outline(scatter):
    return tuple(scatter.get_paths()[0].vertices.ravel().round(3))


def look_at(ax):
    ax.figure.draw_without_rendering()


# ---- shapes


def test_shapes_alone_have_one_colour_and_a_legend(ax):
    kind = pd.Series(["x", "y", "x", "z"], name="kind")
    X = cloud(4)
    plot_map(X, shape=kind, ax=ax)
    assert legends(ax) == {"kind": ["x", "y", "z"]}
    assert {colors.to_hex(c) for one in scatters(ax) for c in one.get_facecolor()} == {OKABE_ITO[0].lower()}
    assert len({outline(one) for one in scatters(ax)}) == 3
    np.testing.assert_array_equal(scatters(ax)[0].get_offsets(), X[[0, 2]])


def test_shape_and_colour_go_together_and_each_has_its_legend(ax):
    frame = pd.DataFrame([[0.0, 0.0], [1.0, 3.0], [4.0, 1.0], [2.0, 2.0]], index=list("abcd"))
    hue = pd.Series(["warm", "cold", "warm", "cold"], index=list("abcd"), name="hue")
    kind = pd.Series(["y", "x", "x", "x"], index=list("dcba"), name="kind")  # only d is "y"
    plot_map(frame, color=hue, shape=kind, ax=ax, title="Both")
    assert legends(ax) == {"kind": ["x", "y"], "hue": ["cold", "warm"]}
    looks = {tuple(one.get_offsets()[0]): (colors.to_hex(one.get_facecolor()[0]), outline(one)) for one in scatters(ax)}
    cold_x, cold_y, warm_x = looks[(1.0, 3.0)], looks[(2.0, 2.0)], looks[(0.0, 0.0)]
    assert cold_x[0] == cold_y[0] == OKABE_ITO[0].lower()
    assert warm_x[0] == OKABE_ITO[1].lower()
    assert cold_x[1] == warm_x[1] != cold_y[1]


def test_legends_and_title_do_not_overlap(ax):
    plot_map(cloud(12), color=list("abcdef" * 2), shape=list("xyz" * 4), title="Title", ax=ax)
    look_at(ax)
    renderer = ax.figure._get_renderer()
    boxes = [one.get_window_extent(renderer) for one in ax.get_children() if isinstance(one, Legend)]
    boxes.append(ax._left_title.get_window_extent(renderer))
    heights = sorted((box.y0, box.y1) for box in boxes)
    assert len(heights) == 3
    assert all(below[1] <= above[0] + 1.0 for below, above in pairwise(heights))
    assert heights[0][0] >= ax.get_window_extent().y1 - 1.0


def test_numbers_keep_one_scale_over_all_shapes(ax):
    values = np.array([0.0, 1.5, 2.0, np.nan, 4.0])
    plot_map(cloud(5), color=values, shape=list("xxyyy"), ax=ax)
    assert [one.get_clim() for one in scatters(ax)] == [(0.0, 4.0)] * 2
    assert len([one for one in scatters(ax) if one.colorbar is not None]) == 1


def test_grades_and_shapes_have_a_legend_each(ax):
    grades = pd.Series([1, 2, 3, 1, 2], name="grade")
    plot_map(cloud(5), color=grades, shape=pd.Series(list("xxyyy"), name="kind"), ax=ax)
    legends = [one for one in ax.get_children() if isinstance(one, Legend)]
    assert sorted(one.get_title().get_text() for one in legends) == ["grade", "kind"]
    plot_map(cloud(5), color=grades + 0.5, shape=list("xxyyy"), ax=(bar := Figure().add_subplot()))
    assert len([one for one in bar.get_children() if isinstance(one, Legend)]) == 1


def test_missing_shapes_are_crosses(ax):
    plot_map(cloud(3), shape=["x", None, "y"], ax=ax)
    assert list(legends(ax).values()) == [["x", "y", "missing"]]
    assert scatters(ax)[-1].get_paths()[0].codes[-1] != Path.CLOSEPOLY
    np.testing.assert_array_equal(scatters(ax)[-1].get_offsets(), cloud(3)[[1]])


# ---- arrows


def test_arrows_have_the_direction_of_the_regression_and_the_length_of_the_correlation():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2)) * [3.0, 1.0] + [10.0, -4.0]
    table = pd.DataFrame(
        {"a": X @ [1.0, 2.0] + rng.normal(size=60), "b": 1e6 - 1e3 * X[:, 0], "c": rng.normal(size=60)}
    )
    found = Arrows.of(X, table)
    for name, tip in zip(found.names, found.tips, strict=True):
        model = LinearRegression().fit(X, table[name])
        arrow = (tip - X.mean(axis=0)) / found.reach
        direction = model.coef_ / np.linalg.norm(model.coef_)
        np.testing.assert_allclose(arrow, np.sqrt(model.score(X, table[name])) * direction, rtol=1e-9, atol=1e-12)
    assert found.names == ["a", "b", "c"]
    np.testing.assert_allclose(found.tips[1], X.mean(axis=0) - [found.reach, 0.0], rtol=1e-9, atol=1e-9)


def test_arrows_are_drawn_labelled_and_inside(ax):
    index = [f"o{i}" for i in range(30)]
    frame = pd.DataFrame(cloud(30), index=index)
    features = pd.DataFrame({"east": frame[0], "south": -frame[1]}, index=index).iloc[::-1]  # aligned by label
    plot_map(frame, arrows=features, max_labels=0, ax=ax)
    written = {text.get_text(): text for text in ax.texts if text.get_text()}
    assert sorted(written) == ["east", "south"]
    tips = [text.xy for text in ax.texts if not text.get_text()]
    look_at(ax)
    inside = ax.transAxes.inverted().transform(ax.transData.transform(tips))
    assert inside.min() > 0
    assert inside.max() < 1
    reach = np.ptp(frame.to_numpy(), axis=0).max() / 2
    np.testing.assert_allclose(np.asarray(tips[0]) - frame.mean(), [reach, 0.0], rtol=1e-9, atol=1e-9)


def test_labels_of_arrows_are_drawn_even_where_there_is_no_room(ax):
    ax.set(xlim=(0, 1), ylim=(0, 1))
    everywhere = np.stack(np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)), axis=-1).reshape(-1, 2)
    place = np.array([[0.5, 0.5]])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        draw_labels(ax, [Labels(place, ["may go"]), Labels(place, ["must stay"], needed=True)], everywhere)
    assert [text.get_text() for text in ax.texts] == ["must stay"]
    assert printed.getvalue() == ""


def test_a_feature_of_a_map_along_a_line_points_along_it():
    x = np.array([0.0, 1.0, 2.0, 5.0])
    found = Arrows.of(np.column_stack([x, np.zeros(4)]), pd.DataFrame({"up": x}))
    np.testing.assert_allclose(found.tips, [[2.0 + 2.5, 0.0]], rtol=1e-12, atol=1e-12)


# ---- ellipses


def test_ellipses_have_the_sides_and_angles_of_their_covariances(ax):
    turn = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    covariances = np.array([np.diag([4.0, 1.0]), np.diag([1.0, 9.0]), turn @ np.diag([4.0, 1.0]) @ turn.T])
    X = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    plot_map(X, ellipses=covariances, level=0.9, ax=ax)
    (drawn,) = [one for one in ax.collections if isinstance(one, EllipseCollection)]
    root = np.sqrt(chi2.ppf(0.9, 2))
    np.testing.assert_allclose(drawn.get_widths(), 2 * root * np.array([2.0, 3.0, 2.0]), rtol=1e-12, atol=0)
    np.testing.assert_allclose(drawn.get_heights(), 2 * root * np.ones(3), rtol=1e-12, atol=0)
    np.testing.assert_allclose(drawn.get_angles() % 180, [0.0, 90.0, np.degrees(0.5)], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(drawn.get_offsets(), X)


def test_ellipses_lie_inside_the_picture_in_the_colours_of_their_points(ax):
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    plot_map(X, ellipses=[np.eye(2) * 100, np.eye(2)], color=["a", "b"], centres=X + 1, ax=ax)
    (drawn,) = [one for one in ax.collections if isinstance(one, EllipseCollection)]
    np.testing.assert_array_equal(drawn.get_offsets(), X + 1)
    assert [colors.to_hex(color).upper() for color in drawn.get_edgecolor()] == list(OKABE_ITO[:2])
    half = 10 * np.sqrt(chi2.ppf(0.95, 2))
    assert ax.get_xlim()[0] < 1 - half
    assert ax.get_ylim()[1] > 1 + half


def test_an_ellipse_holds_its_share_of_a_normal_distribution():
    covariance = np.array([[2.0, 1.2], [1.2, 1.0]])
    sample = np.random.default_rng(0).multivariate_normal([0, 0], covariance, size=40_000)
    radius = Ellipses.of(np.zeros((1, 2)), covariance[None], None, 0.8).radius
    inside = np.einsum("ni,ij,nj->n", sample, np.linalg.inv(covariance), sample) <= radius**2
    assert inside.mean() == pytest.approx(0.8, abs=0.01)  # five standard errors


# ---- pictures


def thumbnails(ax):
    return [artist for artist in ax.get_children() if isinstance(artist, AnnotationBbox)]


def test_pictures_are_drawn_at_their_points_in_the_given_size(tmp_path):
    path = tmp_path / "picture.png"
    image.imsave(path, np.zeros((40, 20, 3)))
    X = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    pictures = [np.eye(8), np.zeros((16, 8, 3), dtype=np.uint8), str(path), None]
    ax = plot_map(X, images=pictures, image_size=24, ax=Figure(figsize=(5, 5)).add_subplot())
    look_at(ax)
    assert {one.xy for one in thumbnails(ax)} == {(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)}
    for one in thumbnails(ax):
        box = one.offsetbox.get_window_extent(ax.figure._get_renderer())
        assert max(box.width, box.height) == pytest.approx(24 * ax.figure.dpi / 72, abs=2)


def test_pictures_do_not_overlap_and_their_number_has_a_limit():
    X = cloud(300)
    ax = plot_map(X, images=[np.eye(4)] * 300, ax=Figure(figsize=(5, 5)).add_subplot())
    look_at(ax)
    boxes = [one.get_window_extent(ax.figure._get_renderer()) for one in thumbnails(ax)]
    assert 10 < len(boxes) <= 60
    centres = np.array([[(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2] for box in boxes])
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 1e9 * np.eye(len(boxes))
    assert gaps.min() >= 30 * ax.figure.dpi / 72
    other = plot_map(X, images=[np.eye(4)] * 300, max_images=7, ax=Figure(figsize=(5, 5)).add_subplot())
    assert len(thumbnails(other)) == 7


def test_pictures_are_framed_in_their_colours_and_stored_small(ax):
    plot_map([[0.0, 0.0], [9.0, 9.0]], images=[np.zeros((1000, 600)), np.eye(3)], color=["a", "b"], ax=ax)
    by_place = {one.xy: one for one in thumbnails(ax)}
    assert colors.to_hex(by_place[(9.0, 9.0)].patch.get_edgecolor()).upper() == OKABE_ITO[1]
    assert max(by_place[(0.0, 0.0)].offsetbox.get_data().shape) <= 512


def test_labels_keep_clear_of_pictures():
    X = cloud(6)
    ax = plot_map(X, images=[np.eye(4)] * 6, labels=list("abcdef"), ax=Figure(figsize=(6, 6)).add_subplot())
    look_at(ax)
    renderer = ax.figure._get_renderer()
    pictures = [one.offsetbox.get_window_extent(renderer) for one in thumbnails(ax)]
    texts = [text.get_window_extent(renderer) for text in ax.texts]
    assert texts
    assert not [1 for text in texts for picture in pictures if text.overlaps(picture)]


def test_no_pictures_at_all_are_no_pictures(ax):
    plot_map(cloud(3), images=[None] * 3, ax=ax)
    assert thumbnails(ax) == []


# ---- crowds


def hexagons(ax):
    return [one for one in ax.collections if type(one) is PolyCollection]


@pytest.mark.parametrize(("n", "crowd"), [(20_000, False), (20_001, True)])
def test_above_a_number_of_objects_crowds_become_hexagons(ax, n, crowd):
    plot_map(cloud(n), ax=ax)
    assert bool(hexagons(ax)) is crowd


def test_crowds_are_counted_and_the_others_are_points(ax):
    X = np.concatenate([np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [500, 3, 2], axis=0), [[0.0, 1.0]]])
    plot_map(X, density=True, ax=ax)
    (drawn,), (points,) = hexagons(ax), scatters(ax)
    assert sorted(drawn.get_array()) == [3, 500]  # two objects are no crowd
    assert len(points.get_offsets()) == len(X)
    assert drawn.norm.__class__.__name__ == "LogNorm"
    assert drawn.get_rasterized()
    assert points.get_rasterized()
    assert drawn.get_zorder() > points.get_zorder()
    assert drawn.colorbar.ax.get_ylabel() == "objects in a hexagon"


def test_crowds_show_the_mean_of_numbers(ax):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]], [4, 4, 1], axis=0)
    values = np.array([1.0, 2.0, np.nan, 3.0, np.nan, np.nan, np.nan, np.nan, 10.0])
    plot_map(X, color=pd.Series(values, name="size"), density=True, ax=ax)
    (drawn,) = hexagons(ax)
    assert drawn.get_array().tolist() == [2.0]  # where nothing is known the grey points show
    assert drawn.get_clim() == (1.0, 10.0)


def test_crowds_show_the_most_frequent_category(ax):
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [10, 4, 2], axis=0)
    kinds = pd.Series(["a"] * 3 + ["b"] * 7 + [None] * 3 + ["a"] + ["a"] * 2, name="kind")
    plot_map(X, color=kinds, density=True, ax=ax)
    (drawn,) = hexagons(ax)
    drawn.update_scalarmappable()
    shown = {
        tuple(place): colors.to_hex(color)
        for place, color in zip(drawn.get_offsets(), drawn.get_facecolor(), strict=True)
    }
    assert set(shown.values()) == {OKABE_ITO[1].lower(), colors.to_hex(MISSING)}
    assert legends(ax) == {"kind": ["a", "b", "missing"]}


def test_ordered_categories_have_the_colours_of_a_scale(ax):
    sizes = pd.Categorical(["s", "m", "l", "m"], categories=["s", "m", "l"], ordered=True)
    plot_map(cloud(4), color=pd.Series(sizes, name="size"), ax=ax)
    shown = [colors.to_hex(one.get_facecolor()[0]) for one in scatters(ax)]
    assert shown == [colors.to_hex(colormaps["viridis"](share)) for share in (0.0, 0.5, 1.0)]
    assert legends(ax) == {"size": ["s", "m", "l"]}


def test_categories_of_a_crowd_keep_their_legend(ax):
    plot_map(cloud(3000), color=["a", "b", "c"] * 1000, density=True, ax=ax)
    assert legends(ax) == {"": ["a", "b", "c"]}
    assert ax.get_xlim()[0] < cloud(3000)[:, 0].min()


def test_shapes_keep_their_points_faint_and_rasterised_in_a_crowd(ax):
    plot_map(cloud(20_001), shape=["a", "b", "c"] * 6667, ax=ax)
    assert hexagons(ax) == []
    assert sum(len(one.get_offsets()) for one in scatters(ax)) == 20_001
    assert {one.get_alpha() for one in scatters(ax)} == {0.15}
    assert all(one.get_rasterized() for one in scatters(ax))


def test_a_crowd_along_a_line_stays_points(ax):
    plot_map(cloud(20_001, columns=1), ax=ax)
    assert hexagons(ax) == []


def test_a_crowd_is_labelled_outside_of_it():
    X = cloud(30_000)
    ax = plot_map(X, labels=range(30_000), max_labels=20, ax=Figure(figsize=(6, 6)).add_subplot())
    assert 0 < len(ax.texts) <= 20
    assert all(text.get_path_effects() for text in ax.texts)


def test_selections_of_very_many_points_are_spread_as_those_of_fewer():
    X = np.concatenate([cloud(30_000) * 0.1, [[10.0, 0.0], [-10.0, 0.0], [0.0, 12.0]]])
    assert set(spread(X, 4)) >= {30_000, 30_001, 30_002}
    assert len(obstacles_of(X)) < 2000
    apart = spread(X, 50, 3.0)
    gaps = np.linalg.norm(X[apart][:, None] - X[apart][None], axis=2) + 1e9 * np.eye(len(apart))
    assert gaps.min() >= 3.0
    assert len(apart) == 4


# ---- refusals

COVARIANCES = np.array([np.eye(2)] * 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": ["a", "b"]}, r"shape has 2 entries but the map has 3 objects"),
        ({"arrows": np.zeros((3, 1))}, r"arrows has columns in which all objects are the same: '0'; leave them out"),
        ({"arrows": [[1.0], [np.nan], [2.0]]}, r"arrows has nan in row 1 of column '0'; every cell must be a finite"),
        ({"arrows": pd.DataFrame({"k": list("abc")})}, r"arrows: column 'k' holds text \('a'\)"),
        ({"arrows": [[1.0], [2.0]]}, r"arrows has 2 entries but the map has 3 objects"),
        ({"ellipses": np.eye(2)}, r"ellipses has shape \(2, 2\) but must have \(3, 2, 2\)"),
        ({"ellipses": COVARIANCES, "level": 95}, r"level=95 must be above 0 and below 1"),
        ({"ellipses": -COVARIANCES}, r"ellipses has .* for object 0, which is no covariance matrix"),
        ({"ellipses": COVARIANCES * np.nan}, r"ellipses has .* for object 0, which is no covariance matrix"),
        ({"ellipses": COVARIANCES + np.array([[0, 1], [0, 0]])}, r"object 0, which is no covariance matrix"),
        ({"ellipses": COVARIANCES, "centres": [[0, 0]]}, r"centres has shape \(1, 2\) but must be a finite table"),
        ({"centres": cloud(3)}, r"centres is given without ellipses"),
        ({"images": [np.eye(2)] * 2}, r"images has 2 entries but the map has 3 objects"),
        ({"images": [np.zeros(3)] * 3}, r"images\[0\] has shape \(3,\) and type float64; pass rows x columns"),
        ({"images": [np.zeros((2, 2, 5))] * 3}, r"images\[0\] has shape \(2, 2, 5\)"),
        ({"images": ["nowhere.png"] * 3}, r"images\[0\]='nowhere.png' cannot be read as a picture"),
        ({"images": [__file__] * 3}, r"images\[0\]=.* cannot be read as a picture"),
        ({"image_size": 0}, r"image_size=0 must be a number of at least 1"),
        ({"max_images": -1}, r"max_images=-1 must be an integer of at least 0"),
        ({"density": "yes"}, r"density='yes' must be 'auto', True or False"),
        ({"density": True, "shape": list("abc")}, r"density=True cannot be drawn, because a crowd has no shape"),
    ],
)
def test_bad_input_is_named(ax, options, message):
    with pytest.raises(ValueError, match=message):
        plot_map(cloud(3), ax=ax, **options)


def test_too_many_shapes_are_refused(ax):
    with pytest.raises(ValueError, match=rf"shape has 9 categories, of which at most {len(SHAPES)} can be told apart"):
        plot_map(cloud(9), shape=list("abcdefghi"), ax=ax)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ellipses": COVARIANCES}, "ellipses needs two dimensions but embedding has one column"),
        ({"density": True}, "density=True cannot be drawn, because all points lie on a line"),
    ],
)
def test_a_line_has_neither_ellipses_nor_cells(ax, options, message):
    with pytest.raises(ValueError, match=message):
        plot_map(cloud(3, columns=1), ax=ax, **options)


def test_what_is_no_axes_is_refused():
    with pytest.raises(ValueError, match="ax is of type list; pass a matplotlib Axes"):
        plot_map(cloud(3), ax=[])


# ---- ellipses of a bootstrap, and maps of estimators


def conditional(p=2, **options):
    return ConditionalMDS(p, metric="precomputed", n_init=2, random_state=0, **options)


def drawn_ellipses(ax):
    (drawn,) = ax.findobj(EllipseCollection)
    return drawn.get_offsets(), np.column_stack([drawn.get_widths(), drawn.get_heights(), drawn.get_angles()])


def test_ellipses_of_a_bootstrap_follow_the_labels_of_the_map(ax, kinship, rng):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    found = bootstrap(conditional(), D, known, n_resamples=5, level=0.8)
    U = found.objects[["axis1", "axis2"]]
    order = rng.permutation(14)
    places, shapes = drawn_ellipses(plot_map(U, ellipses=found, ax=ax))
    shuffled, other = drawn_ellipses(plot_map(U.iloc[order], ellipses=found, ax=Figure().add_subplot()))
    np.testing.assert_allclose(shuffled, places[order], rtol=1e-12)
    np.testing.assert_allclose(other, shapes[order], rtol=1e-12)
    # The ellipses reach as far as the table says, at the level for which they were made.
    np.testing.assert_allclose(shapes[:, 0] / 2, found.objects["major"], rtol=1e-9)
    np.testing.assert_allclose(shapes[:, 1] / 2, found.objects["minor"], rtol=1e-9)


def test_of_three_dimensions_the_ellipses_of_the_first_two_are_drawn(ax, kinship):
    found = bootstrap(conditional(3), kinship.dissimilarities, n_resamples=6)
    _, shapes = drawn_ellipses(plot_map(found.objects[["axis1", "axis2", "axis3"]], ellipses=found, ax=ax))
    expected = 2 * np.sqrt(chi2.ppf(0.95, 2) * np.linalg.eigvalsh(found.covariances[:, :2, :2]))
    np.testing.assert_allclose(shapes[:, :2], expected[:, ::-1], rtol=1e-6, atol=1e-9)


def test_ellipses_of_another_map_are_refused(ax, kinship):
    found = bootstrap(conditional(), kinship.dissimilarities, n_resamples=3)
    U = found.objects[["axis1", "axis2"]]
    for other in (-U, U.to_numpy()[::-1], U.to_numpy()[:, ::-1]):
        with pytest.raises(ValueError, match="ellipses belong to another map than embedding"):
            plot_map(other, ellipses=found, ax=ax)


@pytest.mark.parametrize("labelled", [True, False])
def test_a_fitted_estimator_is_its_map(ax, kinship, labelled):
    D = kinship.dissimilarities if labelled else kinship.dissimilarities.to_numpy()
    mds = conditional().fit(D)
    plot_map(mds, ellipses=bootstrap(conditional(), D, n_resamples=3), ax=ax)
    np.testing.assert_array_equal(drawn_ellipses(ax)[0], mds.embedding_)
    assert bool(ax.texts) == labelled
    assert ax.get_xlabel() == ""
