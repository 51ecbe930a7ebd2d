"""Studies in files: everything comes back exactly, half a study is never there, and bad files get one sentence."""

import ast
import copy
import dataclasses
import itertools
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unmask.discovery._load as loading
import unmask.discovery._save as saving
from unmask import Cyclic, Nominal, Numeric, Ordinal, Spline
from unmask.discovery import Discovery, read_tables
from unmask.discovery._values import as_code, decode, encode
from unmask.io import FileProblem

FAST = {"n_init": 2}
KINDS = ["folder", "study.zip"]


@pytest.fixture(scope="module")
def whole(kinship):
    """A study with one of everything."""
    table = kinship.known.copy()
    table["grade"] = pd.Categorical(np.array([3, 1, 2])[np.arange(14) % 3], categories=[3, 2, 1], ordered=True)
    table["mixed"] = pd.Categorical(np.array([1, "1"], dtype=object)[np.arange(14) % 2], categories=[1, "1"])
    table["truth"] = np.arange(14) % 3 == 0
    table["note"] = ["=1+1", "'=1", "-", "", None, "a,b", 'say "x"', "two\nlines", "\r\n", "é", "\tx", "@", "''", "+"]
    table["cells"] = np.array(["a", 1, None, True, 2.5, (1, "x"), "1", "", 0, -1, False, "=", "'", "b"], dtype=object)
    table["gaps"] = [np.nan, np.inf, 0.1, 1e-300, *np.random.default_rng(0).normal(size=10)]
    known = pd.DataFrame({"size": np.random.default_rng(1).normal(size=14)}, index=kinship.known.index)
    study = Discovery(
        kinship.dissimilarities / 7,
        known,
        table,
        weights=np.ones((14, 14)),
        known_types={"size": Spline(2)},
        title="=a",
    )
    study.fit(2, **FAST)
    study.adopt("gender", column="gender", kind=Nominal((1, 2)), why='because, "yes"')
    study.adopt("line", along=("Aunt", [0.0, 1.0]))
    study.adopt("two", groups=2)
    study.fit(2, estimator="isomap", n_neighbors=8, **FAST)
    study.adopt("axis", from_axis=1)
    study.forget("size", why="enough")
    study.forget("axis")
    study.fit(0, **FAST)
    return study


def assert_same(one, other):
    assert one.title == other.title
    assert one.known_types == other.known_types
    for name in ("dissimilarities", "known", "table", "history"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name), check_exact=True)
    assert (one.weights is None) == (other.weights is None)
    if one.weights is not None:
        pd.testing.assert_frame_equal(one.weights, other.weights, check_exact=True)
    assert [type(action) for action in one.actions] == [type(action) for action in other.actions]
    for mine, theirs in zip(one.actions, other.actions, strict=True):
        assert mine.text == theirs.text
        for field, value in vars(mine).items():
            found = getattr(theirs, field)
            if isinstance(value, pd.DataFrame):
                pd.testing.assert_frame_equal(value, found, check_exact=True, check_index_type=value.size > 0)
            elif isinstance(value, pd.Series):
                pd.testing.assert_series_equal(value, found, check_exact=True)
            else:
                assert value == found


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


@pytest.mark.parametrize("kind", KINDS)
def test_replay_after_loading_in_another_process_gives_the_same_numbers(whole, tmp_path, kind):
    path = whole.save(tmp_path / kind)
    assert whole.replay()["same"].all()
    code = (
        "from unmask.discovery import Discovery\n"
        f"table = Discovery.load({str(path)!r}).replay()\n"
        "print(table['same'].tolist(), table['difference'].max())"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True, True, True] 0.0"


def test_replay_notices_numbers_that_are_not_those_of_the_study(whole):
    changed = whole.branch()
    changed.steps[0].embedding.iloc[0, 0] += 1e-3
    table = changed.replay()
    assert table["same"].tolist() == [False, True, True]
    assert table["difference"].iloc[0] > 1e-6
    assert changed.replay(tol=0.1)["same"].all()


