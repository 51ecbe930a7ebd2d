"""Scree, comparison and permutation test."""

import json

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS
from unmask.datasets import load_kinship
from unmask.inspection import choose_n_components, dbrda_test, permutation_test, scree
from unmask.io._text import exact

BOTH = ("dissimilarities.csv", "--known", "known.csv", "--columns", "gender,degree")


def library(n_components=2, **params):
    return ConditionalMDS(n_components, metric="precomputed", random_state=0, **params)


def test_scree_is_that_of_the_library(shell):
    kin = load_kinship()
    table = scree(library(n_init=2), kin.dissimilarities, kin.known[["gender", "degree"]], max_components=3)
    found = shell.json("scree", *BOTH, "--n-init", 2, "--max-components", 3, "--out", "result")
    assert [row["stress"] for row in found["scree"]] == table["stress"].tolist()
    assert found["elbow"] == table.attrs["elbow"]
    np.testing.assert_array_equal(pd.read_csv("result/scree.csv", **exact())["stress"], table["stress"])
    assert (shell.folder / "result" / "scree.png").read_bytes()[:4] == b"\x89PNG"
    done = shell("scree", *BOTH, "--n-init", 2, "--max-components", 3, "--quiet")
    assert done.stdout.splitlines()[-1] == f"elbow: {table.attrs['elbow']}"


def test_scree_by_prediction(shell):
    kin = load_kinship()
    table = choose_n_components(library(n_init=1), kin.dissimilarities, None, max_components=2)
    found = shell.json("scree", "dissimilarities.csv", "--n-init", 1, "--max-components", 2, "--choose")
    assert found["chosen"] == table.attrs["chosen"]
    assert [row["heldout"] for row in found["scree"]] == table["heldout"].tolist()


def test_scree_along_a_surface(shell):
    found = shell.json("scree", *BOTH, "--n-init", 1, "--max-components", 2, "--estimator", "isomap", "-k", 4)
    assert len(found["scree"]) == 3


def test_permutation_test_is_that_of_the_library(shell):
    kin = load_kinship()
    model = library(1, n_init=1, adjust="auto")
    table = permutation_test(model, kin.dissimilarities, kin.known[["gender", "degree"]], n_permutations=19)
    found = shell.json("test", *BOTH, "--n-components", 1, "--n-init", 1, "--n-permutations", 19, "--out", "result")
    assert [row["p_value"] for row in found["test"]] == table["p_value"].tolist()
    assert [row["feature"] for row in found["test"]] == ["gender", "degree"]
    assert pd.read_csv("result/test.csv", **exact())["permuted"].tolist() == table["permuted"].tolist()


@pytest.mark.parametrize(("command", "other"), [("test", "dbrda"), ("dbrda", "test")])
def test_each_test_says_when_to_report_it_and_not_the_other(shell, command, other):
    words = [
        command,
        *BOTH,
        "--n-permutations",
        2,
        *(["--n-components", 1, "--n-init", 1] if command == "test" else []),
    ]
    question = shell.json(*words)["question"]
    assert question.startswith("Report this test")
    assert f"`unmask {other}` asks" in question
    assert question in shell(*words).stdout


@pytest.mark.parametrize("command", ["test", "dbrda"])
def test_there_must_be_something_to_test(shell, command):
    assert shell.refusal(command, "dissimilarities.csv").startswith("there is no known feature to test")


def test_ctrl_c_prints_and_writes_the_permutations_so_far(shell, monkeypatch):
    def interrupting(*arguments, progress, **options):
        def interrupt(done, total):
            progress(done, total)
            if done == 5:
                raise KeyboardInterrupt

        return permutation_test(*arguments, progress=interrupt, **options)

    monkeypatch.setattr("unmask.inspection.permutation_test", interrupting)
    words = ("test", *BOTH, "--n-components", 1, "--n-init", 1, "--n-permutations", 19, "--out", "result")
    done = shell(*words, "--json", code=130)
    assert [row["permutations"] for row in json.loads(done.stdout)["test"]] == [3, 2]
    assert "Warning: the test was interrupted after 5 of 38 permutations" in done.stderr
    assert pd.read_csv("result/test.csv")["permutations"].tolist() == [3, 2]


def test_redundancy_analysis_is_that_of_the_library(shell):
    kin = load_kinship()
    table = dbrda_test(kin.dissimilarities, kin.known[["gender", "degree"]], random_state=0)
    found = shell.json("dbrda", *BOTH, "--out", "result")
    assert [row["F"] for row in found["dbrda"]][:2] == table["F"].tolist()[:2]
    assert [row["p_value"] for row in found["dbrda"]][:2] == table["p_value"].tolist()[:2]
    assert pd.read_csv("result/dbrda.csv")["df"].tolist() == [1, 1, 11]
    assert "(residual)" in shell("dbrda", *BOTH).stdout


@pytest.mark.filterwarnings("ignore")
def test_methods_are_compared(shell):
    found = shell.json(
        "compare", *BOTH, "--methods", "mds,partial-dbrda", "--out", "result", "--types", "degree=numeric"
    )
    mds, rival = found["comparison"]
    assert mds["method"] == "mds"
    assert mds["stress"] == pytest.approx(0.071275940108, abs=1e-9)
    assert rival["leak"] == pytest.approx(0, abs=1e-9)
    assert "acc_all" not in mds
    assert pd.read_csv("result/comparison.csv").shape[0] == 2
    assert "methods=['magic']" in shell.refusal("compare", *BOTH, "--methods", "magic")


def test_too_many_dimensions_are_refused(shell):
    assert shell.refusal("scree", *BOTH, "--max-components", 40).startswith(
        "max_components=40 is too many for 14 objects"
    )


@pytest.mark.filterwarnings("ignore")
def test_few_objects_have_fewer_dimensions_unless_asked_for(shell):
    table = pd.read_csv(shell.folder / "dissimilarities.csv", index_col=0)
    table.iloc[:5, :5].to_csv("few.csv")
    found = shell.json("scree", "few.csv", "--n-init", 1)
    assert [row["n_components"] for row in found["scree"]] == [0, 1, 2, 3, 4]
    assert shell.refusal("scree", "few.csv", "--max-components", 6).startswith(
        "max_components=6 is too many for 5 objects"
    )
