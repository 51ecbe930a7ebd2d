"""Files are written whole or not at all."""

import os
import stat

import pytest

from unmask.io import FileProblem, atomic_path


def test_a_file_appears_when_all_has_been_written(tmp_path):
    target = tmp_path / "map.csv"
    with atomic_path(target) as draft:
        assert draft.parent == tmp_path
        assert draft.suffix == ".csv"
        draft.write_text("new", encoding="utf-8")
        assert not target.exists()
    assert target.read_text(encoding="utf-8") == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["map.csv"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "map.csv"
    target.write_text("old", encoding="utf-8")

    def write():
        with atomic_path(target) as draft:
            draft.write_text("half", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert target.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["map.csv"]


def test_a_long_name_is_no_hindrance(tmp_path):
    target = tmp_path / ("x" * 250 + ".csv")
    with atomic_path(target) as draft:
        assert draft.suffix == ".csv"
        draft.write_text("new", encoding="utf-8")
    assert target.read_text(encoding="utf-8") == "new"


@pytest.mark.skipif(os.name != "posix", reason="rights and links of POSIX")
def test_rights_are_kept_and_links_followed(tmp_path):
    target, link = tmp_path / "map.csv", tmp_path / "link.csv"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    with atomic_path(link) as draft:
        draft.write_text("new", encoding="utf-8")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_a_new_file_has_the_rights_that_the_user_gives_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_path(tmp_path / "map.csv") as draft:
            draft.write_text("new", encoding="utf-8")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "map.csv").stat().st_mode) == 0o640


def test_folders_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(FileProblem, match="is a folder; give the name of a file"), atomic_path(tmp_path):
        pass
    with pytest.raises(FileProblem, match="there is no folder"), atomic_path(tmp_path / "no" / "map.csv"):
        pass


def test_what_the_system_refuses_becomes_one_sentence(tmp_path, monkeypatch):
    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    target = tmp_path / "map.csv"
    target.write_text("old", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(FileProblem, match=r"cannot be written \(permission denied\)"), atomic_path(target):
            pass
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(FileProblem, match=r"cannot be replaced \(permission denied\)"), atomic_path(target):
            pass
    assert target.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["map.csv"]
