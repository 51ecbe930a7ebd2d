"""Files that are not what they should be: one sentence each, and nothing of them is run or unpacked."""

import copy
import itertools
import json
import shutil
import zipfile
from hashlib import sha256

import pytest

import unmask.discovery._folder as loading
from unmask.discovery import Discovery
from unmask.io import FileProblem

from .studies import edit, places


def one(folder, name):
    (found,) = folder.glob(f"{name}-*")
    return found


def rewrite(file, change):
    """Change a table, and what study.json says of it."""
    file.write_bytes(change(file.read_bytes()))
    edit(file.parent, lambda s: s["files"].update({file.name: sha256(file.read_bytes()).hexdigest()}))


def into_a_folder(file):
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (shutil.rmtree, "is not there"),
        (lambda f: (f / "study.json").unlink(), "has no study.json"),
        (lambda f: (f / "study.json").write_text("{", encoding="utf-8"), "study.json is not JSON"),
        (lambda f: (f / "study.json").write_bytes(b"\xff"), "cannot be understood"),
        (lambda f: (f / "study.json").write_text("[" * 100_000, encoding="utf-8"), "cannot be understood"),
        (lambda f: (f / "study.json").write_text("[]", encoding="utf-8"), "is not that of a study of unmask"),
        (lambda f: into_a_folder(f / "study.json"), "cannot be read"),
        (lambda f: edit(f, lambda s: s.update(schema_version=2, unmask_version="0.9")), "in version 2 .* unmask 0.9"),
        (lambda f: one(f, "table").unlink(), "the file 'table-.*' is missing"),
        (lambda f: into_a_folder(one(f, "table")), "the file 'table-.*' cannot be read"),
        (lambda f: one(f, "table").write_bytes(b"\xff\xfe"), "table-.* has been changed since it was saved"),
        (lambda f: rewrite(one(f, "table"), lambda _: b"\xff\xfe"), "cannot be understood"),
        (lambda f: rewrite(one(f, "table"), lambda _: b""), "cannot be understood"),
        (lambda f: rewrite(one(f, "table"), lambda b: b.replace(b"false,", b"", 1)), "cannot be understood"),
        (lambda f: rewrite(one(f, "table"), lambda b: b.replace(b"true", b'"yes"')), "cannot be understood"),
        (lambda f: rewrite(one(f, "dissimilarities"), lambda b: b[:-9]), "cannot be understood"),
        (lambda f: edit(f, lambda s: s["files"].update({"../x.json": ""})), "not the name of a file"),
        (lambda f: edit(f, lambda s: s["files"].pop(one(f, "dissimilarities").name)), "no table of dissimilarities"),
        (lambda f: edit(f, lambda s: s["files"].pop(one(f, "adopt2").name)), "adopt.values: "),
        (lambda f: edit(f, lambda s: s["files"].pop(one(f, "fit5").name)), "fit.embedding: "),
        (lambda f: edit(f, lambda s: s["labels"].__setitem__(0, "Son")), "has a label twice"),
        (lambda f: edit(f, lambda s: s["actions"].pop(5)), "has 7 after 6 as the action 6"),
        (lambda f: edit(f, lambda s: s["actions"][4].update(parent=5)), "has 5 after 5 as the action 5"),
        (lambda f: edit(f, lambda s: s.update(here=11)), "has 11 for 'here'"),
        (lambda f: edit(f, lambda s: s["actions"][0].update(action="eval")), "cannot be understood"),
        (lambda f: edit(f, lambda s: s["actions"][0].update(stress="low")), r"\(fit.stress: "),
        (lambda f: edit(f, lambda s: s["actions"][1].update(source={})), "cannot be understood"),
        (lambda f: edit(f, lambda s: s["actions"][1].update(why="\ud83d")), "half a character"),
        (lambda f: edit(f, lambda s: s.update(title="\ud83d")), "half a character"),
        (lambda f: edit(f, lambda s: s.update(single="x")), "single: "),
        (lambda f: edit(f, lambda s: s.update(more=1)), r"\(more: "),
        (lambda f: edit(f, lambda s: s["actions"][0]["params"].update(coef={"$type": "os"})), "'os' is not a type"),
        (lambda f: edit(f, lambda s: s["actions"][0]["params"].update(coef={"$x": 1})), "cannot be understood"),
    ],
)
def test_a_folder_that_is_not_a_study_gets_a_sentence(folder, break_it, message):
    break_it(folder)
    with pytest.raises(FileProblem, match=message) as error:
        Discovery.load(folder)
    assert "\n" not in str(error.value)
    assert error.value.path == str(folder)


@pytest.mark.parametrize("name", ["a" * 300, "a/b", "file/study", "file.zip", "\0", ""])
def test_a_path_without_a_study_gets_a_sentence(tmp_path, name):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "file.zip").write_bytes(b"PK nothing")
    with pytest.raises(FileProblem):
        Discovery.load(tmp_path / name)


def test_whatever_is_wrong_in_study_json_no_traceback_comes_out(whole, tmp_path):
    """Every entry in turn is replaced by things that do not belong there."""
    path = whole.branch().save(tmp_path / "study")
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


# ---- zip files


def repack(path, change):
    """Write a zip file again with other entries."""
    with zipfile.ZipFile(path) as packed:
        entries = {name: packed.read(name) for name in packed.namelist()}
    change(entries)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in entries.items():
            packed.writestr(name, data)


@pytest.fixture
def packed(whole, tmp_path):
    return whole.branch().save(tmp_path / "study.zip")


def test_a_zip_bomb_is_refused(packed, monkeypatch):
    monkeypatch.setattr(loading, "ALWAYS_ALLOWED", 100_000)
    Discovery.load(packed)
    with zipfile.ZipFile(packed) as files:
        table = next(name for name in files.namelist() if name.startswith("table"))
    repack(packed, lambda entries: entries.update({table: b"0" * 50_000_000}))
    with pytest.raises(FileProblem, match="holds more than 200 times its own size, or than memory has room for"):
        Discovery.load(packed)
    monkeypatch.setattr(loading, "memory_limit", lambda: 2000)
    with pytest.raises(FileProblem, match="or than memory has room for"):
        Discovery.load(packed)


def test_a_damaged_zip_file_gets_a_sentence(packed):
    data = bytearray(packed.read_bytes())
    at = data.index(b"table-") + 60
    data[at : at + 20] = b"\0" * 20
    packed.write_bytes(data)
    with pytest.raises(FileProblem):
        Discovery.load(packed)
    packed.write_bytes(b"")
    with pytest.raises(FileProblem, match="is not a zip file"):
        Discovery.load(packed)
