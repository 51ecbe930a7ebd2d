"""Workers that are lost, all of them or again and again: what a fit does, and what it says."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import dask
import numpy as np
import pytest

from tests.cluster.conftest import distributed
from tests.cluster.test_table import fitted, same
from unmask.cluster import ClusterError
from unmask.cluster._asking import Asking


@pytest.fixture
def alone(monkeypatch):
    """Return the ambient client of one worker, a process of its own, for which nobody waits long."""
    monkeypatch.setattr("unmask.cluster._asking.LOOK_EVERY", 0.2)
    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 60}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, **local) as cluster,
        distributed.Client(cluster, timeout=60) as client,
    ):
        yield client


def kill_all(client):
    for pid in client.run(os.getpid).values():
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def kill_at(client, iteration):
    def kill(progress):
        if progress.iteration == iteration:
            kill_all(client)

    return kill


async def nobody(*_):
    """Start no worker."""


@pytest.mark.slow
def test_all_workers_are_lost(alone, table, monkeypatch):
    D, path, known = table
    same(fitted(path, known, callback=kill_at(alone, 3)), fitted(D, known))  # another is started in its place
    monkeypatch.setattr("unmask.cluster._asking.PATIENCE", 0.2)
    for nanny in alone.cluster.workers.values():
        monkeypatch.setattr(nanny, "instantiate", nobody)
    with pytest.raises(
        ClusterError, match=r"no worker, and none came within 0.2 s; start some \(dask worker tcp:.*path"
    ):
        fitted(path, known, callback=kill_at(alone, 3))


@pytest.mark.slow
@pytest.mark.parametrize("another", [True, False])
def test_all_workers_are_lost_between_the_last_task_and_the_gathering_of_results(alone, table, monkeypatch, another):
    D, path, known = table
    calls = 0
    if not another:
        monkeypatch.setattr("unmask.cluster._asking.PATIENCE", 0.2)
        for nanny in alone.cluster.workers.values():
            monkeypatch.setattr(nanny, "instantiate", nobody)
    gather = distributed.Client.gather

    def gather_too_late(client, futures, **options):
        nonlocal calls
        calls += 1
        if calls == 4:
            distributed.wait(futures)
            kill_all(client)
        return gather(client, futures, **options)

    monkeypatch.setattr(distributed.Client, "gather", gather_too_late)
    fit = ThreadPoolExecutor().submit(fitted, path, known)  # a fit that hangs ends with the client of the fixture
    if another:
        same(fit.result(timeout=300), fitted(D, known))
    else:
        with pytest.raises(ClusterError, match=r"no worker, and none came within 0.2 s"):
            fit.result(timeout=300)
    assert calls >= 4


@pytest.mark.slow
def test_workers_are_found_whatever_the_client_looks_up_at_the_same_time(alone):
    with (
        dask.config.set({"distributed.client.scheduler-info-interval": "1ms"}),
        distributed.Client(alone.scheduler.address, set_as_default=False) as watching,
    ):
        # ``watching.scheduler_info`` names none in a third of the cases.
        assert [len(Asking(watching).workers()) for _ in range(300)] == [1] * 300


def saying(error, status="running"):
    """Return what is said of an error."""
    with pytest.raises(ClusterError) as said, Asking(SimpleNamespace(status=status)).faults():
        raise error
    return str(said.value)


def test_workers_that_died_are_not_said_to_have_had_no_memory():
    last = SimpleNamespace(address="tcp://10.0.0.7:4000")
    said = saying(distributed.KilledWorker("unmask-block-0-1", last, 3))
    assert said.startswith("4 workers of the Dask cluster died one after another at the same task (unmask-block-0-1)")
    assert "the last at tcp://10.0.0.7:4000; Dask does not know why" in said
    assert "If it was for lack of memory, give it more" in said
    assert saying(MemoryError()).startswith("a worker of the Dask cluster ran out of memory")


@pytest.mark.parametrize(
    ("status", "what"),
    [("connecting", "the scheduler of the Dask cluster was lost"), ("closed", "the Dask client was")],
)
def test_whoever_is_gone_is_named(status, what):
    assert saying(OSError("no connection"), status).startswith(what)


def test_other_errors_are_those_of_whoever_made_them():
    with pytest.raises(np.linalg.LinAlgError), Asking(SimpleNamespace(status="running")).faults():
        raise np.linalg.LinAlgError
