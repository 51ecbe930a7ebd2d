"""Threads for the passes: each task once, errors of any thread heard, and BLAS given back its threads."""

import threading
import time

import pytest
from threadpoolctl import threadpool_info

from unmask.kernels import OneBlasThread, Workers, _workers, resolve_threads


@pytest.mark.parametrize(("n_jobs", "threads"), [(None, 8), (1, 1), (3, 3), (12, 12), (-1, 8), (-2, 7), (-20, 1)])
def test_numbers_of_jobs_are_those_of_scikit_learn(monkeypatch, n_jobs, threads):
    monkeypatch.setattr(_workers, "cpu_count", lambda: 8)
    assert resolve_threads(n_jobs) == threads


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_workers_run_every_task_once(threads, count):
    done = []
    with Workers(threads) as workers:
        workers.run(done.append, count)
        workers.run(done.append, count)
    assert sorted(done) == sorted([*range(count)] * 2)


def test_tasks_run_at_the_same_time():
    """Each waits for the other: one after the other they would wait for ever."""
    meeting = threading.Barrier(2, timeout=60)
    with Workers(2) as workers:
        workers.run(lambda _: meeting.wait() and None, 2)
    assert not meeting.broken


def test_one_worker_uses_the_thread_of_the_caller():
    names = set()
    Workers(1).run(lambda _: names.add(threading.current_thread()), 5)
    assert names == {threading.current_thread()}


def test_blas_keeps_to_one_thread_while_any_fit_runs_and_gets_its_threads_back():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with OneBlasThread():
        with OneBlasThread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_or_an_interrupt_ends_all_workers_soon(error):
    done = []

    def fail_at_three(index):
        if index == 3:
            raise error("task 3")
        time.sleep(0.001)
        done.append(index)

    with Workers(2) as workers, pytest.raises(error, match="task 3"):
        workers.run(fail_at_three, 1000)
    assert len(done) < 20
