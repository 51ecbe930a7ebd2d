"""Ordinal features: places of levels in their order."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, squareform

from tests.helpers import symmetric_weights
from unmask import Ordinal

from .fits import TIGHT, N, fit

POSITIONS = np.array([0.0, 0.5, 0.5, 2.5, 3.0])


def ordered(seed=0, n=40):
    """Return a feature of ordered levels and the exact distances that their positions and an unknown plane make."""
    rng = np.random.default_rng(seed)
    level, U = rng.permutation(n) % 5, rng.standard_normal((n, 2))
    Z = np.column_stack([U, POSITIONS[level]])
    return pd.Series(pd.Categorical(np.array(list("abcde"))[level], ordered=True), name="grade"), cdist(Z, Z), U


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_positions_of_ordered_levels_are_recovered(solver):
    grade, D, _ = ordered()
    mds = fit(D, grade, solver=solver, n_init=10, max_iter=5000, tol=1e-12)
    found = mds.level_positions_.loc["grade", "axis1"].to_numpy()
    np.testing.assert_allclose(found - found[0], POSITIONS, rtol=0, atol=2e-3)
    assert mds.stress_ < 1e-6
    assert np.all(np.diff(mds.stress_path_) <= 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_positions_never_fall_and_both_solvers_agree(seed, weighted):
    """In an order that the distances contradict, levels share a place."""
    rng = np.random.default_rng(seed)
    grade, D, _ = ordered(seed)
    wrong = Ordinal(list("acbed"))
    D = D * (1 + 0.1 * squareform(rng.uniform(-1, 1, len(D) * (len(D) - 1) // 2)))
    W = symmetric_weights(rng, len(D)) if weighted else None
    found = []
    for solver in ("lbfgs", "smacof"):
        mds = fit(D, grade, W, known_types={"grade": wrong}, solver=solver, n_init=1, max_iter=20_000, tol=1e-13)
        places = mds.level_positions_.loc["grade", "axis1"]
        assert list(places.index) == list("acbed")
        assert np.all(np.diff(places) >= -1e-9)
        assert np.all(np.diff(mds.stress_path_) <= 0)
        found.append(mds)
    assert found[0].stress_ == pytest.approx(found[1].stress_, rel=1e-4)
    level = found[0].level_positions_.loc["grade", "axis1"]
    assert level["e"] == pytest.approx(level["d"], abs=1e-6)  # e belongs above d


def test_two_ordered_levels_are_the_same_as_two_unordered_ones(D):
    two = pd.Series(np.where(np.arange(N) % 3 == 0, "no", "yes"), name="x")
    one = fit(D, two, known_types={"x": Ordinal(["no", "yes"])}, **TIGHT)
    other = fit(D, two, **TIGHT)
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-11)
    gaps = [np.ptp(mds.level_positions_["axis1"]) for mds in (one, other)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-4)


def test_a_fit_can_start_where_an_ordinal_fit_ended():
    """A step of nothing between two levels is no dead end."""
    grade, D, _ = ordered()
    first = fit(D, grade, known_types={"grade": Ordinal(list("acbed"))})
    assert (first.coef_.to_numpy() == 0).any(axis=None)
    again = fit(D, grade, known_types={"grade": Ordinal(list("acbed"))}, init=(first.embedding_, first.coef_), n_init=1)
    assert again.stress_ <= first.stress_ + 1e-9
    assert again.n_iter_ <= 10
    with pytest.raises(ValueError, match="row of zeros in B0"):
        fit(D, grade, init=(first.embedding_, 0 * first.coef_), n_init=1)
