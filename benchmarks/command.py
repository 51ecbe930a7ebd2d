"""What a command costs beside its imports: ``python -m benchmarks.command``.

Prints the CPU time of ``import sklearn.manifold``, and that of ``unmask fit`` and ``unmask report`` of the 14 kinship
terms as multiples of it, measured in one run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from statistics import median

RUNS = 3
UNMASK = "import sys; sys.argv[0] = 'unmask'; from unmask.cli import app; app()"
FIT = ["fit", "kinship/dissimilarities.csv", "--known", "kinship/known.csv", "--columns", "gender", "--out", "result"]


def cpu_seconds(folder: str, code: str, *words: str) -> float:
    """Return the CPU time of a process that runs the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, *words], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the medians of some runs, each of all three."""
    with tempfile.TemporaryDirectory() as folder:
        cpu_seconds(folder, UNMASK, "datasets", "kinship")
        rows = [
            (
                cpu_seconds(folder, "import sklearn.manifold"),
                cpu_seconds(folder, UNMASK, *FIT),
                cpu_seconds(folder, UNMASK, "report", "result"),
            )
            for _ in range(RUNS)
        ]
    print(f"import sklearn.manifold: {median(row[0] for row in rows):.2f} s")
    print(f"unmask fit: {median(row[1] / row[0] for row in rows):.2f} times that (goal: 1.5)")
    print(f"unmask report: {median(row[2] / row[0] for row in rows):.2f} times that (goal: 3)")


if __name__ == "__main__":
    main()
