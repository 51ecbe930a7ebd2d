"""How much of what is unknown the posterior recovers beside least squares: simulated sets, compared in pairs.

Writes benchmarks/posterior.json and renews the tables of docs/posterior.md. The seeds come from a date, and no constant
of the library was chosen by looking at the sets they make.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from unmask import ConditionalMDS
from unmask.inspection import average_canonical_correlation

from .adjusted.__main__ import as_text
from .adjusted.page import renew
from .measure import ROOT, versions
from .report import table

RESULTS, PAGE = ROOT / "benchmarks" / "posterior.json", ROOT / "docs" / "posterior.md"
PACKAGES = ("unmask", "numpy", "scipy", "numba", "nutpie", "arviz")
SEED = 20261118
DRAWS, CHAINS = 300, 2
FEATURES = 7
# What the seven features of the simulated cars count, as in the data set of car brands.
COUNTS = np.array([90.0, 88, 83, 82, 81, 70, 68])
# Shares of the distances, and of the known features, that noise makes.
NOISE, KNOWN_NOISE = 0.2, 0.05


@dataclass(frozen=True)
class Kind:
    """What dissimilarities are like: their noise, and what the known features have to do with the unknown ones."""

    name: str
    number: int  # of its seeds among those that are spawned
    noise: str = "multiplicative"
    known: int = 5  # of the seven features
    correlation: float = 0.0
    level: str = "ratio"
    n: int = 30
    # The gain of 30 objects has a standard deviation of .08 over sets: the mean of 20 may be off by .035, and was.
    sets: int = 40


KINDS = (
    Kind("noise in proportion to the distance, 4 features known", 7, known=4),
    Kind("the same, 5 known", 0),
    Kind("the same, 6 known", 8, known=6),
    Kind("5 known, correlated with the unknown ones at .6", 1, correlation=0.6),
    Kind("the same noise at every distance", 2, noise="additive"),
    Kind("nine-point ranks", 3, noise="ranks"),
    # On those of number 4 it was decided how the interval level enters a posterior.
    Kind('nine-point ranks, `level="interval"`', 6, noise="ranks", level="interval"),
    Kind("noise in proportion, 60 objects", 5, n=60, sets=20),
)


def make_set(kind: Kind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dissimilarities, the known features as they were measured, and the unknown ones."""
    X = rng.uniform(size=(kind.n, FEATURES))
    if kind.correlation:
        X = rng.standard_normal((kind.n, FEATURES)) * np.sqrt(1 / 12)
        unknown = range(kind.known, FEATURES)
        X[:, unknown] *= np.sqrt(1 - kind.correlation**2)
        X[:, unknown] += kind.correlation * X[:, : FEATURES - kind.known]
    known = X[:, : kind.known]
    measured = known + KNOWN_NOISE * known.std(axis=0) * rng.standard_normal(known.shape)
    d = pdist(X * COUNTS / COUNTS.sum())
    size = d.mean() if kind.noise == "additive" else d
    judged = np.maximum(d + NOISE * size * rng.standard_normal(len(d)), 0.0)
    if kind.noise == "ranks":  # a judge who uses every point of the scale as often
        judged = np.ceil(9 * rankdata(judged) / len(d))
    return squareform(judged), measured, X[:, kind.known :]


def compare(kind: Kind, seed: Any) -> tuple[float, float]:
    """Return the average canonical correlation with the unknown features, of least squares and of the posterior."""
    D, known, unknown = make_set(kind, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mds = ConditionalMDS(FEATURES - kind.known, metric="precomputed", level=kind.level, random_state=0, n_jobs=1)
        mds.fit(D, known=known)
        posterior = mds.posterior(DRAWS, CHAINS)
    maps = (mds.embedding_, posterior.embedding_)
    return tuple(float(average_canonical_correlation(U, unknown)) for U in maps)  # type: ignore[return-value]


def simulate(jobs: int, kinds: tuple[Kind, ...] = KINDS) -> Iterator[dict[str, Any]]:
    """Compare sets of every kind; means and standard errors, those of the gain by pairs."""
    parents = np.random.SeedSequence(SEED).spawn(1 + max(kind.number for kind in KINDS))
    for kind in kinds:
        seeds = parents[kind.number].spawn(kind.sets)
        both = np.array(Parallel(jobs)(delayed(compare)(kind, seed) for seed in seeds))
        columns = {"least squares": both[:, 0], "posterior": both[:, 1], "gain": both[:, 1] - both[:, 0]}
        row = {"kind": kind.name, "objects": kind.n, "sets": kind.sets} | {
            name: [round(float(x.mean()), 4), round(float(x.std(ddof=1) / np.sqrt(kind.sets)), 4)]
            for name, x in columns.items()
        }
        print(row, flush=True)
        yield row


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that show numbers, by name."""
    made = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    columns = ("least squares", "posterior", "gain")
    body = [
        [row["kind"], str(row["sets"]), *(f"{row[c][0]:{'+' * (c == 'gain')}.3f} ± {row[c][1]:.3f}" for c in columns)]
        for row in found["simulated"]
    ]
    about = (
        f"Measured on {found['date']} by `make posterior`: seeds spawned from "
        f"`SeedSequence({found['seed']})`,\n{found['chains']} chains of {found['draws']} draws; {made}."
    )
    return {"about": about, "gain": table(["dissimilarities", "sets", *columns], body)}


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.posterior", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sets of each kind; writes nothing")
    parser.add_argument("--jobs", type=int, default=1, help="how many sets are compared at a time")
    options = parser.parse_args()
    kinds = tuple(replace(kind, sets=2) for kind in KINDS) if options.quick else KINDS
    found = {
        "date": date.today().isoformat(),
        "versions": versions(PACKAGES),
        "seed": SEED,
        "draws": DRAWS,
        "chains": CHAINS,
        "simulated": list(simulate(options.jobs, kinds)),
    }
    parts = tables(found)
    print("\n\n".join(parts.values()))
    if not options.quick:
        RESULTS.write_text(as_text(found), encoding="utf-8")
        PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), parts, "make posterior"), encoding="utf-8")


if __name__ == "__main__":
    main()
