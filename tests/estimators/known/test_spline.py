"""Splines: effects that are not linear."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from unmask import Spline

from .fits import TIGHT, N, fit


def test_a_spline_finds_an_effect_that_is_not_linear():
    rng = np.random.default_rng(11)
    dose, U = rng.uniform(0, 1, 60), rng.standard_normal((60, 1))
    effect = 3 * (dose - 0.5) ** 3 * 8
    D = cdist(np.column_stack([U, effect]), np.column_stack([U, effect]))
    known = pd.Series(dose, name="dose")
    linear = fit(D, known, n_components=1)
    curved = fit(D, known, n_components=1, known_types={"dose": Spline(4)}, n_init=10)
    assert curved.stress_ < 0.05 * linear.stress_
    assert list(curved.coef_.index) == [f"dose[s{c}]" for c in range(1, 5)]
    first, second, *_ = np.linalg.svd(curved.coef_, compute_uv=False)
    assert second < 1e-6 * first, (first, second)  # one function; a root of rounding is 1e-8 of it


def test_a_spline_of_one_degree_of_freedom_is_linear(D):
    x = pd.Series(np.random.default_rng(12).uniform(size=N), name="x")
    one, other = fit(D, x, **TIGHT), fit(D, x, known_types={"x": Spline(1)}, **TIGHT)
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-11)
