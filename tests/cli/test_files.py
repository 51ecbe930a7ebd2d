"""Examples and reports."""

import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unmask import Progress
from unmask.datasets import load_kinship, make_car_brands
from unmask.io import read_dissimilarities

# ---- examples


def test_examples_are_listed(shell):
    done = shell("datasets")
    assert "kinship" in done.stdout
    assert "car-brands" in done.stdout
    listed = shell.json("datasets")["datasets"]
    assert {"kinship", "car-brands", "robot-wifi", "running-figure", "kjv-bible"} <= {row["name"] for row in listed}
    assert all(row["description"].endswith(".") for row in listed)


def test_examples_are_written(shell):
    done = shell("datasets", "kinship")
    assert "Wrote kinship/dissimilarities.csv" in done.stdout
    back = read_dissimilarities("kinship/dissimilarities.csv").dissimilarities
    np.testing.assert_array_equal(back.to_numpy(), load_kinship().dissimilarities.to_numpy())
    shell("datasets", "car-brands", "--seed", 3, "--out", "cars", "--format", "json")
    cars = make_car_brands(random_state=3)
    np.testing.assert_array_equal(pd.read_json("cars/known.json", precise_float=True)["safety"], cars.known["safety"])
    assert (shell.folder / "cars" / "coef.json").exists()
    shell("datasets", "kjv-bible")
    assert pd.read_csv("kjv-bible/verses.csv")["verses"].iloc[0].startswith("In the beginning")
    assert "'moon' is no example; these are car-brands," in shell.refusal("datasets", "moon")


# ---- reports


@pytest.fixture
def pages(monkeypatch):
    """Stand in for the room of reports, and return what it was asked to write."""
    asked = []

    def write_report(study, path, *, callback, **options):
        callback(Progress("report: maps", 0, max_iter=2))
        path.write_text("<html>", encoding="utf-8")
        asked.append((study, options))

    monkeypatch.setitem(sys.modules, "unmask.reports", types.SimpleNamespace(write_report=write_report))
    return asked


def test_a_report_goes_into_the_folder_of_the_fit(shell, pages):
    shell("fit", "dissimilarities.csv", "--n-init", 1, "--out", "result", "--quiet")
    found = shell.json("report", "result")
    assert found["written"] == ["result/report.html"]
    study, options = pages[0]
    assert study.step.n_components == 2
    assert options == {
        "title": None,
        "scree": True,
        "bootstrap": 50,
        "max_objects": 500,
        "compare": True,
        "seed": 0,
        "saved_as": Path("result/study"),
        "interactive": False,
    }
    shell("report", "result")  # ours, so it may be replaced
    assert "is there already" in shell.refusal("report", "result", "--out", "known.csv")
    shell("report", "result", "--out", "page.html")
    assert (shell.folder / "page.html").read_text(encoding="utf-8") == "<html>"
    # A report of an earlier map does not stay beside the next.
    shell("fit", "dissimilarities.csv", "--n-init", 1, "--out", "result", "--quiet")
    assert not (shell.folder / "result" / "report.html").exists()


def test_a_report_of_a_saved_study_goes_beside_it(shell, pages):
    shell("fit", "dissimilarities.csv", "--n-init", 1, "--out", "result", "--quiet")
    shell("report", "result/study")
    assert (shell.folder / "result" / "study.html").exists()
    assert "result/study.html: is there already" in shell.refusal("report", "result/study")


def test_a_real_report(shell):
    shell("fit", "dissimilarities.csv", "--known", "known.csv", "-c", "gender", "--n-init", 1, "-o", "result", "-q")
    shell("report", "result", "--no-scree", "--no-compare", "--bootstrap", 0, "--title", "Kin & kind", "--interactive")
    page = (shell.folder / "result" / "report.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Kin &amp; kind</bdi></h1>" in page
    assert "script-src" in page
