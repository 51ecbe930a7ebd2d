"""Spectral methods on two recordings: two variants of a reference beside ours, and both forms of maximum entropy.

The recordings (a run, a robot's WiFi) are not free to ship. ``python -m benchmarks.papers spectral`` looks for them in
the folder that the environment variable ``UNMASK_MOTION`` names.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import date
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from unmask import MapWarning, SpectralMap
from unmask.dissimilarities import LaplacianEigenmaps, LocallyLinear, MaximumEntropyUnfolding
from unmask.inspection import gplvm_score

from ..measure import versions
from ..report import table

RECORDINGS = {"run": ("motion_55x102.npy", 6), "robot": ("robot_wifi_215x30.npy", 7)}  # file and neighbours
REFERENCE = {"eigenmaps": {"run": 2471, "robot": 1345}, "locally linear": {"run": 1796, "robot": -2570}}
RIDGE = 1e-10


def neighbourhoods(Y: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Yield the 0/1 table of everybody's k nearest, once for each way to choose among those equally near."""
    D = squareform(pdist(Y))
    np.fill_diagonal(D, np.inf)
    choices = []
    for row in D:
        limit = np.sort(row)[k - 1]
        nearer = np.flatnonzero(row < limit * (1 - 1e-12))
        level = np.flatnonzero(np.isclose(row, limit, rtol=1e-12, atol=0))
        choices.append([np.append(nearer, some) for some in combinations(level, k - len(nearer))])
    for lists in product(*choices):
        A = np.zeros(D.shape)
        for i, near in enumerate(lists):
            A[i, near.astype(int)] = 1
        yield A


def eigenmap(W: np.ndarray, *, divided: bool) -> np.ndarray:
    """Return two eigenvectors of the symmetric normalised Laplacian, divided by the roots of the degrees or not."""
    roots = np.sqrt(W.sum(axis=1))
    vectors = np.linalg.eigh(np.eye(len(W)) - W / np.outer(roots, roots))[1][:, 1:3]
    return vectors / roots[:, None] if divided else vectors


def ridged_locally_linear(weights: np.ndarray, ridge: float = RIDGE) -> np.ndarray:
    """Return two axes of the centred ``(M'M + ridge I)^-1``, M = I - weights, as long as the roots of eigenvalues."""
    n = len(weights)
    M = np.eye(n) - weights
    centre = np.eye(n) - 1 / n
    K = centre @ np.linalg.inv(M.T @ M + ridge * np.eye(n)) @ centre
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    return vectors[:, -2:] * np.sqrt(values[-2:])


