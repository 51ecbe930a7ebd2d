"""Saving studies: everything comes back exactly, and half a study is never there."""

import os

import numpy as np
import pytest

import unmask.discovery._save as saving
from unmask import Numeric
from unmask.discovery import Discovery, read_tables
from unmask.io import FileProblem

from .studies import KINDS, assert_same, edit


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_comes_back_as_it_was(whole, tmp_path, kind):
    path = whole.save(tmp_path / kind)
    assert path == tmp_path / kind
    loaded = Discovery.load(path)
    assert_same(whole, loaded)
    assert_same(whole, Discovery.load(loaded.save(tmp_path / f"again-{kind}")))
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_a_parquet_study_comes_back_as_it_was(whole, tmp_path):
    pytest.importorskip("pyarrow")
    assert_same(whole, Discovery.load(whole.save(tmp_path / "study", format="parquet")))
    (tmp_path / "study" / "table.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(FileProblem, match=r"table\.parquet is no Parquet table"):
        Discovery.load(tmp_path / "study")


def test_tables_are_read_without_the_study(whole, tmp_path):
    tables = read_tables(whole.save(tmp_path / "study.zip"))
    assert set(tables) == {"dissimilarities", "weights", "known", "table", "adopted"}
    assert list(tables["adopted"].columns) == ["gender", "line", "two", "axis"]
    bare = Discovery(1.0 - np.eye(3)).save(tmp_path / "bare")
    assert set(read_tables(bare)) == {"dissimilarities"}


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_estimated_cells_come_back(kinship, tmp_path, format_):
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    known = kinship.known[["gender", "degree"]].astype(float)
    known["gender"] = known["gender"].map({1.0: "male", 2.0: "female"})
    known.loc["Aunt", "degree"], known.loc["Uncle", "gender"] = np.nan, None
    study = Discovery(kinship.dissimilarities, known, known_types={"degree": Numeric(lower=1, log=True)})
    step = study.fit(2, n_init=2)
    assert list(step.imputed["object"]) == ["Uncle", "Aunt"]
    loaded = Discovery.load(study.save(tmp_path / "study", format=format_))
    assert_same(study, loaded)
    assert loaded.replay()["same"].all()
    assert "Numeric(lower=1, log=True)" in study.to_script()


def test_a_measurement_error_comes_back(kinship, tmp_path):
    known = kinship.known[["degree"]].astype(float)
    study = Discovery(kinship.dissimilarities, known, known_types={"degree": Numeric(error=0.5)})
    step = study.fit(2, n_init=1)
    assert step.stress < Discovery(kinship.dissimilarities, known).fit(2, n_init=1).stress
    loaded = Discovery.load(study.save(tmp_path / "study"))
    assert_same(study, loaded)
    assert loaded.known_types == {"degree": Numeric(error=0.5)}
    assert loaded.replay()["same"].all()
    assert "Numeric(error=0.5)" in study.to_script()
    assert len(loaded.reading().shepard())


# ---- whole or not at all


@pytest.mark.parametrize("kind", KINDS)
def test_a_save_that_fails_leaves_the_old_study(whole, tmp_path, kind, monkeypatch):
    path = whole.save(tmp_path / kind)
    listing = sorted(entry.name for entry in tmp_path.iterdir())
    later = whole.branch()
    later.undo()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "write_json", fail)
    with pytest.raises(FileProblem, match=rf"{kind}: cannot be written \(no space left on device\); free some space"):
        later.save(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == listing
    assert_same(whole, Discovery.load(path))
    monkeypatch.undo()
    later.save(path)
    assert_same(later, Discovery.load(path))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == listing


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one(whole, tmp_path, monkeypatch):
    path = whole.save(tmp_path / "study")
    rename, calls = saving.os.rename, []

    def second_fails(*names):
        calls.append(names)
        if len(calls) == 2:
            raise OSError(13, "Permission denied")
        rename(*names)

    monkeypatch.setattr(saving.os, "rename", second_fails)
    with pytest.raises(FileProblem, match=r"cannot be written \(permission denied\); choose another folder"):
        whole.save(path)
    assert len(calls) == 3
    assert_same(whole, Discovery.load(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["study"]


def killed_between(whole, path, monkeypatch, renames):
    """Save a study over another, and be killed after so many renames of folders."""
    if not hasattr(os, "fork"):
        pytest.skip("a process is killed as on Unix")
    rename, calls = saving.os.rename, []

    def until_killed(*names):
        if len(calls) == renames:
            os._exit(9)
        calls.append(names)
        rename(*names)

    if (child := os.fork()) == 0:
        monkeypatch.setattr(saving.os, "rename", until_killed)
        if renames == 2:
            monkeypatch.setattr(saving.shutil, "rmtree", lambda *_, **__: os._exit(9))
        whole.save(path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")
@pytest.mark.parametrize("again", ["load", "read_tables", "save"])
def test_a_study_survives_a_kill_between_the_two_renames(whole, tmp_path, monkeypatch, again):
    path = whole.save(tmp_path / "study")
    later = whole.branch()
    later.undo()
    killed_between(later, path, monkeypatch, 1)
    assert not path.exists()
    assert len(list(tmp_path.iterdir())) == 2
    if again == "save":
        whole.save(path)
        assert_same(whole, Discovery.load(path))
    else:
        with pytest.warns(UserWarning, match="study: a save was interrupted and has been finished"):
            {"load": Discovery.load, "read_tables": read_tables}[again](path)
        assert_same(later, Discovery.load(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["study"]


@pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")
def test_what_kills_leave_is_swept(whole, tmp_path, monkeypatch):
    path = whole.save(tmp_path / "study")
    killed_between(whole, path, monkeypatch, 2)  # the old study is left beside the new one
    killed_between(whole, path, monkeypatch, 0)  # a draft that was not put in place
    assert len(list(tmp_path.iterdir())) == 3
    assert_same(whole, Discovery.load(path))
    for entry in tmp_path.iterdir():
        os.utime(entry, (0, 0))
    (tmp_path / f".{'a' * 16}-study of mine").mkdir()
    whole.save(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [f".{'a' * 16}-study of mine", "study"]


def test_half_a_draft_is_never_taken_for_a_study(whole, tmp_path):
    path = whole.save(tmp_path / "study")
    old, draft = tmp_path / f".{'b' * 16}-study.old", tmp_path / f".{'b' * 16}-study"
    path.rename(old)
    draft.mkdir()
    (draft / "known.csv").write_text("", encoding="utf-8")
    with pytest.warns(UserWarning, match="study: a save was interrupted; this is the study as it was before"):
        assert_same(whole, Discovery.load(path))
    assert path.is_dir()
    assert not old.exists()


def test_the_study_and_not_its_draft_is_named_when_the_disk_is_full(whole, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("unmask.io._write._WRITERS", {"csv": fail})
    for name in KINDS:
        with pytest.raises(FileProblem) as error:
            whole.save(tmp_path / name)
        assert str(error.value) == (
            f"{tmp_path / name}: cannot be written (no space left on device); free some space, or choose another place."
        )
        assert error.value.path == str(tmp_path / name)


def test_nothing_that_is_no_study_is_replaced(whole, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(FileProblem, match="file: is a file; give the name of a folder"):
        whole.save(tmp_path / "file")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FileProblem, match="is a folder with other things in it"):
        whole.save(tmp_path / "full")
    with pytest.raises(FileProblem, match="there is no folder"):
        whole.save(tmp_path / "none" / "study")
    with pytest.raises(ValueError, match="format='xls' is not one of 'csv', 'parquet'"):
        whole.save(tmp_path / "study", format="xls")
    (tmp_path / "empty").mkdir()
    whole.save(tmp_path / "empty")
    assert (tmp_path / "full" / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_the_same_study_gives_the_same_bytes(whole, tmp_path):
    first, second = whole.save(tmp_path / "a.zip"), whole.save(tmp_path / "b.zip")
    assert first.read_bytes() == second.read_bytes()


# ---- only what changed


def files(path):
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in path.iterdir()}


def written(monkeypatch):
    """Return a list that will hold the names of the tables that are written."""
    names, write = [], saving.write_table

    def note(frame, path, **options):
        names.append(path.name)
        return write(frame, path, **options)

    monkeypatch.setattr(saving, "write_table", note)
    return names


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["saved", "loaded"])
def test_only_what_changed_is_written(whole, tmp_path, monkeypatch, kind, how):
    path = tmp_path / kind
    study = whole.branch()
    study.save(path)
    study = Discovery.load(path) if how == "loaded" else study
    names = written(monkeypatch)
    study.save(path)
    assert names == []
    assert_same(study, Discovery.load(path))
    study.forget("line")
    study.title = "other"
    study.save(path)
    assert names == []  # study.json only
    study.adopt("more", column="degree")
    study.fit(1, n_init=1)
    study.save(path)
    assert sorted(names) == ["adopted.csv", "fit13-coef.csv", "fit13-importance.csv", "fit13-map.csv"]
    assert_same(study, Discovery.load(path))
    fresh = study.branch(study.title)
    fresh._saved = None
    if kind.endswith("zip"):  # and nobody can tell
        assert fresh.save(tmp_path / "fresh.zip").read_bytes() == path.read_bytes()


def test_files_that_did_not_change_are_the_same_files(whole, tmp_path):
    study = whole.branch()
    path = study.save(tmp_path / "study")
    before = files(path)
    study.adopt("more", column="degree")
    study.save(path)
    after = files(path)
    assert {name for name in after if after[name] != before.get(name)} == {"study.json", "adopted.csv"}


def test_a_file_that_somebody_changed_is_written_again(whole, tmp_path, monkeypatch):
    study = whole.branch()
    path = study.save(tmp_path / "study")
    (path / "table.csv").write_text("mine", encoding="utf-8")
    (path / "known.csv").unlink()
    names = written(monkeypatch)
    study.save(path)
    assert sorted(names) == ["known.csv", "table.csv"]
    assert_same(study, Discovery.load(path))


def test_another_place_format_or_study_gets_everything(whole, tmp_path, monkeypatch):
    study = whole.branch()
    study.save(tmp_path / "study")
    names = written(monkeypatch)
    study.save(tmp_path / "other")
    assert "dissimilarities.csv" in names
    names.clear()
    other = Discovery(1.0 - np.eye(4))
    other.save(tmp_path / "study")
    study.save(tmp_path / "study")
    assert names.count("dissimilarities.csv") == 2
    assert_same(study, Discovery.load(tmp_path / "study"))


def test_where_the_disk_knows_no_second_name_files_are_copied(whole, tmp_path, monkeypatch):
    study = whole.branch()
    path = study.save(tmp_path / "study")

    def no_links(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(saving.os, "link", no_links)
    names = written(monkeypatch)
    study.save(path)
    study.save(path)
    assert names == []
    assert_same(study, Discovery.load(path))


# ---- pictures

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))
GIF, JPEG, WEBP = b"GIF89a12345", b"\xff\xd8\xff12345", b"RIFF1234WEBP5678"


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_saved_with_the_study(kinship, tmp_path, kind):
    (tmp_path / "aunt.png").write_bytes(PNG)
    given = {"Uncle": JPEG, "Aunt": tmp_path / "aunt.png", "Son": bytearray(GIF), "Niece": WEBP}
    study = Discovery(kinship.dissimilarities, pictures=given)
    assert list(study.pictures.items()) == [("Aunt", PNG), ("Niece", WEBP), ("Son", GIF), ("Uncle", JPEG)]
    path = study.save(tmp_path / kind)
    loaded = Discovery.load(path)
    assert loaded.pictures == study.pictures
    loaded.save(path)
    assert Discovery.load(path).pictures == study.pictures
    study.pictures.clear()
    assert len(study.pictures) == 4
    assert len(study.branch().pictures) == 4


@pytest.mark.parametrize(
    ("pictures", "message"),
    [
        ([PNG], "pictures=list must be a dictionary"),
        ({"Cousin": PNG}, "pictures names 'Cousin'"),
        ({"Aunt": b"<svg onload=alert(1)>"}, r"pictures\['Aunt'\] is no PNG, JPEG, GIF or WebP"),
        ({"Aunt": 3}, r"pictures\['Aunt'\] is of type int; give bytes, or the path of a file"),
        ({"Aunt": "gone.png"}, r"pictures\['Aunt'\]: gone.png cannot be read \(no such file or directory\)"),
        ({"Aunt": PNG + bytes(10_000_000)}, "has more than 10,000,000 bytes"),
    ],
)
def test_what_is_no_picture_is_refused(kinship, pictures, message):
    with pytest.raises(ValueError, match=message):
        Discovery(kinship.dissimilarities, pictures=pictures)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda f: (f / "picture0.png").unlink(), r"the file 'picture0\.png' is missing"),
        (lambda f: (f / "picture0.png").write_bytes(b"<svg>"), r"picture0\.png is no picture of its kind"),
        (lambda f: edit(f, lambda s: s.update(pictures=["../picture0.png"])), "which is not in the study"),
        (lambda f: edit(f, lambda s: s.update(pictures=["picture14.png"])), "which is not in the study"),
        (lambda f: edit(f, lambda s: s.update(pictures=[1])), "for 'pictures', which is not what a study has there"),
    ],
)
def test_pictures_of_a_damaged_study(kinship, tmp_path, break_it, message):
    path = Discovery(kinship.dissimilarities, pictures={"Aunt": PNG}).save(tmp_path / "study")
    break_it(path)
    with pytest.raises(FileProblem, match=message):
        Discovery.load(path)
