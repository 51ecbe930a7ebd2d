"""Tables of a study in files: cells of every type, there and back."""

import numpy as np
import pandas as pd
import pytest

from unmask.discovery._tables import WrongTableError, describe, from_cells, header_of, read_cells, to_cells, to_frame

COLUMNS = {
    "float": pd.Series([0.1, np.nan, 1e-300, -np.inf]),
    "int": pd.Series([1, -(2**60), 0, 7]),
    "bool": pd.Series([True, False, True, True]),
    "text": pd.Series(["a", "", None, "1"], dtype=object),
    "cells": pd.Series(["a", 1, None, (2.5, "x")], dtype=object),
    "category": pd.Series(pd.Categorical(["lo", None, "hi", "lo"], ["lo", "hi"], ordered=True)),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_described_written_and_read_back(kind):
    column = COLUMNS[kind].rename("x")
    described = describe(column)
    assert described["kind"] == kind
    back = from_cells(to_cells(column, described).tolist(), described, column.index)
    pd.testing.assert_series_equal(back, column, check_exact=True)


def test_levels_with_the_same_text_stay_apart():
    column = pd.Series(pd.Categorical([1, "1", 1], [1, "1"]), name="x")
    described = describe(column)
    cells = to_cells(column, described).tolist()
    assert cells == ["1", '"1"', "1"]
    assert from_cells(cells, described, column.index).tolist() == [1, "1", 1]


@pytest.mark.parametrize(
    ("kind", "cell"), [("float", "x"), ("int", "1.5"), ("bool", "yes"), ("cells", "{"), ("category", "mid")]
)
def test_a_cell_of_another_type_is_named_by_its_row_in_the_file(kind, cell):
    column = COLUMNS[kind].rename("x")
    described = describe(column) | {"missing": []}
    cells = [to_cells(column, described).tolist()[0], cell]
    with pytest.raises(WrongTableError, match=f"has '{cell}' in row 3, column 'x', which is no cell of type {kind}"):
        from_cells(cells, described, pd.RangeIndex(2))


def test_labels_stand_first_under_a_name_that_no_column_has():
    table = pd.DataFrame({"object": [1.0], "object_": [2.0]}, index=["a"])
    frame = to_frame(table, [describe(table[name]) for name in table])
    assert list(frame.columns) == ["object__", "object", "object_"]
    assert frame.iloc[0].tolist() == ["a", 1.0, 2.0]
    assert header_of([]) == ["object"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no CSV table"),
        (b"\xff", "is no CSV table"),
        (b'a,b\n"1,2', "is no CSV table"),
        (b"a,b\n1,2\n3\n", "has 1 cells in row 3 but 2 column names"),
    ],
)
def test_bytes_that_are_no_table_are_refused(data, message):
    with pytest.raises(WrongTableError, match=message):
        read_cells(data, "csv")
