"""How often `choose_n_components` finds the number of dimensions, on simulated sets; writes a JSON file and a page.

Car brands (the TPAMI paper's simulation) with 6, 5 or 4 of their 7 features known have 1, 2 or 3 dimensions left. Three
kinds of sets have none: dissimilarities at random with nothing known and given two random features, and car brands with
all features known exactly.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from threadpoolctl import threadpool_limits

from unmask import ConditionalMDS
from unmask.datasets import make_car_brands
from unmask.inspection import choose_n_components

from .adjusted.page import renew
from .measure import ROOT, versions
from .report import table

RESULTS, PAGE = ROOT / "benchmarks" / "dimensions.json", ROOT / "docs" / "reading.md"
SIZES, NOISES, HIDDEN = (14, 30, 100), (0.2, 0.05), (1, 2, 3)
SETS, SEED, STARTS, MOST = 15, 20261118, 4, 4
NOTHING = "random, nothing known", "random, given two random features", "car brands, all known exactly"


def sets(number: int) -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Yield a description of each set, its dissimilarities and what is known."""
    for replicate in range(number):
        for n in SIZES:
            seed = int(np.random.SeedSequence([SEED, n, replicate]).generate_state(1)[0])
            for noise in NOISES:
                for hidden in HIDDEN:
                    cars = make_car_brands(n, noise=noise, random_state=seed)
                    row = {"data": f"car brands, {noise:.0%} noise", "truth": hidden, "n": n}
                    yield row, cars.dissimilarities, cars.known.iloc[:, : 7 - hidden]
            rng = np.random.default_rng(seed)
            D = squareform(np.abs(rng.standard_normal(n * (n - 1) // 2)))
            cars = make_car_brands(n, known_noise=0.0, random_state=seed)
            alone = (D, None), (D, rng.standard_normal((n, 2))), (cars.dissimilarities, cars.known)
            for data, (values, known) in zip(NOTHING, alone, strict=True):
                yield {"data": data, "truth": 0, "n": n}, values, known


def measure(number: int) -> dict[str, Any]:
    """Return all choices, and how they were made."""
    mds = ConditionalMDS(metric="precomputed", n_init=STARTS, random_state=0)
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row, D, known in sets(number):
            begin = time.process_time()
            found = choose_n_components(mds, D, known, max_components=MOST, n_splits=2, random_state=1)
            cell = rows.setdefault(tuple(row.values()), {**row, "chosen": [], "heldout": [], "seconds": 0.0})
            cell["chosen"].append(found.attrs["chosen"])
            cell["heldout"].append(int(found["heldout"].argmin()))
            cell["seconds"] += round((time.process_time() - begin) / number, 3)
            print(row, found.attrs["chosen"], flush=True)
    return {
        "date": date.today().isoformat(),
        "versions": versions(("unmask", "numpy", "scipy", "numba")),
        "sets": number,
        "seed": SEED,
        "rows": list(rows.values()),
    }


def page(found: dict[str, Any]) -> dict[str, str]:
    """Return the part of docs/reading.md."""
    body = []
    for row in sorted(found["rows"], key=lambda row: (row["truth"] == 0, row["data"], row["truth"], row["n"])):
        counts = Counter(row["chosen"])
        body.append([row["data"], str(row["truth"]), str(row["n"]), *(str(counts[p] or "") for p in range(MOST + 1))])
    heads = ["data", "truth", "N", *(f"chose {p}" for p in range(MOST + 1))]
    known = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    about = f"{found['sets']} sets a row, at most {MOST} dimensions; `make dimensions`, {found['date']}, {known}."
    return {"dimensions": f"{table(heads, body)}\n\n{about}"}


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dimensions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one set of each kind; writes nothing")
    quick = parser.parse_args().quick
    found = measure(1 if quick else SETS)
    parts = page(found)
    print("\n\n".join(parts.values()))
    if not quick:
        rows = ",\n  ".join(map(json.dumps, found.pop("rows")))
        text = json.dumps(found)[:-1] + f', "rows": [\n  {rows}\n]}}\n'
        RESULTS.write_text(text, encoding="utf-8")
        PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), parts, by="make dimensions"), encoding="utf-8")


if __name__ == "__main__":
    main()