def test_the_script_makes_the_same_maps_in_another_process(whole, tmp_path):
    path = whole.save(tmp_path / "study.zip")
    script = tmp_path / "script.py"
    script.write_text(whole.to_script(path) + "\nimport pickle, sys\npickle.dump(maps, open(sys.argv[1], 'wb'))\n")
    out = tmp_path / "maps"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), str(out)], capture_output=True, text=True, check=True
    )
    maps = pd.read_pickle(out)
    assert sorted(maps) == [1, 2, 3]
    for step in whole.steps:
        np.testing.assert_allclose(maps[step.number], step.embedding, rtol=0, atol=1e-8)
    assert done.stdout.splitlines()[0] == f"step 1: stress {whole.steps[0].stress:.6f}"


@pytest.mark.parametrize("labels", ["tuples", "moments", "numbers", "numbers as text"])
def test_scripts_and_files_know_labels_of_every_kind(kinship, tmp_path, labels):
    index = {
        "tuples": pd.Index([(i, "a,b") for i in range(14)], tupleize_cols=False),
        "moments": pd.date_range("2020-01-01 12:30", periods=14),
        "numbers": pd.Index(range(100, 114)),
        "numbers as text": pd.Index([f"-{i}" for i in range(14)], name="=name"),
    }[labels]
    study = Discovery(pd.DataFrame(kinship.dissimilarities.to_numpy(), index=index, columns=index), title='"""\n\\')
    study.fit(2, **FAST)
    study.adopt("line", along=(index[0], index[3]), why="\n'''\nraise SystemExit")
    study.adopt('"x"', values=dict(zip(index, range(14), strict=True)), why='"')
    study.fit(1, **FAST)
    path = study.save(tmp_path / "study")
    assert_same(study, Discovery.load(path))
    space = {}
    exec(study.to_script(path), space)
    np.testing.assert_allclose(space["maps"][2], study.step.embedding, rtol=0, atol=1e-8)


def test_a_script_of_nothing_known_and_nothing_done_runs(kinship, tmp_path):
    study = Discovery(kinship.dissimilarities.to_numpy(dtype=np.float32))
    path = study.save(tmp_path / "study")
    space = {}
    exec(study.to_script(path), space)
    assert space["maps"] == {}
    loaded = Discovery.load(path)
    assert loaded.dissimilarities.to_numpy().dtype == np.float32
    assert isinstance(loaded.dissimilarities.index, pd.RangeIndex)
    np.testing.assert_array_equal(loaded.dissimilarities, study.dissimilarities)


def test_long_calls_are_broken_and_types_imported(kinship):
    study = Discovery(kinship.dissimilarities, kinship.known, known_types={"degree": Ordinal((1, 2, 3))})
    study.fit(1, estimator="classical", coef="full", known_types={"degree": "nominal", "generation": Numeric()})
    script = study.to_script()
    assert "from unmask import ConditionalClassicalMDS, Numeric\n" in script
    assert '    known_types={"degree": "nominal", "generation": Numeric()},\n' in script
    assert "mds.fit(D, known=known)" in script


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


def test_tables_are_read_without_the_study(whole, tmp_path):
    tables = read_tables(whole.save(tmp_path / "study.zip"))
    assert set(tables) == {"dissimilarities", "weights", "known", "table", "adopted"}
    assert list(tables["adopted"].columns) == ["gender", "line", "two", "axis"]
    bare = Discovery(1.0 - np.eye(3)).save(tmp_path / "bare")
    assert set(read_tables(bare)) == {"dissimilarities"}


