"""Dissimilarities that are only ordinal, or known up to a line; weights that follow the map."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_swiss_roll
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import smacof, trustworthiness

from tests.helpers import noisy_distances, symmetric_weights
from unmask import ConditionalMDS, MapWarning
from unmask.datasets import load_kinship

N = 20
LEVELS = ["interval", "ordinal", "spline"]
TRANSFORMATIONS = {
    "powers": lambda D: D**3,
    "logarithms": lambda D: np.where(D > 0, 5 + np.log1p(D), 0),
    "exponentials": lambda D: np.expm1(4 * D),
    "ranks": lambda D: squareform(np.unique(squareform(D), return_inverse=True)[1] + 1.0),
}


def fit(D, known=None, pair_weights=None, **options):
    options = {"metric": "precomputed", "random_state": 0, "n_init": 3} | options
    return ConditionalMDS(**options).fit(D, known=known, weights=pair_weights)


@pytest.fixture(scope="module")
def D():
    """Dissimilarities with ties, none of them zero."""
    D = np.maximum(np.round(noisy_distances(np.random.default_rng(1), N, 3), 1), 0.1)
    np.fill_diagonal(D, 0)
    return D


@pytest.fixture(scope="module")
def V():
    return np.random.default_rng(2).uniform(size=(N, 2))


def upper(table):
    return np.asarray(table)[np.triu_indices(len(table), 1)]


# ---- ordinal


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("given", [False, True])
def test_an_ordinal_map_is_unchanged_by_monotone_transformations(D, V, transformation, ties, given):
    known = V if given else None
    one = fit(D, known, level="ordinal", ties=ties)
    other = fit(TRANSFORMATIONS[transformation](D), known, level="ordinal", ties=ties)
    np.testing.assert_array_equal(other.embedding_, one.embedding_)
    np.testing.assert_array_equal(other.disparities_, one.disparities_)
    np.testing.assert_array_equal(other.coef_, one.coef_)
    assert other.stress_ == one.stress_


@pytest.mark.parametrize("seed", range(3))
def test_ordinal_stress_agrees_with_scikit_learn(D, seed):
    """From the same start: scikit-learn's first step goes by the dissimilarities, so that step is given.

    Its "stress-1" divides by the map's sum of squares but takes disparities of a fixed one: stress / (1 - stress).
    """
    start = np.random.default_rng(seed).standard_normal((N, 2))
    ratio = D / np.where(np.eye(N), 1, squareform(pdist(start)))
    first = (np.diag(ratio.sum(axis=1)) - ratio) @ start / N
    limits = {"n_init": 1, "max_iter": 5000}
    mds = fit(D, level="ordinal", ties="secondary", solver="smacof", init=(first, None), tol=1e-11, **limits)
    U, stress = smacof(D, metric=False, n_components=2, init=start, eps=1e-11, normalized_stress=True, **limits)
    assert np.sqrt(mds.stress_ / (1 - mds.stress_)) == pytest.approx(stress, abs=1e-3)
    # Kruskal's stress-1 of scikit-learn's map, with its own regression.
    d = pdist(U)
    best = IsotonicRegression().fit_transform(upper(D), d)
    assert np.sqrt(mds.stress_) == pytest.approx(np.sqrt(np.sum((d - best) ** 2) / np.sum(d**2)), abs=1e-3)


def test_stress_is_the_square_of_kruskals_stress_1(D):
    mds = fit(D, level="ordinal", ties="secondary", tol=1e-13, max_iter=20_000)
    d, disparities = pdist(mds.embedding_), upper(mds.disparities_)
    # The best disparities of free size: a multiple of those of a fixed sum of squares.
    best = disparities * (d @ disparities) / (disparities @ disparities)
    assert np.sum((d - best) ** 2) / np.sum(d**2) == pytest.approx(mds.stress_, rel=1e-5)


def test_untying_ties_can_only_lower_the_stress(D):
    assert fit(D, level="ordinal").stress_ < fit(D, level="ordinal", ties="secondary").stress_


def test_equal_dissimilarities_keep_equal_disparities_only_in_the_secondary_approach(D):
    delta = upper(D)
    for ties, equal in (("secondary", True), ("primary", False)):
        disparities = upper(fit(D, level="ordinal", ties=ties).disparities_)
        spreads = [np.ptp(disparities[delta == value]) for value in np.unique(delta)]
        assert (max(spreads) == 0) == equal


# ---- all levels

# Airline distances between ten cities of the United States, in miles.
CITIES = """587 1212 701 1936 604 748 2139 2182 543 920 940 1745 1188 713 1858 1737 597 879 831 1726 1631 949 1021 1494
    1374 968 1420 1645 1891 1220 2339 2451 347 959 2300 1092 2594 2734 923 2571 2408 205 678 2442 2329"""
SETS = {
    "exact": lambda: squareform(pdist(np.random.default_rng(1).normal(size=(12, 2)))),
    "cities": lambda: squareform(np.array(CITIES.split(), dtype=float)),
    "noisy": lambda: noisy_distances(np.random.default_rng(2), 14, 4, 0.3),
    "tied": lambda: np.ceil(noisy_distances(np.random.default_rng(3), 14, 3) * 5),
    "far from zero": lambda: 10 * (1 - np.eye(14)) + noisy_distances(np.random.default_rng(4), 14, 3),
    "skewed": lambda: np.expm1(3 * noisy_distances(np.random.default_rng(5), 14, 3)),
}


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("name", SETS)
def test_the_stress_falls_with_what_the_level_permits(name, given):
    """From where the stricter level ended: its disparities are permitted, and the stress never rises from there."""
    D = SETS[name]()
    known = np.random.default_rng(6).uniform(size=(len(D), 1)) if given else None
    mds, stresses = fit(D, known, n_init=10), []
    for level in ("ratio", "interval", "spline", "ordinal"):
        mds = fit(D, known, level=level, n_init=1, init=(mds.embedding_, mds.coef_ if given else None))
        stresses.append(mds.stress_)
    assert np.all(np.diff(stresses) <= 1e-9), stresses


def test_a_spline_fits_what_is_exact_and_cities_as_well_as_a_line():
    assert fit(SETS["exact"](), level="spline", n_init=10).stress_ < 1e-8
    D = SETS["cities"]()
    line, spline = (fit(D, level=level, n_init=20).stress_ for level in ("interval", "spline"))
    assert spline <= line + 1e-9 < 4e-6


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_disparities_are_a_monotone_function_of_the_dissimilarities(D, V, level, weighted, solver):
    W = symmetric_weights(np.random.default_rng(3), N) if weighted else None
    mds = fit(D, V, W, level=level, ties="secondary", solver=solver, max_iter=5000)
    delta, disparities = upper(D), upper(mds.disparities_)
    order = np.argsort(delta, kind="stable")
    assert np.all(np.diff(disparities[order]) >= -1e-9)
    assert disparities.min() >= 0
    w = np.ones(len(delta)) if W is None else upper(W)
    d = upper(mds.predict_dissimilarities())
    expected = np.sum(w * (disparities - d) ** 2) / np.sum(w * disparities**2)
    assert mds.stress_ == pytest.approx(expected, rel=1e-9)
    assert np.all(np.diff(mds.stress_path_) <= 0)
    assert mds.stress_path_[-1] == pytest.approx(mds.stress_, rel=1e-9)


def test_interval_disparities_are_a_line(D, V):
    mds = fit(D, V, level="interval")
    delta, disparities = upper(D), upper(mds.disparities_)
    slope, intercept = np.polyfit(delta, disparities, 1)
    np.testing.assert_allclose(disparities, intercept + slope * delta, rtol=0, atol=1e-10)
    assert slope > 0


def test_an_interval_map_is_unchanged_by_lines():
    rng = np.random.default_rng(4)
    D = noisy_distances(rng, N, 2, noise=0.02)
    moved = 3 * D + 2 * (1 - np.eye(N))
    start = (rng.standard_normal((N, 2)), None)
    one, other = (fit(X, level="interval", init=start, n_init=1, tol=1e-14, max_iter=5000) for X in (D, moved))
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-10)
    distances = [pdist(mds.embedding_) / np.linalg.norm(pdist(mds.embedding_)) for mds in (one, other)]
    np.testing.assert_allclose(distances[0], distances[1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("level", LEVELS)
def test_freer_levels_fit_better_from_the_same_place(D, level):
    ratio = fit(D)
    freer = fit(D, level=level, init=(ratio.embedding_, None), n_init=1)
    assert freer.stress_ < ratio.stress_


@pytest.mark.parametrize("level", LEVELS)
def test_the_map_does_not_collapse(D, V, level):
    """However badly the dissimilarities fit, the map is of the size of the disparities."""
    noise = squareform(np.random.default_rng(5).uniform(size=N * (N - 1) // 2))
    mds = fit(noise, V, level=level)
    size = np.sum(upper(mds.predict_dissimilarities()) ** 2) / np.sum(upper(mds.disparities_) ** 2)
    assert size == pytest.approx(1 - mds.stress_, rel=1e-3)  # of the best size, so that stress and size add up
    assert size > 0.5


@pytest.mark.parametrize("level", LEVELS)
def test_tied_dissimilarities_of_two_values_are_told_apart(level):
    rng = np.random.default_rng(6)
    group = np.arange(N) % 2
    D = np.where(group[:, None] == group, 1.0, 2.0) * (1 - np.eye(N))
    mds = fit(D, rng.uniform(size=N), level=level, ties="secondary")
    near, far = mds.disparities_.iloc[0, 2], mds.disparities_.iloc[0, 1]
    assert far > near >= 0


@pytest.mark.parametrize("level", LEVELS)
def test_labels_and_missing_pairs_reach_the_disparities(D, level):
    names = [f"o{i}" for i in range(N)]
    table = pd.DataFrame(D.copy(), names, names)
    table.loc["o0", "o1"] = table.loc["o1", "o0"] = np.nan
    with pytest.warns(UserWarning, match="1 of 190 pairs"):
        mds = fit(table, level=level)
    assert list(mds.disparities_.index) == names == list(mds.disparities_.columns)
    assert np.isnan(mds.disparities_.loc["o0", "o1"])
    assert mds.disparities_.isna().to_numpy().sum() == 2
    assert np.isfinite(mds.predict_dissimilarities()).all(axis=None)


@pytest.mark.parametrize("level", LEVELS)
def test_new_objects_are_placed_by_transformed_dissimilarities(level):
    """Objects left out of a fit to bent distances return near the places that they have among all."""
    rng = np.random.default_rng(7)
    X = rng.uniform(size=(60, 2))
    bend = {"interval": lambda d: 2 * d + 1, "ordinal": lambda d: d**3, "spline": lambda d: d**1.5}[level]
    D = squareform(bend(pdist(X)))
    mds = fit(D[:50, :50], level=level, n_init=10)
    new = mds.transform(D[50:, :50])
    everything = np.vstack([mds.embedding_, new])
    assert np.corrcoef(pdist(everything), pdist(X))[0, 1] > 0.99
    np.testing.assert_array_equal(mds.transform(D[:50, :50]), mds.embedding_)


def test_a_ratio_fit_has_no_disparities_not_even_those_of_an_earlier_fit(D):
    mds = ConditionalMDS(metric="precomputed", level="ordinal", n_init=1).fit(D)
    assert hasattr(mds, "disparities_")
    mds.set_params(level="ratio").fit(D)
    assert not hasattr(mds, "disparities_")


# ---- curvilinear weights


@pytest.mark.filterwarnings("ignore::unmask.MapWarning")
@pytest.mark.parametrize("seed", range(4))
def test_curvilinear_weights_unroll_a_swiss_roll(seed):
    X, _ = make_swiss_roll(800, random_state=seed)
    plain, local = (
        ConditionalMDS(2, weights=weights, n_init=1, random_state=0).fit(X).embedding_
        for weights in (None, "curvilinear")
    )
    unit, curvilinear = (trustworthiness(X, U, n_neighbors=10) for U in (plain, local))
    assert unit == pytest.approx(0.92, abs=0.01)
    assert curvilinear > 0.98


@pytest.mark.filterwarnings("ignore::unmask.MapWarning")
@pytest.mark.parametrize("seed", range(30, 34))
def test_curvilinear_weights_are_more_trustworthy_on_rolls_they_were_not_chosen_on(seed):
    X, _ = make_swiss_roll(800, random_state=seed)
    unit, curvilinear = (
        trustworthiness(
            X, ConditionalMDS(2, weights=weights, n_init=1, random_state=0).fit_transform(X), n_neighbors=10
        )
        for weights in (None, "curvilinear")
    )
    assert unit < 0.95 < curvilinear


def test_a_neighbourhood_too_small_is_said_and_by_objects_far_away(recwarn):
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(120, 2))
    mds = ConditionalMDS(2, weights="curvilinear", n_init=1, random_state=0).fit(X)
    assert not recwarn.list
    far = np.vstack([X, [[9.0, 9.0], [-9.0, 5.0], [8.0, -9.0]]])
    with pytest.warns(MapWarning, match=r"too small to hold every object.*radius_=.*leave them"):
        other = ConditionalMDS(2, weights="curvilinear", n_init=1, random_state=0).fit(far)
    assert other.radius_ > 3 * mds.radius_ > 0
    assert other.converged_
    assert ConditionalMDS(n_init=1).fit(X).radius_ is None


@pytest.mark.filterwarnings("ignore::unmask.MapWarning", "ignore::unmask.LeakWarning")
@pytest.mark.parametrize("strength", [3.0, 10.0])
def test_curvilinear_weights_count_however_strongly_known_features_act(strength):
    """The radius is one of the distances by which pairs are weighted: those of the map and of the known features."""
    rng = np.random.default_rng(10)
    V = rng.standard_normal((100, 2))
    X = np.hstack([rng.uniform(-1, 1, (100, 2)), strength * V])
    mds = ConditionalMDS(2, weights="curvilinear", n_init=1, random_state=0).fit(X, known=V)
    assert mds.radius_ < pdist(X).max()


def test_curvilinear_weights_of_kinship_given_gender_and_degree():
    kin = load_kinship()
    plain, local = (
        ConditionalMDS(metric="precomputed", weights=weights, n_init=2, random_state=0).fit(
            kin.dissimilarities, known=kin.known[["gender", "degree"]]
        )
        for weights in (None, "curvilinear")
    )
    assert local.radius_ <= kin.dissimilarities.to_numpy().max()
    assert local.stress_ != pytest.approx(plain.stress_, rel=1e-3)


def test_curvilinear_weights_that_leave_every_pair_in_are_warned_of():
    X = np.random.default_rng(11).uniform(size=(7, 3))
    with pytest.warns(MapWarning, match=r"7 objects are too few.*in 3 dimensions.*every pair counts"):
        mds = ConditionalMDS(3, weights="curvilinear", n_init=1, random_state=0).fit(X)
    assert mds.radius_ == np.inf


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "nominal"}, "level='nominal'"),
        ({"ties": "both"}, "ties='both'"),
        ({"level": "ordinal", "weights": "sammon"}, "weights='sammon' with level='ordinal': .*use weights=None"),
        ({"level": "spline", "weights": "curvilinear"}, "weights='curvilinear' with level='spline'"),
        ({"weights": "curvilinear", "n_components": 0}, "weights='curvilinear' needs a map to go by"),
    ],
)
def test_contradictions_are_refused(D, V, options, message):
    with pytest.raises(ValueError, match=message):
        fit(D, V, **options)


def test_an_array_of_weights_and_curvilinear_ones_are_refused(D):
    with pytest.raises(ValueError, match="'curvilinear' asks for a scheme and fit received an array"):
        fit(D, None, np.ones((N, N)), weights="curvilinear")


def test_sparse_weights_and_a_level_are_refused(D):
    import scipy.sparse as sp

    with pytest.raises(ValueError, match=r"level='ordinal' with sparse weights: .*pass weights.toarray\(\)"):
        fit(D, None, sp.csr_array(np.ones((N, N))), level="ordinal")
