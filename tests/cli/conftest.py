"""Files of the kinship terms, and the command line in this process."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unmask.cli import app
from unmask.datasets import load_kinship
from unmask.io import write_table


class Shell:
    """Runs commands in a folder, as a user would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words, code=0, answers=None):
        done = CliRunner().invoke(app, [str(word) for word in words], input=answers)
        assert done.exit_code == code, (done.exit_code, done.output, done.exception)
        assert "Traceback" not in done.output
        return done

    def json(self, *words, **options):
        return json.loads(self(*words, "--json", **options).stdout)

    def refusal(self, *words, code=2):
        """Return the one line that says why not."""
        done = self(*words, "--quiet", code=code)
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("Error: ")
        return line.removeprefix("Error: ")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Return a shell in a folder with dissimilarities.csv and known.csv."""
    monkeypatch.chdir(tmp_path)
    kin = load_kinship()
    write_table(kin.dissimilarities, "dissimilarities.csv")
    write_table(kin.known, "known.csv")
    return Shell(tmp_path)


@pytest.fixture
def features(tmp_path):
    """Write a small table of features with a text column, and return it."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(12, 3)), columns=["length", "width", "height"])
    table.insert(0, "name", [f"leaf {at}" for at in range(12)])
    table["site"] = ["wood", "field", "wood"] * 4
    table.to_csv(tmp_path / "leaves.csv", index=False)
    return table.set_index("name")
