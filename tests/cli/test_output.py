"""How results and progress are shown."""

import numpy as np
import pandas as pd
import pytest

from unmask import Progress
from unmask.cli._fitting import make_meter
from unmask.cli._output import Output, as_text, as_text_table, one_line, progress
from unmask.io import plain_data


def test_cells():
    assert [as_text(cell) for cell in (0.1234567, float("nan"), True, False, None, 3, "x")] == [
        "0.123457",
        "-",
        "yes",
        "no",
        "-",
        "3",
        "x",
    ]


def test_columns_of_numbers_have_the_decimals_of_their_largest(capsys):
    frame = pd.DataFrame(
        {"a": [12.3456, -0.5, np.nan], "b": [0.0, 0.0, 0.0], "c": [1e-12, 0.0, np.inf], "d": ["x"] * 3}
    )
    Output().show(frame)
    rows = [line.strip("│\n").split("│") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [cell.strip() for cell in rows[0]] == ["0", "12.35", "0", "1e-12", "x"]
    assert [cell.strip() for cell in rows[1]] == ["1", "-0.50", "0", "0", "x"]
    assert [cell.strip() for cell in rows[2]] == ["2", "-", "0", "inf", "x"]
    assert as_text_table(frame).row_count == 3


def test_a_number_that_is_not_zero_is_not_printed_as_zero():
    frame = pd.DataFrame({"stress": [0.58, 0.06, 6e-7, 0.0, -0.0, -2e-9]})
    cells = [str(cell) for cell in as_text_table(frame).columns[1].cells]
    assert cells == ["0.5800", "0.0600", "6.0e-07", "0.0000", "0.0000", "-2.0e-09"]


def test_what_is_no_number_becomes_null():
    assert plain_data({"a": float("nan"), "b": np.float64(2), "c": pd.DataFrame({"x": [np.nan, 1.0]})}) == {
        "a": None,
        "b": 2.0,
        "c": [{"x": None}, {"x": 1.0}],
    }


def test_parameters_are_called_by_the_names_of_options():
    assert one_line("\n  n_components=3 is too many; lower it.\nmore") == "--dim 3 is too many; lower it."
    assert one_line("file n_init.csv has no column 'max_iter'") == "file n_init.csv has no column 'max_iter'"
    assert one_line("pass index=False to take") == "pass --index none to take"
    assert one_line("") == ""


def test_a_warning_is_given_once(capsys):
    output = Output(quiet=True)
    output.warn("slow")
    output.warn("slow")
    assert capsys.readouterr().err == "Warning: slow\n"
    assert output.warnings == ["slow"]


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_shown_to_whoever_watches(monkeypatch, capsys, quiet):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress(Output(quiet=quiet), "Working", 4) as advance:
        advance(3)
    assert ("Working" in capsys.readouterr().err) is not quiet


def test_nobody_watches_a_file(capsys):
    with progress(Output(), "Working", 4) as advance:
        advance(3)
    assert capsys.readouterr().err == ""


def test_a_meter_says_where_the_search_is_and_how_long_it_takes():
    told = []
    meter = make_meter(lambda *words: told.append(words), "Fitting")
    meter.begin("paths", 0)
    meter.begin("search", 2)
    for iteration in range(9):
        at = Progress("search", iteration, 2.0**-iteration, 1, 2, max_iter=100, tol=2.0**-17)
        assert not meter.update(at)
    assert told[0] == (0.0, "Finding shortest paths")
    share, text, left = told[-1]
    assert text == "Fitting: start 1 of 2, iteration 8, stress 0.00390625"
    assert left.startswith("about 0 s left")
    # The eighth decrease is 2^-8, the seventeenth 2^-17, and three small ones end a start.
    assert share == pytest.approx(8 / (8 + 9 + 3) / 2)
    meter.end(at, True)
    meter.update(Progress("search", 0, 1.0, 2, 2, max_iter=100, tol=2.0**-17))
    assert told[-1][0] == 0.5
