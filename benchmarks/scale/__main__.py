"""Measure everybody, write scale.json and RESULTS-SCALE.md, and renew docs/scaling.md and its pictures."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..adjusted.__main__ import as_text
from ..measure import PACKAGES, ROOT, Neighbours, commit, processor, versions
from . import page, picture
from .contenders import CONTENDERS

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LIMIT = 120.0  # CPU seconds for one map
SIDE_BY_SIDE = min(2, os.cpu_count() or 1)
RESULTS, PAGE = "benchmarks/scale.json", "docs/scaling.md"
FLIGHTS, AGAINST_EXACT = "benchmarks.scale.flights", "benchmarks.stochastic_against_exact"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="e.g. 1000,10000")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU seconds for one map")
    parser.add_argument("--only", nargs="*", default=list(CONTENDERS), help="some of " + "; ".join(CONTENDERS))
    parser.add_argument("--short", action="store_true", help="leave out the flights and the exact solver's comparison")
    parser.add_argument("--draw", action="store_true", help="measure nothing: renew tables and picture from scale.json")
    parser.add_argument("--output", type=Path, default=ROOT, help="folder with benchmarks/ and docs/")
    return parser.parse_args()


def rows_of(name: str, sizes: str, limit: float) -> list[dict[str, Any]]:
    """Return the rows of a contender; the last says how it ended, if it did not measure all sizes."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale.child", name, sizes, str(limit)],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    kept = [{"who": name, **row} for row in rows if "begun" not in row]
    if done.returncode:
        at = rows[-1]["n"] if rows else int(sizes.partition(",")[0])
        stopped = -done.returncode == signal.SIGXCPU
        why = {"stopped": limit} if stopped else {"failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}
        kept.append({"who": name, "n": at, **why})
    for row in kept:
        print("  " + ", ".join(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()))
    return kept


def _last_lines(module: str) -> list[str]:
    """Run a module that prints what it finds, and return that."""
    if find_spec(module) is None:
        return []
    done = subprocess.run([sys.executable, "-m", module], cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout, flush=True)
    return done.stdout.splitlines() if done.returncode == 0 else [f"{module} failed: {done.stderr.splitlines()[-1]}"]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return all numbers, and how they were found."""
    neighbours, start = Neighbours(), time.perf_counter()
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = list(pool.map(lambda name: rows_of(name, options.sizes, options.limit), options.only))
    real, against = ([], []) if options.short else (_last_lines(FLIGHTS), _last_lines(AGAINST_EXACT))
    return {
        "date": date.today().isoformat(),
        "commit": commit(),
        "command": "`make bench-scale`",
        "processor": processor(),
        "versions": versions(PACKAGES),
        "others": round(neighbours.share(), 2),
        "minutes": round((time.perf_counter() - start) / 60, 1),
        "limit": options.limit,
        "side_by_side": SIDE_BY_SIDE,
        "notes": [],
        "rows": [row for rows in found for row in rows],
        "flights": real,
        "against_exact": against,
    }


def main() -> None:
    """Measure or read, then write."""
    options = _options()
    results = options.output / RESULTS
    found = json.loads(results.read_text(encoding="utf-8")) if options.draw else measure(options)
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(as_text(found), encoding="utf-8")
    (results.parent / "RESULTS-SCALE.md").write_text(page.markdown(found), encoding="utf-8")
    shown = options.output / PAGE
    if shown.exists():
        shown.write_text(page.renew(shown.read_text(encoding="utf-8"), found), encoding="utf-8")
        picture.draw(found, shown.parent / "images" / "scaling.png")


if __name__ == "__main__":
    main()
