"""Files that are not what they should be: one sentence each, and nothing of them is run or unpacked."""

import copy
import itertools
import json
import shutil
import zipfile
from pathlib import Path

import pytest

import unmask.discovery._zip as unpacking
from unmask.discovery import Discovery
from unmask.io import FileProblem

from .studies import assert_same, edit, places


def test_a_study_of_an_earlier_version_has_no_estimated_cells(whole, tmp_path):
    path = whole.save(tmp_path / "study")
    text = json.loads((path / "study.json").read_text(encoding="utf-8"))
    for action in text["actions"]:
        action.pop("imputed", None)
    (path / "study.json").write_text(json.dumps(text), encoding="utf-8")
    assert_same(whole, Discovery.load(path))


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (shutil.rmtree, "is not there; give the folder or zip file that Discovery.save wrote"),
        (lambda f: (f / "study.json").unlink(), "has no study.json"),
        (lambda f: (f / "study.json").write_text("{", encoding="utf-8"), "study.json is no JSON"),
        (lambda f: (f / "study.json").write_bytes(b"\xff"), "study.json is no JSON"),
        (lambda f: (f / "study.json").write_text("[" * 100_000, encoding="utf-8"), "study.json is no JSON"),
        (
            lambda f: (f / "study.json").write_text("[]", encoding="utf-8"),
            "study.json is not that of a study of unmask",
        ),
        (
            lambda f: edit(f, lambda s: s.update(schema_version=3, unmask_version="9.1")),
            "was written in version 3 of the format by unmask 9.1, and this one reads version 2",
        ),
        (lambda f: (f / "table.csv").unlink(), "the file 'table.csv' is missing, which study.json names"),
        (lambda f: (f / "table.csv").write_bytes(b"\xff\xfe"), "table.csv is no CSV table"),
        (lambda f: (f / "table.csv").write_text("", encoding="utf-8"), "table.csv is no CSV table"),
        (lambda f: shutil.copy(f / "adopted.csv", f / "table.csv"), "column 'line' where 'degree' should be"),
        (lambda f: shutil.copy(f / "fit5-map.csv", f / "fit9-map.csv"), "'axis1' where 'stress per point' should be"),
        (lambda f: cut(f / "table.csv"), "has 13 rows, not 14"),
        (lambda f: swap(f / "known.csv"), "has 'Brother' in row 2 where 'Aunt' should be"),
        (lambda f: shutil.copy(f / "known.csv", f / "fit5-coef.csv"), "fit5-coef.csv has column"),
        (
            lambda f: replace(f / "table.csv", "True", "yes"),
            "has 'yes' in row 2, column 'truth', which is no cell of type b",
        ),
        (
            lambda f: replace(f / "dissimilarities.csv", "0.0,", "x,"),
            "has 'x' in row 2, column 'Aunt', which is no cell of",
        ),
        (lambda f: replace(f / "known.csv", "Brother,", "Brother,1,"), "has 3 cells in row 3 but 2 column names"),
        (
            lambda f: edit(f, lambda s: s["tables"]["known"].update(file="../known.csv")),
            r"study.json names the file '../known.csv', which is not in the study",
        ),
        (lambda f: edit(f, lambda s: s["tables"].pop("dissimilarities")), "names no table of dissimilarities"),
        (
            lambda f: edit(f, lambda s: s["tables"].pop("adopted")),
            "the values of 'gender', which was adopted, are missing",
        ),
        (lambda f: edit(f, lambda s: s["tables"].pop("fit5-map")), "names no map of step 2"),
        (lambda f: edit(f, lambda s: s["objects"]["labels"].__setitem__(0, "Son")), "study.json has a label twice"),
        (lambda f: edit(f, lambda s: s["actions"].pop(0)), "has 2 after 1 as the action 1"),
        (lambda f: edit(f, lambda s: s["actions"][4].update(number=3)), "numbers a step 3 where 2 is the next"),
        (lambda f: edit(f, lambda s: s["actions"][4].update(parent=5)), "has 5 after 5 as the action 5"),
        (lambda f: edit(f, lambda s: s.update(here=11)), "has 11 for 'here', which is no action"),
        (
            lambda f: edit(f, lambda s: s["actions"][0].update(action="eval")),
            "'eval' for 'action', which is none of 'fit'",
        ),
        (lambda f: edit(f, lambda s: s["actions"][0].update(stress="low")), "'low' for 'stress', which is not what"),
        (lambda f: edit(f, lambda s: s["actions"][1].update(source={})), "names 0 sources of 'gender', not one"),
        (lambda f: edit(f, lambda s: s.update(dtype="object")), "'object' for 'dtype', which is none of 'float32'"),
        (
            lambda f: edit(f, lambda s: s["actions"][0]["params"].update(coef={"$type": "os"})),
            "study.json cannot be understood .ValueError: 'os' is no type of a feature",
        ),
        (
            lambda f: edit(f, lambda s: s["actions"][0]["params"].update(coef={"$x": 1})),
            "study.json cannot be understood",
        ),
    ],
)
def test_a_folder_that_is_no_study_gets_a_sentence(folder, break_it, message):
    break_it(folder)
    with pytest.raises(FileProblem, match=message) as error:
        Discovery.load(folder)
    assert "\n" not in str(error.value)
    assert error.value.path == str(folder)


