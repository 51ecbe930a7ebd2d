"""Few objects that count as many, and a guard against arrays of N x N numbers."""

import sys
import tracemalloc
from contextlib import contextmanager
from functools import cache

import numpy as np
import pandas as pd

N = 3000
# Constants of the library by which objects are many, or samples of them large.
SMALL = {
    "FIRST": 150,
    "LANDMARKS": 250,
    "LARGE": 2**22,
    "LOOKED_AT": 300,
    "MOST_COMPARED": 500,
    "MOST_IN_PAIRS": 300,
    "MOST_LINKED": 500,
    "MOST_PREDICTED": 1000,
    "MOST_SQUARED": 1000,
    "PARTNERS": 300,
    "SAMPLED_PARTNERS": 300,
    "START_LANDMARKS": 250,
}


def let_few_be_many(monkeypatch):
    """Make the constants small in every module that has them."""
    import unmask.cli
    import unmask.plotting
    import unmask.reports  # noqa: F401

    for name, module in list(sys.modules.items()):
        if name.startswith("unmask."):
            for constant, value in SMALL.items():
                if constant in vars(module):
                    monkeypatch.setattr(module, constant, value)


def some_features(n=N, seed=0):
    """Return ten columns made of three factors, a size and a kind; what is known; and a table beside."""
    rng = np.random.default_rng(seed)
    factors, size, kind = rng.normal(size=(n, 3)) * [3, 2, 1], rng.normal(size=n), rng.integers(0, 3, n)
    levels = 1.5 * (kind[:, None] == np.arange(3))
    X = np.column_stack([factors, 2 * size, levels]) @ rng.normal(size=(7, 10)) / 2 + 0.5 * rng.normal(size=(n, 10))
    names = [f"o{at}" for at in range(n)]
    features = pd.DataFrame(X, index=names, columns=[f"f{c}" for c in range(10)])
    known = pd.DataFrame({"size": size, "kind": np.array(list("abc"))[kind]}, index=names)
    beside = {"factor": factors[:, 0] + 0.1 * rng.normal(size=n), "noise": rng.normal(size=n)}
    return features, known, pd.DataFrame(beside, index=names)


@cache
def load_compiled_code():
    """Fit a few objects, so that what is loaded once is not counted as memory of a later fit."""
    from unmask import ConditionalMDS
    from unmask.dissimilarities import Metric

    features, known, _ = some_features(600)
    options = {"solver": "stochastic", "n_init": 1, "tol": 1e-3, "random_state": 0}
    ConditionalMDS(2, **options).fit(features, known=known)
    ConditionalMDS(2, **options).fit(features)
    for dtype in ("float32", "float64"):
        ConditionalMDS(2, metric="precomputed", **options).fit(Metric(dtype=dtype).fit_transform(features))
    ConditionalMDS(2, n_init=1, tol=1e-3).fit(features.iloc[:100], known=known.iloc[:100])


@contextmanager
def no_square(size=4):
    """Fail where as many bytes are taken as a table of N x N numbers of this size has, in float32 by default."""
    load_compiled_code()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield
        most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert most < size * N**2, f"{most / 1e6:.0f} MB where a table of all pairs takes {size * N**2 / 1e6:.0f} MB"
