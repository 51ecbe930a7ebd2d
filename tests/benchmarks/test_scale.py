"""The comparison behind docs/scaling.md works, and the page shows the numbers that were measured."""

import json
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.measure import ROOT
from benchmarks.scale import __main__ as scale
from benchmarks.scale import child, page, picture
from benchmarks.scale.contenders import CONTENDERS, EXACT, GIVEN, STOCHASTIC, Contender
from benchmarks.scale.data import make_data, sampled_stress


@pytest.fixture(scope="module")
def found():
    return json.loads((ROOT / "benchmarks" / "scale.json").read_text(encoding="utf-8"))


def some_rows():
    cost = {"wall": 1.0, "memory": 10.4, "stress": 0.05}
    return {
        "date": "today",
        "commit": "abc",
        "command": "`make bench-scale`",
        "processor": "one",
        "versions": {"numpy": "2"},
        "others": 0.5,
        "minutes": 3.2,
        "limit": 60.0,
        "side_by_side": 2,
        "notes": ["A remark."],
        "rows": [
            {"who": STOCHASTIC, "n": 1000, "cpu": 0.5, **cost},
            {"who": STOCHASTIC, "n": 100_000, "cpu": 4.0, **cost},
            {"who": GIVEN, "n": 100_000, "cpu": 6.0, **cost},
            {"who": EXACT, "n": 1000, "cpu": 1.0, **cost},
            {"who": EXACT, "n": 100_000, "expected": 912.0},
            {"who": "umap-learn", "n": 1000, "cpu": 30.0, **cost, "stress": None},
            {"who": "umap-learn", "n": 100_000, "stopped": 60.0},
            {"who": "openTSNE", "n": 1000, "missing": "openTSNE was skipped: ModuleNotFoundError"},
            {"who": "PyMDE", "n": 1000, "failed": "MemoryError"},
        ],
        "flights": ["many"],
        "against_exact": [],
    }


def lines(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_who_is_not_measured_is_said_in_the_table():
    table = {row[0]: row[1:] for row in lines(page.seconds(some_rows()))}
    assert table[""] == ["1,000", "100,000"]
    assert table[STOCHASTIC] == ["0.5", "4"]
    assert table[EXACT] == ["1", "(910)"]
    assert table["umap-learn"] == ["30", "> 60"]
    assert table["openTSNE"] == ["not installed", ""]
    assert table["PyMDE"] == ["failed", ""]
    report = page.markdown(some_rows())
    assert "- openTSNE: openTSNE was skipped: ModuleNotFoundError" in report
    assert "- PyMDE: MemoryError" in report
    assert "**the machine was busy**" in report
    assert "\n\nA remark.\n\n" in report
    assert "(910)" not in page.memory(some_rows())  # what it would take are seconds


def test_ratios_are_to_the_stochastic_solver_at_the_same_number_of_objects():
    table = {row[0]: row[1:] for row in lines(page.ratios(some_rows()))}
    assert table[GIVEN] == ["", "1.5"]
    assert table["umap-learn"][0] == "60"


def test_stress_is_only_of_those_who_minimise_it():
    assert "umap-learn" not in {row[0] for row in lines(page.stress(some_rows()))}


def test_headline_names_the_largest_maps():
    assert "100,000 objects took 6 CPU s and 10 MB" in page.headline(some_rows())
    assert "60 µs an object" in page.headline(some_rows())


def test_forecast_follows_the_last_two_sizes_and_is_linear_at_least():
    assert child.forecast({1000: 2.0}, 3000) == pytest.approx(6)
    assert child.forecast({1000: 1.0, 2000: 4.0, 4000: 16.0}, 8000) == pytest.approx(64)
    assert child.forecast({1000: 5.0, 2000: 5.0}, 4000) == pytest.approx(10)


def test_a_contender_goes_on_until_the_forecast_is_above_the_limit(monkeypatch):
    costs = {1000: 1.0, 2000: 4.0, 4000: 16.0}
    monkeypatch.setattr(child, "measured", lambda _, __, n, ___: {"n": n, "cpu": costs[n]})
    drawn = []
    contender = Contender("squares", lambda _, X, __: drawn.append(len(X)), "numpy", (5, 7))
    rows = [row for row in child.go_through(contender, (1000, 2000, 4000, 8000, 16000), 50.0) if "begun" not in row]
    assert drawn == [5, 7]
    assert [row["n"] for row in rows] == [1000, 2000, 4000, 8000]
    assert rows[-1]["expected"] == pytest.approx(64)


def test_a_contender_that_is_not_installed_says_so():
    (row,) = child.go_through(Contender("nobody", lambda *_: None, "no_such_package"), (1000,), 1.0)
    assert "no_such_package was skipped: ModuleNotFoundError" in row["missing"]


@pytest.mark.parametrize(
    ("code", "expected"), [(-signal.SIGXCPU, {"stopped": 60.0}), (1, {"failed": "MemoryError: no room"})]
)
def test_a_process_that_ended_early_is_a_row(monkeypatch, code, expected):
    printed = 'a note\n{"n": 1000, "begun": true}\n{"n": 1000, "cpu": 1.5}\n{"n": 3000, "begun": true}\n'
    done = SimpleNamespace(returncode=code, stdout=printed, stderr="Traceback\nMemoryError: no room\n")
    monkeypatch.setattr(scale.subprocess, "run", lambda *_, **__: done)
    first, second = scale.rows_of("umap-learn", "1000,3000,10000", 60.0)
    assert first == {"who": "umap-learn", "n": 1000, "cpu": 1.5}
    assert second == {"who": "umap-learn", "n": 3000, **expected}


def test_a_map_is_measured_with_its_memory_and_its_stress():
    held = []

    def draw(_, X, __):
        held.append(np.ones(4_000_000))  # 32 MB
        return X[:, :2]

    row = child.measured(None, Contender("two columns", draw), 500, 100.0)
    assert row["n"] == 500
    assert 25 < row["memory"] < 60
    assert 0 < row["stress"] < 1


def test_sampled_stress_is_0_for_the_features_and_a_quarter_at_half_their_size():
    X, known = make_data(300)
    assert X.shape == (300, 20)
    assert known.shape == (300, 2)
    assert sampled_stress(X, X) == pytest.approx(0, abs=1e-12)
    assert sampled_stress(X, X / 2) == pytest.approx(0.25, rel=1e-6)


def test_the_page_and_the_report_show_the_numbers_that_were_measured(found):
    text = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert page.renew(text, found) == text
    assert (ROOT / "benchmarks" / "RESULTS-SCALE.md").read_text(encoding="utf-8") == page.markdown(found)
    assert {row["who"] for row in found["rows"]} == set(CONTENDERS)


def test_the_picture_is_drawn_from_the_numbers(found, tmp_path):
    picture.draw(found, tmp_path / "scaling.png")
    assert (tmp_path / "scaling.png").stat().st_size > 10_000
    assert (ROOT / "docs" / "images" / "scaling.png").exists()
