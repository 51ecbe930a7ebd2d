"""Files are written whole or not at all."""

import errno
import os
import stat
import subprocess
import sys

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


# ---- disks that are full, and processes that are killed


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_a_full_disk_becomes_one_sentence(tmp_path, code):
    def write():
        with atomic_path(tmp_path / "map.csv"):
            raise OSError(code, os.strerror(code))

    with pytest.raises(FileProblem, match=r"map\.csv: cannot be written \(.+\); free some space, or") as error:
        write()
    assert os.strerror(code).lower() in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_errors_of_other_files_stay_what_they_are(tmp_path):
    def write():
        with atomic_path(tmp_path / "map.csv"):
            (tmp_path / "nothing").read_bytes()

    with pytest.raises(FileNotFoundError):
        write()


FULL = """
import resource, sys, warnings
import numpy as np, pandas as pd
from unmask.discovery import Discovery
from unmask.io import FileProblem, write_table
folder = sys.argv[1]
n = 60
table = pd.DataFrame(np.random.default_rng(0).normal(size=(n, n)))
study = Discovery((table + table.T).abs() * (1 - np.eye(n)))
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))  # what a disk with 8 kB left does
for write in (
    lambda: write_table(table, folder + "/a.csv"),
    lambda: write_table(table, folder + "/a.csv.gz"),
    lambda: study.save(folder + "/study.zip"),
    lambda: study.save(folder + "/study"),
):
    try:
        write()
    except FileProblem as error:
        print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_every_writer_says_which_file_did_not_fit(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True)
    names = ["a.csv", "a.csv.gz", "study.zip", "study"]
    lines = done.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [str(tmp_path / name) for name in names]
    assert all(
        "cannot be written (file too large); free some space, or choose another place." in line for line in lines
    )
    assert list(tmp_path.iterdir()) == []


def test_drafts_of_killed_processes_are_swept_when_they_are_old(tmp_path):
    old, fresh, other = (
        tmp_path / f".{digit * 16}-{name}" for digit, name in (("1", "map.csv"), ("2", "map.csv"), ("3", "x"))
    )
    for draft in (old, fresh, other):
        draft.write_text("half", encoding="utf-8")
    for draft in (old, other):
        os.utime(draft, (0, 0))
    with atomic_path(tmp_path / "map.csv") as draft:
        draft.write_text("new", encoding="utf-8")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([fresh.name, other.name, "map.csv"])
