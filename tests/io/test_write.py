"""Written tables read back as they were, and no spreadsheet runs their text."""

import csv
import gzip
import json
import re
from datetime import date, time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.io import FileProblem, plain_data, read_table, write_table


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "=cmd": [-1.5, np.nan, 0.1 + 0.2],
            "text": ["-a", "'=b", 'fine, "quoted"'],
            "kind": pd.Categorical(["@x", "b", "b"]),
            "mixed": pd.Series([1, "+1", None], dtype=object).to_numpy(),
            "whole": [-1, 2, 3],
            "true": [True, False, True],
        },
        index=pd.Index(["+1", "\tb", "c"], name="who"),
    )


def raw_cells(path, delimiter=","):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


@pytest.mark.parametrize(("name", "delimiter"), [("t.csv", ","), ("t.tsv", "\t")])
def test_text_is_escaped_in_cells_labels_and_names_and_numbers_are_not(frame, tmp_path, name, delimiter):
    rows = raw_cells(write_table(frame, tmp_path / name), delimiter)
    assert rows[0] == ["who", "'=cmd", "text", "kind", "mixed", "whole", "true"]
    assert rows[1] == ["'+1", "-1.5", "'-a", "'@x", "1", "-1", "True"]
    assert rows[2] == ["'\tb", "", "''=b", "b", "'+1", "2", "False"]
    assert rows[3][:4] == ["c", "0.30000000000000004", 'fine, "quoted"', "b"]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
def test_a_table_reads_back_as_it_was(frame, tmp_path, name):
    back = read_table(write_table(frame, tmp_path / name)).table
    assert list(back.index) == list(frame.index)
    assert list(back.columns) == list(frame.columns)
    np.testing.assert_array_equal(back["=cmd"], frame["=cmd"])
    assert list(back["text"]) == list(frame["text"])
    assert list(back["kind"]) == list(frame["kind"])
    assert back["whole"].dtype == np.int64
    assert back["true"].dtype == bool


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
LOST = {"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"}


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(
        TEXT | st.sampled_from(["=1", "'=1", "''+", "\r", "\n", " x ", '"', "@", "-1"]), min_size=2, max_size=5
    ),
    numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=5, max_size=5),
)
def test_any_text_and_any_number_read_back_exactly(tmp_path_factory, texts, numbers):
    texts = [f"{text}x" if text in LOST else text for text in texts]  # CSV has no way to tell these from nothing
    texts = ["t" + text if text.strip().replace(".", "", 1).isdigit() else text for text in texts]
    frame = pd.DataFrame({"n": numbers[: len(texts)], "z": ["some text", *texts[1:]]})
    frame.index = pd.Index([f"{at}{text}" for at, text in enumerate(texts)], name="=id")
    frame.index = frame.index.map(lambda label: label[1:] + label[0])
    path = tmp_path_factory.mktemp("any") / "t.csv"
    back = read_table(write_table(frame, path), delimiter=",", decimal=".", index="=id").table
    np.testing.assert_array_equal(back["n"].to_numpy(float), frame["n"].to_numpy())
    assert list(back.index) == list(frame.index)
    assert list(back["z"]) == list(frame["z"])


def test_single_precision_reads_back_exactly(tmp_path, rng):
    values = rng.standard_normal(200).astype(np.float32)
    back = read_table(write_table(pd.DataFrame({"x": values}), tmp_path / "t.csv")).table
    np.testing.assert_array_equal(back["x"].to_numpy(np.float32), values)


def test_an_index_that_pandas_made_up_is_not_written(tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2.0]})
    assert write_table(frame, tmp_path / "t.csv").read_text(encoding="utf-8") == "x\n1.5\n2.0\n"
    assert plain_data(frame) == [{"x": 1.5}, {"x": 2.0}]


def test_labels_of_two_levels_become_two_columns(tmp_path):
    index = pd.MultiIndex.from_tuples([("=f", 1), ("g", 2)], names=["feature", "level"])
    frame = pd.DataFrame({"x": [1.5, 2.0]}, index=index)
    assert write_table(frame, tmp_path / "t.csv").read_text(encoding="utf-8") == "feature,level,x\n'=f,1,1.5\ng,2,2.0\n"
    unnamed = frame.rename_axis([None, None])
    assert plain_data(unnamed)[0] == {"label 1": "=f", "label 2": 1, "x": 1.5}


def test_dates_and_durations_and_series(tmp_path):
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-02"]), "for": pd.to_timedelta([-1], unit="s")})
    assert raw_cells(write_table(frame, tmp_path / "t.csv"))[1] == ["2020-01-02", "'-1 days +23:59:59"]
    series = pd.Series([1.5], index=["a"], name="x")
    assert write_table(series, tmp_path / "s.csv").read_text(encoding="utf-8") == ",x\na,1.5\n"
    assert write_table(pd.DataFrame(index=["a"]), tmp_path / "e.csv").read_text(encoding="utf-8") == '""\na\n'


def test_the_same_table_gives_the_same_bytes(frame, tmp_path):
    first = write_table(frame, tmp_path / "a.csv.gz").read_bytes()
    assert write_table(frame, tmp_path / "b.csv.gz").read_bytes() == first
    assert gzip.decompress(first).decode() == write_table(frame, tmp_path / "a.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("data", "name", "error", "named"),
    [
        (pd.DataFrame({"x": [1]}), "t.parquet", FileProblem, ".parquet"),
        (pd.DataFrame({"x": [1]}), "t", FileProblem, "suffix"),
        ([1, 2], "t.csv", ValueError, "frame"),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
            "t.csv",
            ValueError,
            "names",
        ),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, data, name, error, named):
    with pytest.raises(error, match=re.escape(named)):
        write_table(data, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_plain_data_has_the_types_of_json():
    data = {
        "array": np.arange(3.0),
        "matrix": np.eye(2, dtype=np.float32),
        "scalar": np.float64(0.1),
        "whole": np.int32(4),
        "truth": np.True_,
        "none": None,
        "not a number": float("nan"),
        "not a date": pd.NaT,
        "missing": pd.NA,
        "infinite": [np.inf, -np.inf],
        "path": Path("a") / "b",
        "set": {3, 1},
        "tuple": (1, "é"),
        "day": date(2020, 1, 2),
        "hour": time(1, 2),
        "moment": pd.Timestamp("2020-01-02"),
        "duration": pd.Timedelta(1, "s"),
        "ratio": Fraction(1, 4),
        "frame": pd.DataFrame({"x": [1.5]}, index=["a"]),
        "series": pd.Series([1.5], index=["a"]),
        "named": pd.Series([1.5], index=pd.Index(["a"], name="who"), name="x"),
        1: "number as key",
    }
    assert json.loads(json.dumps(plain_data(data), allow_nan=False)) == {
        "array": [0.0, 1.0, 2.0],
        "matrix": [[1.0, 0.0], [0.0, 1.0]],
        "scalar": 0.1,
        "whole": 4,
        "truth": True,
        "none": None,
        "not a number": None,
        "not a date": None,
        "missing": None,
        "infinite": ["Infinity", "-Infinity"],
        "path": str(Path("a") / "b"),
        "set": [1, 3],
        "tuple": [1, "é"],
        "day": "2020-01-02",
        "hour": "01:02:00",
        "moment": "2020-01-02T00:00:00",
        "duration": "P0DT0H0M1S",
        "ratio": 0.25,
        "frame": [{"label": "a", "x": 1.5}],
        "series": [{"label": "a", "value": 1.5}],
        "named": [{"who": "a", "x": 1.5}],
        "1": "number as key",
    }
    with pytest.raises(TypeError, match="object"):
        plain_data([object()])
