"""Making a map from files."""

import errno
import json
import re

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalIsomap, ConditionalMDS, Numeric, Ordinal
from unmask.cli._types import types_of
from unmask.datasets import load_kinship
from unmask.discovery import Discovery
from unmask.io import read_dissimilarities, write_table
from unmask.io._text import exact

GENDER = ("dissimilarities.csv", "--known", "known.csv", "--columns", "gender")
FILES = {
    "coef.csv",
    "embedding.csv",
    "history.csv",
    "importance.csv",
    "map.png",
    "stress_per_point.csv",
    "study",
    "unmask.json",
}


@pytest.fixture
def one_iteration(monkeypatch):
    """Let every fit be stopped after an iteration, as Ctrl-C does."""
    fit = Discovery.fit

    def stopped(self, *arguments, callback=None, **options):
        return fit(self, *arguments, callback=lambda *_: True, **options)

    monkeypatch.setattr(Discovery, "fit", stopped)


def estimated(**params):
    kin = load_kinship()
    mds = ConditionalMDS(metric="precomputed", random_state=0, **params)
    return mds.fit(kin.dissimilarities, known=kin.known[["gender"]])


def test_numbers_are_those_of_the_library(shell):
    found = shell.json("fit", *GENDER, "--out", "result")
    mds = estimated()
    assert found["stress"] == mds.stress_
    assert found["finished"] is True
    assert found["known"] == ["gender"]
    assert [row["label"] for row in found["embedding"]] == list(load_kinship().dissimilarities.index)
    np.testing.assert_array_equal([[row["axis1"], row["axis2"]] for row in found["embedding"]], mds.embedding_)
    assert found["importance"][0]["standardized"] == mds.importance_.loc["gender", "standardized"]
    assert found["warnings"] == []
    # A map of the published stress, and the files hold it.
    assert found["stress"] == pytest.approx(0.026086954836, abs=1e-9)
    assert {path.name for path in (shell.folder / "result").iterdir()} == FILES
    table = pd.read_csv("result/embedding.csv", index_col=0, **exact())
    np.testing.assert_array_equal(table.to_numpy(), mds.embedding_)
    assert pd.read_csv("result/stress_per_point.csv")["stress"].sum() == pytest.approx(mds.stress_, rel=1e-12)
    assert pd.read_csv("result/history.csv")["finished"].tolist() == [True]
    assert set(found["written"]) == {f"result/{name}" for name in FILES - {"unmask.json"}}
    assert Discovery.load("result/study").replay()["same"].all()


def test_people_read_tables_and_remarks_go_elsewhere(shell):
    done = shell("fit", *GENDER)
    assert "Map of 14 objects in 2 dimensions, given gender" in done.stdout
    beside = "(known features alone: 0.36), leak 0.00, no more than chance: 19 of 20 random maps stay below 0.65"
    assert f"stress 0.026087 {beside}" in done.stdout
    assert "Granddaughter" in done.stdout
    lines = done.stderr.splitlines()
    assert lines[0].startswith("dissimilarities.csv: comma-separated; ")
    assert lines[0].endswith("taken for dissimilarities: labels of rows and columns agree")
    assert lines[1].startswith("known.csv: ")
    assert lines[1].endswith("joined by label")
    assert lines[2] == "Fitting, given gender: 128 starts; Ctrl-C keeps the best map so far."
    assert len(lines) == 3


def test_quiet_leaves_nothing_but_the_result(shell):
    done = shell("fit", *GENDER, "--quiet", "--n-init", 1)
    assert done.stderr == ""
    assert "stress" in done.stdout


def test_options_reach_the_estimator(shell):
    options = "--dim 1 --coef diagonal --level ordinal --ties secondary --orthogonal --n-init 3"
    more = "--max-iter 40 --seed 7 --jobs 1"
    found = shell.json("fit", *GENDER, *options.split(), *more.split(), "--quiet")
    assert found["params"] == {
        "n_components": 1,
        "coef": "diagonal",
        "level": "ordinal",
        "ties": "secondary",
        "orthogonal": True,
        "n_init": 3,
        "max_iter": 40,
        "random_state": 7,
        "n_jobs": 1,
        "adjust": False,
    }
    kin = load_kinship()
    params = {name: value for name, value in found["params"].items() if name != "n_components"}
    mds = ConditionalMDS(1, metric="precomputed", **params).fit(kin.dissimilarities, known=kin.known[["gender"]])
    assert found["stress"] == mds.stress_


