"""Curves of the stress: by number of dimensions, and by iteration."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from unmask import ConditionalClassicalMDS, ConditionalMDS
from unmask.plotting._scree import plot_scree, plot_stress_path


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4)).add_subplot()


@pytest.fixture
def table():
    columns = {"stress": [0.8, 0.3, 0.1, 0.08], "heldout": [0.9, 0.4, 0.25, 0.3], "heldout_se": [0.1, 0.05, 0.04, 0.06]}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(4, name="n_components"))
    frame.attrs.update(elbow=1, chosen=2)
    return frame


def texts(ax):
    return {text.get_text(): text.xy[0] for text in ax.texts}


def test_stress_and_held_out_error_are_drawn_with_standard_errors(table, ax):
    assert plot_scree(table, ax=ax, title="Scree") is ax
    curves = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(curves["stress of the fit"].get_xydata(), table["stress"].reset_index())
    (bars,) = ax.containers
    np.testing.assert_array_equal(bars.lines[0].get_xydata(), table["heldout"].reset_index())
    ends = np.array(bars.lines[2][0].get_segments())[:, :, 1]
    expected = np.column_stack([table["heldout"] - table["heldout_se"], table["heldout"] + table["heldout_se"]])
    np.testing.assert_allclose(ends, expected, rtol=1e-12, atol=0)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["stress of the fit", "error of held-out pairs"]
    assert ax.get_ylim()[0] == 0
    assert ax.get_title(loc="left") == "Scree"


def test_elbow_and_choice_are_marked(table, ax):
    plot_scree(table, ax=ax)
    assert texts(ax) == {"elbow": 1, "chosen": 2}
    table.attrs["elbow"] = 2
    assert texts(plot_scree(table, ax=Figure().add_subplot())) == {"elbow and chosen": 2}


def test_without_standard_errors_there_are_no_bars(table, ax):
    plot_scree(table.drop(columns="heldout_se"), ax=ax)
    assert ax.containers[0].lines[2] == ()


@pytest.mark.parametrize("given", [[0.5, 0.2], pd.Series([0.5, 0.2])])
def test_values_alone_start_at_no_dimension(given, ax):
    plot_scree(given, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), [[0, 0.5], [1, 0.2]])
    assert ax.get_legend() is None
    assert texts(ax) == {}
    assert ax.get_ylabel() == "normalised stress"


def test_dimensions_come_from_the_index_and_ticks_do_not_crowd(ax):
    plot_scree(pd.Series(np.linspace(1, 0.1, 100), index=np.arange(1, 101)), ax=ax)
    assert ax.lines[0].get_xdata()[0] == 1
    assert 5 < len(ax.get_xticks()) <= 16


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.DataFrame({"error": [1.0]}), "table has no column 'stress' but 'error'"),
        (pd.Series([1.0], index=["one"]), "table is indexed by 'one'; its index must hold the numbers of dimensions"),
        ([np.nan, np.nan], "table has no finite stress"),
        ([], "table has no finite stress"),
    ],
)
def test_a_bad_table_is_named(given, message, ax):
    with pytest.raises(ValueError, match=message):
        plot_scree(given, ax=ax)


# ---- the path


def search(path, ends):
    return SimpleNamespace(stress_path_=np.array(path), starts_=pd.DataFrame({"stress": ends}))


def test_the_path_and_the_ends_of_all_starts_are_drawn(ax, rng):
    mds = ConditionalMDS(1, n_init=5, random_state=0).fit(rng.normal(size=(12, 3)))
    assert plot_stress_path(mds, ax=ax, title="Path") is ax
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), mds.stress_path_)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(mds.n_iter_ + 1))
    (rug,) = ax.collections
    np.testing.assert_array_equal([segment[0, 1] for segment in rug.get_segments()], mds.starts_["stress"])
    assert {text.get_text() for text in ax.texts} == {f"{mds.stress_path_[-1]:.4g}", "5 starts"}
    low, high = ax.get_ylim()
    assert low < mds.starts_["stress"].min()
    assert high > mds.starts_["stress"].max()


@pytest.mark.parametrize(
    ("path", "ends", "scale"),
    [
        ([1.0, 0.5, 0.4], [0.4, 0.9], "linear"),
        ([1.0, 0.5, 0.1], [0.1], "log"),
        ([1.0, 0.5, 0.4], [0.4, 0.01], "log"),
        ([1.0, 0.5, 0.0], [0.0], "linear"),
    ],
)
def test_the_scale_is_logarithmic_where_that_helps(path, ends, scale, ax):
    plot_stress_path(search(path, ends), ax=ax)
    assert ax.get_yscale() == scale


def test_one_start_is_one(ax):
    plot_stress_path(search([1.0, 0.5], [0.5]), ax=ax)
    assert "1 start" in {text.get_text() for text in ax.texts}


def test_what_took_no_steps_is_refused(ax, rng):
    closed = ConditionalClassicalMDS(1).fit(rng.normal(size=(8, 3)))
    with pytest.raises(ValueError, match="estimator is of type ConditionalClassicalMDS and has no stress_path_"):
        plot_stress_path(closed, ax=ax)


@pytest.mark.parametrize("draw", [lambda: plot_scree([1.0, 0.5]), lambda: plot_stress_path(search([1.0, 0.5], [0.5]))])
def test_without_axes_a_figure_is_made(draw):
    ax = draw()
    assert ax.figure.number
    pyplot.close(ax.figure)
