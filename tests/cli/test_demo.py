"""The command line, as a user runs it: in a process of its own."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

import unmask
from unmask.cli import app
from unmask.datasets import load_kinship
from unmask.solvers import automatic_n_starts

TABLES = {
    "nothing": "map-given-nothing.csv",
    "gender": "map-given-gender.csv",
    "gender + degree": "map-given-gender-degree.csv",
}
STRESS = {"nothing": 0.071275940108, "gender": 0.026086954836, "gender + degree": 0.014288491061}
ALONE = {"nothing": 1, "gender": 0.36, "gender + degree": 0.1125}  # without a map
STARTS = str(automatic_n_starts(14))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-c", "from unmask.cli import app; app()", "demo", "--out", "results"]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return folder / "results", done


def row_of(output, known):
    """Return the cells of the printed table's row for what is known."""
    rows = [[cell.strip() for cell in line.strip("│|").split("│")] for line in output.splitlines() if "│" in line]
    return next(row for row in rows if row[0] == known)


def test_nothing_is_said_on_the_error_channel(demo):
    assert demo[1].stderr == ""


@pytest.mark.parametrize("known", STRESS)
def test_stress_is_the_best_known_and_stands_beside_that_without_a_map(demo, known):
    stress, alone = map(float, row_of(demo[1].stdout, known)[1].rstrip(")").split(" ("))
    assert stress == pytest.approx(STRESS[known], abs=5.1e-7)
    assert alone == pytest.approx(ALONE[known], rel=5e-3)


def test_table_has_importance_leak_and_starts(demo):
    assert row_of(demo[1].stdout, "nothing")[2:] == ["-", "-", STARTS]
    assert row_of(demo[1].stdout, "gender")[2:] == ["gender 24.6", "0.003 (0.65)", STARTS]
    assert row_of(demo[1].stdout, "gender + degree")[2:] == ["gender 23.3, degree 21.4", "0.153 (0.51)", STARTS]


def test_files_are_written_and_named(demo):
    folder, done = demo
    names = {"kinship.png", *TABLES.values()}
    assert {path.name for path in folder.iterdir()} == {*names, "unmask.json"}
    assert set(re.findall(r"Wrote \S*?([\w-]+\.\w+)$", done.stdout, re.MULTILINE)) == names


def test_picture_is_a_wide_png(demo):
    header = (demo[0] / "kinship.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")
    assert width > 1500
    assert 2 < width / height < 3


@pytest.mark.parametrize("known", TABLES)
def test_tables_hold_the_map_of_every_term(demo, known):
    table = pd.read_csv(demo[0] / TABLES[known], index_col="term")
    assert list(table.columns) == ["u1", "u2"]
    assert list(table.index) == list(load_kinship().dissimilarities.index)
    assert table.to_numpy().mean(axis=0) == pytest.approx([0, 0], abs=1e-8)


def test_what_the_demo_and_the_readme_say_about_the_maps_is_true(demo):
    nothing, gender, both = (pd.read_csv(demo[0] / name, index_col="term") for name in TABLES.values())
    features = load_kinship().known
    # 1. Men in the upper half, women in the lower.
    assert ((nothing["u2"] > 0) == (features["gender"] == 1)).all()
    # 2. The seven pairs coincide, and the degree grows from left to right.
    pairs = "Aunt Uncle, Brother Sister, Daughter Son, Father Mother, Granddaughter Grandson, Grandfather Grandmother"
    for pair in [*pairs.split(", "), "Nephew Niece"]:
        one, other = gender.loc[pair.split()].to_numpy()
        assert ((one - other) ** 2).sum() ** 0.5 < 0.03 * (gender["u1"].max() - gender["u1"].min())
    ranges = gender["u1"].groupby(features["degree"]).agg(["min", "max"])
    assert (ranges["min"].iloc[1:].to_numpy() > ranges["max"].iloc[:-1].to_numpy()).all()
    # 3. Two generations away stand apart from all others.
    far = features["generation_difference"] == 2
    gap = both["u1"][far].min() - both["u1"][~far].max()
    assert gap > 0.5 * (both["u1"].max() - both["u1"].min())


def test_version():
    done = CliRunner().invoke(app, ["--version"])
    assert done.exit_code == 0
    assert done.output.strip() == f"unmask {unmask.__version__}"


def test_demo_runs_in_this_process_too(tmp_path):
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "a" / "b")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a" / "b" / "kinship.png").exists()


def test_a_second_time_and_a_folder_of_somebody_else(tmp_path):
    for _ in range(2):
        done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo"), "--json"])
        assert done.exit_code == 0
    assert [step["known"] for step in json.loads(done.stdout)["maps"]] == [[], ["gender"], ["gender", "degree"]]
    (tmp_path / "mine.txt").write_text("", encoding="utf-8")
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "this folder holds other files" in done.stderr


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "taken")])
    assert done.exit_code == 2
    assert "Invalid value for '--out'" in done.output
    assert (tmp_path / "taken").read_text(encoding="utf-8") == ""


def test_help_names_the_command():
    done = CliRunner().invoke(app, ["--help"])
    assert done.exit_code == 0
    assert "demo" in done.output
