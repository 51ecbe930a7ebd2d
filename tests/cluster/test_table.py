"""A table on the workers of a cluster: the same fit as in memory, the same checks, watched and stopped alike."""

import os
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from tests.cluster.conftest import N, distributed, zarr
from tests.helpers import with_missing
from unmask import Checkpoint, ConditionalMDS, UnfinishedWarning
from unmask.checking import check_dissimilarities
from unmask.cluster import ClusterError, SpreadTable, spread
from unmask.dissimilarities import Metric
from unmask.kernels import Workers

da = pytest.importorskip("dask.array")


def estimator(**params):
    return ConditionalMDS(metric="precomputed", n_init=1, random_state=0, max_iter=12, tol=0.0, **params)


def fitted(X, known=None, callback=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(**params).fit(X, known=known, callback=callback)


def same(mine, other):
    assert mine.stress_ == pytest.approx(other.stress_, rel=1e-10)
    np.testing.assert_allclose(mine.stress_path_, other.stress_path_, rtol=1e-10)
    for name in ("embedding_", "stress_per_point_", "coef_"):
        a, b = (np.asarray(getattr(fit, name)) for fit in (mine, other))
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8 * np.abs(b).max(initial=0.0))


def test_a_table_is_spread_by_its_path_or_as_an_array_of_dask(client, table):
    D, path, known = table
    in_memory = fitted(D, known)
    with_cluster = fitted(path, known)
    same(with_cluster, in_memory)
    same(fitted(da.from_zarr(path), known), in_memory)
    np.save(path.replace(".zarr", ".npy"), D)
    same(fitted(path.replace(".zarr", ".npy"), known), with_cluster)  # mapped into memory
    assert clone(with_cluster).get_params() == with_cluster.get_params()
    placed = with_cluster.transform(D[:5], known=known[:5])
    np.testing.assert_allclose(placed, with_cluster.embedding_[:5], atol=1e-8)


def test_a_metric_on_the_fly_is_the_same_fit(client, rng):
    features = rng.standard_normal((N, 4))
    table = Metric("euclidean").fit_transform(features)
    same(fitted(da.from_array(table, chunks=500)), fitted(Metric("euclidean").on_demand(features)))


@pytest.mark.parametrize("case", ["sammon", pytest.param("missing", marks=pytest.mark.slow)])
def test_weights_and_missing_pairs(client, table, case):
    D, path, known = table
    if case == "sammon":
        same(fitted(path, known, weights="sammon"), fitted(D, known, weights="sammon"))
    else:
        D = with_missing(np.random.default_rng(6), D, 0.2)
        same(fitted(da.from_array(D, chunks=400), known), fitted(D, known))


def test_what_is_wrong_is_said_as_in_memory(client, table):
    for entry, value in (((3, 900), np.inf), ((900, 3), -1.0), ((5, 5), 2.0), ((3, 900), 7.0)):
        D = table[0].copy()
        D[entry] = value
        with pytest.raises(ValueError) as expected:  # noqa: PT011 - whatever it says
            fitted(D)
        with pytest.raises(ValueError) as said:  # noqa: PT011
            fitted(da.from_array(D, chunks=400))
        begin = str(expected.value).partition(";")[0]
        assert str(said.value).replace("'", "").startswith(begin)
    with pytest.raises(ValueError, match="array with as many numbers"):
        estimator().fit(table[1], weights=np.ones((N, N)))
    with pytest.raises(ValueError, match=r"shape \(1100, 4\) but must be square"):
        estimator().fit(da.from_array(table[0][:, :4]))


def test_what_needs_a_small_table_at_once_gets_it(client, rng):
    D = Metric().fit_transform(rng.standard_normal((60, 3)))
    mine, other = (fitted(X, level="interval") for X in (da.from_array(D, chunks=25), D))
    assert mine.stress_ == pytest.approx(other.stress_, rel=1e-10)


def test_one_task_for_each_worker_and_pass(client, table, monkeypatch):
    monkeypatch.setattr("unmask.cluster._asking.SMALL", 0)  # as of many objects
    names, submit, compute, get = [], client.submit, client.compute, client.get
    monkeypatch.setattr(client, "submit", lambda *a, key, **k: names.append(key) or submit(*a, key=key, **k))
    monkeypatch.setattr(client, "compute", lambda a, **k: names.extend(one.key for one in a) or compute(a, **k))
    monkeypatch.setattr(client, "get", lambda graph, keys, **k: names.extend(keys) or get(graph, keys, **k))
    mds = fitted(table[1])
    passes = [name for name in names if name.startswith("unmask-stress-")]
    assert len(passes) == 2 * int(mds.starts_["passes"].sum())
    # What the dashboard shows.
    shown = {distributed.utils.key_split(name) for name in names}
    assert {"unmask-block", "unmask-look", "unmask-coordinates", "unmask-stress"} <= shown