def test_values_come_back_and_have_code(tmp_path):
    moment = pd.Timestamp("2020-02-03 04:05")
    for value in (
        *(None, True, 3, -0.5, "x", [1, [2]], (1,), (), {"a": 1}, {"$a": 1, 2: (3,)}, np.inf, 1e300),
        *(Cyclic(24.0), Ordinal(("a", "b")), Nominal(), Numeric(), Numeric(0.5, 9, True), Spline(3), moment),
    ):
        written = json.loads(json.dumps(encode(value), allow_nan=False))
        assert decode(written) == value
        names = {kind.__name__: kind for kind in (Cyclic, Ordinal, Nominal, Numeric, Spline)}
        assert eval(as_code(value), {"pd": pd, **names}) == value
    assert np.isnan(decode(encode(np.nan)))
    assert type(decode(encode(np.int8(3)))) is int
    with pytest.raises(TypeError, match="cannot be written down"):
        encode({1, 2})


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_estimated_cells_come_back(kinship, tmp_path, format_):
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    known = kinship.known[["gender", "degree"]].astype(float)
    known["gender"] = known["gender"].map({1.0: "male", 2.0: "female"})
    known.loc["Aunt", "degree"], known.loc["Uncle", "gender"] = np.nan, None
    study = Discovery(kinship.dissimilarities, known, known_types={"degree": Numeric(lower=1, log=True)})
    step = study.fit(2, **FAST)
    assert list(step.imputed["object"]) == ["Uncle", "Aunt"]
    loaded = Discovery.load(study.save(tmp_path / "study", format=format_))
    assert_same(study, loaded)
    assert loaded.replay()["same"].all()
    assert "Numeric(lower=1, log=True)" in study.to_script()


def test_a_study_of_an_earlier_version_has_no_estimated_cells(whole, tmp_path):
    path = whole.save(tmp_path / "study")
    text = json.loads((path / "study.json").read_text())
    for action in text["actions"]:
        action.pop("imputed", None)
    (path / "study.json").write_text(json.dumps(text))
    assert_same(whole, Discovery.load(path))


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
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileProblem, match="file: is a file; give the name of a folder"):
        whole.save(tmp_path / "file")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(FileProblem, match="is a folder with other things in it"):
        whole.save(tmp_path / "full")
    with pytest.raises(FileProblem, match="there is no folder"):
        whole.save(tmp_path / "none" / "study")
    with pytest.raises(ValueError, match="format='xls' is not one of 'csv', 'parquet'"):
        whole.save(tmp_path / "study", format="xls")
    (tmp_path / "empty").mkdir()
    whole.save(tmp_path / "empty")
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


def test_the_same_study_gives_the_same_bytes(whole, tmp_path):
    first, second = whole.save(tmp_path / "a.zip"), whole.save(tmp_path / "b.zip")
    assert first.read_bytes() == second.read_bytes()


# ---- files that are not what they should be


@pytest.fixture
def folder(whole, tmp_path):
    return whole.save(tmp_path / "study")