def test_weights_reach_the_estimator_and_what_does_not_go_together_is_refused(shell):
    found = shell.json("fit", *GENDER, "--weights", "sammon", "--n-init", 2, "--quiet")
    assert found["stress"] == estimated(weights="sammon", n_init=2).stress_
    why = shell.refusal("fit", *GENDER, "-w", "sammon", "-l", "ordinal")
    assert "--weights sammon with --level ordinal" in why
    assert why.endswith("leave --weights out, or --level ratio.")


def test_a_scheme_that_there_is_not_is_refused_before_anything_is_read(shell):
    why = shell.refusal("fit", "there_is_no_such_file.csv", "--weights", "samon")
    assert why == "--weights samon is not one of None, 'sammon', 'curvilinear'; did you mean 'sammon'?"


@pytest.mark.usefixtures("features")
def test_a_metric_that_is_another_command_names_it(shell):
    assert shell.refusal("fit", "leaves.csv", "--metric", "geodesic").endswith("are taken by unmask isomap.")
    assert "function of two rows" not in shell.refusal("fit", "leaves.csv", "--metric", "qqq")


def test_choices_are_those_of_the_library():
    from typing import get_args, get_type_hints

    from unmask.cli._options import Reading, Search
    from unmask.io._dissimilarities import SHAPES
    from unmask.problem import LEVELS, SCHEMES, TIES

    def choices(kind, name):
        found = get_type_hints(kind)[name]
        return {value for part in [found, *get_args(found)] for value in get_args(part) if isinstance(value, str)} | {
            value for value in get_args(found) if isinstance(value, str)
        }

    option = get_type_hints(Search, include_extras=True)["weights"].__metadata__[0]
    assert set(option.help.rstrip(".").split(": ")[1].split(", ")) == set(SCHEMES) - {None}
    assert choices(Search, "level") == set(LEVELS)
    assert choices(Search, "ties") == set(TIES)
    assert choices(Reading, "shape") == set(SHAPES)


def test_closed_form(shell):
    found = shell.json("fit", *GENDER, "--closed-form", "--quiet")
    assert found["estimator"] == "classical"
    assert found["stress"] > estimated(n_init=1).stress_


def test_isomap_is_that_of_the_library(shell):
    found = shell.json("isomap", *GENDER, "-k", 4, "--n-init", 4, "--quiet")
    kin = load_kinship()
    isomap = ConditionalIsomap(n_neighbors=4, metric="precomputed", n_init=4, random_state=0)
    isomap.fit(kin.dissimilarities, known=kin.known[["gender"]])
    assert found["stress"] == isomap.stress_
    assert found["params"]["n_neighbors"] == 4


def test_isomap_by_radius(shell):
    found = shell.json("isomap", *GENDER, "--radius", 80, "--n-init", 2, "--quiet")
    assert found["params"]["radius"] == 80
    assert found["params"]["n_neighbors"] is None


# ---- what is known


def test_types_are_declared(shell):
    pd.DataFrame(
        {"hour": range(14), "grade": ["low", "mid", "high", "mid"] * 3 + ["low", "high"]},
        index=load_kinship().known.index,
    ).to_csv("more.csv", index_label="name")
    known = ("dissimilarities.csv", "--known", "more.csv", "--n-init", "2", "--quiet")
    found = shell("fit", *known, "--types", "hour=cyclic:24,grade=ordinal:low<mid<high", "--out", "result")
    assert "hour" in found.stdout
    step = Discovery.load("result/study").step
    assert step.known_types["hour"].period == 24
    assert step.known_types["grade"].levels == ("low", "mid", "high")
    found = shell.json("fit", *known, "--columns", "hour", "-t", "hour=spline:2")
    assert len(found["coef"]) >= 1
    shell("fit", *known, "--columns", "hour", "-t", "hour=spline", "-t", "hour=nominal", code=2)


