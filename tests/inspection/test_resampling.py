"""Bootstrap and jackknife: coverage, alignment, tables."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chi2
from sklearn.base import clone

from unmask import ConditionalClassicalMDS, ConditionalIsomap, ConditionalMDS
from unmask.inspection import bootstrap, jackknife
from unmask.plotting import plot_importance, plot_map

TRUE_COEF = np.array([1.0, 0.5])


def mds(p=2, **options):
    return ConditionalMDS(p, metric="precomputed", coef="diagonal", **{"n_init": 4, "random_state": 0, **options})


def simulate(seed, n=25, noise=0.05):
    rng = np.random.default_rng(seed)
    U, V = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    d = squareform(pdist(np.column_stack([U, V * TRUE_COEF])))
    e = np.triu(noise * rng.standard_normal((n, n)), 1)
    return d * np.abs(1 + e + e.T), U, V


def coverage(seed, method=bootstrap, **options):
    """Return which objects' true points lie within their ellipses, and which true coefficients in their intervals."""
    D, U, V = simulate(seed)
    found = method(mds(), D, V, **options)
    points = found.objects[["axis1", "axis2"]].to_numpy()
    truth = U - U.mean(axis=0)
    off = truth @ orthogonal_procrustes(truth, points)[0] - points
    squared = np.einsum("ni,nij,nj->n", off, np.linalg.inv(found.covariances), off)
    diagonal = found.coef[[a == b for a, b in found.coef.index]]
    inside = (diagonal["low"] <= TRUE_COEF) & (diagonal["high"] >= TRUE_COEF)
    return squared <= chi2.ppf(0.95, 2), inside.to_numpy()


@pytest.mark.slow
def test_coverage_is_near_its_nominal_value():
    objects, coef = zip(*(coverage(seed, n_resamples=60) for seed in range(12)), strict=True)
    assert 0.88 <= np.mean(objects) <= 0.98  # 300 ellipses of 12 maps
    assert np.mean(coef) >= 0.8  # 24 intervals: 95% of them but for chance


@pytest.mark.slow
def test_coverage_is_between_90_and_98_percent():
    objects, coef = zip(*(coverage(seed, n_resamples=100) for seed in range(100, 200)), strict=True)
    assert 0.90 <= np.mean(objects) <= 0.98
    assert 0.90 <= np.mean(coef) <= 0.98


@pytest.mark.parametrize("method", [bootstrap, jackknife])
def test_tables(kinship, method):
    options = {"n_resamples": 5} if method is bootstrap else {}
    D, known = kinship.dissimilarities, kinship.known[["gender", "degree"]]
    found = method(mds(), D, known, **options)
    fitted = mds().fit(D, known=known)
    assert list(found.objects.index) == list(D.index)
    np.testing.assert_array_equal(found.objects[["axis1", "axis2"]], fitted.embedding_)
    assert (found.objects["major"] >= found.objects["minor"]).all()
    assert found.covariances.shape == (14, 2, 2)
    np.testing.assert_array_equal(found.covariances, np.swapaxes(found.covariances, 1, 2))
    np.testing.assert_allclose(found.importance["standardized"], fitted.importance_["standardized"], rtol=1e-12)
    assert (found.importance["low"] < found.importance["high"]).all()
    assert list(found.coef.index) == [("gender", "gender"), ("degree", "gender"), ("degree", "degree")]
    ax = plot_map(fitted.embedding_, ellipses=found, level=found.level, ax=Figure().add_subplot())
    (drawn,) = ax.findobj(EllipseCollection)
    assert len(drawn.get_offsets()) == 14
    names = [text.get_text() for text in plot_importance(found, ax=Figure().add_subplot()).get_yticklabels()]
    assert sorted(names) == ["degree", "gender"]
    assert found.n_resamples == (5 if method is bootstrap else 14)


