"""Studies of the kinship terms: before and after the first map, and with one of everything."""

import numpy as np
import pandas as pd
import pytest

from unmask import Nominal, Spline
from unmask.discovery import Discovery

from .studies import FAST


@pytest.fixture
def study(kinship):
    return Discovery(kinship.dissimilarities, table=kinship.known, title="kinship")


@pytest.fixture
def fitted(study):
    study.fit(2, **FAST)
    return study


@pytest.fixture(scope="session")
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
    study.fit(2, n_init=2)
    study.adopt("gender", column="gender", kind=Nominal((1, 2)), why='because, "yes"')
    study.adopt("line", along=("Aunt", [0.0, 1.0]))
    study.adopt("two", groups=2)
    study.fit(2, estimator="isomap", n_neighbors=8, n_init=2)
    study.adopt("axis", from_axis=1)
    study.forget("size", why="enough")
    study.forget("axis")
    study.fit(0, n_init=2)
    study.forget("two")
    study.undo()
    return study


@pytest.fixture
def folder(whole, tmp_path):
    return whole.branch(whole.title).save(tmp_path / "study")