@pytest.mark.slow
def test_progress_and_cancelling_are_as_in_memory(client, table):
    heard = []

    def stop(progress):
        heard.append((progress.iteration, progress.stress))
        return progress.iteration == 3

    with pytest.warns(UnfinishedWarning):
        stopped = estimator().fit(table[1], callback=stop)
    assert stopped.n_iter_ == 3
    assert [stress for _, stress in heard] == list(stopped.stress_path_)


@pytest.mark.slow
def test_the_client_holds_no_table(client, table, tmp_path):
    n, path = 2 * N, str(tmp_path / "large.zarr")
    zarr.open(path, mode="w", shape=(n, n), chunks=(550, 550), dtype=float)[:] = np.tile(table[0], (2, 2))
    fitted(table[1])  # whatever is imported and kept once
    peaks = []
    for file in (table[1], path):
        tracemalloc.start()
        fitted(file)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 8 * n**2 / 3
    assert peaks[1] < 2.2 * peaks[0]  # and not four times


def test_without_a_client_local_threads_read_the_chunks(table, monkeypatch):
    D, path, known = table
    monkeypatch.setattr("unmask.checking._sources.LARGE", 0)
    monkeypatch.setattr("unmask.checking._sources.ambient_client", lambda: None)
    checked = check_dissimilarities(da.from_zarr(path), workers=Workers(1))
    assert type(checked.source).__name__ == "ChunkedTable"
    same(fitted(da.from_zarr(path), known), fitted(D, known))


# ---- faults


def refuse(block):
    raise MemoryError("no room")


def test_a_worker_without_memory_is_told_which_blocks_would_fit(client, table):
    greedy = da.from_array(table[0][:640, :640], chunks=320).map_blocks(refuse, dtype=float, meta=np.empty((0, 0)))
    import dask

    with (
        dask.config.set({"unmask.block-size": 960}),
        pytest.raises(ClusterError, match=r"blocks of 960 objects .* blocks of 320 .*'unmask.block-size': 320"),
    ):
        estimator().fit(greedy)
    with pytest.raises(ClusterError, match=r"blocks of 320 objects .* needs more memory"):
        estimator().fit(greedy)


