"""Compare two checkouts in one run: the same work in turns, each in a process of its own, as ratios of CPU time.

    python -m benchmarks.before_after path/to/the/older/checkout

Ratios are medians over rounds in which both did the same work right after each other, so that a busy machine
slows both alike. `benchmarks/work.py` has the work.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

from .work import MEMORY, WORK

HERE = Path(__file__).resolve().parent.parent
IMPORTS = 9  # rounds of importing the package


def start(checkout: Path) -> subprocess.Popen[str]:
    """Start a worker that runs the code of a checkout."""
    work = str(HERE / "benchmarks" / "work.py")
    return subprocess.Popen(
        [sys.executable, "-P", work],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(checkout),
    )


def _environment(checkout: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout / "src")}


def ask(worker: subprocess.Popen[str], work: str) -> float:
    """Let a worker do a piece of work once; return its CPU time in seconds, or its peak memory in MB."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(work + "\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def import_time(checkout: Path) -> float:
    """Return the CPU time of importing the package in a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "import unmask"], env=_environment(checkout), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak(checkout: Path, work: str) -> float:
    """Return the peak memory of a new process that does one piece of work."""
    worker = start(checkout)
    try:
        return ask(worker, work)
    finally:
        worker.kill()


def show(work: str, pairs: list[list[float]], unit: str, factor: float = 1.0) -> None:
    """Print the medians of both checkouts and the median ratio."""
    before, after = (factor * median(side) for side in zip(*pairs, strict=True))
    ratio = median(new / old for old, new in pairs)
    print(f"{work:40} {before:9.1f} {unit} before {after:9.1f} {unit} after   ratio {ratio:.3f}", flush=True)


def main(older: Path) -> None:
    """Print the ratio of this checkout to an older one for each piece of work."""
    both = older, HERE
    workers = [start(checkout) for checkout in both]
    for work, (_, rounds) in WORK.items():
        for worker in workers:
            ask(worker, work)  # compiles
        show(work, [[ask(worker, work) for worker in workers] for _ in range(rounds)], "ms", 1e3)
    for worker in workers:
        worker.kill()
    show("import unmask", [[import_time(checkout) for checkout in both] for _ in range(IMPORTS)], "ms", 1e3)
    for work in MEMORY:
        show(work, [[peak(checkout, work) for checkout in both]], "MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
