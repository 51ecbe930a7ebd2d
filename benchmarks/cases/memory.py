"""Case 3: peak memory of a fit above the dissimilarity matrix, each in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from ..data import N_FEATURES, dissimilarities
from ..measure import OURS, Measurement, Results, child
from ..ours import fit
from ..peers import SKLEARN
from ..plan import Plan

CASE = "memory"
INPUTS = (("float64", "C"), ("float64", "F"), ("float32", "C"), ("float32", "F"))


def task(dtype: str, order: str) -> str:
    """Return the name of an input."""
    return f"peak above the matrix / matrix, {dtype}, {order} order"


def _resident() -> int:
    """Return the memory this process holds now, in bytes (Linux)."""
    return _status("VmRSS")


def _status(field: str) -> int:
    line = next(
        line for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines() if line.startswith(field)
    )
    return int(line.split()[1]) * 1024


def _fit(who: str, D: np.ndarray) -> None:
    if who == OURS:
        fit(D, N_FEATURES, n_init=1)
        return
    from sklearn.manifold import smacof

    smacof(D, n_components=N_FEATURES, n_init=1, max_iter=3, random_state=0)


def measure_here(path: str, who: str, order: str) -> float:
    """Fit in this process and return the peak above what was held before, as a share of the matrix.

    A small fit first pays for imports and compilation; then the system is told to forget the highest mark so far (what
    ``ru_maxrss`` reports cannot be reset, and compilers take a lot for a moment).
    """
    D = np.load(path)
    D = D.T if order == "F" else D
    _fit(who, np.ascontiguousarray(D[:1100, :1100]))
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = _resident()
    _fit(who, D)
    peak = _status("VmHWM")
    return max(0.0, float(peak - before)) / float(D.nbytes)


def main(path: str, who: str, order: str) -> None:
    """Measure in this process and print the result for the parent."""
    print(json.dumps({"share": measure_here(path, who, order)}))


def run(results: Results, plan: Plan) -> None:
    """Measure every input for us and the plain ones for scikit-learn."""
    if not sys.platform.startswith("linux"):
        results.note("memory was skipped: it is read from Linux's process files.")
        return
    with tempfile.TemporaryDirectory() as folder:
        for dtype, order in INPUTS:
            path = str(Path(folder) / f"{dtype}.npy")
            np.save(path, dissimilarities(plan.main, dtype))
            for who in (OURS, SKLEARN) if order == "C" else (OURS,):
                code = f"from benchmarks.cases.memory import main; main({path!r}, {who!r}, {order!r})"
                share = float(child(["-c", code])["share"])
                results.add(Measurement(CASE, task(dtype, order), who, plan.main, value=share))
