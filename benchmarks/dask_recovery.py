"""How long a fit on two local Dask workers takes to go on after one is killed: ``python -m benchmarks.dask_recovery``.

The worker is killed by its process id in the middle of a fit. Printed are the usual pass, the longest one from then on,
which loads what was lost again, and how much the stress differs from that of the undisturbed fit in this process. A
pass must not take longer than 30 s, and the stress must be the same to 1e-10.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dask_passes import local_cluster, make_table
from unmask import ConditionalMDS
from unmask.cluster import SpreadTable

AT = 5  # the iteration after which a worker is killed


def fit(X: Any, callback: Any = None) -> ConditionalMDS:
    """Return a short fit from one start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mds = ConditionalMDS(metric="precomputed", n_init=1, random_state=0, max_iter=15, tol=0.0)
        return mds.fit(X, callback=callback)


def timed_fit(client: Any, path: str) -> tuple[ConditionalMDS, list[float], int]:
    """Return a fit during which a worker is killed, the seconds of its passes, and how many came before."""
    seconds: list[float] = []
    before: list[int] = []
    one_pass = SpreadTable.stress_pass

    def timed(*given: Any) -> Any:
        begin = time.perf_counter()
        found = one_pass(*given)
        seconds.append(time.perf_counter() - begin)
        return found

    def kill(progress: Any) -> None:
        if progress.iteration == AT:
            before.append(len(seconds))
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    SpreadTable.stress_pass = timed  # type: ignore[assignment, method-assign]
    try:
        return fit(path, kill), seconds, before[0]
    finally:
        SpreadTable.stress_pass = one_pass  # type: ignore[method-assign]


def main() -> None:
    """Kill a worker a few times, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=3000)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, local_cluster(2) as client:
        D, path = make_table(Path(folder), asked.objects, np.float64)
        here = fit(D).stress_
        for _ in range(asked.times):
            client.wait_for_workers(2)
            mds, seconds, before = timed_fit(client, path)
            print(
                f"N = {asked.objects:,}: a pass {1e3 * np.median(seconds[:before]):.0f} ms as a rule, the longest "
                f"after the loss {max(seconds[before:]):.2f} s; the stress differs by "
                f"{abs(mds.stress_ / here - 1):.1e} (load {os.getloadavg()[0]:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
