"""Nothing is overwritten, removed, asked or changed without a word."""

import sys
from collections import Counter

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


def test_what_was_placed_on_another_map_is_removed_and_said(shell):
    kin = load_kinship()
    shell(*FIT, "--out", "result")
    kin.dissimilarities.iloc[:2].set_axis(["x", "y"]).to_csv("new.csv")
    kin.known.iloc[:2].set_axis(["x", "y"]).to_csv("new-known.csv")
    shell("place", "result", "new.csv", "--known", "new-known.csv", "--out", "result")
    said = shell(*FIT, "--out", "result", "-q").stderr
    for name in ("placed.csv", "placed.png"):
        assert f"Removed result/{name}, which is about another map; unmask place makes a new one." in said
        assert not (shell.folder / "result" / name).exists()


def test_a_study_is_called_by_its_folder_where_the_file_is_called_like_any_other(shell):
    (shell.folder / "kinship").mkdir()
    load_kinship().dissimilarities.to_csv("kinship/dissimilarities.csv")
    shell("fit", "kinship/dissimilarities.csv", "--n-init", 1, "--out", "result")
    assert Discovery.load("result").title == "kinship"


_opened: Counter[str] = Counter()


def _count(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        _opened[arguments[0].rpartition("/")[2]] += 1


def test_an_input_file_is_opened_once_to_be_read_and_once_for_its_fingerprint(shell):
    sys.addaudithook(_count)  # for good: a hook cannot be taken away
    _opened.clear()
    shell(*FIT, "--out", "result")
    assert _opened["dissimilarities.csv"] == _opened["known.csv"] == 2
    assert _opened["study.json"] <= 2  # before and after the files are written
