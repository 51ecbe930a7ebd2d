"""The picture of levels and estimators."""

import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from unmask.plotting import plot_estimators


@pytest.fixture
def table():
    index = pd.MultiIndex.from_tuples(
        [("ratio", "least squares"), ("ratio", "ridge"), ("interval", "ridge")], names=["level", "estimator"]
    )
    found = pd.DataFrame({"heldout": [0.3, 0.2, 0.25], "above": [0.1, 0, 0.05], "above_se": [0.02, 0, 0.01]}, index)
    found.attrs["chosen"] = ("ratio", "ridge")
    return found


def test_a_dot_for_each_with_the_choice_filled(table):
    ax = plot_estimators(table, ax=Figure().add_subplot(), title="Which?")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ratio", "interval"]
    dots = [line for line in ax.lines if line.get_marker() in ("o", "s")]
    assert [dot.get_xdata()[0] for dot in dots] == [0.3, 0.2, 0.25]
    filled = [to_hex(dot.get_markerfacecolor()) == to_hex(dot.get_markeredgecolor()) for dot in dots]
    assert filled == [False, True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.reset_index(), "table is not indexed by level and estimator"),
        (lambda table: table.drop(columns="above"), "table lacks the columns 'above'"),
        (lambda table: table.iloc[:0], "table has no rows"),
        (lambda _: [1, 2], "table is not indexed by level and estimator"),
    ],
)
def test_other_tables_are_refused(table, change, message):
    with pytest.raises(ValueError, match=message):
        plot_estimators(change(table), ax=Figure().add_subplot())
