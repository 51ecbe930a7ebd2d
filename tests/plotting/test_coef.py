"""Coefficients and importance of known features as pictures."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from unmask import ConditionalMDS
from unmask.plotting._coef import plot_coef, plot_importance


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4)).add_subplot()


@pytest.fixture
def B():
    return pd.DataFrame([[2.0, -0.5], [-0.5, 1.0]], index=["age", "size"], columns=["age", "size"])


def square(q, scale=1.0):
    values = scale * np.random.default_rng(0).normal(size=(q, q))
    names = [f"f{i}" for i in range(q)]
    return pd.DataFrame(values, index=names, columns=names)


def shown(ax):
    return np.asarray(ax.images[0].get_array())


def texts(ax):
    return [text.get_text() for text in ax.texts]


# ---- coefficients


def test_colours_are_centred_at_zero_and_cells_are_written(B, ax):
    assert plot_coef(B, ax=ax) is ax
    np.testing.assert_array_equal(shown(ax), B)
    assert ax.images[0].get_clim() == (-2.0, 2.0)
    assert texts(ax) == ["2.00", "-0.50", "-0.50", "1.00"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["age", "size"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["age", "size"]
    assert ax.get_title(loc="left") == "B"
    assert ax.images[0].colorbar is not None


def test_the_product_is_that_of_the_matrix(ax):
    B = square(3)
    plot_coef(B, kind="BBt", ax=ax, title="Gram")
    np.testing.assert_allclose(shown(ax), B.to_numpy() @ B.to_numpy().T, rtol=1e-12, atol=0)
    assert ax.get_title(loc="left") == "Gram"


def test_both_are_drawn_on_two_axes(B):
    pair = Figure().subplots(1, 2)
    assert plot_coef(B, kind="both", ax=pair) is pair
    np.testing.assert_array_equal(shown(pair[0]), B)
    np.testing.assert_array_equal(shown(pair[1]), [[4.25, -1.5], [-1.5, 1.25]])
    assert [one.get_title(loc="left") for one in pair] == ["B", "BBᵀ"]


def test_a_fitted_estimator_shows_its_coefficients(rng, ax):
    mds = ConditionalMDS(1, n_init=1, random_state=0).fit(rng.normal(size=(12, 3)), known=rng.normal(size=(12, 2)))
    plot_coef(mds, ax=ax)
    np.testing.assert_array_equal(shown(ax), mds.coef_)


@pytest.mark.parametrize(
    ("largest", "written"),
    [
        (20_000.0, ["20000", "0"]),
        (45.21, ["45.2", "0.0"]),
        (0.00123, ["0.00123", "0.00000"]),
        (1e-7, ["1.0e-07", "0.0e+00"]),
    ],
)
def test_numbers_show_three_digits_of_the_largest_and_no_negative_zero(largest, written, ax):
    names = ["a", "b"]
    plot_coef(pd.DataFrame(np.diag([largest, -largest * 1e-9]), index=names, columns=names), ax=ax)
    assert texts(ax)[0] == written[0]
    assert texts(ax)[1] == written[1]
    assert float(texts(ax)[3]) == 0 or largest < 1e-6
    assert not texts(ax)[1].startswith("-")


def test_many_features_are_neither_written_nor_all_named(ax):
    plot_coef(square(100), ax=ax)
    assert texts(ax) == []
    assert 20 <= len(ax.get_xticks()) <= 40


def test_zero_coefficients_are_white(ax):
    plot_coef(square(2) * 0, ax=ax)
    assert ax.images[0].get_clim() == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([[1.0]], {}, "is of type list and has no coef_; pass a fitted estimator"),
        (ConditionalMDS(), {}, "is of type ConditionalMDS and has no coef_"),
        (square(2).iloc[:1], {}, r"has shape \(1, 2\) but coefficients are square"),
        (square(0), {}, "has no coefficients: nothing was known"),
        (square(2) * np.nan, {}, "has coefficients that are not finite"),
        (square(2), {"kind": "C"}, "kind='C' is not one of 'B', 'BBt', 'both'"),
        (square(2), {"kind": "both"}, "ax has 1 Axes but kind='both' needs two of one figure"),
        (square(2), {"kind": "both", "title": "T"}, "title='T' with kind='both'"),
    ],
)
def test_bad_coefficients_are_named(given, options, message, ax):
    with pytest.raises(ValueError, match=message):
        plot_coef(given, ax=ax, **options)


# ---- importance


@pytest.fixture
def table():
    return pd.DataFrame(
        {"raw": [0.1, np.nan, 7.0], "standardized": [0.4, 1.2, 0.8], "low": [0.1, 1.0, 0.7], "high": [0.9, 1.3, 1.0]},
        index=["age", "group", "size"],
    )


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_most_important_is_at_the_top(table, ax):
    assert plot_importance(table[["raw", "standardized"]], ax=ax, title="What counts") is ax
    assert names(ax) == ["group", "size", "age"]
    assert ax.yaxis_inverted()
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(dots.get_xydata(), [[1.2, 0], [0.8, 1], [0.4, 2]])
    assert len(ax.collections) == 1  # stems, and no intervals
    assert ax.get_xlabel() == "distance per standard deviation"


def test_intervals_go_with_their_features(table, ax):
    plot_importance(table, ax=ax)
    _, intervals = ax.collections
    segments = np.array(intervals.get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], [[1.0, 1.3], [0.7, 1.0], [0.1, 0.9]])
    np.testing.assert_array_equal(segments[:, 0, 1], [0, 1, 2])


def test_what_is_not_defined_says_so(table, ax):
    plot_importance(table[["raw"]], column="raw", ax=ax)
    assert names(ax) == ["size", "age", "group"]
    assert [(text.get_text().strip(), text.get_position()[1]) for text in ax.texts] == [("not defined", 2)]


def test_how_many_are_left_out_is_said(ax):
    plot_importance(pd.DataFrame({"standardized": np.arange(50.0)}), max_features=10, ax=ax)
    assert names(ax) == [str(i) for i in range(49, 39, -1)]
    assert ax.get_xlabel() == "distance per standard deviation (40 smaller ones not shown)"


def test_a_fitted_estimator_shows_its_importance(rng, ax):
    known = pd.DataFrame(rng.normal(size=(12, 2)), columns=["a", "b"])
    mds = ConditionalMDS(1, n_init=1, random_state=0).fit(rng.normal(size=(12, 3)), known=known)
    plot_importance(mds, ax=ax)
    assert sorted(names(ax)) == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: t.to_numpy(), {}, "is of type ndarray and has no importance_"),
        (lambda t: t, {"column": "size"}, "column='size' is not in the table of importance, which has 'raw'"),
        (lambda t: t.iloc[:0], {}, "has no rows of importance: nothing was known"),
        (lambda t: t.drop(columns="high"), {}, "has only one of the columns 'low' and 'high'"),
        (lambda t: t, {"max_features": 0}, "max_features=0 must be an integer of at least 1"),
    ],
)
def test_bad_importance_is_named(table, change, options, message, ax):
    with pytest.raises(ValueError, match=message):
        plot_importance(change(table), ax=ax, **options)


@pytest.mark.parametrize(
    "draw", [plot_coef, lambda B: plot_coef(B, kind="both")[0], lambda B: plot_importance(B, column="age")]
)
def test_without_axes_a_figure_is_made(draw, B):
    ax = draw(B)
    assert ax.figure.number
    pyplot.close(ax.figure)
