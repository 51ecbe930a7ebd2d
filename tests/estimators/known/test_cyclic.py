"""Cyclic features: sine and cosine that share a coefficient."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from unmask import Cyclic

from .fits import TIGHT, N, fit, plain_stress


def test_sine_and_cosine_share_a_coefficient_and_a_period_changes_nothing(D):
    hours = np.random.default_rng(9).uniform(0, 24, N)
    one = fit(D, pd.Series(hours, name="hour"), known_types={"hour": Cyclic(24)}, **TIGHT)
    assert list(one.coef_.index) == ["hour[cos]", "hour[sin]"]
    b = one.coef_.to_numpy()
    assert b[0, 0] == b[1, 1] > 0
    assert b[0, 1] == b[1, 0] == 0
    shifted = hours + 24 * np.random.default_rng(1).integers(-3, 4, N)
    other = fit(D, pd.Series(shifted, name="hour"), known_types={"hour": Cyclic(24)}, **TIGHT)
    np.testing.assert_allclose(other.embedding_, one.embedding_, rtol=0, atol=1e-6)
    assert other.stress_ == pytest.approx(one.stress_, abs=1e-11)
    # By hand: a circle of the fitted size.
    angle = hours * 2 * np.pi / 24
    circle = b[0, 0] * 24 / (2 * np.pi) * np.column_stack([np.cos(angle), np.sin(angle)])
    assert plain_stress(D, one.embedding_, circle) == pytest.approx(one.stress_, rel=1e-9)


def test_the_size_of_a_circle_is_recovered():
    rng = np.random.default_rng(10)
    hours, U = rng.uniform(0, 24, 40), rng.standard_normal((40, 1))
    angle = hours * 2 * np.pi / 24
    Z = np.column_stack([U, 1.5 * np.cos(angle), 1.5 * np.sin(angle)])
    mds = fit(cdist(Z, Z), hours, known_types={0: Cyclic(24)}, n_components=1)
    assert mds.coef_.iloc[0, 0] * 24 / (2 * np.pi) == pytest.approx(1.5, rel=1e-4)
