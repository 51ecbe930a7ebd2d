"""Examples and reports."""

import json
import sys
import types
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unmask.datasets import load_kinship, make_car_brands
from unmask.discovery import Discovery
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
    shell("datasets", "car-brands", "--random-state", 3, "--out", "cars")
    cars = make_car_brands(random_state=3)
    np.testing.assert_allclose(pd.read_csv("cars/known.csv")["safety"], cars.known["safety"], rtol=1e-15)
    assert (shell.folder / "cars" / "coef.csv").exists()
    shell("datasets", "kjv-bible")
    assert pd.read_csv("kjv-bible/verses.csv")["verses"].iloc[0].startswith("In the beginning")
    assert "NAME='moon' is not one of 'car-brands'," in shell.refusal("datasets", "moon")


# ---- reports


@pytest.fixture
def pages(monkeypatch):
    """Stand in for the room of reports, and return what it was asked to write."""
    asked = []

    def write_report(study, path, **options):
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
        "saved_as": Path("result"),
        "interactive": False,
    }
    shell("report", "result")  # ours, so it may be replaced
    assert "is there already" in shell.refusal("report", "result", "--out", "known.csv")
    shell("report", "result", "--out", "page.html")
    assert (shell.folder / "page.html").read_text(encoding="utf-8") == "<html>"
    # A report of an earlier map does not stay beside the next.
    shell("fit", "dissimilarities.csv", "--n-init", 1, "--out", "result", "--quiet")
    assert not (shell.folder / "result" / "report.html").exists()


def test_a_report_of_a_packed_study_goes_beside_it(shell, pages):
    shell("fit", "dissimilarities.csv", "--n-init", 1, "--out", "result", "--quiet")
    Discovery.load("result").save("packed.zip")
    shell("report", "packed.zip")
    assert "packed.html: is there already" in shell.refusal("report", "packed.zip")
    shell("report", "packed.zip", "--force")


def test_a_real_report(shell):
    shell("fit", "dissimilarities.csv", "--known", "known.csv", "-c", "gender", "--n-init", 1, "-o", "result", "-q")
    shell("report", "result", "--no-scree", "--no-compare", "--bootstrap", 0, "--title", "Kin & kind", "--interactive")
    page = (shell.folder / "result" / "report.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Kin &amp; kind</bdi></h1>" in page
    assert "script-src" in page
    digest = sha256((shell.folder / "dissimilarities.csv").read_bytes()).hexdigest()
    study = json.loads((shell.folder / "result" / "study.json").read_text(encoding="utf-8"))
    assert study["origin"]["files"][0]["sha256"] == digest
    step = study["actions"][0]
    for said in (digest, "random_state=0", step["solver"], study["unmask_version"]):
        assert said in page