def missing(**cells):
    """Write what is known of the kinship terms without some cells of degree, and return the words of a fit."""
    known = load_kinship().known[["degree"]].astype(float)
    for name, value in cells.items():
        known.loc[name, "degree"] = value
    known.to_csv("holes.csv", index_label="name")
    return ("dissimilarities.csv", "--known", "holes.csv", "--n-init", "4")


def test_estimated_cells_are_printed_and_written(shell):
    words = missing(Brother=np.nan)
    done = shell("fit", *words, "--out", "result", "--quiet")
    study = Discovery.load("result/study")
    (cell,) = study.step.imputed.itertuples()
    assert cell.object == "Brother"
    expected = f"missing: degree of Brother, estimated {cell.value:.6g} (95%: {cell.lower:.6g} to {cell.upper:.6g})"
    assert [line for line in done.stdout.splitlines() if line.startswith("missing")] == [expected]
    written = pd.read_csv("result/imputed.csv", **exact())
    assert list(written.columns) == ["object", "feature", "value", "certainty", "lower", "upper", "remark"]
    assert written.loc[0, "value"] == cell.value
    (found,) = shell.json("fit", *words, "--quiet")["imputed"]
    assert found["value"] == cell.value
    assert found["certainty"] is None
    # A later fit without missing cells leaves none behind.
    shell("fit", *GENDER, "--n-init", "2", "--out", "result", "--quiet")
    assert not (shell.folder / "result" / "imputed.csv").exists()


def test_a_cell_that_cannot_be_estimated_is_warned_of_in_the_words_of_the_command_line(shell):
    done = shell("fit", *missing(Aunt=np.nan), "--quiet")
    (warning,) = (line for line in done.stderr.splitlines() if line.startswith("Warning"))
    assert "'degree' of Aunt is 3.309, outside the range of the data: 1 to 3." in warning
    assert "Declare in --types what is possible, by numeric:lower=0 or numeric:log, fill the cell" in warning
    assert "(see the missing cells below)" in warning


def test_only_the_first_of_many_estimated_cells_are_printed():
    from unmask.cli._fitting import show_imputed

    table = pd.DataFrame({"object": range(14), "feature": "x", "value": 1.5, "certainty": np.nan})
    table = table.assign(lower=np.nan, upper=np.nan, remark="at its lower bound")
    said = []
    show_imputed(said.append, type("Step", (), {"imputed": table}))
    assert said[0] == "missing: x of 0, estimated 1.5, at its lower bound"
    assert said[10:] == ["… and 4 more missing cells"]


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("numeric:log", Numeric(log=True)),
        ("numeric:lower=0", Numeric(lower=0.0)),
        ("numeric:upper=5.5", Numeric(upper=5.5)),
        ("numeric:log:lower=1:upper=9", Numeric(1.0, 9.0, log=True)),
        ("numeric:lower=-1:upper=9:error=2", Numeric(-1.0, 9.0, error=2.0)),
        ("numeric", "numeric"),
    ],
)
def test_bounds_and_logarithms(text, declared):
    assert types_of([f"degree={text}"]) == {"degree": declared}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gender=numeric:low", "'low' is not what numeric takes"),
        ("gender=numeric:lower", "'lower' is not what numeric takes"),
        ("gender=numeric:lower=a", "'lower=a' is not what numeric takes"),
        ("gender=numeric:log:3", "'log:3' is not what numeric takes"),
        ("gender=numeric:error=a", "'error=a' is not what numeric takes"),
        ("gender=numeric:error=-1", "error=-1 of the Numeric of 'gender' must be a number of at least 0"),
        ("gender=numeric:lower=2", "holds 1, which is outside the bounds"),
        ("gender", "is not COLUMN=TYPE"),
        ("gender=", "is not COLUMN=TYPE"),
        ("gender=colour", "'colour' is not a type"),
        ("gender=cyclic", "'cyclic' is not a type"),
        ("gender=nominal:3", "'3' is not what nominal takes"),
        ("gender=cyclic:day", "'day' is not what cyclic takes"),
        ("gender=ordinal:1", "'1' is not what ordinal takes"),
        ("degree=nominal", "--types names 'degree', which is not a known column"),
    ],
)
def test_types_that_are_none_are_refused(shell, text, why):
    assert why in shell.refusal("fit", *GENDER, "--types", text)


