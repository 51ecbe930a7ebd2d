"""Nominal features: the map does not depend on their coding, and levels have places."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist

from tests.helpers import symmetric_weights
from unmask import KnownFeatureWarning

from .fits import TIGHT, N, fit, plain_stress


def codings(sites):
    """Return three codings of four levels, as users have them."""
    levels = sorted(set(sites))
    dummy = np.column_stack([sites == level for level in levels[1:]]).astype(float)
    effect = dummy - (sites == levels[0])[:, None]
    contrasts = np.array([[-1, -1, -1], [1, -1, -1], [0, 2, -1], [0, 0, 3]])
    helmert = contrasts[[levels.index(site) for site in sites]].astype(float)
    return {"dummy": dummy, "effect": effect, "helmert": helmert}


CODINGS = ["dummy", "effect", "helmert"]


def two_codings(D, sites, coding, weights=None, **options):
    """Return the fit to a nominal column and that to a coding of it by hand."""
    x = np.random.default_rng(4).uniform(size=N)
    names = pd.MultiIndex.from_tuples([("site", str(c)) for c in range(3)] + [("x", "x")])
    by_hand = pd.DataFrame(np.column_stack([codings(sites)[coding], x]), columns=names)
    nominal = pd.DataFrame({"site": sites, "x": x})
    options = {"n_components": 1, "n_init": 2} | options
    return fit(D, nominal, weights, **options), fit(D, by_hand, weights, coef="grouped", **options)


def assert_same_map(one, other):
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-12)
    np.testing.assert_allclose(other.embedding_, one.embedding_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.predict_dissimilarities(), one.predict_dissimilarities(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("coding", CODINGS)
def test_the_map_does_not_depend_on_the_coding_of_levels(D, sites, coding):
    assert_same_map(*two_codings(D, sites, coding, solver="lbfgs", **TIGHT))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("coding", CODINGS)
def test_no_step_of_smacof_depends_on_the_coding_either(D, sites, coding, weighted):
    """Compared on the way: it stops where rounding hides a further fall of the stress, with the map off by 1e-8."""
    W = symmetric_weights(np.random.default_rng(5), N) if weighted else None
    assert_same_map(*two_codings(D, sites, coding, W, solver="smacof", tol=0.0, max_iter=20))


def test_levels_positions_are_where_the_levels_are_and_everything_adds_up(D, sites):
    x = np.random.default_rng(4).uniform(size=N)
    mds = fit(D, pd.DataFrame({"site": sites, "x": x}), n_components=1)
    assert mds.coef_.shape == (4, 4)  # three columns for four levels
    places = mds.level_positions_.loc["site"]
    own = places.loc[sites].to_numpy()
    b = mds.coef_.loc["x", "x"]
    assert plain_stress(D, mds.embedding_, own, b * x) == pytest.approx(mds.stress_, rel=1e-9)
    np.testing.assert_allclose(places.mean(), 0, atol=1e-9)


def test_nominal_levels_are_recovered_from_exact_distances():
    rng = np.random.default_rng(8)
    places = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    group, U = rng.permutation(40) % 4, rng.standard_normal((40, 2))
    Z = np.column_stack([U, places[group]])
    mds = fit(cdist(Z, Z), pd.Series(group.astype(str), name="g"), known_types={"g": "nominal"}, n_init=20)
    found = mds.level_positions_.loc["g"].to_numpy()
    np.testing.assert_allclose(pdist(np.nan_to_num(found)), pdist(places), rtol=0, atol=1e-3)
    assert mds.stress_ < 1e-8


def test_a_diagonal_b_keeps_levels_equally_far_from_each_other(D, sites):
    mds = fit(D, pd.Series(sites, name="site"), coef="diagonal")
    gaps = pdist(mds.level_positions_.loc["site"])
    assert gaps[0] > 0
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)
    assert len(set(np.round(np.diag(mds.coef_), 12))) == 1


def test_level_names_reach_the_reports(D):
    sex = pd.Series(np.where(np.arange(N) % 2, "m", "f"), name="sex")
    mds = fit(D, sex)
    assert list(mds.coef_.index) == ["sex[m]"]
    assert list(mds.level_positions_.index) == [("sex", "f"), ("sex", "m")]
    assert np.isnan(mds.importance_.loc["sex", "raw"])  # a level has no unit
    positions = mds.level_positions_["axis1"].to_numpy()
    assert mds.importance_.loc["sex", "standardized"] == pytest.approx(
        np.std(positions[np.arange(N) % 2], ddof=1), rel=1e-9
    )


def test_features_of_one_level_are_reported_as_constant(D):
    known = pd.DataFrame({"one": ["x"] * N, "y": np.arange(N)})
    with pytest.warns(KnownFeatureWarning, match="'one' is constant"):
        mds = fit(D, known)
    assert mds.known_redundant_.to_dict() == {"one": "constant"}
    assert mds.level_positions_.loc[("one", "x"), "axis1"] == 0
    assert mds.importance_.loc["one", "standardized"] == 0
