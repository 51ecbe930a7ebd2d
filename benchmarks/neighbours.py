"""Maps of neighbours given known features, beside rivals, on simulated data: benchmarks/RESULTS-NEIGHBOURS.md.

Six kinds of objects have known batches, or a known number. A map should show the kinds and not the known feature. Of
each map: how well 15 neighbours tell the known feature (the share of right batches, or R²), how often 15 neighbours
that differ in the known feature tell the kind, and which share of the 15 nearest objects that are alike in the known
feature, and so nearest in the undisturbed data, are among as many nearest of these on the map.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from unmask import ConditionalTSNE, ConditionalUMAP

from .measure import ROOT, versions
from .report import table

RESULTS = ROOT / "benchmarks" / "RESULTS-NEIGHBOURS.md"
SEED, K, KINDS, COLUMNS = 20261119, 15, 6, 30
COMMAND = "python -m benchmarks.neighbours"


class Scenario(NamedTuple):
    """How a known feature acts: on all objects, on each kind by itself, and how far it goes with the kinds."""

    shift: float = 1.0
    own: float = 0.0
    confounded: bool = False
    number: bool = False
    multiplying: bool = False


SCENARIOS = {
    "shift": Scenario(),
    "shift and shifts of kinds": Scenario(own=1.0),
    "the same, confounded": Scenario(own=1.0, confounded=True),
    "shift x 4": Scenario(shift=4.0),
    "x 2.5, with shifts of kinds": Scenario(shift=2.5, own=2.5),
    "number, additive": Scenario(number=True),
    "number, multiplying": Scenario(number=True, multiplying=True),
}


class Data(NamedTuple):
    """Features as measured and undisturbed, kinds, the known feature, and groups that are alike in it."""

    X: np.ndarray
    undisturbed: np.ndarray
    kind: np.ndarray
    known: np.ndarray
    group: np.ndarray


def make(scenario: Scenario, n: int, rng: np.random.Generator) -> Data:
    """Return simulated objects."""
    kind = rng.integers(KINDS, size=n)
    undisturbed = 2.0 * rng.normal(size=(KINDS, COLUMNS))[kind] + rng.normal(size=(n, 3)) @ rng.normal(
        size=(3, COLUMNS)
    )
    undisturbed += 0.3 * rng.normal(size=(n, COLUMNS))
    if scenario.number:
        known = rng.uniform(-1.5, 1.5, n)
        effect = 2.0 * np.outer(known, rng.normal(size=COLUMNS))
        effect = known[:, None] * undisturbed / 2.0 if scenario.multiplying else effect
        group = np.digitize(known, np.quantile(known, [0.2, 0.4, 0.6, 0.8]))
        return Data(undisturbed + effect, undisturbed, kind, known, group)
    batches = rng.dirichlet(np.full(4, 0.5 if scenario.confounded else 50.0), size=KINDS)
    known = np.array([rng.choice(4, p=batches[one]) for one in kind])
    effect = scenario.shift * 2.0 * rng.normal(size=(4, COLUMNS))[known]
    effect += scenario.own * rng.normal(size=(4, KINDS, COLUMNS))[known, kind]
    return Data(undisturbed + effect, undisturbed, kind, known, known)


def coded(data: Data, number: bool) -> np.ndarray:
    """Return the known feature as columns for a regression."""
    columns = data.known[:, None] if number else np.eye(4)[data.known][:, 1:]
    return np.column_stack([np.ones(len(columns)), columns])


def ours(kind: Any, **params: Any) -> Callable[[Data, bool], np.ndarray]:
    """Return a function that maps data by one of our estimators."""

    def draw(data: Data, number: bool) -> np.ndarray:
        known = data.known if number else pd.Categorical(data.known.astype(str))
        return kind(random_state=0, n_jobs=1, **params).fit_transform(data.X, known=pd.DataFrame({"known": known}))

    return draw


def umap_learn(X: np.ndarray) -> np.ndarray:
    """Return the map of umap-learn."""
    from umap import UMAP

    return np.asarray(UMAP(random_state=0, n_jobs=1).fit_transform(X))


def plain(data: Data, number: bool) -> np.ndarray:  # noqa: ARG001
    """Return the map of umap-learn, which knows nothing."""
    return umap_learn(data.X)


def regressed(data: Data, number: bool) -> np.ndarray:
    """Return the map of umap-learn of what a linear regression on the known feature leaves."""
    V = coded(data, number)
    return umap_learn(data.X - V @ np.linalg.lstsq(V, data.X, rcond=None)[0])


def harmony(data: Data, number: bool) -> np.ndarray | None:
    """Return the map of umap-learn of what Harmony makes of the data; it takes batches only."""
    import harmonypy

    if number:
        return None
    batches = pd.DataFrame({"batch": data.known.astype(str)})
    corrected = np.asarray(harmonypy.run_harmony(data.X, batches, "batch").Z_corr)
    return umap_learn(corrected if corrected.shape == data.X.shape else corrected.T)


METHODS: dict[str, Callable[[Data, bool], np.ndarray | None]] = {
    "ours, UMAP": ours(ConditionalUMAP),
    "ours, UMAP, align": ours(ConditionalUMAP, align=True),
    "ours, t-SNE": ours(ConditionalTSNE),
    "umap-learn": plain,
    "regression + umap-learn": regressed,
    "Harmony + umap-learn": harmony,
}


def told(places: np.ndarray, data: Data, number: bool) -> float:
    """Return how well neighbours tell the known feature, none the object itself."""
    near = NearestNeighbors(n_neighbors=K).fit(places).kneighbors(return_distance=False)
    if number:
        return float(1.0 - np.mean((data.known[near].mean(axis=1) - data.known) ** 2) / data.known.var())
    counts = (data.known[near][:, :, None] == np.arange(4)).sum(axis=1)
    return float(np.mean(counts.argmax(axis=1) == data.known))


def across(places: np.ndarray, data: Data) -> float:
    """Return how often neighbours that differ in the known feature tell the kind."""
    right = np.zeros(len(places))
    for one in np.unique(data.group):
        own = data.group == one
        right[own] = KNeighborsClassifier(K).fit(places[~own], data.kind[~own]).predict(places[own]) == data.kind[own]
    return float(right.mean())


def recall(places: np.ndarray, data: Data) -> float:
    """Return which share of near objects with the same known feature are near on the map."""
    shares = []
    for one in np.unique(data.group):
        own = data.group == one
        truth, found = (
            NearestNeighbors(n_neighbors=K).fit(table[own]).kneighbors(return_distance=False)
            for table in (data.undisturbed, places)
        )
        shares += [len(np.intersect1d(*pair)) / K for pair in zip(truth, found, strict=True)]
    return float(np.mean(shares))


def rows(n: int, seeds: int) -> Iterator[list[str]]:
    """Yield the measures of each method in each scenario, means over seeds."""
    warnings.simplefilter("ignore")
    ours(ConditionalUMAP)(make(SCENARIOS["shift"], 200, np.random.default_rng(0)), False)  # compiles
    ours(ConditionalTSNE)(make(SCENARIOS["shift"], 200, np.random.default_rng(0)), False)
    umap_learn(np.random.default_rng(0).normal(size=(200, 3)))
    for name, scenario in SCENARIOS.items():
        spawned = np.random.SeedSequence(SEED).spawn(seeds)
        sets = [make(scenario, n, np.random.default_rng(seed)) for seed in spawned]
        ideal = np.mean([told(data.undisturbed, data, scenario.number) for data in sets])
        for method, draw in METHODS.items():
            found = []
            for data in sets:
                start = time.process_time()
                places = draw(data, scenario.number)
                if places is not None:
                    seconds = time.process_time() - start
                    measures = told(places, data, scenario.number), across(places, data), recall(places, data), seconds
                    found.append(measures)
            if found:
                means = [f"{value:.2f}" for value in np.mean(found, axis=0)[:3]]
                row = [f"{name} ({ideal:.2f})", method, *means, f"{np.mean(found, axis=0)[3]:.1f}"]
                print(row, flush=True)
                yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    headings = ["data (undisturbed)", "map", "known feature told", "kind told across", "recall", "CPU s"]
    body = list(rows(asked.objects, asked.seeds))
    numbers = ", ".join(
        f"{name} {number}"
        for name, number in versions(("unmask", "numpy", "scikit-learn", "numba", "umap-learn", "harmonypy")).items()
    )
    RESULTS.write_text(
        f"# Maps of neighbours\n\nMeasured on {date.today()} by `{COMMAND} --objects {asked.objects} --seeds "
        f"{asked.seeds}`, from `SeedSequence({SEED})`; {numbers}.\n\n{table(headings, body)}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