def weights_of_each(Y: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return the weights that reconstruct each object from its neighbours, a row for each; no ridge."""
    weights = np.zeros(A.shape)
    for i, row in enumerate(A):
        near = np.flatnonzero(row)
        apart = Y[near] - Y[i]
        w = np.linalg.solve(apart @ apart.T, np.ones(len(near)))
        weights[i, near] = w / w.sum()
    return weights


def scores(Y: np.ndarray, k: int) -> dict[str, Any]:
    """Return what the variants score on some data; a list where equally near neighbours leave a choice."""
    tables = list(neighbourhoods(Y, k))
    union = np.maximum(tables[0], tables[0].T)
    axes = ridged_locally_linear(weights_of_each(Y, tables[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MapWarning)
        joined = gplvm_score(SpectralMap(LocallyLinear(k)).fit(Y), Y)
    return {
        "mean affinity, not divided": [gplvm_score(eigenmap((A + A.T) / 2, divided=False), Y) for A in tables],
        "mean affinity": gplvm_score(eigenmap((tables[0] + tables[0].T) / 2, divided=True), Y),
        "not divided": gplvm_score(eigenmap(union, divided=False), Y),
        "eigenmaps": gplvm_score(SpectralMap(LaplacianEigenmaps(k)).fit(Y), Y),
        "ridge": gplvm_score(axes, Y, standardize=False),
        "ridge, standardised": gplvm_score(axes, Y),
        "locally linear": joined,
    }


def entropy(Y: np.ndarray, k: int, constraints: str) -> dict[str, float]:
    """Return how maximum entropy unfolding treats the distances of neighbours, and what its classical map scores."""
    map_ = SpectralMap(MaximumEntropyUnfolding(k, constraints=constraints)).fit(Y)
    fitted = map_.dissimilarity_
    D, given = fitted.dissimilarities_, squareform(pdist(Y))
    ratios = (D / np.where(given > 0, given, 1.0))[fitted.graph_.toarray() > 0]
    pairs = np.triu_indices(len(Y), 1)
    return {
        "score": gplvm_score(map_, Y),
        "kept": float(np.mean(np.abs(ratios - 1) < 0.01)),
        "smallest": float(ratios.min()),
        "largest": float(ratios.max()),
        "negative": float(np.mean(fitted.multipliers_ < 0)),
        "alike": float(np.corrcoef(D[pairs], given[pairs])[0, 1]),
        "iterations": fitted.n_iter_,
    }


def both_forms(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return both forms of maximum entropy unfolding on each recording, and on the run with standardised columns."""
    data = {name: (np.load(folder / file), k) for name, (file, k) in RECORDINGS.items()}
    run, k = data["run"]
    data["run, columns standardised"] = (run - run.mean(axis=0)) / run.std(axis=0), k
    return {(name, form): entropy(Y, k, form) for name, (Y, k) in data.items() for form in ("upper", "equal")}


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the scores of each recording in a folder."""
    return {name: scores(np.load(folder / file), k) for name, (file, k) in RECORDINGS.items()}


ROWS = [
    ("reference", "eigenmaps", "Laplacian eigenmaps: reference"),
    ("found", "mean affinity, not divided", "½(A + Aᵀ), eigenvectors not divided by √degree"),
    ("found", "mean affinity", "½(A + Aᵀ), divided"),
    ("found", "not divided", "edges of either's neighbours, not divided"),
    ("found", "eigenmaps", "edges of either's neighbours, divided: `LaplacianEigenmaps`"),
    ("reference", "locally linear", "Locally linear embedding: reference"),
    ("found", "ridge", "H(MᵀM + 10⁻¹⁰ I)⁻¹H, axes as long as √λ"),
    ("found", "ridge, standardised", "the same, axes standardised"),
    ("found", "locally linear", "closed groups joined: `LocallyLinear`"),
]


def page(found: dict[str, dict[str, Any]]) -> str:
    """Return the table of docs/spectral.md."""
    body = []
    for kind, name, text in ROWS:
        values = [REFERENCE[name][data] if kind == "reference" else found[data][name] for data in RECORDINGS]
        cells = [_cell(value) for value in values]
        body.append([f"**{text}**", *(f"**{cell}**" for cell in cells)] if kind == "reference" else [text, *cells])
    return table(["", *RECORDINGS], body)


def _cell(value: Any) -> str:
    least, most = (f"{round(v)}".replace("-", "\N{MINUS SIGN}") for v in (np.min(value), np.max(value)))
    return least if least == most else f"{least} to {most}"


def entropy_page(found: dict[tuple[str, str], dict[str, float]]) -> str:
    """Return the table of docs/spectral.md about maximum entropy unfolding."""
    heads = ["data", "`constraints`", "score", "neighbours within 1%", "shortest", "multipliers below 0",
             "correlation with the data's", "iterations"]  # fmt: skip
    body = [
        [data, f'`"{form}"`', _cell(row["score"]), f"{row['kept']:.0%}", f"{row['smallest']:.2f}",
         f"{row['negative']:.0%}", f"{row['alike']:.2f}", f"{row['iterations']}"]
        for (data, form), row in found.items()
    ]  # fmt: skip
    known = ", ".join(f"{name} {number}" for name, number in versions(("unmask", "numpy", "scipy")).items())
    return f"{table(heads, body)}\n\n{date.today().isoformat()}, {known}, `make papers`."
