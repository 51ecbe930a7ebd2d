"""Converting, examples and reports."""

import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unmask import Progress
from unmask.datasets import load_kinship, make_car_brands
from unmask.io import read_dissimilarities


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("square", "to.tsv"),
        ("square", "to.csv.gz"),
        ("square", "to.json"),
        ("lower", "to.csv"),
        ("long", "to.csv"),
        ("long", "to.json"),
        ("phylip", "to.phy"),
    ],
)
def test_forms_come_back_as_they_were(shell, form, name):
    done = shell("convert", "dissimilarities.csv", name, "--to", form)
    assert done.stdout == f"Wrote {name}: 14 objects, {form}\n"
    back = read_dissimilarities(name).dissimilarities
    pd.testing.assert_frame_equal(back, load_kinship().dissimilarities, check_dtype=False, check_names=False)


def test_the_condensed_form_loses_labels_and_says_so(shell):
    done = shell("convert", "dissimilarities.csv", "to.csv", "--to", "condensed")
    assert "no labels" in done.stderr
    back = read_dissimilarities("to.csv", shape="condensed").dissimilarities
    np.testing.assert_array_equal(back.to_numpy(), load_kinship().dissimilarities.to_numpy())


def test_features_become_dissimilarities_or_stay_a_table(shell, features):
    numbers = features[["length", "width"]]
    shell("convert", "leaves.csv", "to.csv", "--metric", "cityblock", "--features", "length,width")
    back = read_dissimilarities("to.csv").dissimilarities
    by_hand = np.abs(numbers.to_numpy()[:, None] - numbers.to_numpy()[None]).sum(axis=2)
    np.testing.assert_allclose(back.to_numpy(), by_hand, rtol=1e-12, atol=1e-12)
    found = shell.json("convert", "leaves.csv", "table.json", "--to", "table")
    assert found == {
        "objects": 12,
        "form": "table",
        "written": ["table.json"],
        "notes": found["notes"],
        "warnings": [],
    }
    assert pd.read_json("table.json")["site"].tolist() == features["site"].tolist()


def test_missing_pairs_and_blanks(shell):
    (shell.folder / "gap.csv").write_text("a,b,1\nb,c,2\n", encoding="utf-8")
    shell("convert", "gap.csv", "to.csv", "--to", "long")
    assert pd.read_csv("to.csv")["dissimilarity"].tolist() == [1, 2]
    assert "PHYLIP has no way" in shell.refusal("convert", "gap.csv", "to.phy", "--to", "phylip")
    (shell.folder / "blank.csv").write_text("a,b b,1\nb b,c,2\na,c,3\n", encoding="utf-8")
    assert "labels with blanks" in shell.refusal("convert", "blank.csv", "to.phy", "--to", "phylip")


def test_files_are_not_replaced_unasked(shell):
    before = (shell.folder / "known.csv").read_bytes()
    assert "known.csv: is there already" in shell.refusal("convert", "dissimilarities.csv", "known.csv")
    assert (shell.folder / "known.csv").read_bytes() == before
    shell("convert", "dissimilarities.csv", "known.csv", "--force")
    assert (shell.folder / "known.csv").read_bytes() != before
    assert "says no format" in shell.refusal("convert", "dissimilarities.csv", "to.doc")


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