@pytest.mark.slow
def test_too_few_workers_are_told_how_many_would_do_and_what_else(client, table, monkeypatch):
    huge = da.zeros((200_000, 200_000), chunks=20_000, dtype=np.float32)
    with pytest.raises(
        ClusterError,
        match=r"200,000 objects take .* GB, and 2 workers have 4 GB .* \d+ workers of this .* close the client",
    ):
        estimator().fit(huge)
    monkeypatch.setattr("unmask.cluster._crew.FILLED", 1e-6)
    few = {"unmask.solvers._stochastic.LANDMARKS": 400, "unmask.estimators._reading.LANDMARKS": 400}
    for name, number in (few | {"unmask.solvers._stochastic.FIRST": 200}).items():
        monkeypatch.setattr(name, number)
    with pytest.raises(ClusterError, match=r"Or close the client and use solver='stochastic'"):
        fitted(table[1], solver="stochastic")
    features = da.from_array(np.random.default_rng(0).standard_normal((N, 3)), chunks=400)
    with pytest.raises(ClusterError, match=r"Or use solver='stochastic', which compares"):
        ConditionalMDS(solver="lbfgs").fit(features)
    # What they advise.
    monkeypatch.setattr("unmask.checking._sources.ambient_client", lambda: None)
    monkeypatch.setattr("unmask.checking._sources.LARGE", 0)
    for X, metric in ((table[1], "precomputed"), (da.from_zarr(table[1]), "precomputed"), (features, "euclidean")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mds = ConditionalMDS(metric=metric, solver="stochastic", n_init=1, max_iter=3, random_state=0).fit(X)
        assert mds.solver_.startswith("stochastic")


def test_the_size_of_blocks_can_be_set(client, table):
    import dask

    with dask.config.set({"unmask.block-size": 640}):
        assert spread(zarr.open(table[1], mode="r"), client).crew.side == 640
    with (
        dask.config.set({"unmask.block-size": 100}),
        pytest.raises(ValueError, match=r"block-size is 100 .* multiple of 320"),
    ):
        spread(zarr.open(table[1], mode="r"), client)


def killed(client, table, monkeypatch):
    """Return a fit in whose middle a worker is killed by its process id, and the seconds of its passes."""
    victim = next(iter(client.run(os.getpid).values()))
    seconds, one_pass = [], SpreadTable.stress_pass

    def timed(*given):
        begin = time.monotonic()
        found = one_pass(*given)
        seconds.append(time.monotonic() - begin)
        return found

    def kill(progress):
        if progress.iteration == 5:
            os.kill(victim, getattr(signal, "SIGKILL", signal.SIGTERM))

    monkeypatch.setattr(SpreadTable, "stress_pass", timed)
    return fitted(table[1], table[2], callback=kill), seconds


def test_a_fit_survives_a_killed_worker(client, table, monkeypatch):
    mds, seconds = killed(client, table, monkeypatch)
    same(mds, fitted(table[0], table[2]))
    assert len(seconds) == mds.starts_["passes"].sum()


@pytest.mark.slow
def test_no_pass_of_a_fit_with_a_killed_worker_takes_half_a_minute(client, table, monkeypatch):
    mds, seconds = killed(client, table, monkeypatch)
    assert mds.stress_ == pytest.approx(fitted(table[0], table[2]).stress_, rel=1e-10)
    assert max(seconds) < 30  # which is promised, and far more than it takes on a machine that is not busy


@pytest.mark.slow
@pytest.mark.parametrize("kept_on", ["cluster", "memory"])
def test_a_checkpoint_goes_on_where_the_table_lies_elsewhere(client, table, tmp_path, kept_on):
    D, path, known = table
    file = tmp_path / "fit.npz"
    before, after = (path, D) if kept_on == "cluster" else (D, da.from_zarr(path))
    stopped = fitted(before, known, callback=[Checkpoint(file), lambda progress: progress.iteration == 5])
    mds = fitted(after, known, init=file)
    assert mds.stress_path_[0] == pytest.approx(stopped.stress_, rel=1e-10)
    same(mds, fitted(before, known, init=file))
    with pytest.raises(ValueError, match="of another fit: its map has another stress"):
        fitted(D**1.1 if kept_on == "cluster" else da.from_array(D**1.1, chunks=400), known, init=file)


@pytest.mark.slow
def test_what_is_not_symmetric_is_told_how_to_be(client, table):
    D = table[0].copy()
    D[3, 900] += 1.0
    skew = da.from_array(D, chunks=400)
    with pytest.raises(ValueError, match=r"pass \(X \+ X.T\) / 2[,.]"):
        fitted(skew)
    same(fitted((skew + skew.T) / 2), fitted((D + D.T) / 2))


SCHEDULER = """
import asyncio
from distributed import Scheduler, Worker

async def serve():
    async with Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0") as scheduler:
        async with Worker(scheduler.address, nthreads=1, host="127.0.0.1"):
            print(scheduler.address, flush=True)
            await asyncio.wait_for(scheduler.finished(), 120)

asyncio.run(serve())
"""


@pytest.mark.slow
def test_the_scheduler_is_lost_and_the_checkpoint_goes_on(table, tmp_path):
    _, path, known = table
    file = tmp_path / "fit.npz"
    rest = []
    for lost in (True, False):
        server = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True)
        try:
            with distributed.Client(server.stdout.readline().strip(), timeout=60):
                if lost:

                    def kill(progress, server=server):
                        if progress.iteration == 5:
                            server.kill()

                    with pytest.raises(ClusterError, match=r"scheduler .* was lost .* init=path"):
                        fitted(path, known, callback=[kill, Checkpoint(file, every=50)])
                else:
                    rest.append(fitted(path, known, init=file))
        finally:
            server.kill()
            server.wait()
            server.stdout.close()
    same(rest[0], fitted(table[0], known, init=file))
    # Saved when the fit failed, and not only after 50 iterations.
    assert rest[0].stress_path_[0] == pytest.approx(fitted(table[0], known).stress_path_[5], rel=1e-8)


ANOTHER = """
import sys
from distributed import Client
from unmask import ConditionalMDS

with Client(sys.argv[1], timeout=60):
    mds = ConditionalMDS(metric="precomputed", n_init=1, random_state=0, max_iter=12, tol=0.0).fit(sys.argv[2])
    print(repr(mds.stress_))
"""


@pytest.mark.slow
def test_two_processes_on_one_scheduler_do_not_get_each_others_sums(client, table, tmp_path):
    D, path, _ = table
    other = str(tmp_path / "other.zarr")
    zarr.open(other, mode="w", shape=D.shape, chunks=(300, 350), dtype=D.dtype)[:] = D**1.5
    command = [sys.executable, "-W", "ignore", "-c", ANOTHER, client.scheduler.address]
    both = [subprocess.Popen([*command, file], stdout=subprocess.PIPE, text=True) for file in (path, other)]
    found = [float(process.communicate(timeout=120)[0]) for process in both]
    expected = [fitted(table).stress_ for table in (D, D**1.5)]
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_file_that_a_worker_does_not_see_is_an_error_not_zeros(client, table, tmp_path):
    _, path, _ = table
    elsewhere = str(tmp_path / "elsewhere.zarr")
    with pytest.raises(ClusterError, match=r"cannot read the table .*all need the same path"):
        fitted(spread(zarr.open(path, mode="r"), client, elsewhere))
