"""How far a long fit on Dask workers is from the same in this process: ``python -m benchmarks.dask_agreement``.

Sums over pairs are added in another order there, which a pass shows in the last digits only. L-BFGS makes its next step
of differences of gradients, and so amplifies this from one iteration to the next. Where there is one minimum, it is
small again in the end; among many that are about as deep, as in the tables here, the search may come to another. Beside
it stands the same without any cluster: dissimilarities computed when they are read, which rounds otherwise too.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dask_passes import local_cluster
from unmask import ConditionalMDS
from unmask.dissimilarities import Metric

N = 700
ITERATIONS = (12, 50, 100, 200, 5000)


def make_features(seed: int) -> np.ndarray:
    """Return objects in ten dimensions, of which a map has two: there the search is long."""
    return np.random.default_rng(seed).standard_normal((N, 10))


def fit(X: Any, iterations: int) -> ConditionalMDS:
    """Return a fit from one start of so many iterations, or until the stress falls by less than 1e-12."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mds = ConditionalMDS(
            metric="precomputed", n_init=1, init="random", random_state=0, max_iter=iterations, tol=1e-12
        )
        return mds.fit(X)


def main() -> None:
    """Print how much stress and map differ, by the number of iterations."""
    import zarr

    with tempfile.TemporaryDirectory() as folder, local_cluster(2):
        for seed in (0, 1):
            X, path = make_features(seed), str(Path(folder) / f"{seed}.zarr")
            D = Metric().fit_transform(X)
            zarr.open(path, mode="w", shape=D.shape, chunks=(320, 320), dtype=D.dtype)[:] = D
            for iterations in ITERATIONS:
                here, on_demand, there = (fit(data, iterations) for data in (D, Metric().on_demand(X), path))
                print(
                    f"table {seed}, {here.n_iter_} iterations: the stress differs by "
                    f"{abs(there.stress_ / here.stress_ - 1):.1e} on the cluster, and by "
                    f"{abs(on_demand.stress_ / here.stress_ - 1):.1e} if computed anew in this process",
                    flush=True,
                )


if __name__ == "__main__":
    main()