def test_no_noise_means_no_spread(rng):
    D = squareform(pdist(rng.standard_normal((12, 2))))
    for method in (partial(bootstrap, n_resamples=5), jackknife):
        found = method(mds(n_init=4, tol=1e-14), D)
        assert found.objects["major"].max() < 1e-3 * D.max()
        assert found.coef.empty


def test_jackknife_equals_leaving_out_by_hand(rng):
    D, _, V = simulate(3, n=9)
    found = jackknife(mds(tol=1e-13), D, V)
    full = mds(tol=1e-13).fit(D, known=V)
    maps = []
    for out in range(9):
        kept = np.delete(np.arange(9), out)
        fit = mds(tol=1e-13, init=(full.embedding_[kept], full.coef_), n_init="auto").fit(
            D[np.ix_(kept, kept)], known=V[kept]
        )
        maps.append(np.diagonal(fit.coef_))
    errors = np.sqrt(8 / 9 * np.sum((np.array(maps) - np.mean(maps, axis=0)) ** 2, axis=0))
    np.testing.assert_allclose(found.coef["se"].to_numpy()[[0, 2]], errors, rtol=1e-2)


def test_weights_labels_and_order_of_known_do_not_matter(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    W = np.ones(D.shape)
    plain = jackknife(mds(1), D, known)
    weighted = jackknife(mds(1), D, known.iloc[::-1], weights=pd.DataFrame(W, index=D.index, columns=D.columns))
    np.testing.assert_allclose(weighted.coef["estimate"], plain.coef["estimate"], rtol=1e-4)
    unlabelled = jackknife(mds(1), D.to_numpy(), known.to_numpy())
    np.testing.assert_allclose(unlabelled.coef, plain.coef, rtol=1e-6)


def test_a_map_without_dimensions_has_coefficients_only(kinship):
    found = bootstrap(mds(0), kinship.dissimilarities, kinship.known[["gender", "degree"]], n_resamples=4)
    assert found.covariances.shape == (14, 0, 0)
    assert "major" not in found.objects
    assert (found.coef["se"].to_numpy()[[0, 2]] > 0).all()


# ---- other estimators, levels, labels


def test_a_closed_form_is_fitted_without_a_start(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender", "degree"]]
    closed = ConditionalClassicalMDS(2, metric="precomputed")
    found = bootstrap(closed, D, known, n_resamples=5)
    fitted = closed.fit(D, known=known)
    np.testing.assert_array_equal(found.objects[["axis1", "axis2"]], fitted.embedding_)
    assert (found.importance["se"] > 0).all()
    left_out = [
        ConditionalClassicalMDS(2, metric="precomputed")
        .fit(D.drop(index=term, columns=term), known=known.drop(index=term))
        .importance_["standardized"]
        for term in D.index
    ]
    expected = np.sqrt(13 / 14 * np.sum((np.array(left_out) - np.mean(left_out, axis=0)) ** 2, axis=0))
    np.testing.assert_allclose(jackknife(closed, D, known).importance["se"], expected, rtol=1e-9)
    with pytest.raises(ValueError, match="weights were given but ConditionalClassicalMDS takes none"):
        jackknife(closed, D, known, weights=np.ones((14, 14)))


def test_isomap_is_judged_by_the_lengths_of_its_paths(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender", "degree"]]
    options = {"metric": "precomputed", "random_state": 0, "n_init": 4}
    isomap = ConditionalIsomap(2, n_neighbors=6, **options).fit(D, known=known)
    found = bootstrap(isomap, D, known, n_resamples=5)
    paths = isomap.geodesic_.dissimilarities_
    expected = bootstrap(ConditionalMDS(2, **options), paths, known.to_numpy(), n_resamples=5)
    np.testing.assert_array_equal(found.objects[["axis1", "axis2"]], isomap.embedding_)
    np.testing.assert_array_equal(found.covariances, expected.covariances)
    assert list(found.objects.index) == list(D.index)


def test_features_may_be_mapped_by_their_paths(rng):
    X = pd.DataFrame(rng.standard_normal((20, 3)), index=[f"o{i}" for i in range(20)])
    isomap = ConditionalIsomap(1, n_neighbors=5, n_init=2, random_state=0).fit(X)
    found = bootstrap(isomap, X, n_resamples=3)
    np.testing.assert_array_equal(found.objects["axis1"], isomap.embedding_[:, 0])
    assert list(found.objects.index) == list(X.index)


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_residuals_are_those_of_the_disparities(kinship, level):
    """Squares are the same data to an ordinal fit, and a constant more is to one of intervals; so is their noise."""
    D, known = kinship.dissimilarities, kinship.known[["gender", "degree"]]
    estimator = mds(level=level, tol=1e-12)
    one = bootstrap(estimator, D, known, n_resamples=6)
    changed = D**2 if level == "ordinal" else D + 20 * (1 - np.eye(14))
    other = bootstrap(estimator, changed, known, n_resamples=6)
    size = np.ptp(other.objects["axis1"]) / np.ptp(one.objects["axis1"])
    np.testing.assert_allclose(other.objects["major"], size * one.objects["major"], rtol=1e-3)
    assert one.objects["major"].max() < np.ptp(one.objects["axis1"])


def test_weights_in_another_order_are_aligned(kinship, rng):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    W = rng.uniform(0.5, 2.0, D.shape)
    W = pd.DataFrame(W + W.T, index=D.index, columns=D.columns)
    order = rng.permutation(14)
    expected = jackknife(mds(1), D, known, weights=W)
    found = jackknife(mds(1), D, known, weights=W.iloc[order, order])
    np.testing.assert_array_equal(found.coef, expected.coef)


def test_labels_of_several_levels_stay_labels(kinship):
    D = kinship.dissimilarities
    labels = pd.MultiIndex.from_arrays([list("aabbccddeeffgg"), [1, 2] * 7], names=["family", "child"])
    found = bootstrap(mds(1), pd.DataFrame(D.to_numpy(), index=labels, columns=labels), n_resamples=3)
    pd.testing.assert_index_equal(found.objects.index, labels)


@pytest.mark.parametrize("known", [["a"] * 13 + ["b"], ["a"] * 7 + ["c"] * 6 + ["b"], [0.0] * 13 + [1.0]])
def test_what_one_object_alone_tells_cannot_be_judged_without_it(kinship, known):
    known = pd.DataFrame({"group": known}, index=kinship.dissimilarities.index)
    with pytest.raises(ValueError, match="known: 'group' has a level, or varies, by object 'Uncle' alone"):
        jackknife(mds(1), kinship.dissimilarities, known)


@pytest.mark.parametrize("resample", [partial(bootstrap, n_resamples=10), jackknife])
def test_an_adjusted_map_is_resampled_as_it_was_decided(resample):
    """Every fit has the free dimensions of the first, and is adjusted as it was, though a start is given."""
    rng = np.random.default_rng(22)
    v = rng.normal(size=(25, 1))
    d = pdist(rng.normal(size=(25, 2)) * [1.0, 0.3] + 2 * v * [0.0, 1.0])
    D = squareform(d * (1 + 0.05 * rng.normal(size=d.size)))
    estimator = ConditionalMDS(1, metric="precomputed", n_init=4, random_state=0, adjust="auto")
    fitted = clone(estimator).fit(D, known=v)
    assert (fitted.adjusted_, fitted.n_free_) == (True, 2)
    found = resample(estimator, D, v)
    np.testing.assert_array_equal(found.objects[["axis1"]], fitted.embedding_)
    # A map of another kind would be off by the size of the map, not by that of the noise.
    assert (np.sqrt(found.covariances[:, 0, 0]) < 0.5 * fitted.embedding_.std()).all()
    assert found.importance.loc["known0", "standardized"] == pytest.approx(2 * v.std(ddof=1), rel=0.1)
