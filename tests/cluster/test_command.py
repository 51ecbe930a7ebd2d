"""The command line: a Zarr array is fitted on the workers of a scheduler, or here."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.cluster.conftest import distributed, zarr
from tests.helpers import noisy_distances
from unmask import ConditionalMDS
from unmask.cli import app
from unmask.discovery import Discovery


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    D, known = noisy_distances(rng, 60), pd.DataFrame({"size": rng.standard_normal(60), "other": rng.uniform(size=60)})
    zarr.open(str(tmp_path / "table.zarr"), mode="w", shape=D.shape, chunks=(25, 25), dtype=D.dtype)[:] = D
    known.to_csv(tmp_path / "known.csv", index=False)
    return tmp_path, D, known


@pytest.fixture
def scheduler():
    """Return the address of a scheduler with a worker in this process; nobody's ambient client."""
    local = {"host": "127.0.0.1", "protocol": "tcp", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **local) as cluster:
        yield cluster.scheduler_address


def test_a_table_of_zarr_is_fitted_on_a_cluster(data, scheduler, monkeypatch):
    folder, D, known = data
    words = (
        "--known",
        folder / "known.csv",
        "--columns",
        "size",
        "--index",
        "none",
        "--n-init",
        "1",
        "--adjust",
        "false",
    )
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", scheduler)
    done = run("fit", folder / "table.zarr", *words, "--json", "--out", folder / "out")
    expected = ConditionalMDS(metric="precomputed", n_init=1, random_state=0).fit(D, known=known[["size"]])
    assert json.loads(done.stdout)["stress"] == pytest.approx(expected.stress_, rel=1e-10)
    written = Discovery.load(folder / "out").embedding
    np.testing.assert_allclose(written.to_numpy(), expected.embedding_, atol=1e-6)
    assert (folder / "out" / "map.png").exists()
    with pytest.raises(ValueError, match="No clients"):
        distributed.default_client()
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS")
    here = run("fit", folder / "table.zarr", *words, "--json")
    assert json.loads(here.stdout)["stress"] == pytest.approx(expected.stress_, rel=1e-10)


def test_what_cannot_be_is_said(data, monkeypatch):
    folder, D, _ = data
    (folder / "short.csv").write_text("a,b\n1,2\n3,4\n5,7\n", encoding="utf-8")
    for words, said in (
        (("--columns", "size"), "names known features, but"),
        (("--metric", "gower"), "table.zarr"),
        (("--known", folder / "short.csv", "--index", "none"), "3 rows"),
    ):
        done = run("fit", folder / "table.zarr", *words, code=2)
        assert said in " ".join(done.output.split())
    monkeypatch.setattr("unmask.cli._fit.PATIENCE", 0.2)
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://127.0.0.1:1")
    done = run("fit", folder / "table.zarr", code=2)
    assert "no Dask scheduler answers" in " ".join(done.output.split())
    pd.DataFrame(D).to_csv(folder / "table.csv")
    run("fit", folder / "table.csv", "--n-init", 1)  # which no worker could read