def replace(file, old, new):
    assert old in file.read_text(encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")


def cut(file):
    content = file.read_bytes()
    file.write_bytes(content[: max(content.rfind(b"\nUncle"), content.rfind(b'\n"Uncle"')) + 1])


def swap(file):
    header, first, second, *rest = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([header, second, first, *rest]), encoding="utf-8")


def test_whatever_is_wrong_in_study_json_no_traceback_comes_out(whole, tmp_path):
    """Every entry in turn is replaced by things that do not belong there."""
    path = whole.save(tmp_path / "study")
    file = path / "study.json"
    study = json.loads(file.read_text(encoding="utf-8"))
    refused = 0
    strangers = itertools.cycle((None, -1, "x", [], {}, [[]], {"$tuple": 1}, {"$type": "Cyclic"}, {"$time": "x"}, True))
    for place in places(study):
        for strange in itertools.islice(strangers, 3):
            broken = copy.deepcopy(study)
            spot = broken
            for key in place[:-1]:
                spot = spot[key]
            spot[place[-1]] = strange
            file.write_text(json.dumps(broken), encoding="utf-8")
            try:
                Discovery.load(path)
            except FileProblem:
                refused += 1
    assert refused > 200


def test_deep_entries_get_a_sentence(folder):
    deep = "[" * 600 + "]" * 600
    text = (folder / "study.json").read_text(encoding="utf-8")
    (folder / "study.json").write_text(text.replace('"n_init": 2', f'"n_init": {deep}', 1), encoding="utf-8")
    with pytest.raises(FileProblem, match="cannot be understood"):
        Discovery.load(folder)


def repack(path, change):
    """Write a zip file again with other entries."""
    with zipfile.ZipFile(path) as packed:
        entries = {name: packed.read(name) for name in packed.namelist()}
    change(entries)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in entries.items():
            packed.writestr(name, data)


@pytest.mark.parametrize("name", ["../evil.csv", "/evil.csv", "a/b.csv", "a\\b.csv", "C:evil.csv", "..", "folder/"])
def test_a_zip_file_with_paths_in_it_is_refused(whole, tmp_path, name):
    path = whole.save(tmp_path / "study.zip")
    repack(path, lambda entries: entries.update({name: b""}))
    with pytest.raises(FileProblem, match="which is no name of a file of a study"):
        Discovery.load(path)


def test_a_zip_bomb_is_refused(whole, tmp_path, monkeypatch):
    path = whole.save(tmp_path / "study.zip")
    monkeypatch.setattr(unpacking, "ALWAYS_ALLOWED", 100_000)
    Discovery.load(path)
    repack(path, lambda entries: entries.update({"table.csv": b"0" * 50_000_000}))
    with pytest.raises(FileProblem, match="holds more than 200 times its own size, or than memory has room for"):
        Discovery.load(path)


def test_a_zip_file_larger_than_memory_is_refused(whole, tmp_path, monkeypatch):
    path = whole.save(tmp_path / "study.zip")
    monkeypatch.setattr(unpacking, "memory_limit", lambda: 2000)
    with pytest.raises(FileProblem, match="or than memory has room for"):
        Discovery.load(path)


def test_zip_files_that_are_none_get_a_sentence(whole, tmp_path):
    path = tmp_path / "study.zip"
    path.write_bytes(b"PK nothing")
    with pytest.raises(FileProblem, match="is no zip file"):
        Discovery.load(path)
    whole.save(path)
    repack(path, lambda entries: entries.pop("study.json"))
    with pytest.raises(FileProblem, match=r"has no study\.json"):
        Discovery.load(path)
    whole.save(path)
    data = bytearray(path.read_bytes())
    at = data.index(b"table.csv") + 60
    data[at : at + 20] = b"\0" * 20
    path.write_bytes(data)
    with pytest.raises(FileProblem, match=r"'table\.csv' in it cannot be read"):
        Discovery.load(path)


def test_no_pickle_is_ever_read_or_written(whole, tmp_path):
    names = {Path(name).suffix for name in zipfile.ZipFile(whole.save(tmp_path / "study.zip")).namelist()}
    assert names == {".json", ".csv"}
