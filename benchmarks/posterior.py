"""How much of what is unknown the posterior recovers beside least squares: simulated sets, compared in pairs.

Writes benchmarks/posterior.json and renews the tables of docs/posterior.md. The seeds come from a date, and no constant
of the library was chosen by looking at the sets they make.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
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
SEED = 20261117
SETS, DRAWS, CHAINS = 20, 300, 2
FEATURES, KNOWN = 7, 5
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
    correlation: float = 0.0
    level: str = "ratio"
    n: int = 30


KINDS = (
    Kind("noise in proportion to the distance", 0),
    Kind("the same, known and unknown correlated at .6", 1, correlation=0.6),
    Kind("the same noise at every distance", 2, noise="additive"),
    Kind("nine-point ranks", 3, noise="ranks"),
    # On those of number 4 it was decided how the interval level enters a posterior.
    Kind('nine-point ranks, `level="interval"`', 6, noise="ranks", level="interval"),
    Kind("noise in proportion, 60 objects", 5, n=60),
)


def make_set(kind: Kind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dissimilarities, the known features as they were measured, and the unknown ones."""
    X = rng.uniform(size=(kind.n, FEATURES))
    if kind.correlation:
        X = rng.standard_normal((kind.n, FEATURES)) * np.sqrt(1 / 12)
        unknown = range(KNOWN, FEATURES)
        X[:, unknown] *= np.sqrt(1 - kind.correlation**2)
        X[:, unknown] += kind.correlation * X[:, : FEATURES - KNOWN]
    known = X[:, :KNOWN]
    measured = known + KNOWN_NOISE * known.std(axis=0) * rng.standard_normal(known.shape)
    d = pdist(X * COUNTS / COUNTS.sum())
    size = d.mean() if kind.noise == "additive" else d
    judged = np.maximum(d + NOISE * size * rng.standard_normal(len(d)), 0.0)
    if kind.noise == "ranks":  # a judge who uses every point of the scale as often
        judged = np.ceil(9 * rankdata(judged) / len(d))
    return squareform(judged), measured, X[:, KNOWN:]


def compare(kind: Kind, seed: Any) -> tuple[float, float]:
    """Return the average canonical correlation with the unknown features, of least squares and of the posterior."""
    D, known, unknown = make_set(kind, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mds = ConditionalMDS(FEATURES - KNOWN, metric="precomputed", level=kind.level, random_state=0, n_jobs=1)
        mds.fit(D, known=known)
        posterior = mds.posterior(DRAWS, CHAINS)
    maps = (mds.embedding_, posterior.embedding_)
    return tuple(float(average_canonical_correlation(U, unknown)) for U in maps)  # type: ignore[return-value]


def simulate(sets: int, kinds: tuple[Kind, ...] = KINDS) -> Iterator[dict[str, Any]]:
    """Compare sets of every kind; means and standard errors, those of the gain by pairs."""
    parents = np.random.SeedSequence(SEED).spawn(1 + max(kind.number for kind in KINDS))
    for kind in kinds:
        both = np.array([compare(kind, seed) for seed in parents[kind.number].spawn(sets)])
        columns = {"least squares": both[:, 0], "posterior": both[:, 1], "gain": both[:, 1] - both[:, 0]}
        row = {"kind": kind.name, "objects": kind.n} | {
            name: [round(float(x.mean()), 4), round(float(x.std(ddof=1) / np.sqrt(sets)), 4)]
            for name, x in columns.items()
        }
        print(row, flush=True)
        yield row


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that show numbers, by name."""
    made = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    columns = ("least squares", "posterior", "gain")
    body = [
        [row["kind"], *(f"{row[c][0]:{'+' * (c == 'gain')}.3f} ± {row[c][1]:.3f}" for c in columns)]
        for row in found["simulated"]
    ]
    about = (
        f"Measured on {found['date']} by `make posterior`: {found['sets']} sets for each row, seeds spawned from "
        f"`SeedSequence({found['seed']})`,\n{found['chains']} chains of {found['draws']} draws; {made}."
    )
    return {"about": about, "gain": table(["dissimilarities", *columns], body)}


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.posterior", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sets of each kind; writes nothing")
    quick = parser.parse_args().quick
    sets = 2 if quick else SETS
    found = {
        "date": date.today().isoformat(),
        "versions": versions(PACKAGES),
        "seed": SEED,
        "sets": sets,
        "draws": DRAWS,
        "chains": CHAINS,
        "simulated": list(simulate(sets)),
    }
    parts = tables(found)
    print("\n\n".join(parts.values()))
    if not quick:
        RESULTS.write_text(as_text(found), encoding="utf-8")
        PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), parts, "make posterior"), encoding="utf-8")


if __name__ == "__main__":
    main()