def test_ordinal_levels_that_are_numbers(shell):
    words = ("fit", *GENDER[:4], "degree", "--n-init", 2, "--quiet")
    found = shell.json(*words, "--types", "degree=ordinal:1<2<3")
    kin = load_kinship()
    mds = ConditionalMDS(metric="precomputed", known_types={"degree": Ordinal([1, 2, 3])}, n_init=2, random_state=0)
    mds.fit(kin.dissimilarities, known=kin.known[["degree"]])
    assert found["stress"] == pytest.approx(mds.stress_, rel=1e-9)
    assert shell.json(*words)["stress"] != pytest.approx(mds.stress_, rel=1e-3)  # as numbers it is another fit


def test_known_columns_need_a_file(shell):
    line = shell.refusal("fit", "dissimilarities.csv", "--columns", "gender")
    assert line.startswith("--columns gender names known features")
    assert "has no column 'sex'" in shell.refusal("fit", *GENDER[:4], "sex")


def test_a_name_with_a_comma_stands_in_quotes(shell):
    known = load_kinship().known[["gender"]].rename(columns={"gender": "sex, or gender"})
    write_table(known, "quoted.csv")
    found = shell.json("fit", GENDER[0], "--known", "quoted.csv", "-c", '"sex, or gender"', "--n-init", 1, "-q")
    assert found["known"] == ["sex, or gender"]


# ---- tables of features


def test_a_plain_table_of_features_is_compared_and_said_so(shell, features):
    done = shell("fit", "leaves.csv", "--features", "length,width", "--n-init", 4)
    assert "Assumed: leaves.csv is a table of features" in done.stderr
    assert "Euclidean distance of its 2 columns" in done.stderr
    found = shell.json("fit", "leaves.csv", "--columns", "site", "--n-init", 4, "--out", "result")
    mds = ConditionalMDS(metric="euclidean", n_init=4, random_state=0)
    mds.fit(features[["length", "width", "height"]], known=features[["site"]])
    assert found["stress"] == pytest.approx(mds.stress_, rel=1e-7)
    assert found["data"] == {
        "file": "leaves.csv",
        "metric": "euclidean",
        "features": ["length", "width", "height"],
        "known": ["site"],
        "known_in_data": ["site"],
        "similarity": None,
    }
    assert any(note.startswith("Assumed: ") for note in found["notes"])
    # The features may explain the map, and are kept with it.
    assert list(Discovery.load("result/study").table.columns) == ["length", "width", "height"]


def test_a_named_metric_assumes_nothing(shell, features):
    done = shell("fit", "leaves.csv", "--metric", "gower", "--n-init", 2)
    assert "Assumed" not in done.stderr
    assert "Map of 12 objects" in done.stdout


def test_text_and_gaps_have_no_euclidean_distance(shell, features):
    assert "'site' holds text" in shell.refusal("fit", "leaves.csv")
    features.drop(columns="site").mask(features.drop(columns="site") > 1).to_csv("gaps.csv")
    assert "has missing cells" in shell.refusal("fit", "gaps.csv")
    shell("fit", "gaps.csv", "--metric", "nan_euclidean", "--n-init", 1)


def test_columns_of_features_must_be_there(shell, features):
    assert "--features: leaves.csv has no column 'depth'" in shell.refusal("fit", "leaves.csv", "--features", "depth")
    assert "--columns: leaves.csv has no column 'soil'" in shell.refusal("fit", "leaves.csv", "--columns", "soil")
    assert "metric='near' is not known" in shell.refusal("fit", "leaves.csv", "-m", "near", "--features", "length")