def edit(folder, change):
    file = folder / "study.json"
    study = json.loads(file.read_text(encoding="utf-8"))
    change(study)
    file.write_text(json.dumps(study), encoding="utf-8")


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (shutil.rmtree, "is not there; give the folder or zip file that Discovery.save wrote"),
        (lambda f: (f / "study.json").unlink(), "has no study.json"),
        (lambda f: (f / "study.json").write_text("{"), "study.json is no JSON"),
        (lambda f: (f / "study.json").write_bytes(b"\xff"), "study.json is no JSON"),
        (lambda f: (f / "study.json").write_text("[" * 100_000), "study.json is no JSON"),
        (lambda f: (f / "study.json").write_text("[]"), "study.json is not that of a study of unmask"),
        (
            lambda f: edit(f, lambda s: s.update(schema_version=2, unmask_version="9.1")),
            "was written in version 2 of the format by unmask 9.1, and this one reads version 1",
        ),
        (lambda f: (f / "table.csv").unlink(), "the file 'table.csv' is missing, which study.json names"),
        (lambda f: (f / "table.csv").write_bytes(b"\xff\xfe"), "table.csv is no CSV table"),
        (lambda f: (f / "table.csv").write_text(""), "table.csv is no CSV table"),
        (lambda f: shutil.copy(f / "adopted.csv", f / "table.csv"), "column 'line' where 'degree' should be"),
        (lambda f: shutil.copy(f / "step2-map.csv", f / "step3-map.csv"), "'axis1' where 'stress per point' should be"),
        (lambda f: cut(f / "table.csv"), "has 13 rows, not 14"),
        (lambda f: swap(f / "known.csv"), "has 'Brother' in row 2 where 'Aunt' should be"),
        (lambda f: shutil.copy(f / "known.csv", f / "step2-coef.csv"), "step2-coef.csv has column"),
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
        (lambda f: edit(f, lambda s: s["tables"].pop("step2-map")), "names no map of step 2"),
        (lambda f: edit(f, lambda s: s["objects"]["labels"].__setitem__(0, "Son")), "study.json has a label twice"),
        (lambda f: edit(f, lambda s: s["actions"].pop(0)), r"numbers the steps \[2, 3\], not 1, 2, 3"),
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


def places(tree, path=()):
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield (*path, key)
        if isinstance(value, dict | list) and value:
            # of a list the first entry stands for all
            yield from places(value if isinstance(value, dict) else value[:2], (*path, key))


# ---- scripts of studies that somebody else wrote

CODE = '__import__("os").system("x")'
# The names that a script of `to_script` is made of; whatever else occurs in one is somebody else's code.
VOCABULARY = {
    *("pd", "DataFrame", "Series", "Timestamp", "read_tables", "float", "list", "print"),
    *("tables", "D", "known", "maps", "mds", "start", "end", "way"),
    *("fit", "embedding_", "stress_", "index", "iloc", "loc", "sum", "drop"),
    *("ConditionalMDS", "ConditionalIsomap", "ConditionalClassicalMDS"),
    *("Cyclic", "Nominal", "Numeric", "Ordinal", "Spline"),
}


def assert_harmless(script):
    tree = ast.parse(script)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert used <= VOCABULARY
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    assert all(isinstance(statement, allowed) for statement in tree.body)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: s["actions"][0]["params"].update({f"tol=1e-3); {CODE}; dict(x": 1}),
            r"fit has no parameter 'tol=1e-3\); __import__",
        ),
        (lambda s: s["actions"][0]["params"].update(metric="euclidean"), "is not a parameter of a step"),
        (lambda s: s["actions"][0]["params"].pop("n_components"), "None for 'n_components'"),
        (lambda s: s["actions"][0]["params"].update(n_components=CODE), "for 'n_components'"),
        (lambda s: s["actions"][0]["params"].update(random_state=CODE), "random_state=.* must be an integer"),
        (lambda s: s["actions"][0].update(known=[{"x": 1}]), "for 'known', which is not what"),
        (lambda s: s["actions"][0].update(known=["gender"]), "step 1 .*'gender'.* known then"),
        (lambda s: s["actions"][0].update(known_types={"size": CODE}), "'size' is declared"),
        (lambda s: s.update(known_types={CODE: "nominal"}), "which is not a known column"),
        (lambda s: s["actions"][0].update(versions={"numpy": 1}), "1 for 'numpy', which is not what"),
        (lambda s: s["actions"][0].update(warnings=[1]), "for 'warnings', which is not what"),
        (lambda s: s.update(known_types={"size": CODE}), "'size' is declared"),
        (lambda s: s["actions"][1].update(kind=CODE), "'gender' is declared"),
        (lambda s: s["actions"][1].update(source={CODE: 1}), "source=.* is not one of 'values'"),
        (lambda s: s["actions"][1].update(source={"column": CODE}), "is not in the table of the study"),
        (lambda s: s["actions"][2].update(step=f"1]; {CODE}; maps[1"), "for 'step' of 'line', which was 1"),
        (lambda s: s["actions"][2].update(source={"along": [CODE, "Aunt"]}), "neither the label of an object"),
        (lambda s: s["actions"][2].update(source={"along": CODE}), "along=.* must be"),
        (lambda s: s["actions"][3].update(source={"groups": {CODE: 1}}), "groups=.* must be an integer"),
        (lambda s: s["actions"][5].update(source={"from_axis": f"0]; {CODE}"}), "from_axis=.* must be an integer"),
        (lambda s: s["actions"][6].update(name="gone"), "'gone', which was put aside, was not known"),
        (lambda s: s["actions"][3].update(name="gender"), "'gender' is adopted but was taken"),
    ],
)
def test_code_in_a_study_never_becomes_code_of_its_script(folder, change, message):
    edit(folder, change)
    with pytest.raises(FileProblem, match=message):
        Discovery.load(folder)


