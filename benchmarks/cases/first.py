"""Case 5: the first call in a new process, with and without compiled code on disk, and the time of importing."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Sequence

from ..measure import OURS, Measurement, Results, child
from ..plan import Plan

CASE = "first"
IMPORT = "import of an estimator, new process (median)"
COLD, WARM = "first fit, N = 14, nothing compiled", "first fit, N = 14, compiled code on disk (median)"
WHOLE = "the same with interpreter and import (median)"
_TIMED_IMPORT = (
    "import json, time; t, c = time.perf_counter(), time.process_time(); from {} import {}; "
    "print(json.dumps([time.perf_counter() - t, time.process_time() - c]))"
)


def first_fit() -> None:
    """Fit the kinship terms, the first fit of this process, and print its seconds."""
    from unmask import ConditionalMDS
    from unmask.datasets import load_kinship

    kin = load_kinship()
    cpu, wall = time.process_time(), time.perf_counter()
    ConditionalMDS(2, metric="precomputed", random_state=0).fit(kin.dissimilarities, known=kin.known[["gender"]])
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))


def _medians(rows: Sequence[Sequence[float]]) -> list[float]:
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def _fits(count: int, environment: dict[str, str]) -> list[float]:
    """Return median wall and CPU seconds of the first fit, and wall seconds of the whole process."""
    rows = []
    for _ in range(count):
        start = time.perf_counter()
        wall, cpu = child(["-c", "from benchmarks.cases.first import first_fit; first_fit()"], environment)
        rows.append([wall, cpu, time.perf_counter() - start])
    return _medians(rows)


def run(results: Results, plan: Plan) -> None:
    """Time imports in turn, then the first fit without and with compiled code on disk."""
    # An estimator of each: `import unmask` by itself imports nothing.
    names = {OURS: "ConditionalMDS", "sklearn.manifold": "MDS"}
    for module, name in names.items():
        child(["-c", _TIMED_IMPORT.format(module, name)])  # files come from the disk once
    rounds = [
        {module: child(["-c", _TIMED_IMPORT.format(module, name)]) for module, name in names.items()}
        for _ in range(plan.processes)
    ]
    for who in names:
        wall, cpu = _medians([one[who] for one in rounds])
        results.add(Measurement(CASE, IMPORT, who, 0, wall, cpu))
    with tempfile.TemporaryDirectory() as folder:
        environment = {"NUMBA_CACHE_DIR": folder}
        wall, cpu, _ = _fits(1, environment)
        results.add(Measurement(CASE, COLD, OURS, 14, wall, cpu))
        wall, cpu, whole = _fits(plan.processes, environment)
        results.add(Measurement(CASE, WARM, OURS, 14, wall, cpu))
        results.add(Measurement(CASE, WHOLE, OURS, 14, whole, cpu))
