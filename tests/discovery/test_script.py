"""Scripts of studies: they make the same maps, and nothing in a study becomes code."""

import ast
import json
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unmask import Numeric, Ordinal
from unmask.discovery import Discovery
from unmask.io import FileProblem

from .studies import assert_same, edit, places


def test_the_script_makes_the_same_maps_in_another_process(whole, tmp_path):
    path = whole.branch().save(tmp_path / "study.zip")
    script = tmp_path / "script.py"
    script.write_text(
        whole.to_script(path) + "\nimport pickle, sys\npickle.dump(maps, open(sys.argv[1], 'wb'))\n", encoding="utf-8"
    )
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
    study.fit(2, n_init=2)
    study.adopt("line", along=(index[0], index[3]), why="\n'''\nraise SystemExit")
    study.adopt('"x"', values=dict(zip(index, range(14), strict=True)), why='"')
    study.fit(1, n_init=2)
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
    assert "from unmask import Numeric\n" in script
    assert '    known_types={"degree": "nominal", "generation": Numeric()},\n' in script
    assert "step = study.fit(\n" in script


CODE = '__import__("os").system("x")'


# The names that a script of `to_script` is made of; whatever else occurs in one is somebody else's code.
VOCABULARY = {
    *("pd", "Timestamp", "Discovery", "load", "saved", "branch", "study", "step", "maps", "float", "print"),
    *("fit", "adopt", "amend", "forget", "go", "tree", "values", "number", "stress", "embedding"),
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
    "change",
    [
        lambda s: s["actions"][0]["params"].update({f"tol=1e-3); {CODE}; dict(x": 1}),
        lambda s: s["actions"][0]["params"].update(metric="euclidean"),
        lambda s: s["actions"][0]["params"].pop("n_components"),
        lambda s: s["actions"][0]["params"].update(n_components=CODE),
        lambda s: s["actions"][0]["params"].update(random_state=CODE),
        lambda s: s["actions"][0].update(known=[{"x": 1}]),
        lambda s: s["actions"][0].update(known=["gender"]),
        lambda s: s["actions"][0].update(known_types={"size": CODE}),
        lambda s: s.update(known_types={CODE: "nominal"}),
        lambda s: s["actions"][0].update(versions={"numpy": 1}),
        lambda s: s["actions"][0].update(warnings=[1]),
        lambda s: s.update(known_types={"size": CODE}),
        lambda s: s["actions"][1].update(kind=CODE),
        lambda s: s["actions"][1].update(source={CODE: 1}),
        lambda s: s["actions"][1].update(source={"column": CODE}),
        lambda s: s["actions"][2].update(step=f"1]; {CODE}; maps[1"),
        lambda s: s["actions"][2].update(source={"along": [CODE, "Aunt"]}),
        lambda s: s["actions"][2].update(source={"along": CODE}),
        lambda s: s["actions"][3].update(source={"groups": {CODE: 1}}),
        lambda s: s["actions"][5].update(source={"from_axis": f"0]; {CODE}"}),
        lambda s: s["actions"][6].update(name="gone"),
        lambda s: s["actions"][3].update(name="gender"),
    ],
)
def test_code_in_a_study_never_becomes_code_of_its_script(folder, change):
    edit(folder, change)
    try:
        loaded = Discovery.load(folder)
    except FileProblem:
        return
    assert_harmless(loaded.to_script(folder))


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
        whole.branch().save(path)
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

    for params, error in (({"tol": [Sly()]}, TypeError), ({CODE: 1}, ValueError)):
        sly = Discovery(whole.dissimilarities)
        sly._add(whole.steps[0].model_copy(update={"params": whole.steps[0].params | params}))
        with pytest.raises(error):
            sly.to_script()
