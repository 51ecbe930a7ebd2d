"""Checking parameters: what is allowed comes back, and each error says what was given and what to give."""

import numpy as np
import pandas as pd
import pytest

from unmask import MapWarning
from unmask.checking._parameters import (
    count,
    refuse_target,
    require_choice,
    require_coef,
    require_flag,
    require_integer,
    require_jobs,
    require_number,
    require_package,
    require_real,
    shown,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "'a'"),
        (np.zeros((2, 3)), "array of shape (2, 3)"),
        (pd.DataFrame({"x": [1, 2]}), "array of shape (2, 1)"),
        ("x" * 200, "'" + "x" * 76 + "..."),
        ([1, 2], "[1, 2]"),
    ],
)
def test_values_in_messages_are_short_and_on_one_line(value, text):
    assert shown(value) == text


def test_a_line_break_in_a_value_is_a_blank():
    class Tall:
        def __repr__(self):
            return "one\n   two"

    assert shown(Tall()) == "one two"


def test_one_is_singular():
    assert [count(n, "cell") for n in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]


@pytest.mark.parametrize("value", [3, np.int64(3)])
def test_integers_come_back_as_such(value):
    assert type(require_integer("n", value, 3)) is int
    assert type(require_number("n", value, 3)) is float
    assert require_jobs(value) == 3


def test_what_can_be_passes():
    assert require_flag("orthogonal", np.True_) is True
    assert require_jobs(None) is None
    assert require_jobs(-1) == -1
    require_choice("weights", None, (None, "sammon"))
    require_coef([["x", "y"], ("age",)])
    require_real(np.array([1.0]), "known")


def test_a_target_is_ignored_where_pipelines_pass_one_on_and_refused_where_it_must_be_a_mistake():
    refuse_target(None)
    with pytest.warns(MapWarning, match="y is ignored.*known="):
        refuse_target([0, 1, 0])
    with pytest.raises(ValueError, match=r"second argument of type ndarray.*fit\(X, known=…\)"):
        refuse_target(np.zeros((3, 2)))


def test_a_package_is_imported_or_the_way_to_install_it_said():
    assert require_package("json", "This", "files") is __import__("json")
    with pytest.raises(ImportError, match=r"This needs the package 'no_such'.* pip install 'unmask\[files\]'"):
        require_package("no_such.part", "This", "files")


def test_what_a_package_announces_of_its_future_does_not_stop_its_import(tmp_path, monkeypatch):
    (tmp_path / "announcing.py").write_text(
        "import warnings\nwarnings.warn('next year', FutureWarning)\nvalue = 1\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert require_package("announcing", "This", "files").value == 1
