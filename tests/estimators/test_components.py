"""Objects between groups of which nothing is known: each group on its own, with common coefficients."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform

from tests.helpers import noisy_distances
from unmask import ConditionalIsomap, ConditionalMDS, KnownFeatureWarning, MissingDissimilarityWarning, Spline
from unmask.dissimilarities import Geodesic

SIZES = (9, 12)
GROUP = np.repeat([0, 1], SIZES)
N = len(GROUP)
pytestmark = pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")


def fit(D, known=None, pair_weights=None, **options):
    options = {
        "metric": "precomputed",
        "random_state": 0,
        "n_init": 3,
        "on_disconnected": "components",
        "max_iter": 5000,
        "tol": 1e-12,
    } | options
    return ConditionalMDS(**options).fit(D, known=known, weights=pair_weights)


@pytest.fixture(scope="module")
def whole():
    return noisy_distances(np.random.default_rng(1), N, 4)


@pytest.fixture(scope="module")
def D(whole):
    return np.where(GROUP[:, None] == GROUP, whole, np.nan)


@pytest.fixture(scope="module")
def V():
    """Known features with different means in the two groups, about which nothing is learned."""
    return np.random.default_rng(2).uniform(size=(N, 2)) + 3 * GROUP[:, None]


def test_the_default_is_an_error_that_names_the_groups_and_the_way_out(D):
    with pytest.raises(ValueError, match=r"2 groups .*group 1: '0', .*group 2: '9'.*on_disconnected='components'"):
        fit(D, on_disconnected="error")
    with pytest.raises(ValueError, match="on_disconnected='join'"):
        fit(D, on_disconnected="join")


def test_without_known_features_each_group_is_mapped_as_if_alone(D, whole):
    mds = fit(D, n_init=20)
    np.testing.assert_array_equal(mds.component_, GROUP)
    residual, total = 0.0, 0.0
    for number in (0, 1):
        own = np.equal(GROUP, number)
        alone = fit(whole[np.ix_(own, own)], n_init=20)
        squares = np.sum(squareform(whole[np.ix_(own, own)], checks=False) ** 2)
        residual, total = residual + alone.stress_ * squares, total + squares
        assert not hasattr(alone, "component_")
        np.testing.assert_allclose(
            np.sort(pdist(mds.embedding_[own])), np.sort(pdist(alone.embedding_)), rtol=0, atol=1e-4
        )
    assert mds.stress_ == pytest.approx(residual / total, rel=1e-6)


@pytest.mark.parametrize("coef", ["full", "diagonal"])
@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_coefficients_are_common_and_the_stress_is_that_of_a_plain_fit_within_groups(D, V, coef, solver):
    """A general minimiser of the same stress, in plain NumPy, started from the result, finds nothing lower."""
    mds = fit(D, V, coef=coef, solver=solver)
    rows, columns = np.nonzero(np.triu(~np.isnan(D), 1))
    delta = D[rows, columns]

    def stress(parameters):
        U = parameters[: 2 * N].reshape(N, 2)
        B = parameters[2 * N :].reshape(2, 2) if coef == "full" else np.diag(parameters[2 * N :])
        Z = np.column_stack([U, V @ B])
        return np.sum((delta - np.linalg.norm(Z[rows] - Z[columns], axis=1)) ** 2) / np.sum(delta**2)

    B = mds.coef_.to_numpy()
    start = np.concatenate([mds.embedding_.ravel(), B.ravel() if coef == "full" else np.diag(B)])
    assert stress(start) == pytest.approx(mds.stress_, rel=1e-9)
    better = minimize(stress, start, method="L-BFGS-B", options={"maxiter": 200})
    assert better.fun >= mds.stress_ - 1e-8
    found = better.x[2 * N :]
    found = found.reshape(2, 2) @ found.reshape(2, 2).T if coef == "full" else np.diag(found**2)
    np.testing.assert_allclose(B @ B.T, found, rtol=0, atol=1e-3)


@pytest.mark.parametrize("form", ["array", "sparse"])
def test_zero_weights_between_groups_are_the_same_as_missing_dissimilarities(D, whole, V, form):
    W = (GROUP[:, None] == GROUP).astype(float)
    one = fit(D, V, n_init=1)
    other = fit(whole, V, W if form == "array" else sp.csr_array(W), n_init=1)
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-9)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=1e-4)
    np.testing.assert_array_equal(one.component_, other.component_)


def test_shifting_what_is_known_of_one_group_changes_nothing(D, V):
    one, other = (fit(D, known, n_init=1, tol=1e-15) for known in (V, V - 50.0 * GROUP[:, None]))
    np.testing.assert_allclose(other.embedding_, one.embedding_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=0, atol=1e-6)


def test_the_order_of_objects_does_not_matter(D, V):
    order = np.random.default_rng(3).permutation(N)
    one, other = fit(D, V, n_init=1), fit(D[np.ix_(order, order)], V[order], n_init=1)
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-9)
    both = one.predict_dissimilarities().to_numpy()[np.ix_(order, order)]
    np.testing.assert_allclose(other.predict_dissimilarities(), both, rtol=0, atol=1e-4)


def test_distances_between_groups_are_not_predicted_and_groups_lie_side_by_side(D, V):
    labels = [f"o{i}" for i in range(N)]
    mds = fit(pd.DataFrame(D, labels, labels), V)
    predicted = mds.predict_dissimilarities()
    np.testing.assert_array_equal(predicted.isna(), GROUP[:, None] != GROUP)
    Z = np.column_stack([mds.embedding_, V @ mds.coef_.to_numpy()])
    for number in (0, 1):
        own = np.equal(GROUP, number)
        np.testing.assert_allclose(predicted.to_numpy()[np.ix_(own, own)], cdist(Z[own], Z[own]), rtol=0, atol=1e-9)
    assert mds.embedding_[GROUP == 0, 0].max() < mds.embedding_[GROUP == 1, 0].min()
    assert list(mds.component_.index) == labels


def test_fitted_objects_return_to_their_points(D, V):
    mds = fit(D, V)
    np.testing.assert_allclose(mds.transform(D, known=V), mds.embedding_, rtol=0, atol=1e-12)


def test_a_group_may_have_fewer_objects_than_the_map_dimensions(whole):
    group = np.repeat([0, 1], [N - 2, 2])
    apart = np.where(group[:, None] == group, whole, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few pairs hold the two
        mds = fit(apart, n_components=3)
    assert mds.embedding_.shape == (N, 3)
    assert pdist(mds.embedding_[-2:])[0] == pytest.approx(whole[-2, -1], rel=1e-6)


def test_an_object_alone_is_refused(whole):
    group = np.repeat([0, 1], [N - 1, 1])
    apart = np.where(group[:, None] == group, whole, np.nan)
    with pytest.raises(ValueError, match=f"object {N - 1} has no dissimilarity to any other object left"):
        fit(apart)


def test_a_feature_that_differs_only_between_groups_carries_nothing(D, V):
    known = pd.DataFrame({"group": GROUP, "x": V[:, 0]})
    with pytest.warns(KnownFeatureWarning, match="'group' is constant"):
        mds = fit(D, known, n_init=1)
    assert mds.coef_.loc["group", "group"] == 0


@pytest.mark.parametrize("level", ["interval", "ordinal", "spline"])
def test_levels_are_common_to_the_groups(D, V, level):
    mds = fit(D, V, level=level, ties="secondary", n_init=1)
    upper = np.triu(~np.isnan(D), 1)
    order = np.argsort(D[upper])
    assert np.all(np.diff(mds.disparities_.to_numpy()[upper][order]) >= -1e-9)
    np.testing.assert_allclose(mds.transform(D, known=V), mds.embedding_, rtol=0, atol=1e-12)


def test_missing_cells_and_ordered_levels_within_groups(D, V):
    grade = pd.Categorical(np.array(list("abc"))[np.random.default_rng(4).permutation(N) % 3], ordered=True)
    known = pd.DataFrame({"grade": grade, "x": V[:, 0]})
    known.loc[2, "x"] = np.nan
    known.loc[12, "grade"] = np.nan
    mds = fit(D, known, n_init=1)
    assert list(mds.known_imputed_["object"]) == [12, 2]
    upper = np.triu(~np.isnan(D), 1)
    d = mds.predict_dissimilarities().to_numpy()[upper]
    assert np.sum((d - D[upper]) ** 2) / np.sum(D[upper] ** 2) == pytest.approx(mds.stress_, rel=1e-9)
    places = mds.level_positions_.loc["grade", "axis1"]
    assert np.all(np.diff(places) >= -1e-9)
    # By hand, within the first group: the imputed x beside the positions of the levels.
    x = known["x"].fillna(mds.known_imputed_.set_index("object")["value"].get(2))[:9].astype(float)
    Z = np.column_stack([mds.embedding_[:9], places.loc[grade[:9]], mds.coef_.loc["x", "x"] * x])
    np.testing.assert_allclose(cdist(Z, Z), mds.predict_dissimilarities().iloc[:9, :9], rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::unmask.MapWarning")
def test_geodesics_and_a_map_of_components_are_the_isomap_of_components():
    rng = np.random.default_rng(5)
    X, known = rng.uniform(size=(40, 3)), rng.uniform(size=(40, 1))
    X[22:] += 10
    options = {"n_init": 2, "random_state": 0}
    isomap = ConditionalIsomap(n_neighbors=5, on_disconnected="components", **options).fit(X, known=known)
    paths = Geodesic(5, on_disconnected="components").fit_transform(X)
    mds = ConditionalMDS(metric="precomputed", on_disconnected="components", **options).fit(paths, known=known)
    np.testing.assert_array_equal(isomap.embedding_, mds.embedding_)
    np.testing.assert_array_equal(isomap.coef_, mds.coef_)
    np.testing.assert_array_equal(isomap.component_, np.repeat([0, 1], [22, 18]))
    assert isomap.stress_ == mds.stress_
    new = isomap.transform(X[[3, 30]], known=known[[3, 30]])
    np.testing.assert_allclose(new, isomap.embedding_[[3, 30]], rtol=0, atol=1e-9)


def test_a_connected_fit_forgets_the_components_of_an_earlier_one(D, whole):
    mds = fit(D, n_init=1)
    assert hasattr(mds, "component_")
    mds.fit(whole)
    assert not hasattr(mds, "component_")


def test_missing_pairs_within_groups_are_warned_of_as_ever(D):
    with pytest.warns(MissingDissimilarityWarning, match="108 of 210 pairs"):
        fit(D, n_init=1)


def test_a_new_object_belongs_to_one_group(D, V):
    mds = fit(D, V)
    np.testing.assert_allclose(mds.transform(D, known=V), mds.embedding_, rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="new object 1 has dissimilarities to objects of several groups"):
        mds.transform(np.vstack([D[0], np.ones(N)]), known=V[:2])


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
@pytest.mark.parametrize("level", ["ratio", "ordinal"])
def test_a_map_orthogonal_to_what_is_known_stays_so_however_its_groups_are_turned(D, V, solver, level):
    known = pd.DataFrame({"x": V[:, 0], "kind": np.resize(list("abc"), N)})
    for seed in range(3):
        mds = fit(D, known, orthogonal=True, solver=solver, level=level, random_state=seed, n_init=2, tol=1e-9)
        assert mds.leak_ < 1e-9
        for number in (0, 1):
            own = np.equal(GROUP, number)
            columns = np.column_stack([known["x"], pd.get_dummies(known["kind"])])[own].astype(float)
            U = mds.embedding_[own] - mds.embedding_[own].mean(axis=0)
            np.testing.assert_allclose(U.T @ (columns - columns.mean(axis=0)), 0, atol=1e-9)
            assert np.ptp(U) > 0.1


def test_a_penalty_on_what_groups_repeat_holds_within_each(D, V):
    """The penalised part of the map must not depend on how the groups happen to be turned."""
    free, held = (fit(D, V, leak_penalty=price, n_init=2) for price in (0.0, 1e4))
    assert held.leak_ < 1e-3 < free.leak_


def test_a_group_that_the_known_features_fill_has_no_orthogonal_map(whole):
    D = np.where(np.repeat([0, 1], [3, N - 3])[:, None] == np.repeat([0, 1], [3, N - 3]), whole, np.nan)
    known = np.random.default_rng(0).uniform(size=(N, 2))
    with pytest.raises(ValueError, match="fill all 2 dimensions of the 3 objects of group 1"):
        fit(D, known, orthogonal=True)
    # A spline is one feature on a line, and as many columns to be orthogonal to as it has degrees of freedom.
    with pytest.raises(ValueError, match="fill all 6 dimensions of the 7 objects: nothing is left for a map"):
        fit(whole[:7, :7], np.linspace(0, 1, 7) ** 2, known_types={"known0": Spline(6)}, orthogonal=True)
