"""Studies whose maps are adjusted for what is known, as the fit decides, and come to the same maps again."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import AdjustmentWarning, ConditionalMDS, LeakWarning
from unmask.discovery import Discovery


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(4)
    names = [f"plant {i}" for i in range(36)]
    known = pd.DataFrame({"site": np.repeat(["dry", "wet"], 18)}, index=names)
    X = rng.normal(size=(36, 2)) + 3.0 * (known[["site"]] == "wet").to_numpy() * [1.0, 0.4]
    return pd.DataFrame(squareform(pdist(X)), index=names, columns=names), known


@pytest.fixture(scope="module")
def study(tables):
    D, known = tables
    study = Discovery(D, known=known)
    with pytest.warns(AdjustmentWarning, match="shown adjusted"):
        study.fit(2, n_init=3)
    return study


def test_the_step_keeps_what_was_decided_and_both_maps(study, tables):
    D, known = tables
    step = study.step
    assert step.adjusted
    assert step.params["adjust"] is True
    assert step.n_free == 3
    assert step.title == "given site, adjusted"
    assert step.leak < 1e-12
    assert step.free_leak > step.leak_reference > 0.2
    mds = ConditionalMDS(metric="precomputed", n_init=3, random_state=0, adjust=True).fit(D, known=known)
    np.testing.assert_array_equal(step.embedding, mds.embedding_)
    np.testing.assert_array_equal(step.free_embedding, mds.free_embedding_)
    assert study.history["adjusted"].tolist() == [True]


def test_the_published_map_can_be_asked_for(tables):
    D, known = tables
    with pytest.warns(LeakWarning, match="adjust=True"):
        step = Discovery(D, known=known).fit(2, n_init=2, adjust=False)
    assert not step.adjusted
    assert step.title == "given site"
    assert step.n_free is None
    assert any(text.startswith("LeakWarning: ") for text in step.warnings)


def test_a_study_comes_to_the_same_maps_again(study, tmp_path):
    assert study.replay()["same"].all()
    study.save(tmp_path / "study")
    loaded = Discovery.load(tmp_path / "study")
    np.testing.assert_array_equal(loaded.step.free_embedding, study.step.free_embedding)
    assert (loaded.step.adjusted, loaded.step.free_leak) == (True, study.step.free_leak)
    assert loaded.replay()["same"].all()


def test_the_script_makes_the_same_map(study, tmp_path):
    study.save(tmp_path / "study")
    script = tmp_path / "again.py"
    script.write_text(study.to_script(tmp_path / "study"), encoding="utf-8")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert f"stress {study.step.stress:.6f}" in run.stdout
