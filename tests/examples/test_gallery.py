"""Which scripts of the gallery are built."""

import os
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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
