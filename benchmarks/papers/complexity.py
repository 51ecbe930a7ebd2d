"""Complexities of conditional SMACOF (table S1 of the TPAMI paper), measured, beside the same steps of this package.

The reference is Algorithm 1 as it is printed, in plain NumPy. CPU seconds of one thread; an exponent is the slope of
the logarithm of the time against that of N.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from unmask.checking import check_dissimilarities
from unmask.datasets import make_car_brands
from unmask.engines import make_engine
from unmask.kernels import Workers
from unmask.problem import build_pairs

from ..measure import processor, versions
from ..report import table

SIZES, ROUNDS = (1000, 2000, 4000), 3
KNOWN, LEARNED = 4, 3  # scenario 1 of the car brands
ENOUGH = 0.02  # CPU seconds of which a time is at least the mean


@dataclass
class Reference:
    """Conditional SMACOF as printed: one method for each line of table S1."""

    D: np.ndarray
    V: np.ndarray
    W: np.ndarray

    @property
    def laplacian(self) -> np.ndarray:
        """Return H."""
        return np.diag(self.W.sum(axis=1)) - self.W

    def inverse(self) -> np.ndarray:
        """Return the pseudo-inverse of H by the formula of remark 1."""
        n = len(self.D)
        return np.linalg.inv(self.laplacian + 1.0) - 1.0 / n**2

    def inverse_for_equal_weights(self) -> np.ndarray:
        """Return the same by remark 2, if all weights are 1."""
        n = len(self.D)
        return np.eye(n) / n - 1.0 / n**2

    def regression(self, H: np.ndarray) -> np.ndarray:
        """Return ``(V'HV)^-1 V'``."""
        return np.linalg.inv(self.V.T @ H @ self.V) @ self.V.T

    def distances(self, U: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return the distances of ``[U, VB]``."""
        Z = np.column_stack([U, self.V @ B])
        squares = (Z**2).sum(axis=1)
        return np.sqrt(np.maximum(squares[:, None] + squares - 2 * Z @ Z.T, 0.0))

    def attraction(self, U: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return C(U, B)."""
        fitted = self.distances(U, B)
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.where(fitted > 0, self.W * self.D / fitted, 0.0)
        np.fill_diagonal(off, 0.0)
        return np.diag(off.sum(axis=1)) - off

    @staticmethod
    def update_map(inverse: np.ndarray, C: np.ndarray, U: np.ndarray) -> np.ndarray:
        """Return the next U by equation 7, multiplied in the order of remark 1."""
        return inverse @ (C @ U)

    def update_coefficients(self, regression: np.ndarray, C: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return the next B by equation 8."""
        return regression @ (C @ (self.V @ B))

    def stress(self, fitted: np.ndarray) -> float:
        """Return the normalised stress of these distances."""
        return float(np.sum(self.W * (self.D - fitted) ** 2) / np.sum(self.W * self.D**2))


def steps(n: int) -> dict[str, Callable[[], Any]]:
    """Return every calculation for n car brands: the paper's, and what this package does in its place."""
    cars = make_car_brands(n, random_state=0)
    D, V = cars.dissimilarities.to_numpy(), cars.known.iloc[:, :KNOWN].to_numpy()
    weights = 1 / np.where(D > 0, D, 1.0)
    np.fill_diagonal(weights, 0.0)
    reference = Reference(D, V - V.mean(axis=0), weights)
    U, B = np.random.default_rng(0).uniform(size=(n, LEARNED)), np.eye(KNOWN)
    H, inverse, C = reference.laplacian, reference.inverse_for_equal_weights(), reference.attraction(U, B)
    regression = reference.regression(H)
    fitted, Z = reference.distances(U, B), np.column_stack([U, reference.V @ B])
    equal, sammon = (_engine(D, scheme) for scheme in (None, "sammon"))
    return {
        "H+": reference.inverse,
        "H+, ours": partial(sammon.graph.laplacian, np.empty((n, 0))),
        "H+, SMACOF": sammon.graph.solver,
        "H+ equal": reference.inverse_for_equal_weights,
        "H+ equal, ours": partial(equal.graph.solver(), U),
        "VHV": partial(reference.regression, H),
        "VHV, ours": partial(equal.graph.laplacian, reference.V),
        "C": partial(reference.attraction, U, B),
        "U": partial(reference.update_map, inverse, C, U),
        "B": partial(reference.update_coefficients, regression, C, B),
        "stress": partial(reference.stress, fitted),
        "pass": partial(sammon.stress, Z),
    }


def _engine(D: np.ndarray, scheme: str | None) -> Any:
    workers = Workers(1)
    pairs = build_pairs(check_dissimilarities(D, workers=workers), scheme, None, workers)
    return make_engine(pairs, workers)


def seconds(call: Callable[[], Any]) -> float:
    """Return the mean CPU time of as many calls as take long enough."""
    begin, number = time.process_time(), 0
    while time.process_time() - begin < ENOUGH or not number:
        call()
        number += 1
    return (time.process_time() - begin) / number


def measure(sizes: Sequence[int] = SIZES, rounds: int = ROUNDS) -> dict[str, dict[int, float]]:
    """Return the shortest of some times of each calculation, by N."""
    found: dict[str, dict[int, float]] = {}
    with threadpool_limits(1):
        for n in sizes:
            calls = steps(n)
            for call in calls.values():  # for nothing: some compile
                call()
            for _ in range(rounds):
                for name, call in calls.items():
                    found.setdefault(name, {}).setdefault(n, np.inf)
                    found[name][n] = min(found[name][n], seconds(call))
    return found


def exponent(times: dict[int, float]) -> float:
    """Return the slope of log time against log N."""
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


# Calculation, complexity in the paper, the reference's name, ours, and what ours is.
ROWS = [
    ("H⁺, general weights", "N^2.373", "H+", "H+, ours", "sums of weights only; H⁺ is not needed"),
    ('the same for `solver="smacof"`', "", None, "H+, SMACOF", "one factorisation"),
    ("H⁺, weights 1", "N², or 1 approximately", "H+ equal", "H+ equal, ours", "exact, by taking off the mean"),
    ("(VᵀHV)⁻¹Vᵀ", "N²q", "VHV", "VHV, ours", "weights 1: from sums of V"),
    ("C(U, B)", "N²(p + q)", "C", None, "in the pass"),
    ("U", "N²p", "U", None, "in the pass"),
    ("B", "N²q", "B", None, "in the pass"),
    ("stress", "N²", "stress", None, "in the pass"),
    ("an iteration: the last four", "N²(p + q)", "sum", "pass", "one pass over pairs, no square table"),
]


def page(found: dict[str, dict[int, float]]) -> dict[str, str]:
    """Return the parts of docs/scaling.md."""
    iteration = {n: sum(found[name][n] for name in ("C", "U", "B", "stress")) for n in found["C"]}
    found = {**found, "sum": iteration}
    largest = max(iteration)
    body = [
        [what, order, *_cells(found.get(theirs or ""), largest), *_cells(found.get(ours or ""), largest), remark]
        for what, order, theirs, ours, remark in ROWS
    ]
    heads = ["", "paper", "measured", f"ms, N = {largest}", "ours, measured", f"ms, N = {largest}", "ours"]
    known = ", ".join(f"{name} {number}" for name, number in versions(("unmask", "numpy", "numba")).items())
    about = (
        f"CPU time of one thread, car brands, N from {min(iteration)} to {largest}, q = {KNOWN}, p = {LEARNED}. "
        f"Measured on {date.today().isoformat()} by `make papers` on\n{processor()}; {known}."
    )
    return {"complexity": table(heads, body), "complexity-about": about}


def _cells(times: dict[int, float] | None, largest: int) -> list[str]:
    if times is None:
        return ["", ""]
    ms = 1e3 * times[largest]
    return [f"N^{exponent(times):.1f}", f"{ms:.2g}" if ms < 10 else f"{ms:,.0f}"]
