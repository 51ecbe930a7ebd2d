"""A pass over the pairs on local Dask workers beside the same in this process: ``make bench-dask``.

Acceptance: at N = 10,000 with two workers the median pass takes at most 1.5 times the one in process (two threads). The
passes take turns, so that a busy machine slows both. Processor time is that of workers, scheduler and client together.
The runs with one and two workers are what the cost model in ``benchmarks/cluster_model.py`` is fitted to; they are
written to ``benchmarks/dask_passes.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from unmask import ConditionalMDS
from unmask.cluster import spread
from unmask.kernels import ArraySource, Pairs, Workers, fused

RESULTS = Path(__file__).with_name("dask_passes.json")
COLUMNS = 7  # of the map and of what is known, together
SIZES = (2_000, 5_000, 10_000)


def cpu() -> float:
    """Return the processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make_table(folder: Path, n: int, dtype: Any = np.float32) -> tuple[np.ndarray, str]:
    """Return Euclidean distances, and the path of the same as an array of Zarr."""
    import zarr

    X = np.random.default_rng(0).standard_normal((n, 8)).astype(np.float32)
    D = cdist(X, X).astype(dtype)
    D = np.maximum(D, D.T)
    path = str(folder / f"{n}.zarr")
    zarr.open(path, mode="w", shape=D.shape, chunks=(1280, 1280), dtype=D.dtype)[:] = D
    return D, path


def measure(client: Any, D: np.ndarray, path: str, workers: int, turns: int) -> dict[str, Any]:
    """Return wall and processor milliseconds of a pass, here and there, in turns."""
    import zarr

    n = len(D)
    Z = np.random.default_rng(1).standard_normal((n, COLUMNS)).astype(np.float32)
    here, there = Pairs(ArraySource(D), 1.0), Pairs(spread(zarr.open(path, mode="r"), client), 1.0)
    threads = Workers(workers)
    run_here, run_there = fused.stress_pass, there.source.passes.stress_pass
    for _ in range(3):
        mine, other = run_there(there, Z, threads), run_here(here, Z, threads)
    assert abs(mine[0] / other[0] - 1) < 1e-6
    wall: dict[str, list[float]] = {"here": [], "there": []}
    used = {"here": 0.0, "client": 0.0}
    before = sum(client.run(cpu).values())
    for _ in range(turns):
        for name, run in (
            ("here", lambda: run_here(here, Z, threads)),
            ("there", lambda: run_there(there, Z, threads)),
        ):
            begin, cpu_begin = time.perf_counter(), cpu()
            run()
            wall[name].append(time.perf_counter() - begin)
            used["here" if name == "here" else "client"] += cpu() - cpu_begin
    on_workers = sum(client.run(cpu).values()) - before
    return {
        "n": n,
        "workers": workers,
        "wall_here": [1e3 * min(wall["here"]), 1e3 * float(np.median(wall["here"]))],
        "wall_there": [1e3 * min(wall["there"]), 1e3 * float(np.median(wall["there"]))],
        "cpu_here": 1e3 * used["here"] / turns,
        "cpu_workers": 1e3 * on_workers / turns,
        "cpu_client": 1e3 * used["client"] / turns,
        "load": os.getloadavg()[0],
    }


def empty_task(client: Any) -> float:
    """Return the milliseconds that a task with nothing to do takes there and back."""
    times = []
    for _ in range(30):
        begin = time.perf_counter()
        client.submit(int, 1, pure=False).result()
        times.append(time.perf_counter() - begin)
    return 1e3 * float(np.min(times))


def client_memory(path: str, n: int) -> dict[str, float]:
    """Return the most that a fit allocates in the client, in numbers per object, and beside it in bytes."""
    estimator = ConditionalMDS(2, metric="precomputed", n_init=1, max_iter=5, random_state=0)
    known = np.random.default_rng(2).standard_normal((n, 1))
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(path, known=known)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"n": n, "bytes": peak, "numbers_per_object": peak / 8 / n, "table": 4.0 * n * n}


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Yield the client of some worker processes of one thread on this machine."""
    from distributed import Client, LocalCluster

    local = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "memory_limit": "4GB"}
    with (
        LocalCluster(host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50, **local) as cluster,
        Client(cluster) as client,
    ):
        yield client


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=25)
    turns = parser.parse_args().turns
    runs, memory, empty = [], [], {}
    with tempfile.TemporaryDirectory() as folder:
        for workers in (1, 2):
            with local_cluster(workers) as client:
                empty[workers] = empty_task(client)
                for n in SIZES:
                    D, path = make_table(Path(folder), n)
                    runs.append(measure(client, D, path, workers, turns))
                    print(say(runs[-1]), flush=True)
                    if workers == 2:
                        memory.append(client_memory(path, n))
                        print(
                            "  client: {bytes:.3g} bytes at most, of a table of {table:.3g}".format(**memory[-1]),
                            flush=True,
                        )
    RESULTS.write_text(
        json.dumps({"runs": runs, "client": memory, "empty_task_ms": empty}, indent=1) + "\n", encoding="utf-8"
    )


def say(run: dict[str, Any]) -> str:
    """Return a run in a line."""
    here, there = run["wall_here"], run["wall_there"]
    all_cpu = run["cpu_workers"] + run["cpu_client"]
    return (
        f"N = {run['n']:>6,}, {run['workers']} workers: in process {here[0]:.0f} ms at best, {here[1]:.0f} median; "
        f"dask {there[0]:.0f} and {there[1]:.0f}: {there[0] / here[0]:.2f} and {there[1] / here[1]:.2f} times; "
        f"processor {run['cpu_here']:.0f} ms and {all_cpu:.0f}, {run['cpu_client']:.0f} of them of client and "
        f"scheduler (load {run['load']:.1f})"
    )


if __name__ == "__main__":
    main()
