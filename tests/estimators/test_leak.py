"""Leak: measured always, suppressed on request."""

import warnings

import numpy as np
import pandas as pd
import pytest

from tests.helpers import symmetric_weights
from unmask import MissingDissimilarityWarning
from unmask.inspection import average_canonical_correlation

from .fits import fit


def test_leak_is_measured_and_can_be_suppressed(rng):
    """With more dimensions than unknown features the map re-learns what is known, unless told not to."""
    n = 60
    U, V = rng.standard_normal((n, 1)), rng.standard_normal((n, 1))
    Z = np.column_stack([U, V])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2)) * (
        1 + 0.1 * np.abs(np.subtract.outer(V[:, 0], V[:, 0])) ** 2
    )
    known = pd.DataFrame(V, columns=["v"])
    leaky = fit(D, known, n_components=3, n_init=3)
    penalised = fit(D, known, n_components=3, n_init=3, leak_penalty=1.0)
    orthogonal = fit(D, known, n_components=3, n_init=3, orthogonal=True)
    assert leaky.leak_ == pytest.approx(average_canonical_correlation(leaky.embedding_, V), rel=1e-9)
    assert penalised.leak_ < leaky.leak_ / 2
    assert orthogonal.leak_ < 1e-6
    assert leaky.stress_ <= penalised.stress_ <= orthogonal.stress_ * 1.02
    assert penalised.stress_path_[-1] > penalised.stress_  # the path includes the penalty, stress_ does not


@pytest.mark.parametrize("weighting", ["sammon", "array", "missing"])
def test_orthogonal_maps_do_not_leak_whatever_the_weights(kinship, rng, weighting):
    D, known = kinship.dissimilarities.astype(float), kinship.known[["gender", "degree"]]
    options = {"n_components": 3, "n_init": 4, "weights": "sammon" if weighting == "sammon" else None}
    W = symmetric_weights(rng, 14) ** 2 if weighting == "array" else None
    if weighting == "missing":
        D.iloc[0, 1] = D.iloc[1, 0] = np.nan
        warnings.simplefilter("ignore", MissingDissimilarityWarning)
    free = fit(D, known, W, **options)
    orthogonal, stepwise = (
        fit(D, known, W, orthogonal=True, solver=s, max_iter=20_000, **options) for s in ("lbfgs", "smacof")
    )
    penalised = fit(D, known, W, leak_penalty=1000.0, **options)
    assert orthogonal.leak_ < 1e-9
    assert stepwise.leak_ < 1e-9
    assert free.leak_ > 0.05
    assert penalised.leak_ < 1e-2
    assert orthogonal.stress_ == pytest.approx(stepwise.stress_, rel=1e-3)
