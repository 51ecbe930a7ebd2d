"""One contender in a process of its own: a line of JSON for each number of objects, until one would take too long."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..measure import Results
from ..peers import optional, quiet
from .contenders import CONTENDERS, Contender
from .data import make_data, sampled_stress
from .usage import cpu, forget_peak, memory

SOON = 2.0  # CPU seconds below which the next size is tried without a forecast; growth at first is not growth at last


def forecast(costs: dict[int, float], n: int) -> float:
    """Return the CPU seconds to expect of n objects: as the last two sizes grew, at least linearly."""
    *before, last = sorted(costs)
    slope = math.log(costs[last] / costs[before[-1]]) / math.log(last / before[-1]) if before else 1.0
    return costs[last] * (n / last) ** max(slope, 1.0)


def measured(package: Any, contender: Contender, n: int, limit: float) -> dict[str, Any]:
    """Return what one map costs; the system ends the process if it takes longer than the limit."""
    X, known = make_data(n)
    forget_peak()
    before, begin, clock = memory("VmRSS"), cpu(), time.perf_counter()
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(begin + limit), most))
    found = contender.draw(package, X, known)
    used = {"cpu": cpu() - begin, "wall": time.perf_counter() - clock, "memory": memory("VmHWM") - before}
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, most))
    return {"n": n, **used, "stress": sampled_stress(X, found) if isinstance(found, np.ndarray) else found}


def go_through(contender: Contender, sizes: tuple[int, ...], limit: float) -> Iterator[dict[str, Any]]:
    """Yield a row for each size, and one before it is measured, so that who started this knows where it ended."""
    notes = Results()
    package = optional(contender.module, notes)
    if package is None:
        yield {"n": sizes[0], "missing": "".join(notes.notes)}
        return
    for few in contender.warm_up:
        contender.draw(package, *make_data(few))
    costs: dict[int, float] = {}
    for n in sizes:
        expected = forecast(costs, n) if costs and max(costs.values()) > SOON else 0.0
        if expected > limit:
            yield {"n": n, "expected": expected}
            return
        yield {"n": n, "begun": True}
        row = measured(package, contender, n, limit)
        costs[n] = row["cpu"]
        yield row


def main() -> None:
    """Measure the contender named first, for the sizes and within the limit that follow."""
    name, sizes, limit = sys.argv[1:]
    with quiet():
        for row in go_through(CONTENDERS[name], tuple(int(n) for n in sizes.split(",")), float(limit)):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
