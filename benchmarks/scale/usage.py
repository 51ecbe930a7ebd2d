"""What this process has used so far (Linux)."""

from __future__ import annotations

import ctypes
import gc
import resource
from pathlib import Path


def cpu() -> float:
    """Return the CPU seconds of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory(name: str) -> float:
    """Return a figure of this process's memory in MB: ``VmRSS`` now, ``VmHWM`` at most since it was last forgotten."""
    line = next(
        line for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines() if line.startswith(name)
    )
    return int(line.split()[1]) / 1024


def forget_peak() -> None:
    """Give back what is not used, and count the largest memory from here."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
