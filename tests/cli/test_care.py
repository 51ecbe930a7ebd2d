"""Nothing is overwritten, removed, asked or changed without a word."""

import json

import pandas as pd
import pytest

from unmask.datasets import load_kinship
from unmask.discovery import Discovery

FIT = ("fit", "dissimilarities.csv", "--known", "known.csv", "-c", "gender", "--n-init", 1)


def test_placing_into_the_folder_of_the_fit_leaves_its_map(shell):
    shell(*FIT, "--out", "result")
    before = (shell.folder / "result" / "map.png").read_bytes()
    kin = load_kinship()
    kin.dissimilarities.iloc[:2].set_axis(["x", "y"]).to_csv("new.csv")
    kin.known.iloc[:2].set_axis(["x", "y"]).to_csv("new-known.csv")
    shell("place", "result", "new.csv", "--known", "new-known.csv", "--out", "result")
    assert (shell.folder / "result" / "map.png").read_bytes() == before
    assert (shell.folder / "result" / "placed.png").exists()


def test_a_report_that_is_removed_is_said(shell):
    shell(*FIT, "--out", "result")
    assert "Removed" not in shell(*FIT, "--out", "result").stderr
    mark = shell.folder / "result" / "unmask.json"
    said = json.loads(mark.read_text(encoding="utf-8"))
    mark.write_text(json.dumps({**said, "files": [*said["files"], "report.html"]}), encoding="utf-8")
    (shell.folder / "result" / "report.html").write_text("<html>", encoding="utf-8")
    assert "Removed result/report.html, which told about another map" in shell(*FIT, "--out", "result").stderr


def test_what_was_placed_on_another_map_is_removed_and_said(shell):
    kin = load_kinship()
    shell(*FIT, "--out", "result")
    kin.dissimilarities.iloc[:2].set_axis(["x", "y"]).to_csv("new.csv")
    kin.known.iloc[:2].set_axis(["x", "y"]).to_csv("new-known.csv")
    shell("place", "result", "new.csv", "--known", "new-known.csv", "--out", "result")
    said = shell(*FIT, "--out", "result", "-q").stderr
    for name in ("placed.csv", "placed.png"):
        assert f"Removed result/{name}, which told about another map; unmask place makes a new one." in said
        assert not (shell.folder / "result" / name).exists()


def test_what_was_known_is_written_down(shell):
    shell(*FIT, "--out", "result")
    data = json.loads((shell.folder / "result" / "unmask.json").read_text(encoding="utf-8"))["data"]
    assert data["known"] == ["gender"]
    assert data["known_in_data"] == []


@pytest.mark.parametrize(("label", "said"), [("=SUM(A1)", True), ("sum", False)])
def test_labels_that_are_escaped_are_remarked(shell, label, said):
    kin = load_kinship().dissimilarities
    names = [label, *kin.index[1:]]
    kin.set_axis(names).set_axis(names, axis=1).to_csv("d.csv")
    done = shell("fit", "d.csv", "--n-init", 1, "--out", "result")
    assert ("was written with an apostrophe before it" in done.stderr) == said
    assert pd.read_csv("result/embedding.csv").iloc[0, 0] == ("'" if said else "") + label


def test_a_study_is_called_by_its_folder_where_the_file_is_called_like_any_other(shell):
    (shell.folder / "kinship").mkdir()
    load_kinship().dissimilarities.to_csv("kinship/dissimilarities.csv")
    shell("fit", "kinship/dissimilarities.csv", "--n-init", 1, "--out", "result")
    assert Discovery.load("result/study").title == "kinship"
