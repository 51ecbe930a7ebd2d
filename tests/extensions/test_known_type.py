"""A new type of known feature takes one file: a class, and a line in the table of types."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unmask import ConditionalMDS, Cyclic
from unmask.cli import app
from unmask.discovery import Discovery
from unmask.problem import FEATURE_TYPES, CommonBlock, LevelType

POINTS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


@dataclass(frozen=True)
class Compass(LevelType):
    """Directions of the wind: eight levels on a circle, each one step from the next."""

    kind = "compass"
    signature = "Compass()"
    forms = ("compass",)
    block = CommonBlock
    levels = POINTS
    suffixes = ("[north]", "[east]")

    def learn(self, column, name):
        return self

    @classmethod
    def recognises(cls, column, name):
        return set(pd.unique(pd.Series(column).dropna())) <= set(POINTS)

    def vertices(self):
        angle = np.arange(8) * np.pi / 4
        return 8 / (2 * np.pi) * np.column_stack([np.cos(angle), np.sin(angle)])

    def decode(self, coded, here, places):
        share = self.vertices() @ coded / np.sum(self.vertices()[0] ** 2)
        return self.levels[int(np.argmax(share))], float(share.max())


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(FEATURE_TYPES, "compass", Compass)


@pytest.fixture
def data(rng):
    """Return dissimilarities by direction and two hidden features, and the directions."""
    at = rng.permutation(np.arange(40) % 8)
    angle = at * np.pi / 4
    X = np.column_stack([np.cos(angle), np.sin(angle), rng.uniform(-1, 1, (40, 2))])
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    names = [f"o{i}" for i in range(40)]
    return pd.DataFrame(D, names, names), pd.DataFrame({"wind": np.array(POINTS)[at]}, names), at


OPTIONS = {"metric": "precomputed", "n_init": 3, "random_state": 0}


@pytest.mark.parametrize("declared", ["compass", Compass(), None])
def test_an_estimator_takes_it_declared_by_name_as_an_object_or_not_at_all(data, declared):
    D, known, at = data
    types = None if declared is None else {"wind": declared}
    mds = ConditionalMDS(known_types=types, **OPTIONS).fit(D, known=known)
    assert mds.known_summary_.loc["wind", ["type", "columns"]].tolist() == ["compass", 2]
    # The same as numbers that come round.
    same = ConditionalMDS(known_types={"wind": Cyclic(8)}, **OPTIONS).fit(D, known=pd.DataFrame({"wind": at}, D.index))
    np.testing.assert_allclose(mds.embedding_, same.embedding_, atol=1e-9)
    np.testing.assert_allclose(mds.coef_.to_numpy(), same.coef_.to_numpy(), atol=1e-9)
    # Here the circle has a radius of 1.
    np.testing.assert_allclose(np.linalg.norm(mds.level_positions_, axis=1), 1.0, rtol=1e-4)


def test_a_missing_cell_is_estimated_and_a_new_object_placed(data):
    D, known, _ = data
    gap = known.copy()
    gap.loc["o7", "wind"] = None
    mds = ConditionalMDS(known_types={"wind": "compass"}, **OPTIONS).fit(D, known=gap)
    (cell,) = mds.known_imputed_.itertuples()
    assert (cell.object, cell.value) == ("o7", known.loc["o7", "wind"])
    assert cell.certainty == pytest.approx(1.0, abs=1e-3)
    placed = mds.transform(D.loc[["o3"]], known=known.loc[["o3"]])
    np.testing.assert_allclose(np.asarray(placed)[0], mds.embedding_[3], atol=1e-3)
    with pytest.raises(ValueError, match="'up' in column 'wind' did not occur in the fit"):
        mds.transform(D.loc[["o3"]], known=known.loc[["o3"]].replace({"wind": dict.fromkeys(POINTS, "up")}))


def test_the_command_line_takes_it(data, tmp_path):
    D, known, _ = data
    D.to_csv(tmp_path / "D.csv")
    known.to_csv(tmp_path / "known.csv")
    command = ["fit", str(tmp_path / "D.csv"), "--known", str(tmp_path / "known.csv"), "--n-init", "2"]
    done = CliRunner().invoke(app, [*command, "--types", "wind=compass", "--out", str(tmp_path / "result")])
    assert done.exit_code == 0, done.output
    assert Discovery.load(tmp_path / "result").step.known_types == {"wind": "compass"}
    misspelt = CliRunner().invoke(app, [*command, "--types", "wind=compas"])
    assert misspelt.exit_code > 0
    assert re.search(r"'compas' is not a type; write numeric, .*spline:3 or compass\.", misspelt.output)


def test_a_study_keeps_it(data, tmp_path):
    D, known, _ = data
    study = Discovery(D, known=known, known_types={"wind": Compass()})
    study.save(tmp_path / "study")
    assert Discovery.load(tmp_path / "study").known_types == {"wind": Compass()}
