"""Compare two checkouts in one run: the same work in turns, each in a process of its own, as ratios of CPU time.

    python -m benchmarks.before_after path/to/the/older/checkout

Ratios are medians over rounds in which both did the same work right after each other, so that a busy machine
slows both alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

ROUNDS = 15
HERE = Path(__file__).resolve().parent.parent

WORKER = r"""
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from scipy.spatial.distance import pdist, squareform
from unmask import ConditionalMDS

def table(n, columns, dtype):
    rng = np.random.default_rng(0)
    F = rng.standard_normal((n, columns))
    return (squareform(pdist(F)) * (1 + 0.05 * rng.random())).astype(dtype), F

def fit(n, p, dtype="float64", iterations=1000, starts="auto", **options):
    D, F = table(n, p + 3, dtype)
    model = ConditionalMDS(p, max_iter=iterations, n_init=starts, tol=1e-9, random_state=0, metric="precomputed",
                           **options)
    return lambda: model.fit(D, known=F[:, :2])

WORK = {
    "fit, N = 14": fit(14, 2, starts=20),
    "fit, N = 14, Sammon": fit(14, 2, starts=20, weights="sammon"),
    "fit, N = 14, ordinal": fit(14, 2, starts=5, level="ordinal"),
    "fit, N = 1000": fit(1000, 2, starts=2, iterations=60),
    "fit, N = 5000, 20 iterations": fit(5000, 5, starts=1, iterations=20),
    "fit, N = 5000, float32, 20 iterations": fit(5000, 5, "float32", starts=1, iterations=20),
}
for line in sys.stdin:
    work = WORK[line.strip()]
    began = time.process_time()
    work()
    print(time.process_time() - began, flush=True)
"""


def start(checkout: Path) -> subprocess.Popen[str]:
    """Start a worker that runs the code of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def seconds(worker: subprocess.Popen[str], work: str) -> float:
    """Let a worker do a piece of work once; return its CPU time."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(work + "\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def main(older: Path) -> None:
    """Print the ratio of the CPU times of this checkout and an older one for each piece of work."""
    workers = [start(older), start(HERE)]
    named = [line.split('"')[1] for line in WORKER.splitlines() if line.startswith('    "fit')]
    for work in named:
        for worker in workers:
            seconds(worker, work)  # compiles
        pairs = [[seconds(worker, work) for worker in workers] for _ in range(ROUNDS)]
        before, after = (median(side) for side in zip(*pairs, strict=True))
        ratio = median(new / old for old, new in pairs)
        print(f"{work:40} {1e3 * before:9.1f} ms before {1e3 * after:9.1f} ms after   ratio {ratio:.3f}", flush=True)
    for worker in workers:
        worker.kill()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
