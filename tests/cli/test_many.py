"""The whole chain of many objects, from a file to the report, without a table of all pairs."""

import numpy as np
import pandas as pd
import pytest

from tests.many import N, let_few_be_many, no_square, some_features
from unmask.dissimilarities import Metric

from .conftest import Shell

resource = pytest.importorskip("resource", reason="limits of memory are set as on Unix")

pytestmark = pytest.mark.filterwarnings("ignore::unmask.LeakWarning", "ignore::unmask.checking.AdjustmentWarning")
FAST = ("--solver", "stochastic", "--adjust", "false", "--n-init", "1")


@pytest.fixture
def many(monkeypatch, tmp_path):
    """Return a shell in a folder with a table of many objects."""
    let_few_be_many(monkeypatch)
    monkeypatch.chdir(tmp_path)
    features, known, _ = some_features()
    features.join(known).to_csv("table.csv", index_label="name")
    return Shell(tmp_path)


def test_many_objects_go_from_a_table_to_a_report(many, tmp_path):
    done = many("fit", "table.csv", "-m", "euclidean", "-c", "size,kind", *FAST, "--out", "out", "--color", "kind")
    assert ", estimated from random pairs, standard error " in done.stdout
    assert not list((tmp_path / "out").glob("dissimilarities*"))
    places = pd.read_csv("out/map.csv", index_col=0)[["axis1", "axis2"]]
    pd.read_csv("table.csv", index_col=0).iloc[:5].to_csv("new.csv")
    placed = pd.DataFrame(many.json("place", "out", "new.csv")["placed"]).set_index("label")
    size = np.ptp(places.to_numpy(), axis=0).max()
    assert np.abs(placed - places.loc[placed.index]).to_numpy().max() < 0.1 * size
    many(
        "report", "out", "--bootstrap", "3", "--max-objects", "100"
    )  # the study has no table of all pairs that could be asked for
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for words in (
        "features that are compared by the metric euclidean when it is needed",
        "Estimated from random pairs, standard error",
        "stochastic: as asked for",
        "Shown are the pairs of 300 objects, picked at random.",
        "The bootstrap is left out: it needs",
        "The scree is left out: it needs",
        "Make a study of a random sample of the objects for that.",
    ):
        assert words in page


@pytest.mark.parametrize("command", ["scree", "test", "compare", "dbrda"])
def test_commands_that_need_all_pairs_refuse_at_once(many, command):
    with no_square():
        line = many.refusal(command, "table.csv", "-m", "euclidean", "-c", "size,kind")
    assert "3,000 objects, and this command needs a table of all their pairs" in line
    assert "random sample of the objects" in line


def test_a_large_file_of_numpy_is_not_read_into_memory(many, tmp_path):
    features, *_ = some_features()
    np.save("D.npy", Metric(dtype="float32").fit_transform(features))
    with no_square(8):
        done = many("fit", "D.npy", *FAST, "--out", "out")
    assert f"{N:,} x {N:,} dissimilarities, which stay in the file" in done.stderr
    assert sum(file.stat().st_size for file in (tmp_path / "out").iterdir()) < 1e6
    assert "this command needs a table" in many.refusal("scree", "D.npy")
    np.save("D.npy", np.ones((1100, 1100)))
    assert "symmetric" not in many.refusal("fit", "D.npy", *FAST)  # its diagonal is wrong


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_hundred_thousand_objects(tmp_path, monkeypatch):
    """Features, fit, leak, importance, suggestions, picture, report, saving and the command line, in less than 3 GB."""
    from matplotlib.figure import Figure

    from unmask.discovery import Discovery
    from unmask.reports import write_report

    monkeypatch.chdir(tmp_path)
    n = 100_000
    features, known, table = some_features(n)
    study = Discovery(features, known=known, table=table, metric="euclidean", title="many")
    step = study.fit(2, solver="stochastic", adjust=False)
    assert step.stress_se < 0.01 * step.stress
    assert step.leak > step.leak_reference
    assert set(step.importance.index) == {"size", "kind"}
    suggestions = study.suggest(n_permutations=199, n_references=19).set_index("what")
    assert suggestions.loc["factor", "p_value"] < 0.05
    study.adopt("groups", groups=3)
    study.undo()
    figure = Figure()
    study.plot(color="kind", ax=figure.add_subplot())
    figure.savefig("map.png")
    write_report(study, "report.html", bootstrap=5)
    study.save("study")
    again = Discovery.load("study")
    pd.testing.assert_frame_equal(again.embedding, study.embedding)
    assert sum(file.stat().st_size for file in (tmp_path / "study").iterdir()) < 1e8
    features.join(known).to_csv("table.csv", index_label="name")
    shell = Shell(tmp_path)
    shell("fit", "table.csv", "-m", "euclidean", "-c", "size,kind", *FAST, "--out", "out")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3e6  # kB; a table of all pairs is 80 GB
