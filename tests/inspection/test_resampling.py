"""Bootstrap and jackknife: coverage, alignment, tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chi2

from unmask import ConditionalMDS
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


@pytest.mark.simulation
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
    for method in (bootstrap, jackknife):
        found = method(mds(n_init=8, tol=1e-14), D)
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


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_bad_parameters(kinship, level):
    with pytest.raises(ValueError, match="must be above 0 and below 1"):
        jackknife(mds(1), kinship.dissimilarities, level=level)
    with pytest.raises(ValueError, match="n_resamples=1 must be an integer of at least 2"):
        bootstrap(mds(1), kinship.dissimilarities, n_resamples=1)


def test_a_fit_without_residuals_is_refused(kinship):
    with pytest.raises(ValueError, match="3 pairs are no more than the 3 parameters of the fit"):
        bootstrap(mds(2), kinship.dissimilarities.iloc[:3, :3])


def test_a_map_without_dimensions_has_coefficients_only(kinship):
    found = bootstrap(mds(0), kinship.dissimilarities, kinship.known[["gender", "degree"]], n_resamples=4)
    assert found.covariances.shape == (14, 0, 0)
    assert "major" not in found.objects
    assert (found.coef["se"].to_numpy()[[0, 2]] > 0).all()
