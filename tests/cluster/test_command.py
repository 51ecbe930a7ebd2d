"""The command line: a table of Zarr is fitted on the workers of a scheduler, or here."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.cluster.conftest import distributed, zarr
from tests.helpers import noisy_distances
from unmask import ConditionalMDS
from unmask.cli import app


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


def test_a_table_of_zarr_is_fitted_on_a_cluster(data, scheduler):
    folder, D, known = data
    words = ("--known", folder / "known.csv", "--columns", "size", "--index", "none", "--n-init", "1", "--adjust", "no")
    done = run("fit", folder / "table.zarr", "--scheduler", scheduler, *words, "--json", "--out", folder / "out")
    expected = ConditionalMDS(metric="precomputed", n_init=1, random_state=0).fit(D, known=known[["size"]])
    assert json.loads(done.stdout)["stress"] == pytest.approx(expected.stress_, rel=1e-10)
    written = pd.read_csv(folder / "out" / "embedding.csv")[["axis1", "axis2"]]
    np.testing.assert_allclose(written.to_numpy(), expected.embedding_, atol=1e-6)
    assert (folder / "out" / "map.png").exists()
    with pytest.raises(ValueError, match="No clients"):
        distributed.default_client()
    here = run("fit", folder / "table.zarr", *words, "--json")
    assert json.loads(here.stdout)["stress"] == pytest.approx(expected.stress_, rel=1e-10)


def test_what_cannot_be_is_said(data, monkeypatch):
    folder, D, _ = data
    monkeypatch.setattr("unmask.cli._stored.PATIENCE", 0.2)
    pd.DataFrame(D).to_csv(folder / "table.csv")
    for words, said in (
        (("table.zarr", "--scheduler", "tcp://127.0.0.1:1"), "no Dask scheduler answers"),
        (("table.csv", "--scheduler", "tcp://127.0.0.1:1"), "is read here; workers read an array of Zarr"),
        (("table.zarr", "--columns", "size"), "name the table of the columns by --known"),
        (("table.zarr", "--metric", "gower"), "is read in parts and makes no study"),
        (("table.zarr", "--known", folder / "short.csv", "--index", "none"), "has 3 rows, but"),
    ):
        (folder / "short.csv").write_text("a,b\n1,2\n3,4\n5,7\n", encoding="utf-8")
        done = run("fit", folder / words[0], *words[1:], code=2)
        assert said in " ".join(done.output.split())
