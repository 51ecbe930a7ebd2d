"""The commands of the recipe for Docker, run on this machine: a scheduler, a worker, and a fit on them."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import zarr
from tests.cluster.test_command import run
from tests.helpers import noisy_distances
from unmask import ConditionalMDS

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"


def commands():
    """Return the arguments of the commands that the page gives for Docker."""
    scheduler, worker = re.findall(r"^    command: dask (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return scheduler.replace("0.0.0.0", "127.0.0.1").split(), worker.split()


def start(*words):
    return subprocess.Popen([sys.executable, "-m", "dask", *map(str, words)], stderr=subprocess.DEVNULL)


def address_in(file):
    """Return where the scheduler is, which it writes down when it is ready."""
    for _ in range(600):
        if file.exists() and file.read_text(encoding="utf-8"):
            return json.loads(file.read_text(encoding="utf-8"))["address"]
        time.sleep(0.1)
    raise AssertionError("the scheduler did not start")


@pytest.mark.slow
def test_the_commands_of_the_page_make_a_cluster(rng, tmp_path, monkeypatch):
    D, table = noisy_distances(rng, 60), tmp_path / "table.zarr"
    zarr.open(str(table), mode="w", shape=D.shape, chunks=(25, 25), dtype=D.dtype)[:] = D
    scheduler, worker = commands()
    elsewhere = ("--port", 0, "--dashboard-address", "127.0.0.1:0", "--scheduler-file", tmp_path / "scheduler.json")
    running = [start(*scheduler, *elsewhere)]
    try:
        address = address_in(tmp_path / "scheduler.json")
        worker[worker.index("tcp://scheduler:8786")] = address
        running.append(start(*worker, "--host", "127.0.0.1", "--local-directory", tmp_path))
        monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", address)
        done = run("fit", table, "--n-init", "1", "--adjust", "false", "--json")
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(60)
    here = ConditionalMDS(metric="precomputed", n_init=1, random_state=0).fit(D)
    assert json.loads(done.stdout)["stress"] == pytest.approx(here.stress_, rel=1e-10)
