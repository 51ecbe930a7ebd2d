"""The suite: reads the options, runs the cases, writes the results."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from . import picture, report
from .cases import closed, first, growth, limit, memory, one_pass, restarts, solve, spectral, stages, weights
from .measure import Measurement, Neighbours, Results, commit, processor, versions
from .plan import QUICK, Plan, with_sizes

FOLDER = Path(__file__).resolve().parent
# New processes first, while this one is small; the longest last.
CASES: dict[str, Callable[[Results, Plan], None]] = {
    "first": first.run,
    "memory": memory.run,
    "pass": one_pass.run,
    "limit": limit.run,
    "restarts": restarts.run,
    "weights": weights.run,
    "closed": closed.run,
    "spectral": spectral.run,
    "stages": stages.run,
    "growth": growth.run,
    "solve": solve.run,
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, under two minutes")
    parser.add_argument(
        "--sizes", type=lambda text: tuple(sorted(int(n) for n in text.split(","))), help="e.g. 1000,5000"
    )
    parser.add_argument("--cases", default=",".join(CASES), help="some of " + ",".join(CASES))
    parser.add_argument("--keep", action="store_true", help="keep the other cases' numbers of the last run as they are")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder for RESULTS.md, results.json, growth.png")
    options = parser.parse_args()
    unknown = set(options.cases.split(",")) - set(CASES)
    if unknown:
        parser.error(f"unknown cases {', '.join(sorted(unknown))}; choose from {', '.join(CASES)}")
    return options


def _about(options: str, neighbours: Neighbours, minutes: float) -> dict[str, Any]:
    return {
        "date": date.today().isoformat(),
        "commit": commit(),
        "options": options,
        "processor": processor(),
        "threads": one_pass.THREADS,
        "others": neighbours.share(),
        "minutes": minutes,
        "versions": versions(),
    }


def _kept(options: argparse.Namespace) -> tuple[Results, dict[str, Any]]:
    """Return the last run's numbers of the cases not measured again, with a note, and what it says of itself."""
    raw = json.loads((options.output / "results.json").read_text(encoding="utf-8"))
    again = {case for name in options.cases.split(",") for case in (name, *(["threads"] if name == "pass" else []))}
    results = Results([Measurement(**row) for row in raw["measurements"] if row["case"] not in again])
    results.notes += [note for note in raw["notes"] if "measured again" not in note]
    results.note(
        f"The cases {options.cases} were measured again after a change of the code, in a run of their own; "
        f"the others are from the run of {raw['date']} before it."
    )
    return results, {key: raw[key] for key in ("date", "options", "others", "minutes")}


def main() -> None:
    """Run the chosen cases and write the results after each, so that an interrupted run leaves what it found."""
    options = _options()
    plan = QUICK if options.quick else Plan()
    plan = with_sizes(plan, options.sizes) if options.sizes else plan
    results, first_run = _kept(options) if options.keep else (Results(), {})
    neighbours, start = Neighbours(), time.perf_counter()
    chosen = " --quick" * options.quick + f" --cases {options.cases}" * (options.cases != ",".join(CASES))
    options.output.mkdir(parents=True, exist_ok=True)
    for name in (name for name in CASES if name in options.cases.split(",")):
        began = time.perf_counter()
        print(f"{name}:", flush=True)
        CASES[name](results, plan)
        print(f"  ({time.perf_counter() - began:.0f} s)", flush=True)
        about = _about(chosen, neighbours, (time.perf_counter() - start) / 60)
        report.write(results, plan, {**about, **first_run}, options.output)
    picture.draw(results, options.output / "growth.png")
    print(f"wrote RESULTS.md and results.json to {options.output.name}/")
