"""Saving studies: everything comes back exactly, and half a study is never there."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unmask import Cyclic, Nominal, Numeric, Ordinal, Spline
from unmask.discovery import Discovery
from unmask.io import FileProblem

from .studies import KINDS, assert_same


def listing(path):
    return sorted(entry.name for entry in path.iterdir())


# ---- there and back


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_comes_back_as_it_was(whole, tmp_path, kind):
    study = whole.branch(whole.title)
    path = study.save(tmp_path / kind)
    assert path == tmp_path / kind
    loaded = Discovery.load(path)
    assert_same(study, loaded)
    assert (loaded.uuid, loaded.revision) == (study.uuid, study.revision) == (whole.uuid, whole.revision + 1)
    assert_same(study, Discovery.load(loaded.save(tmp_path / f"again-{kind}")))
    assert listing(tmp_path) == sorted([kind, f"again-{kind}"])


def test_estimated_cells_come_back(kinship, tmp_path):
    known = kinship.known[["gender", "degree"]].astype(float)
    known["gender"] = known["gender"].map({1.0: "male", 2.0: "female"})
    known.loc["Aunt", "degree"], known.loc["Uncle", "gender"] = np.nan, None
    study = Discovery(kinship.dissimilarities, known, known_types={"degree": Numeric(lower=1, log=True)})
    step = study.fit(2, n_init=2)
    assert list(step.imputed["object"]) == ["Uncle", "Aunt"]
    loaded = Discovery.load(study.save(tmp_path / "study"))
    assert_same(study, loaded)
    assert loaded.replay()["same"].all()


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    labels=st.lists(text, min_size=4, max_size=4, unique=True),
    cells=st.lists(st.one_of(text, st.none()), min_size=4, max_size=4),
    numbers=st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=4, max_size=4),
    name=text,
)
def test_any_text_and_any_number_come_back(tmp_path, labels, cells, numbers, name):
    index = pd.Index(labels, dtype=object)
    table = pd.DataFrame({f"{name}1": cells, f"{name}2": numbers}, index=index)
    study = Discovery(pd.DataFrame(1.0 - np.eye(4), index=index, columns=index), table=table, title=name)
    loaded = Discovery.load(study.save(tmp_path / "study"))
    assert_same(study, loaded)
    assert loaded.table[f"{name}1"].tolist() == study.table[f"{name}1"].tolist()


CELLS = (True, 3, -0.5, "x", (1, ("y",)), (), 1e300, np.inf, pd.Timestamp("2020-02-03 04:05"))
TYPES = (
    Cyclic(24.0),
    Ordinal((3, 2, 1, 0)),
    Nominal(),
    Numeric(0.5, 9, True),
    Numeric(error=0.5),
    Spline(3),
    "ordinal",
)


def test_cells_and_types_of_every_kind_come_back(tmp_path):
    table = pd.DataFrame({"$cells": [*CELLS, None], "object": range(10), "object_": range(10)})
    table["levels"] = pd.Categorical([1, "1"] * 5, [1, "1"])
    known = pd.DataFrame({f"${at}": np.arange(10) % 4 for at in range(len(TYPES))})
    study = Discovery(1.0 - np.eye(10), known, table, known_types=dict(zip(known, TYPES, strict=True)))
    loaded = Discovery.load(study.save(tmp_path / "study"))
    assert_same(study, loaded)
    assert loaded.known_types == dict(zip(known, TYPES, strict=True))
    assert [type(cell) for cell in loaded.table["$cells"]] == [type(cell) for cell in study.table["$cells"]]


def test_replay_after_loading_in_another_process_gives_the_same_numbers(whole, tmp_path):
    paths = [str(whole.branch().save(tmp_path / kind)) for kind in KINDS]
    assert whole.replay()["same"].all()
    code = (
        "from unmask.discovery import Discovery\n"
        f"for path in {paths!r}:\n"
        "    table = Discovery.load(path).replay()\n"
        "    print(table['same'].tolist(), table['difference'].max())"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[True, True, True] 0.0"] * 2


def test_replay_notices_numbers_that_are_not_those_of_the_study(kinship):
    study = Discovery(kinship.dissimilarities)
    study.fit(1, n_init=1)
    study.step.embedding.to_numpy().base.flags.writeable = True
    study.step.__dict__["embedding"] = study.step.embedding * (1 + 1e-3)
    table = study.replay()
    assert not table["same"].any()
    assert table["difference"].iloc[0] > 1e-6
    assert study.replay(tol=0.1)["same"].all()


# ---- files are only added


def states(path):
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in path.iterdir()}


@pytest.mark.parametrize("how", ["saved", "loaded"])
def test_only_what_is_new_is_written(whole, tmp_path, how):
    study = whole.branch()
    path = study.save(tmp_path / "study")
    study = Discovery.load(path) if how == "loaded" else study
    before = states(path)
    study.title = "other"
    step = study.fit(1, n_init=1)
    feature = study.adopt("more", column="degree")
    study.save(path)
    after = states(path)
    new = {f"fit{step.id}-{step.key}.json", f"adopt{feature.id}-{feature.key}.json", "study.json"}
    assert {name for name in after if after[name] != before.get(name)} == new
    assert set(before) <= set(after)
    assert_same(study, Discovery.load(path))


def test_a_newer_version_is_not_overwritten(whole, tmp_path):
    for kind in KINDS:
        study = whole.branch()
        path = study.save(tmp_path / kind)
        other = Discovery.load(path)
        other.forget("line")
        other.save(path)
        with pytest.raises(FileProblem, match=r"holds a newer version .* Load it and go on there, or save this one to"):
            study.save(path)
        assert_same(other, Discovery.load(path))
        study.save(tmp_path / f"elsewhere-{kind}")
        other.save(path)
        Discovery.load(path).save(path)


def test_a_copy_that_was_changed_elsewhere_is_not_overwritten_however_often_the_other_was_saved(whole, tmp_path):
    study = whole.branch()
    path = study.save(tmp_path / "study")
    other = Discovery.load(path)
    study.adopt("mine", column="degree")
    study.save(path)
    other.forget("line")
    for name in "abc":
        other.save(tmp_path / name)
    assert other.revision > study.revision
    with pytest.raises(FileProblem, match="or one that was changed elsewhere"):
        other.save(path)
    assert_same(study, Discovery.load(path))


def test_another_study_takes_the_place_of_one(whole, tmp_path):
    path = whole.branch().save(tmp_path / "study")
    other = Discovery(1.0 - np.eye(4))
    other.save(path)
    assert_same(other, Discovery.load(path))
    assert len(listing(path)) == 2


def test_the_same_study_gives_the_same_bytes(whole, tmp_path):
    first, second = (whole.branch("").save(tmp_path / name) for name in ("a.zip", "b.zip"))
    assert first.read_bytes() == second.read_bytes()
    names = {Path(name).suffix for name in zipfile.ZipFile(first).namelist()}
    assert names == {".json", ".npy"}, "no pickle is ever written"


# ---- whole or not at all

_call = {"left": None, "act": None}
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir")


def _count(event, arguments):
    """Do something when so many calls to the system were made about files of a test."""
    if _call["left"] is not None and event in EVENTS and "pytest-of" in str(arguments[0]):
        _call["left"] -= 1
        if _call["left"] < 0:
            _call["left"] = None
            _call["act"]()


@pytest.fixture(scope="session")
def hook():
    """Return what has something done at a call to the system; an audit hook cannot be taken away again."""
    sys.addaudithook(_count)

    def at(call, act):
        _call.update(left=call, act=act)

    yield at
    _call["left"] = None


def full():
    raise OSError(28, "No space left on device")


@pytest.fixture
def two(kinship):
    """A study that was saved, and a later one; also another one."""
    study = Discovery(kinship.dissimilarities, table=kinship.known)
    study.fit(2, estimator="classical")
    later = study.branch("later")
    later.adopt("gender", column="gender")
    later.fit(2, estimator="classical")
    return study, later, Discovery(1.0 - np.eye(4), title="other")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", [False, True])
def test_a_save_that_fails_anywhere_leaves_the_old_study(two, tmp_path, kind, other, hook):
    failed, done, call = 0, False, 0
    while not done:
        study, later, another = (study.branch(study.title) for study in two)
        (tmp_path / str(call)).mkdir()
        path = study.save(tmp_path / str(call) / kind)
        later.revisions = study.revisions
        new = another if other else later
        before, revision = sorted(path.parent.rglob("*")), new.revision
        hook(call, full)
        try:
            new.save(path)
        except FileProblem as problem:
            failed += "cannot be written (no space left on device)" in str(problem)
            study.revisions, new = new.revisions, study
            assert before == sorted(path.parent.rglob("*"))
        done = _call["left"] is not None  # no call failed
        hook(None, None)
        assert new.revision == revision + (new is not study)
        assert_same(new, Discovery.load(path))
        call += 1
    assert failed >= 2


@pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", [False, True])
def test_a_save_that_is_killed_anywhere_leaves_the_old_study_or_the_new_one(two, tmp_path, kind, other, hook):
    study, later, another = two
    path, call, code, found = study.save(tmp_path / kind), 0, 9, []
    later.revisions = study.revisions
    new = another if other else later
    while code == 9:
        if (child := os.fork()) == 0:
            hook(call, lambda: os.kill(os.getpid(), 9))
            new.save(path)
            os._exit(0 if _call["left"] is not None else 1)
        code = abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        loaded = Discovery.load(path)
        found.append(loaded.title)
        assert_same(study if loaded.title == study.title else new, loaded)
        if found[-1] == new.title:
            break
        call += 1
    assert found[0] == study.title
    assert len(found) > 5
    new.revisions = Discovery.load(path).revisions
    for entry in (*tmp_path.rglob("*"), tmp_path):
        os.utime(entry, (0, 0))
    new.save(path)  # removes what the killed ones left
    assert path.is_file() or len(listing(path)) == len(listing(new.branch().save(tmp_path / "fresh")))
    assert [name for name in listing(tmp_path) if name.startswith(".")] == []


def test_a_study_that_is_saved_anywhere_while_it_is_read_is_the_old_one_or_the_new_one(two, tmp_path, hook):
    study, _, another = two
    path, found = tmp_path / "study", []
    for call in range(10):
        study.revisions = ()
        fresh = Discovery(study.dissimilarities, table=study.table)
        fresh.save(path)
        hook(call, lambda: another.save(path))
        found.append(Discovery.load(path))
        hook(None, None)
        assert_same(another if found[-1].title else fresh, found[-1])
    assert {study.title for study in found} == {"", "other"}


def test_nothing_that_is_not_a_study_is_replaced(two, tmp_path):
    study, *_ = two
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    for name in ("file", "full", "none/study"):
        with pytest.raises(FileProblem) as error:
            study.save(tmp_path / name)
        assert error.value.path == str(tmp_path / name)
    (tmp_path / "empty").mkdir()
    study.save(tmp_path / "empty")
    assert (tmp_path / "full" / "mine.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("kind", KINDS)
def test_a_study_behind_a_link_is_loaded_and_saved(two, tmp_path, kind):
    study, *_ = two
    study.save(tmp_path / kind)
    link = tmp_path / f"link-{kind}"
    link.symlink_to(tmp_path / kind)
    loaded = Discovery.load(link)
    loaded.adopt("degree", column="degree")
    loaded.save(link)
    assert link.is_symlink()
    assert_same(loaded, Discovery.load(tmp_path / kind))


# ---- text that no file can hold

HALF = "half \ud83d"


@pytest.mark.parametrize(
    "use",
    [
        lambda D, table: Discovery(D, title=HALF),
        lambda D, table: setattr(Discovery(D), "title", HALF),
        lambda D, table: Discovery(D).branch(HALF),
        lambda D, table: Discovery(D, table=table.rename(columns={"gender": HALF})),
        lambda D, table: Discovery(D, table=table.assign(x=HALF)),
        lambda D, table: Discovery(D.rename(index={"Aunt": HALF}, columns={"Aunt": HALF})),
        lambda D, table: Discovery(D.rename_axis(index=HALF)),
        lambda D, table: Discovery(D, table=table).adopt(HALF, column="gender"),
        lambda D, table: Discovery(D, table=table).adopt("x", column="gender", why=HALF),
        lambda D, table: Discovery(D, table=table).adopt("x", groups={HALF: ["Aunt"]}),
        lambda D, table: Discovery(D, table).forget("gender", why=HALF),
        lambda D, table: Discovery(D, table).amend("gender", rename=HALF),
        lambda D, table: Discovery(D, table).amend("gender", rename="x", why=HALF),
        lambda D, table: Discovery(D).fit(1, init=HALF),
    ],
)
def test_half_a_character_is_refused_on_entry(kinship, use):
    with pytest.raises(ValueError, match=r"half|surrogate"):
        use(kinship.dissimilarities, kinship.known)


# ---- pictures

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))
GIF, JPEG, WEBP = b"GIF89a12345", b"\xff\xd8\xff12345", b"RIFF1234WEBP5678"


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_saved_with_the_study(kinship, tmp_path, kind):
    (tmp_path / "aunt.png").write_bytes(PNG)
    given = {"Uncle": JPEG, "Aunt": tmp_path / "aunt.png", "Son": bytearray(GIF), "Niece": WEBP}
    study = Discovery(kinship.dissimilarities, pictures=given)
    assert list(study.material.pictures.items()) == [("Aunt", PNG), ("Niece", WEBP), ("Son", GIF), ("Uncle", JPEG)]
    path = study.save(tmp_path / kind)
    loaded = Discovery.load(path)
    assert loaded.material.pictures == study.material.pictures
    loaded.save(path)
    assert Discovery.load(path).material.pictures == study.material.pictures


@pytest.mark.parametrize(
    "pictures",
    [
        [PNG],
        {"Cousin": PNG},
        {"Aunt": b"<svg onload=alert(1)>"},
        {"Aunt": 3},
        {"Aunt": "gone.png"},
        {"Aunt": PNG + bytes(10_000_000)},
    ],
)
def test_what_is_not_a_picture_is_refused(kinship, pictures):
    with pytest.raises(ValueError, match="pictures"):
        Discovery(kinship.dissimilarities, pictures=pictures)


def test_study_json_can_be_read_by_people(whole, tmp_path):
    path = whole.branch().save(tmp_path / "study")
    saved = json.loads((path / "study.json").read_text(encoding="utf-8"))
    assert saved["uuid"] == whole.uuid
    assert saved["actions"][0]["versions"]["unmask"] == saved["unmask_version"]
    assert saved["actions"][1]["why"] == 'because, "yes"'
    assert all(len(sha256) == 64 for sha256 in saved["files"].values())
    assert set(saved["files"]) == set(listing(path)) - {"study.json"}
