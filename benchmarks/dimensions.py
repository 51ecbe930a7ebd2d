"""How many dimensions are chosen where the truth is known: into benchmarks/dimensions.json and docs/reading.md.

    python -m benchmarks.dimensions

Car brands (the TPAMI paper's simulation) with 6, 5 or 4 of their 7 features known have 1, 2 or 3 dimensions left.
Errors of the known features, 5% in the paper, are left to find too: with many objects the same is measured without.
Dissimilarities at random, given two random features, have none. One dimension after another is tested, as
`choose_n_components` does. Results are kept cell by cell: started again, the script goes on where it ended.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from datetime import date
from typing import Any

import numpy as np

from unmask import ConditionalMDS
from unmask.datasets import make_car_brands
from unmask.inspection import dimension_test

from .adjusted.__main__ import as_text
from .adjusted.page import renew
from .measure import ROOT, versions
from .report import table

SEED, PERMUTATIONS, MOST = 20261118, 39, 5
SETS = {30: 15, 14: 15, 100: 4}
CARS = [(left, noise) for left in (3, 2, 1) for noise in (0.1, 0.2)]  # dimensions left, noise
KINDS = [*((n, *kind, 0.05) for n in SETS for kind in CARS), *((100, *kind, 0.0) for kind in CARS)]
KINDS += [(n, 0, noise, 0.0) for n in SETS for noise in (0.2, 1.0)]  # objects, left, noise, error of known features
COMMAND = "make dimensions"
RESULTS, PAGE = ROOT / "benchmarks" / "dimensions.json", ROOT / "docs" / "reading.md"


def make_set(n: int, left: int, noise: float, error: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return dissimilarities and known features; with nothing left, all of it is noise."""
    if left:
        cars = make_car_brands(n, noise=noise, known_noise=error, random_state=seed)
        return cars.dissimilarities.to_numpy(), cars.known.iloc[:, : 7 - left].to_numpy()
    rng = np.random.default_rng(seed)
    D = np.triu(np.abs(1 + noise * rng.standard_normal((n, n))), 1)
    return D + D.T, rng.standard_normal((n, 2))


def choose(D: np.ndarray, known: np.ndarray) -> int:
    """Return the first number of dimensions after which one more is not significant."""
    for p in range(MOST):
        mds = ConditionalMDS(p, metric="precomputed", n_init=4, random_state=0, n_jobs=1)
        if dimension_test(mds, D, known, n_permutations=PERMUTATIONS)["p_value"] > 0.05:
            return p
    return MOST


def measure(n: int, left: int, noise: float, error: float) -> dict[str, int]:
    """Return how often each number of dimensions is chosen."""
    seeds = [int(seed) for seed in np.random.SeedSequence([SEED, n, left, round(100 * noise)]).generate_state(SETS[n])]
    chosen = Counter(choose(*make_set(n, left, noise, error, seed)) for seed in seeds)
    return {str(p): count for p, count in sorted(chosen.items())}


def kind_of(cell: dict[str, Any]) -> tuple[int, int, float, float]:
    """Return the kind of sets that a cell is about."""
    return cell["objects"], cell["left"], cell["noise"], cell["error"]


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page."""
    rows = [
        [
            str(cell["objects"]),
            f"{cell['noise']:.0%}",
            f"{cell['error']:.0%}",
            str(cell["left"] or "nothing but noise"),
            *(str(cell["chosen"].get(str(p), "")) for p in range(MOST + 1)),
        ]
        for cell in sorted(found["cells"], key=lambda cell: KINDS.index(kind_of(cell)))
    ]
    used = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    head = ["objects", "noise", "error of known features", "left", *map(str, range(MOST)), f"{MOST} or more"]
    about = f"Measured on {found['date']} by `{COMMAND}`, {PERMUTATIONS} permutations; {used}."
    return {"dimensions": f"{table(head, rows)}\n\n{about}"}


def main() -> None:
    """Measure what is not measured yet, and write it."""
    warnings.simplefilter("ignore")
    cells = json.loads(RESULTS.read_text(encoding="utf-8"))["cells"] if RESULTS.exists() else []
    done = set(map(kind_of, cells))
    for n, left, noise, error in (kind for kind in KINDS if kind not in done):
        chosen = measure(n, left, noise, error)
        cells.append({"objects": n, "noise": noise, "error": error, "left": left, "chosen": chosen})
        print(cells[-1], flush=True)
        used = versions(("unmask", "numpy", "scipy"))
        found = {"date": date.today().isoformat(), "versions": used, "cells": cells}
        RESULTS.write_text(as_text(found), encoding="utf-8")
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), tables(found), COMMAND), encoding="utf-8")


if __name__ == "__main__":
    main()