def test_an_external_table_goes_into_the_study(shell, features):
    shell("fit", *GENDER, "--table", "known.csv", "--n-init", 1, "--quiet", "--out", "a")
    assert "degree" in Discovery.load("a/study").table.columns
    features[["site"]].assign(wet=1.0).rename(columns={"site": "place"}).to_csv("soil.csv")
    shell("fit", "leaves.csv", "-c", "site", "--table", "soil.csv", "--n-init", 1, "-q", "--out", "b")
    assert list(Discovery.load("b/study").table.columns) == ["length", "width", "height", "place", "wet"]
    assert "'length' is a column of DATA too" in shell.refusal(
        "fit", "leaves.csv", "-c", "site", "--table", "leaves.csv"
    )


# ---- reading


def test_the_file_may_be_told_how_to_be_read(shell):
    D = load_kinship().dissimilarities
    lopsided = D + np.triu(np.ones(D.shape), 1)
    write_table(lopsided, "lopsided.csv")
    found = shell.json("fit", "lopsided.csv", "--symmetrize", "mean", "--n-init", 1, "-q")
    mean = ConditionalMDS(metric="precomputed", n_init=1, random_state=0).fit((lopsided + lopsided.T) / 2)
    assert found["stress"] == pytest.approx(mean.stress_, rel=1e-12)
    assert "--symmetrize mean" in shell.refusal("fit", "lopsided.csv", "--form", "square")
    assert "--metric and --features are for" in shell.refusal("fit", GENDER[0], "-m", "gower", "--form", "square")
    D.to_csv("tabs.txt", sep="\t")
    shell("fit", "tabs.txt", "--delimiter", "tab", "--n-init", 1, "-q")
    assert "--delimiter x is not one of" in shell.refusal("fit", "tabs.txt", "--delimiter", "x")


def test_labels_of_a_table(shell, features):
    features.reset_index().rename(columns={"name": "leaf"}).assign(code=range(12)).to_csv("coded.csv", index=False)
    words = ("fit", "coded.csv", "--index", "code", "--columns", "site", "--n-init", 1)
    assert "'leaf' holds text" in shell.refusal(*words)
    found = shell.json(*words, "--features", "length,width")
    assert found["embedding"][3]["label"] == "3"
    features.drop(columns="site").to_csv("plain.csv", index=False)
    found = shell.json("fit", "plain.csv", "--index", "none", "--n-init", 1, "--out", "numbered")
    assert [row["label"] for row in found["embedding"]] == list(range(12))


# ---- warnings and endings


def test_a_warning_is_one_plain_line(shell):
    done = shell("fit", *GENDER, "--n-init", 1, "--max-iter", 2, "--quiet")
    (line,) = done.stderr.splitlines()
    assert line.startswith("Warning: the best of 1 starts stopped after 2 iterations because --max-iter was reached")
    assert ".py" not in line
    assert "not converged" in done.stdout
    found = shell.json("fit", *GENDER, "--n-init", 1, "--max-iter", 2)
    assert [f"Warning: {warning}" for warning in found["warnings"]] == [line]
    assert found["converged"] is False


def test_a_stopped_fit_is_written_and_marked(shell, one_iteration):
    done = shell("fit", *GENDER, "--out", "result", "--quiet", code=130)
    assert done.stderr == "Stopped: the map is unfinished; what there is was written to result.\n"
    assert "given gender, unfinished" in done.stdout
    assert json.loads((shell.folder / "result" / "unmask.json").read_text(encoding="utf-8"))["finished"] is False
    assert pd.read_csv("result/history.csv")["finished"].tolist() == [False]
    found = shell.json("fit", *GENDER, code=130)
    assert found["finished"] is False
    assert len(found["embedding"]) == 14
    assert shell("fit", *GENDER, "-q", code=130).stderr == "Stopped: the map is unfinished.\n"


