"""Measuring: wall clock and processor time, fresh processes, what the machine is and how busy it was."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
OURS = "unmask"
PACKAGES = (
    "unmask",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pymde",
    "torch",
    "scikit-bio",
    "umap-learn",
    "openTSNE",
)


@dataclass(frozen=True)
class Measurement:
    """One number of one contender: ``wall`` and ``cpu`` in seconds, or ``value`` in the task's unit."""

    case: str
    task: str
    who: str
    n: int
    wall: float | None = None
    cpu: float | None = None
    value: float | None = None
    bound: bool = False  # a limit was hit: the truth is at least this
    quoted: bool = False  # taken from elsewhere, not measured in this run
    note: str = ""

    def minus(self, other: Measurement, parts: int) -> Measurement:
        """Return the ``parts``-th part of the difference in time to a shorter run."""
        assert self.wall is not None
        assert self.cpu is not None
        wall, cpu = self.wall - (other.wall or 0.0), self.cpu - (other.cpu or 0.0)
        return replace(self, wall=wall / parts, cpu=cpu / parts)

    def named(self, case: str, task: str, who: str, n: int) -> Measurement:
        """Return the same numbers under another name."""
        return replace(self, case=case, task=task, who=who, n=n)


@dataclass
class Results:
    """What a run has found so far."""

    measurements: list[Measurement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, measurement: Measurement) -> Measurement:
        """Keep a measurement and say so."""
        self.measurements.append(measurement)
        m = measurement
        seconds = f"{m.wall:.4g} s wall, {m.cpu:.4g} s CPU" if m.wall is not None and m.cpu is not None else ""
        print(f"  {m.task:42s} N={m.n:<6d} {m.who:32s} {'>= ' * m.bound}{seconds or m.value}", flush=True)
        return m

    def note(self, text: str) -> None:
        """Keep a remark for the report, once."""
        if text not in self.notes:
            self.notes.append(text)
            print(f"  note: {text}", flush=True)

    def find(self, case: str, task: str, who: str, n: int | None = None) -> Measurement | None:
        """Return the measurement of this name (the largest N unless one is given), or None."""
        found = [m for m in self.measurements if (m.case, m.task, m.who) == (case, task, who) and n in (None, m.n)]
        return max(found, key=lambda m: m.n, default=None)


def clock(call: Callable[[], object], repeats: int = 1) -> Measurement:
    """Return the fastest of some calls by the wall clock, and the smallest processor time (of all threads)."""
    walls, cpus = [], []
    for _ in range(repeats):
        cpu, wall = time.process_time(), time.perf_counter()
        call()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Measurement("", "", "", 0, min(walls), min(cpus))


def kindest_blas(call: Callable[[], object]) -> int:
    """Return the number of BLAS threads, one or all, with which a call is faster.

    On a busy machine the waiting threads of a BLAS can take a hundred times longer than one thread alone; a peer is to
    be measured at its best.
    """
    choices = sorted({1, os.cpu_count() or 1})
    walls = []
    for threads in choices:
        with threadpool_limits(threads, "blas"):
            walls.append(clock(call).wall or 0.0)
    return choices[walls.index(min(walls))]


def child(arguments: Sequence[str], environment: dict[str, str] | None = None) -> Any:
    """Run ``python arguments`` in a new process and return the JSON value on its last line of output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no output")
    return json.loads(done.stdout.strip().splitlines()[-1])


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Return the versions of packages, by default of those compared, as far as they are installed."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """Return the commit whose code is measured, and whether files differ from it; nothing outside a repository."""

    def git(*arguments: str) -> str:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return run.stdout.strip()

    name = git("rev-parse", "--short", "HEAD") if shutil.which("git") else ""
    return f"{name}, changed" if name and git("status", "--porcelain", "src", "benchmarks/**/*.py") else name


def processor() -> str:
    """Return the name of the processor and its number of usable cores."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
        name = lines[0].partition(":")[2].strip() if lines else name
    return f"{name}, {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} cores"


class Neighbours:
    """Watches how much of the machine other processes use, where the system tells (Linux)."""

    def __init__(self) -> None:
        self._wall, self._busy, self._own = time.perf_counter(), self._all_busy(), self._own_busy()

    @staticmethod
    def _all_busy() -> float:
        stat = Path("/proc/stat")
        if not stat.exists():
            return float("nan")
        ticks = [int(number) for number in stat.read_text(encoding="utf-8").splitlines()[0].split()[1:9]]
        return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")  # all but idle and waiting for disks

    @staticmethod
    def _own_busy() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def share(self) -> float:
        """Return the share of all cores that others used since the start (NaN where unknown)."""
        elapsed = (time.perf_counter() - self._wall) * (os.cpu_count() or 1)
        return max(0.0, (self._all_busy() - self._busy) - (self._own_busy() - self._own)) / elapsed


def as_rows(results: Results) -> list[dict[str, Any]]:
    """Return the measurements as plain objects."""
    return [asdict(m) for m in results.measurements]
