"""How results and progress are shown."""

import numpy as np
import pandas as pd

from unmask.cli._output import Output, as_text, as_text_table
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


def test_a_warning_is_given_once(capsys):
    output = Output(quiet=True)
    output.warn("slow")
    output.warn("slow")
    assert capsys.readouterr().err == "Warning: slow\n"
    assert output.warnings == ["slow"]
