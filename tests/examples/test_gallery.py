"""The scripts of the gallery: their form, and which of them are built."""

import os
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").rglob("plot_*.py"))


def test_scripts_are_found():
    assert {"plot_1_kinship", "plot_2_faces", "plot_3_textiles", "plot_4_car_brands"} <= {path.stem for path in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_has_a_title(script):
    quotes, title, underline, blank, *_ = script.read_text(encoding="utf-8").splitlines()
    assert quotes == '"""'
    assert title
    assert underline == "=" * len(title)
    assert not blank


def conf_with(monkeypatch, folder):
    pytest.importorskip("sphinx")
    if folder is None:
        monkeypatch.delenv("UNMASK_FACES", raising=False)
    else:
        monkeypatch.setenv("UNMASK_FACES", str(folder))
    return runpy.run_path(str(ROOT / "docs" / "conf.py"))


@pytest.mark.parametrize("folder", [None, "", "no such folder"])
def test_faces_are_left_out_where_there_are_no_data(monkeypatch, folder):
    conf = conf_with(monkeypatch, folder)
    assert "plot_2_faces" in conf["sphinx_gallery_conf"]["ignore_pattern"]
    assert "papers/plot_2_faces.*" in conf["exclude_patterns"]


def test_faces_are_built_where_there_are_data(monkeypatch, tmp_path):
    conf = conf_with(monkeypatch, tmp_path)
    assert "plot_2_faces" not in conf["sphinx_gallery_conf"]["ignore_pattern"]
    assert conf["exclude_patterns"] == ["_build", "_templates"]


@pytest.mark.parametrize(("folder", "kept"), [("docs", True), ("no such folder", False)])
def test_recordings_are_looked_for_in_a_folder_seen_from_the_project(monkeypatch, folder, kept):
    monkeypatch.setenv("UNMASK_MOTION", folder)
    conf_with(monkeypatch, None)
    assert os.environ.get("UNMASK_MOTION") == (str(ROOT / "docs") if kept else None)