def test_an_interruption_elsewhere_is_no_result(shell, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("unmask.io.read_data", interrupted)
    assert shell.refusal("fit", GENDER[0], code=130) == "stopped before there was a result."


def test_a_mistake_of_the_library_is_owned_up_to(shell, monkeypatch):
    def broken(*_, **__):
        raise TypeError("half a thing")

    monkeypatch.setattr("unmask.io.read_data", broken)
    line = shell.refusal("fit", GENDER[0], code=1)
    assert line.startswith("this should not happen (TypeError: half a thing)")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PermissionError(13, "Permission denied", "there.csv"), "there.csv: permission denied."),
        (OSError(28, "No space left on device"), "no space left on device."),
        (MemoryError(), "there is not enough memory"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (ValueError("n_components=3 is\nand more"), "--dim 3 is"),
        (ValueError("has no column 'n_init'."), "has no column 'n_init'."),
    ],
)
def test_errors_are_one_line(shell, monkeypatch, error, line):
    def failing(*_, **__):
        raise error

    monkeypatch.setattr("unmask.io.read_data", failing)
    assert shell.refusal("fit", GENDER[0]).startswith(line)


def test_a_closed_pipe_is_no_error_to_speak_of(shell, monkeypatch):
    def closed(*_, **__):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("unmask.io.read_data", closed)
    done = shell("fit", GENDER[0], code=1)
    assert done.stderr == ""


def test_debug_shows_where(shell):
    from typer.testing import CliRunner

    from unmask.cli import app

    done = CliRunner().invoke(app, ["fit", "nothere.csv", "--debug"])
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: nothere.csv: ")


# ---- folders


def test_folders_of_others_are_left_alone(shell):
    (shell.folder / "taken").mkdir()
    (shell.folder / "taken" / "notes.txt").write_text("mine", encoding="utf-8")
    words = ("fit", *GENDER, "--n-init", 1, "--out", "taken")
    assert "that unmask did not write" in shell.refusal(*words)
    shell(*words, "--force")
    assert (shell.folder / "taken" / "notes.txt").read_text(encoding="utf-8") == "mine"
    # Ours from now on; but a file that somebody else puts there is not.
    shell(*words)
    (shell.folder / "taken" / "scree.csv").write_text("mine", encoding="utf-8")
    line = shell.refusal("scree", *GENDER, "--n-init", 1, "--max-dim", 2, "--out", "taken")
    assert line.startswith("--out taken: 'scree.csv' in this folder is not from unmask")
    assert (shell.folder / "taken" / "scree.csv").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("mark", ["[]", "{", '{"schema": "unmask results", "files": [["a"], {}]}'])
def test_a_mark_that_is_none_marks_nothing(shell, mark):
    (shell.folder / "taken").mkdir()
    (shell.folder / "taken" / "unmask.json").write_text(mark, encoding="utf-8")
    (shell.folder / "taken" / "embedding.csv").write_text("mine", encoding="utf-8")
    assert "--out taken: " in shell.refusal("fit", *GENDER, "--out", "taken")


def test_a_folder_is_refused_before_the_work(shell, monkeypatch):
    (shell.folder / "file").write_text("", encoding="utf-8")
    assert "nothing can be written to 'file'" in shell.refusal("fit", *GENDER, "--out", "file/below")


def test_results_of_an_earlier_fit_do_not_stay(shell):
    shell("fit", *GENDER, "--n-init", 1, "--out", "result", "--quiet")
    done = shell("fit", GENDER[0], "--n-init", 1, "--out", "result", "--format", "json", "--quiet")
    assert "Wrote result/embedding.json" in done.stdout
    names = {path.name for path in (shell.folder / "result").iterdir()}
    assert names == {"embedding.json", "stress_per_point.json", "history.json", "map.png", "study", "unmask.json"}
    # What was removed is not ours any more, should somebody else have one of that name.
    (shell.folder / "result" / "coef.csv").write_text("mine", encoding="utf-8")
    assert "'coef.csv' in this folder is not from unmask" in shell.refusal("fit", *GENDER, "--out", "result")
    records = json.loads((shell.folder / "result" / "embedding.json").read_text(encoding="utf-8"))
    assert records[0]["label"] == "Aunt"


def test_parquet(shell):
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        line = shell.refusal("fit", *GENDER, "--format", "parquet", "--out", "result")
        assert line.startswith("writing Parquet files needs the package 'pyarrow'")
        assert not (shell.folder / "result").exists()
        return
    shell("fit", *GENDER, "--n-init", 1, "--format", "parquet", "--out", "result")
    assert pd.read_parquet("result/embedding.parquet").shape == (14, 2)


