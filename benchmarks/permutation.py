"""Level and power of the permutation test of known features, beside those of redundancy analysis.

Two known features are correlated at rho: one acts across or along the map, the other does nothing. A level is the share
of sets in which the second has p <= .05, a power that of the first; 19 permutations, so p <= .05 means that no
permutation does as well. Writes benchmarks/permutation.json, cell by cell (started again, it goes on where it ended),
and renews the table of docs/reading.md. The seeds come from a date, and no constant of the library was chosen by them.

The test is that of ``unmask.inspection.permutation_test``: the same permutations and statistics, from the closed form
as the only start. One fit serves the published, the adjusted and the automatic map, and the refits of a feature end as
soon as all three have been beaten; so all cells take half an hour of one core instead of many hours. The first set of
each cell is also tested by the function itself: ``agreement`` is how many of its six decisions are the same.
"""

from __future__ import annotations

import json
import warnings
from datetime import date
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import beta

from unmask import ConditionalMDS
from unmask.checking import check_dissimilarities
from unmask.engines import make_engine
from unmask.inspection import dbrda_test, permutation_test
from unmask.kernels import OneBlasThread, Workers
from unmask.problem import KnownFeatures, Problem, build_pairs, check_known
from unmask.problem.chance import as_large
from unmask.problem.leak import linear_leak
from unmask.solvers import RULES, SearchSettings, attempt_all, best_of, make_objective, make_starts

from .adjusted.__main__ import as_text
from .adjusted.page import renew
from .measure import ROOT, versions
from .report import table

RESULTS, PAGE = ROOT / "benchmarks" / "permutation.json", ROOT / "docs" / "reading.md"
SEED, SETS, PERMUTATIONS = 20261118, 200, 19
DIMENSIONS, MOST_EXTRA, EFFECT, NOISE, TOL = 2, 3, 1.0, 0.2, 1e-5
OBJECTS, CORRELATIONS, WAYS = (16, 30, 60), (0.0, 0.3, 0.6, 0.8), ("across", "along")
QUESTIONS = {"level": 1, "power": 0}  # and the feature that they are about
ADJUST = {"published": False, "adjusted": True, "auto": "auto"}
TESTS = {**{name: name for name in ADJUST}, "dbrda": "`dbrda_test`"}  # and what the page calls them
SETTINGS = SearchSettings(RULES["lbfgs"], TOL, 1000)


