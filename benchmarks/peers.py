"""What a user would pick instead. A peer that is not installed is skipped with a note, never an error."""

from __future__ import annotations

import contextlib
import importlib
import io
import shutil
import subprocess
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .data import Array
from .measure import Measurement, Results, kindest_blas

SKLEARN = "scikit-learn smacof"
PYMDE = "PyMDE"
CML = "R cml"
# What was measured elsewhere, for where R is not at hand: processor seconds of one iteration at N = 2000.
CML_QUOTED_SECONDS, CML_QUOTED_N = 0.30, 2000
_FOREVER = 1_000_000


class Stop(Exception):  # noqa: N818 - not an error: the watch has seen enough
    """Raised inside a peer's iteration to end it."""


@dataclass
class Watch:
    """Looks on while a peer iterates: ends it once ``goal`` (normalised stress) or ``limit`` (seconds) is reached."""

    goal: float
    limit: float
    passes: int = 0
    stress: float = np.inf
    reached: bool = False
    started: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), time.process_time()))

    def see(self, stress: float) -> None:
        """Take note of the stress after one more pass."""
        self.passes += 1
        self.stress = stress
        self.reached = stress <= self.goal
        if self.reached or time.perf_counter() - self.started[0] > self.limit:
            raise Stop

    def result(self) -> Measurement:
        """Return the time until now."""
        wall, cpu = time.perf_counter() - self.started[0], time.process_time() - self.started[1]
        note = f"stress {self.stress:.8f}" + ("" if self.reached else f", not the goal {self.goal:.8f}")
        return Measurement("", "", "", 0, wall, cpu, float(self.passes), bound=not self.reached, note=note)


class _Lines(io.TextIOBase):
    """Standard output of scikit-learn's loop, which prints the stress after every iteration."""

    def __init__(self, see: Callable[[float], None]) -> None:
        self._see = see

    def write(self, text: str) -> int:
        if "stress" in text:
            self._see(float(text.rsplit(maxsplit=1)[-1]))
        return len(text)


def optional(name: str, results: Results) -> Any:
    """Return a peer's module, or None with a note."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _import_pymde() if name == "pymde" else importlib.import_module(name)
    except Exception as error:  # a broken installation of a peer must not end the run either
        results.note(f"{name} was skipped: {type(error).__name__}: {str(error).splitlines()[0]}")
        return None


def _import_pymde() -> Any:
    """Import PyMDE; it needs torchvision only to download pictures, and builds of it without CUDA are not on PyPI."""
    try:
        importlib.import_module("torchvision")
    except Exception:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        sys.modules["torchvision"] = types.ModuleType("torchvision")
    return importlib.import_module("pymde")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings about not converging: iterations are limited on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def sklearn_smacof(D: Array, init: Array, max_iter: int) -> None:
    """Run exactly ``max_iter`` iterations of scikit-learn's SMACOF from a given start."""
    from sklearn.manifold import smacof

    smacof(D, n_components=init.shape[1], init=init, n_init=1, max_iter=max_iter, eps=0.0, normalized_stress=False)


def sklearn_to(D: Array, p: int, watch: Watch, init: Array | None = None, scale: float = 30.0) -> Measurement:
    """Run scikit-learn's SMACOF until the watch has seen enough.

    It prints the stress with four decimals: dissimilarities are multiplied by ``scale`` so that these are enough to see
    1e-8 of the sum of squares. Nothing else changes: the first step does not depend on the scale of the start.
    """
    from sklearn.manifold import smacof

    scaled = D * scale
    blas = kindest_blas(lambda: sklearn_smacof(D, np.random.default_rng(0).normal(size=(len(D), p)), 2))
    total = float(np.einsum("ij,ij->", scaled, scaled)) / 2
    watch.started = (time.perf_counter(), time.process_time())
    lines = contextlib.redirect_stdout(_Lines(lambda raw: watch.see(raw / total)))
    with quiet(), contextlib.suppress(Stop), threadpool_limits(blas, "blas"), lines:
        smacof(
            scaled,
            n_components=p,
            init=None if init is None else init * scale,
            n_init=1,
            max_iter=_FOREVER,
            eps=0.0,
            verbose=2,
            random_state=0,
            normalized_stress=False,
        )
    return watch.result()


def pymde_to(pymde: Any, D: Array, p: int, watch: Watch) -> Measurement:
    """Run PyMDE on the problem ``preserve_distances`` poses, with quadratic loss: the stress.

    The recipe itself takes features or a graph, whose shortest paths it would put in the place of dissimilarities that
    break the triangle inequality; so its parts are put together here.
    """
    import torch

    watch.started = (time.perf_counter(), time.process_time())
    rows, columns = np.triu_indices(len(D), 1)
    delta = torch.tensor(D[rows, columns], dtype=torch.float32)
    edges = torch.tensor(np.column_stack([rows, columns]))
    share = len(rows) / float((delta.double() ** 2).sum())
    loss = pymde.losses.Quadratic(delta)

    def watched(distances: Any) -> Any:
        value = loss(distances)
        watch.see(float(value.detach().double().mean()) * share)
        return value

    torch.manual_seed(0)
    mde = pymde.MDE(len(D), p, edges, watched, constraint=pymde.Centered())
    with contextlib.suppress(Stop):
        mde.embed(max_iter=_FOREVER, eps=0.0)
    return watch.result()


def skbio_pcoa(skbio: Any, D: Array, p: int, method: str) -> None:
    """Run scikit-bio's principal coordinates analysis."""
    with quiet():
        matrix = skbio.DistanceMatrix(D)
        skbio.stats.ordination.pcoa(matrix, method=method, dimensions=p)


def umap_map(umap: Any, D: Array) -> None:
    """Run UMAP on precomputed dissimilarities."""
    with quiet():
        umap.UMAP(metric="precomputed", random_state=None).fit(D)


def opentsne_map(opentsne: Any, D: Array) -> None:
    """Run openTSNE on precomputed dissimilarities (its default start needs features: a spectral one instead)."""
    with quiet():
        opentsne.TSNE(metric="precomputed", initialization="spectral", n_jobs=-1, random_state=0).fit(D)


# One iteration is the difference of two runs; `exact = FALSE` is cml's faster variant for unit weights.
_CML_SCRIPT = """
library(cml)
arguments <- commandArgs(trailingOnly = TRUE)
D <- as.dist(as.matrix(read.csv(arguments[1], header = FALSE)))
V <- as.matrix(read.csv(arguments[2], header = FALSE))
timed <- function(iterations) {
  set.seed(1)
  system.time(condMDS(D, V, 3, it.max = iterations, gamma = 0, exact = FALSE))[["elapsed"]]
}
cat((timed(22) - timed(2)) / 20)
"""


def cml_iteration(D: Array, V: Array, results: Results) -> float | None:
    """Return the seconds of one iteration of the R package cml, or None with a note where it is not at hand."""
    if shutil.which("Rscript"):
        with tempfile.TemporaryDirectory() as folder:
            tables = [str(Path(folder) / name) for name in ("D.csv", "V.csv")]
            for path, table in zip(tables, (D, V), strict=True):
                np.savetxt(path, table, delimiter=",")
            run = subprocess.run(["Rscript", "-e", _CML_SCRIPT, *tables], capture_output=True, text=True, check=False)
        if run.returncode == 0:
            return float(run.stdout.split()[-1])
    results.note(
        "R or its package cml is not on this machine, or did not run; where it appears below, its time is *quoted* "
        f"({CML_QUOTED_SECONDS:.2f} CPU s per iteration at N = {CML_QUOTED_N}), not measured here."
    )
    return None