def test_a_map_of_no_dimensions(shell):
    shell("fit", *GENDER, "--n-init", 1, "--quiet", "--out", "result")
    done = shell("fit", *GENDER, "--dim", 0, "--quiet", "--out", "result")
    assert "in 0 dimensions" in done.stdout
    assert "leak" not in done.stdout  # there is no map that could repeat anything
    assert not (shell.folder / "result" / "map.png").exists()


def test_of_many_objects_the_first_are_shown(shell):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    table.to_csv("many.csv", index=False)
    done = shell("fit", "many.csv", "--n-init", 1, "--quiet")
    assert "… and 10 more rows" in done.stdout


def test_labels_cannot_steer_the_terminal(shell):
    D = load_kinship().dissimilarities
    names = ["[red]Aunt[/red]", "\x1b[31mBrother", *D.index[2:]]
    write_table(D.set_axis(names, axis=0).set_axis(names, axis=1), "odd.csv")
    assert list(read_dissimilarities("odd.csv").dissimilarities.index) == names
    done = shell("fit", "odd.csv", "--n-init", 1, "--quiet")
    assert "[red]Aunt[/red]" in done.stdout
    assert "\x1b" not in done.stdout
    assert "�[31mBrother" in done.stdout


@pytest.fixture
def plants(shell):
    """Write a table in which the site acts along the map."""
    rng = np.random.default_rng(4)
    site = np.repeat(["dry", "wet"], 15)
    X = rng.normal(size=(30, 2)) + 3.0 * (site == "wet")[:, None] * [1.0, 0.4]
    table = pd.DataFrame(X, columns=["leaf", "stem"], index=[f"plant {i}" for i in range(30)]).assign(site=site)
    table.to_csv(shell.folder / "plants.csv", index_label="plant")
    return "plants.csv", "--columns", "site", "--n-init", 2


def test_what_is_known_is_taken_off_a_map_that_repeats_it_and_this_is_said(shell, plants):
    said = shell("fit", *plants, "--out", "result")
    assert "Warning: the map repeated what is known: its leak was 0." in said.stderr
    assert "With --adjust no it is shown as it was fitted." in said.stderr
    assert "given site, adjusted" in said.stdout
    assert "leak 0 by construction (adjusted; before, it was 0." in said.stdout
    # Two dimensions are drawn of a free fit with three: each stress is said with what it is of.
    stress = r"stress \S+ of the 2 dimensions drawn \(free fit with 3 dimensions: \S+; known features alone: 0\.\d+\), "
    assert re.search(stress, said.stdout)
    assert pd.read_csv(shell.folder / "result" / "free_embedding.csv").shape == (30, 4)
    found = shell.json("fit", *plants, "--quiet")
    assert (found["adjusted"], found["params"]["adjust"]) == (True, True)
    assert found["free_leak"] > found["leak_reference"] > found["leak"]
    assert max(found["stress"], found["shown_stress"]) < found["known_stress"] < 1


def test_the_published_map_is_shown_where_it_is_asked_for(shell, plants):
    said = shell("fit", *plants, "--adjust", "no")
    assert "Use --adjust yes, which takes off the map what the known features predict" in said.stderr
    assert "more than chance: 19 of 20 random maps stay below 0." in said.stdout
    assert shell.json("fit", *plants, "--adjust", "yes", "--quiet")["adjusted"]
    assert "'maybe' is not one of" in shell("fit", *plants, "--adjust", "maybe", code=2).stderr


def test_isomap_tells_its_three_stages(shell, monkeypatch):
    words = ("isomap", "dissimilarities.csv", "-k", 5, "--n-init", 2)
    assert "Finding" not in shell(*words).stderr  # it is over before the first line
    monkeypatch.setattr("unmask.cli._output.BETWEEN_LINES", 0.0)
    lines = [line.partition(":")[0] for line in shell(*words).stderr.splitlines()]
    stages = [line for line in lines if line.startswith("F")]
    assert list(dict.fromkeys(stages[1:])) == ["Finding neighbours", "Finding shortest paths", "Fitting, nothing known"]
    assert "Finding" not in shell(*words, "--quiet").stderr