def make_set(n: int, rho: float, way: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return dissimilarities and two known features: the first acts, the second does not."""
    U, (v, rest) = rng.normal(size=(n, 2)), rng.normal(size=(2, n))
    known = np.column_stack([v, rho * v + np.sqrt(1 - rho**2) * rest])
    places = np.column_stack([U, EFFECT * v]) if way == "across" else U + EFFECT * np.outer(v, [1.0, 0.0])
    d = pdist(places)
    return squareform(d * np.abs(1 + NOISE * rng.normal(size=len(d)))), known


class Maps:
    """The three maps of some dissimilarities, given whatever is known."""

    def __init__(self, D: np.ndarray, workers: Workers) -> None:
        checked = check_dissimilarities(D, workers=workers)
        self.pairs, self.workers = build_pairs(checked, None, None, workers), workers
        self.engine = make_engine(self.pairs, workers)

    def statistics(self, known: KnownFeatures) -> dict[str, np.ndarray]:
        """Return for each map what is the larger, the more a feature matters."""
        U, gram, stress, size = self._search(known, DIMENSIONS)
        V = known.values - known.values.mean(axis=0)
        directions = linear_leak(U, V, beside=size).directions
        plain = self._importance(V, gram)
        if directions:
            U, gram, *_ = self._search(known, DIMENSIONS + min(directions, MOST_EXTRA))
        along = np.linalg.lstsq(V, U, rcond=None)[0]
        adjusted = self._importance(V, gram + along @ along.T)
        auto = adjusted if directions else plain
        return {"published": np.full(V.shape[1], -stress), "adjusted": adjusted, "auto": auto}

    def _search(self, known: KnownFeatures, p: int) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Return the free map, BB', the stress, and the largest coordinate."""
        objective = make_objective(Problem(self.pairs, known, p), self.engine)
        starts = make_starts(objective, known, "closed-form", 1, np.random.default_rng(0))
        best = best_of(attempt_all(objective, starts, self.workers, SETTINGS))
        structure = objective.structure
        size = float(np.abs(structure.lift(best.theta)).max())
        return structure.unknown(best.theta), structure.gram(best.theta), best.value, size

    def _importance(self, V: np.ndarray, gram: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(V.var(axis=0, ddof=1) * np.diagonal(gram)) / self.engine.scale)


def rejected(D: np.ndarray, known: np.ndarray, feature: int, seed: int, workers: Workers) -> dict[str, bool]:
    """Return by which maps a feature has p <= .05."""
    maps, coded, rng = Maps(D, workers), check_known(known, len(D), None, "auto"), np.random.RandomState(seed)
    own = maps.statistics(coded)
    slack = {name: TOL if name == "published" else np.sqrt(TOL) * own[name].max() for name in own}
    orders = [rng.permutation(len(D)) for _ in range(PERMUTATIONS * 2)]
    beaten = dict.fromkeys(own, False)
    for order in orders[feature::2]:  # the features take turns
        permuted = maps.statistics(coded.with_residuals_in_order(feature, order))
        for name in own:
            beaten[name] |= bool(as_large(permuted[name][feature], own[name][feature], slack=slack[name]))
        if all(beaten.values()):
            break
    return {name: not beaten[name] for name in own}


def by_the_function(D: np.ndarray, known: np.ndarray, seed: int, name: str) -> list[bool]:
    """Return which features have p <= .05 by `permutation_test`."""
    options = {"metric": "precomputed", "init": "closed-form", "tol": TOL, "n_jobs": 1, "random_state": 0}
    mds = ConditionalMDS(DIMENSIONS, adjust=ADJUST[name], **options)
    table = permutation_test(mds, D, known, n_permutations=PERMUTATIONS, random_state=seed)
    return (table["p_value"] <= 0.05).tolist()


def measure(n: int, rho: float, way: str, sets: int, question: str) -> dict[str, float]:
    """Return the shares of sets in which each test rejects."""
    feature, counts = QUESTIONS[question], dict.fromkeys(TESTS, 0)
    with OneBlasThread(), Workers(1) as workers:
        for number in range(sets):
            D, known = numbered_set(n, rho, way, number)
            found = rejected(D, known, feature, number, workers)
            p_values = dbrda_test(D, known, n_permutations=PERMUTATIONS, random_state=number)["p_value"]
            found["dbrda"] = bool(p_values.iloc[feature] <= 0.05)
            counts = {name: counts[name] + found[name] for name in counts}
    return {name: counts[name] / sets for name in counts}


def numbered_set(n: int, rho: float, way: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return one of the sets of a cell."""
    return make_set(n, rho, way, np.random.default_rng([SEED, n, round(10 * rho), WAYS.index(way), number]))


def compare(n: int, rho: float, way: str) -> int:
    """Return how many decisions about the first set of a cell are those of the function."""
    D, known = numbered_set(n, rho, way, 0)
    with OneBlasThread(), Workers(1) as workers:
        found = [rejected(D, known, feature, 0, workers) for feature in range(2)]
    return sum(
        found[feature][name] == decision
        for name in ADJUST
        for feature, decision in enumerate(by_the_function(D, known, 0, name))
    )


def lower_limit(share: float, sets: int) -> float:
    """Return the lower end of the exact 99% interval of a share."""
    hits = round(share * sets)
    return float(beta.ppf(0.005, hits, sets - hits + 1)) if hits else 0.0


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that show numbers, by name."""
    cells, head = found["cells"], ["objects", "rho", "acts", *TESTS.values()]
    body = [
        [str(cell["objects"]), f"{cell['rho']:g}", cell["way"], *(_level_and_power(cell, name) for name in TESTS)]
        for cell in cells
    ]
    pooled = [f"{np.mean([cell['level'][name] for cell in cells]):.3f}" for name in TESTS]
    above = [str(sum(lower_limit(cell["level"][name], found["sets"]) > 0.05 for cell in cells)) for name in TESTS]
    body += [["all", "", "pooled level", *pooled], ["", "", "levels above .05", *above]]
    made = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    agreed = [cell["agreement"] for cell in cells if "agreement" in cell]
    about = (
        f"Measured on {found['date']} by `make permutation`: {found['sets']} sets for each row, {PERMUTATIONS} "
        f"permutations, seed {SEED}; {made}.\n`permutation_test` itself decided as the simulation in {sum(agreed)} of "
        f"{6 * len(agreed)} tests of {len(agreed)} sets."
    )
    return {"levels": table(head, body), "about": about}


def _level_and_power(cell: dict[str, Any], name: str) -> str:
    return " / ".join(f"{cell[question][name]:.3f}" if question in cell else "-" for question in QUESTIONS)


def main() -> None:
    """Measure what is not measured yet, and write it."""
    warnings.simplefilter("ignore")
    new = {"cells": [{"objects": n, "rho": rho, "way": way} for n, rho, way in product(OBJECTS, CORRELATIONS, WAYS)]}
    cells = (json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else new)["cells"]
    found = {"date": date.today().isoformat(), "versions": versions(("unmask", "numpy", "scipy")), "sets": SETS}
    found["cells"] = cells
    tasks = [(question, cell) for question in (*QUESTIONS, "agreement") for cell in cells if question not in cell]
    for question, cell in tasks:
        where = cell["objects"], cell["rho"], cell["way"]
        cell[question] = compare(*where) if question == "agreement" else measure(*where, SETS, question)
        RESULTS.write_text(as_text(found), encoding="utf-8")
        print(cell, flush=True)
    PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), tables(found), "make permutation"), encoding="utf-8")


if __name__ == "__main__":
    main()