HOSTILE = (
    CODE,
    f"0]; {CODE}",
    f"x=1); {CODE}; dict(y",
    f'"""\n{CODE}',
    f"\n{CODE}\n",
    f"\\'); {CODE} #",
    "{step.__class__}",
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_written_into_study_json_its_script_is_harmless(whole, tmp_path, data):
    path = tmp_path / "study"
    if not path.exists():
        whole.save(path)
        shutil.copy(path / "study.json", tmp_path / "kept.json")
    study = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(list(places(study))))
        spot = study
        for key in way:
            spot = spot[key]
        text = data.draw(st.sampled_from(HOSTILE))
        form = data.draw(st.sampled_from(["value", "key", "list", "tuple", "dict", "added"]))
        if form == "key" and isinstance(spot, dict):
            spot[text] = spot.pop(last)
        elif form == "added" and isinstance(spot, dict):
            spot[text] = text
        else:
            spot[last] = {"list": [text], "tuple": {"$tuple": [text]}, "dict": {text: text}}.get(form, text)
    (path / "study.json").write_text(json.dumps(study), encoding="utf-8")
    try:
        loaded = Discovery.load(path)
    except FileProblem:
        return
    assert_harmless(loaded.to_script(path))


def test_scripts_of_honest_studies_are_harmless_too(whole):
    assert_harmless(whole.to_script())


def test_code_is_written_of_literals_only(whole):
    class Sly:
        def __repr__(self):
            return CODE

    with pytest.raises(TypeError, match="cannot be written down"):
        as_code([Sly()])
    step = whole.steps[0]
    sly = Discovery._of(whole._material, (dataclasses.replace(step, params={**step.params, CODE: 1}),), "")
    with pytest.raises(ValueError, match="no parameter"):
        sly.to_script()


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


@pytest.mark.parametrize("name", ["../evil.csv", "/evil.csv", "a/b.csv", "a\\b.csv", "C:evil.csv", "..", "folder/"])
def test_a_zip_file_with_paths_in_it_is_refused(whole, tmp_path, name):
    path = whole.save(tmp_path / "study.zip")
    repack(path, lambda entries: entries.update({name: b""}))
    with pytest.raises(FileProblem, match="which is no name of a file of a study"):
        Discovery.load(path)


def test_a_zip_bomb_is_refused(whole, tmp_path, monkeypatch):
    path = whole.save(tmp_path / "study.zip")
    monkeypatch.setattr(loading, "ALWAYS_ALLOWED", 100_000)
    Discovery.load(path)
    repack(path, lambda entries: entries.update({"table.csv": b"0" * 50_000_000}))
    with pytest.raises(FileProblem, match="holds more than 200 times its own size, or than memory has room for"):
        Discovery.load(path)


def test_a_zip_file_larger_than_memory_is_refused(whole, tmp_path, monkeypatch):
    path = whole.save(tmp_path / "study.zip")
    monkeypatch.setattr(loading, "memory_limit", lambda: 2000)
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
