"""Dots beside the range of chance: what is drawn are the numbers of the report."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from unmask.inspection import leak_report
from unmask.plotting import plot_leak


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4)).add_subplot()


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    U = rng.standard_normal((60, 2))
    known = pd.DataFrame({"x": U[:, 0], "noise": rng.standard_normal(60), "coin": rng.choice(["h", "t"], 60)})
    return leak_report(U, known)


def dots(ax):
    """Place and filling of every dot."""
    return {
        (round(float(x), 9), round(float(y), 9)): line.get_markerfacecolor() != "white"
        for line in ax.lines
        if line.get_marker() in ("o", "s", "^")
        for x, y in line.get_xydata()
    }


def test_dots_ranges_and_names(report, ax):
    assert plot_leak(report, ax=ax, title="What is known") is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x", "noise", "coin", "(all)"]
    expected = {
        (round(row[measure], 9), round(at + offset, 9)): bool(row[f"{measure}_p"] <= 0.05)
        for at, (_, row) in enumerate(report.iterrows())
        for measure, offset in (("linear", -0.12), ("neighbours", 0.12))
    }
    assert dots(ax) == expected
    assert set(expected.values()) == {True, False}
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    references = report[["linear_reference", "neighbours_reference"]].to_numpy().T.ravel()
    np.testing.assert_allclose(ends, references, rtol=1e-12)
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == [
        "along a line",
        "told by neighbours",
        "95% of chance",
    ]
    assert ax.get_title(loc="left") == "What is known"


def test_everything_is_within_the_limits(report, ax):
    plot_leak(report.assign(neighbours=[-0.9, -0.1, 0.3, 0.0]), ax=ax)
    low, high = ax.get_xlim()
    assert all(low < x < high for x, _ in dots(ax))
    of_shares = [bar.get_x() for bar in ax.patches][6]  # the share of right guesses of a coin cannot be below 0
    assert of_shares == 0.0


def test_what_is_no_report_is_refused(report):
    with pytest.raises(ValueError, match="report is of type list; pass the table that leak_report returns"):
        plot_leak([1, 2])
    with pytest.raises(ValueError, match="report lacks the columns 'neighbours', 'neighbours_p'"):
        plot_leak(report.drop(columns=["neighbours", "neighbours_p"]))
    with pytest.raises(ValueError, match="report has no rows: nothing was known"):
        plot_leak(report.iloc[:0])
    with pytest.raises(ValueError, match="ax is of type str"):
        plot_leak(report, ax="here")
