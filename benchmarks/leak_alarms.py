"""How often maps are warned of although nothing leaks: into benchmarks/leak_alarms.json and docs/adjusted.md.

The sets are made by the published model: known features act at right angles to the map and have nothing to do with it.
A random map is above the reference of its leak in 5% of cases; a map that is fitted to noise may be in more.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from unmask import AdjustmentWarning, ConditionalMDS, LeakWarning
from unmask.inspection import leak

from .adjusted.page import renew
from .measure import ROOT, versions
from .report import table

RESULTS, PAGE = ROOT / "benchmarks" / "leak_alarms.json", ROOT / "docs" / "adjusted.md"
SEED, SETS, STARTS = 20261118, 150, 2
SPREADS = (1.0, 0.7)  # of the two unknown features
# Map, effect of all known features together, objects, noise, known columns.
CELLS = [("MDS", 1.5, n, noise, q) for n, noise in ((30, 0.1), (30, 0.2), (100, 0.2)) for q in (1, 2, 4)]
CELLS += [("MDS", 3.0, n, 0.2, q) for n, q in ((30, 1), (30, 4), (100, 4))]
REMOVED = (9, 10)  # cells that were once measured; the seeds of the others stay as they were
COMMAND = "python -m benchmarks.leak_alarms"


def make_set(
    effect: float, n: int, noise: float, q: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dissimilarities with relative noise, the unknown features and the known ones."""
    U, V = rng.normal(size=(n, 2)) * SPREADS, rng.normal(size=(n, q))
    d = pdist(np.column_stack([U, effect / np.sqrt(q) * V]))
    return squareform(np.abs(d * (1 + noise * rng.normal(size=d.size)))), U, V


def measure(estimator: Any, D: np.ndarray, U: np.ndarray, V: np.ndarray) -> dict[str, bool]:
    """Return whether a map as fitted, the true map, and neighbours on the uncorrelated map are above chance."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LeakWarning)
        warnings.simplefilter("ignore", AdjustmentWarning)
        fitted = estimator.fit(D, known=V)
    return {
        "true": leak(U, V) > fitted.leak_reference_,
        "fitted": fitted.free_leak_ > fitted.leak_reference_,
        "neighbours": any(one.category is LeakWarning for one in caught),
    }


def rates(sets: int) -> Iterator[dict[str, Any]]:
    """Yield the shares of sets that are warned of, cell by cell."""
    spawned = np.random.SeedSequence(SEED).spawn(len(CELLS) + len(REMOVED))
    seeds = [seed for at, seed in enumerate(spawned) if at not in REMOVED]
    for (method, effect, n, noise, q), seed in zip(CELLS, seeds, strict=True):
        found = []
        for one in seed.spawn(sets):
            start = int(one.generate_state(1)[0])
            estimator = ConditionalMDS(2, metric="precomputed", adjust=True, n_init=STARTS, random_state=start)
            found.append(measure(estimator, *make_set(effect, n, noise, q, np.random.default_rng(one))))
        row = {"method": method, "effect": effect, "objects": n, "noise": noise, "columns": q}
        row |= {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        print(row, flush=True)
        yield row


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Return the part of the page that shows the numbers, by name."""
    numbers = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    about = (
        f"Measured on {found['date']} by `{COMMAND}`: {found['sets']} sets for each row, seeds spawned from "
        f"`SeedSequence({found['seed']})`;\n{numbers}."
    )
    headings = [
        "map",
        "effect of V",
        "objects",
        "noise",
        "known columns",
        "true map",
        "fitted map",
        "neighbours, uncorrelated map",
    ]
    body = [
        [
            row["method"],
            f"{row['effect']:g}",
            str(row["objects"]),
            f"{row['noise']:.0%}",
            str(row["columns"]),
            f"{row['true']:.0%}",
            f"{row['fitted']:.0%}",
            f"{row['neighbours']:.0%}",
        ]
        for row in found["rows"]
    ]
    return {"alarms": f"{about}\n\n{table(headings, body)}"}


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--sets", type=int, default=SETS, help="simulated sets of each kind; fewer write nothing")
    sets = parser.parse_args().sets
    found = {"date": date.today().isoformat(), "seed": SEED, "sets": sets, "starts": STARTS}
    found |= {"versions": versions(("unmask", "numpy", "scipy", "numba")), "rows": list(rates(sets))}
    print(tables(found)["alarms"])
    if sets >= SETS:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), tables(found), COMMAND), encoding="utf-8")


if __name__ == "__main__":
    main()
