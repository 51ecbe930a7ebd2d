"""GeneralMDS: with the right three functions it is the methods that others implement, and it is conditional."""

import math
import pickle
import warnings

import numba
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform
from scipy.special import huber, kl_div
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import MDS
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers import noisy_distances, symmetric_weights, with_missing
from unmask import (
    ConditionalClassicalMDS,
    ConditionalMDS,
    Cyclic,
    Distance,
    GeneralMDS,
    Loss,
    MissingDissimilarityWarning,
    Neighbours,
    Spline,
)
from unmask.inspection import procrustes

N = 25


@pytest.fixture
def D(rng):
    return noisy_distances(rng, N)


@pytest.fixture
def known(rng):
    return rng.standard_normal((N, 2))


def upper(D):
    return np.asarray(D)[np.triu_indices(len(D), 1)]


def fit(D, *, known=None, weights=None, **options):
    return GeneralMDS(**{"metric": "precomputed", "n_init": 3, "random_state": 0} | options).fit(
        D, known=known, weights=weights
    )


# ---- metric scaling


@pytest.mark.parametrize("columns", [[], ["gender"], ["gender", "degree"]])
def test_by_default_it_is_conditional_metric_scaling(kinship, columns):
    D, known = kinship.dissimilarities, kinship.known[columns] if columns else None
    exact = ConditionalMDS(metric="precomputed", n_init=30, random_state=0).fit(D, known=known)
    mds = fit(D, known=known, n_init=30)
    assert mds.cost_ / np.sum(upper(D) ** 2.0) == pytest.approx(exact.stress_, abs=1e-9)
    np.testing.assert_allclose(mds.embedding_, exact.embedding_, rtol=0, atol=1e-4 * np.ptp(exact.embedding_))
    np.testing.assert_allclose(mds.coef_, exact.coef_, rtol=1e-4, atol=1e-4)
    assert mds.leak_ == pytest.approx(exact.leak_, abs=1e-4)
    if columns:
        np.testing.assert_allclose(mds.importance_["raw"], exact.importance_["raw"], rtol=1e-4, atol=0)


def test_with_weights_and_missing_pairs_too(D, known, rng):
    W, D = symmetric_weights(rng, N), with_missing(rng, D, 0.1)
    with pytest.warns(MissingDissimilarityWarning):
        exact = ConditionalMDS(metric="precomputed", n_init=3, random_state=0).fit(D, known=known, weights=W)
    with pytest.warns(MissingDissimilarityWarning):
        mds = fit(D, known=known, weights=W)
    counted = ~np.isnan(upper(D))
    residual = (upper(mds.predict_dissimilarities()) - upper(D))[counted]
    assert mds.cost_ == pytest.approx(np.sum(upper(W)[counted] * residual**2), rel=1e-12)
    assert mds.cost_ / np.sum((upper(W) * upper(D) ** 2)[counted]) == pytest.approx(exact.stress_, rel=1e-6)
    np.testing.assert_allclose(mds.embedding_, exact.embedding_, rtol=0, atol=1e-3 * np.ptp(exact.embedding_))


def test_stress_of_scikit_learn_is_not_lower(D):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about defaults that will change
        theirs = MDS(dissimilarity="precomputed", n_init=3, normalized_stress=False, random_state=0).fit(D)
    assert theirs.stress_ == pytest.approx(np.sum((pdist(theirs.embedding_) - upper(D)) ** 2), rel=1e-3)
    assert fit(D, n_init=10).cost_ <= theirs.stress_


# ---- classical scaling


def test_inner_products_for_inner_products_are_classical_scaling(rng):
    X = rng.standard_normal((30, 5)) * [3, 2, 1, 0.5, 0.3]
    mds = GeneralMDS(target="inner", distance="inner", init="random", n_init=2, tol=1e-14, random_state=0).fit(X)
    classical = ConditionalClassicalMDS().fit(X).embedding_
    size = np.ptp(classical)
    np.testing.assert_allclose(mds.embedding_, classical, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(np.abs(mds.embedding_), np.abs(PCA(2).fit_transform(X)), rtol=0, atol=1e-6 * size)
    # What is left are the squares of the other eigenvalues, half of them as only pairs i < j count.
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True) * 30)
    assert mds.cost_ == pytest.approx(np.sum(values[:-2] ** 2) / 2, rel=1e-9)


def test_given_what_is_known_inner_products_are_at_a_minimum_that_scipy_finds_too(rng):
    V = rng.standard_normal((20, 2))
    X = rng.standard_normal((20, 4)) * [2, 1, 0.5, 0.3] + V @ rng.standard_normal((2, 4))
    mds = GeneralMDS(1, target="inner", distance="inner", n_init=3, tol=1e-14, random_state=0).fit(X, known=V)
    target = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    V = V - V.mean(axis=0)
    B, U = mds.coef_.to_numpy(), mds.embedding_
    residual = target - U @ U.T - V @ B @ B.T @ V.T
    assert mds.cost_ == pytest.approx(np.sum(residual**2) / 2, rel=1e-10)
    np.testing.assert_allclose(residual @ U, 0.0, rtol=0, atol=1e-6 * np.abs(target @ U).max())
    np.testing.assert_allclose(V.T @ residual @ V, 0.0, rtol=0, atol=1e-6 * np.abs(V.T @ target @ V).max())

    def cost(theta):
        U, B = theta[:20, None], theta[20:].reshape(2, 2)
        return np.sum((target - U @ U.T - V @ B @ B.T @ V.T) ** 2) / 2

    best = min(minimize(cost, rng.standard_normal(24)).fun for _ in range(3))
    assert mds.cost_ == pytest.approx(best, rel=1e-7)


# ---- Sammon's mapping


def test_sammons_loss_is_sammons_mapping(D, known):
    weighted = ConditionalMDS(metric="precomputed", weights="sammon", n_init=3, random_state=0).fit(D, known=known)
    mds = fit(D, loss="sammon", known=known)
    assert mds.cost_ / upper(D).sum() == pytest.approx(weighted.stress_, rel=1e-6)
    np.testing.assert_allclose(mds.embedding_, weighted.embedding_, rtol=0, atol=1e-3 * np.ptp(weighted.embedding_))
    plain, delta = fit(D, loss="sammon"), upper(D)
    expected = np.sum((delta - pdist(plain.embedding_)) ** 2 / delta)
    assert plain.cost_ == pytest.approx(expected, rel=1e-10)


def sammon_stress(D, Y):
    delta = upper(D)
    return np.sum((delta - pdist(Y)) ** 2 / delta) / np.sum(delta)


def sammons_own_descent(D, steps=1000):
    """Return the stress of Sammon's mapping as he published it: from the classical map, a damped diagonal Newton."""
    n = len(D)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ D**2 @ centre)
    Y, off = vectors[:, -2:] * np.sqrt(values[-2:]), ~np.eye(n, dtype=bool)
    stress, magic = sammon_stress(D, Y), 0.3
    for _ in range(steps):
        d, delta = squareform(pdist(Y)) + np.eye(n), D + np.eye(n)
        gap = (delta - d)[:, :, None] * off[:, :, None]
        difference = Y[:, None] - Y[None]
        scale = (delta * d)[:, :, None]
        d = d[:, :, None]
        slope = np.sum(gap * difference / scale, axis=1)
        curvature = np.sum(off[:, :, None] * (gap - difference**2 / d * (1 + gap / d)) / scale, axis=1)
        tried = Y + magic * slope / np.abs(curvature)
        now = sammon_stress(D, tried)
        if now < stress:
            Y, stress, magic = tried, now, min(1.5 * magic, 0.5)
        else:
            magic /= 5
    return stress


@pytest.mark.parametrize("rows", [slice(50, 125), slice(0, None, 2)])
def test_sammons_mapping_of_flowers_is_as_low_as_others_find_it(rows):
    """By default; what others find is Sammon's own descent, and the weighted stress from as many starts."""
    D = squareform(pdist(np.unique(load_iris().data, axis=0)[rows]))
    options = {"metric": "precomputed", "random_state": 0}
    found = sammon_stress(D, GeneralMDS(loss="sammon", **options).fit(D).embedding_)
    assert found <= sammons_own_descent(D) * (1 + 1e-6)
    weighted = ConditionalMDS(weights="sammon", **options).fit(D)
    assert found <= sammon_stress(D, weighted.embedding_) * (1 + 5e-4)


# ---- robust scaling, and what the losses are at the map that is found


@pytest.fixture(scope="module")
def spoiled():
    """Return places in the plane, and their distances, every tenth three to six times as long."""
    rng = np.random.default_rng(1)
    places = rng.standard_normal((30, 2))
    D = squareform(pdist(places))
    wrong = np.triu(rng.uniform(size=D.shape) < 0.1, 1)
    D[wrong] *= rng.uniform(3, 6, wrong.sum())
    return places, np.triu(D, 1) + np.triu(D, 1).T


@pytest.mark.parametrize("loss", ["huber", "absolute"])
def test_gross_errors_do_not_move_a_robust_map(spoiled, loss):
    places, D = spoiled
    plain, robust = fit(D), fit(D, loss=loss, n_init=6)
    assert procrustes(plain, places).statistic > 0.05
    assert procrustes(robust, places).statistic < 1e-3
    # The largest residuals are those of the distances that are wrong.
    residual = np.abs(pdist(robust.embedding_) - upper(D))
    wrong = ~np.isclose(upper(D), pdist(places))
    assert set(np.argsort(residual)[-wrong.sum() :]) == set(np.flatnonzero(wrong))


def test_value_of_hubers_and_the_absolute_loss(spoiled):
    _, D = spoiled
    turn = 0.3
    mds = fit(D, loss="huber", loss_parameter=turn)
    assert mds.cost_ == pytest.approx(2 * huber(turn, pdist(mds.embedding_) - upper(D)).sum(), rel=1e-10)
    mds = fit(D, loss="absolute", loss_parameter=1e-3)
    # Smoothing takes at most its parameter off each pair.
    total = np.abs(pdist(mds.embedding_) - upper(D)).sum()
    assert total - 1e-3 * len(upper(D)) <= mds.cost_ <= total


def test_value_of_logarithms_and_divergences(D):
    mds = fit(D, loss="logarithmic")
    assert mds.cost_ == pytest.approx(np.sum(np.log(pdist(mds.embedding_) / upper(D)) ** 2), rel=1e-10)
    mds = fit(D, loss="kullback-leibler")
    assert mds.cost_ == pytest.approx(kl_div(upper(D), pdist(mds.embedding_)).sum(), rel=1e-10)
    mds = fit(D, loss="kullback-leibler", target="squared", distance="squared")
    assert mds.cost_ == pytest.approx(kl_div(upper(D) ** 2, pdist(mds.embedding_, "sqeuclidean")).sum(), rel=1e-10)


def test_only_ratios_matter_to_logarithms(D):
    mds, scaled = fit(D, loss="logarithmic", n_init=1), fit(1000 * D, loss="logarithmic", n_init=1)
    assert scaled.cost_ == pytest.approx(mds.cost_, rel=1e-6)


# ---- city-block distances


def test_city_block_distances_are_found_again(rng):
    places = rng.standard_normal((20, 2)) * [3, 1]
    mds = fit(squareform(pdist(places, "cityblock")), distance="cityblock", n_init=10, distance_parameter=1e-3)
    fitted = pdist(mds.embedding_, "cityblock")
    np.testing.assert_allclose(upper(mds.predict_dissimilarities()), fitted, rtol=1e-10, atol=0)
    # Each difference is smoothed by at most its parameter.
    np.testing.assert_allclose(fitted, pdist(places, "cityblock"), rtol=0, atol=2e-2)
    assert mds.cost_ < 1e-4 * np.sum(fitted**2)
    assert procrustes(mds, places).statistic < 1e-5
    assert mds.embedding_.var(axis=0)[0] > mds.embedding_.var(axis=0)[1]


def test_a_known_axis_of_a_city_needs_no_room(rng):
    places = rng.standard_normal((20, 2)) * [3, 1]
    D = squareform(pdist(places, "cityblock"))
    mds = fit(D, distance="cityblock", n_components=1, known=places[:, :1], n_init=10)
    assert np.abs(np.corrcoef(mds.embedding_[:, 0], places[:, 1])[0, 1]) > 0.999
    assert mds.coef_.iloc[0, 0] == pytest.approx(1.0, abs=0.02)


def test_city_block_distances_take_numeric_features_each_by_itself(D, known):
    with pytest.raises(ValueError, match=r"coef='full' with distance='cityblock'.*use coef='diagonal'"):
        fit(D, distance="cityblock", coef="full", known=known)
    with pytest.raises(ValueError, match=r"known: 'site' is nominal, and distance='cityblock' takes numeric"):
        fit(D, distance="cityblock", known=pd.DataFrame({"site": list("abcde") * 5}))


# ---- functions of the user's


def lopsided(fitted, target, factor):
    residual = fitted - target
    weight = factor if residual < 0 else 1.0
    return weight * residual * residual, 2.0 * weight * residual


def gaussian(x, width):
    value = math.exp(-x / (2 * width * width))
    return value, -value / (2 * width * width)


@pytest.mark.parametrize("compile_first", [False, True])
def test_own_functions_plain_or_compiled_give_the_same(D, known, compile_first):
    ready = numba.njit if compile_first else (lambda function: function)
    loss = Loss(ready(lopsided), parameter=10.0)
    mds = fit(D, loss=loss, known=known)
    residual = upper(mds.predict_dissimilarities()) - upper(D)
    assert mds.cost_ == pytest.approx(np.sum(np.where(residual < 0, 10, 1) * residual**2), rel=1e-12)
    # Too near costs ten times as much as too far, so far more pairs are too far than too near.
    assert np.mean(residual < 0) < 0.4 < np.mean(upper(fit(D, known=known).predict_dissimilarities()) < upper(D))
    kernel = Distance(ready(gaussian), parameter=0.5)
    similar = fit(D, target=lambda d: np.exp(-2 * d**2), distance=kernel)
    fitted = np.exp(-2 * pdist(similar.embedding_, "sqeuclidean"))
    assert similar.cost_ == pytest.approx(np.sum((fitted - np.exp(-2 * upper(D) ** 2)) ** 2), rel=1e-10)
    again = pickle.loads(pickle.dumps(clone(mds)))
    np.testing.assert_array_equal(again.fit(D, known=known).embedding_, mds.embedding_)


def test_a_wrong_slope_is_refused(D):
    with pytest.raises(ValueError, match=r"loss: at fitted=0.3, target=1.0 the function returns the slope -0.7"):
        fit(D, loss=Loss(lambda fitted, target, _: ((fitted - target) ** 2, fitted - target)))


# ---- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "nearness"}, r"target is 'nearness', and neither one of"),
        ({"distance": "manhattan"}, r"distance='manhattan' is neither one of"),
        ({"loss": "cubed"}, r"loss='cubed' is neither one of"),
        ({"n_init": 0}, r"n_init=0"),
        ({"target": Neighbours(24.0)}, r"perplexity=24.0 asks for more neighbours than n_samples=25 objects have"),
    ],
)
def test_parameters_that_make_no_sense(D, options, message):
    with pytest.raises(ValueError, match=message):
        fit(D, **options)


def test_data_that_do_not_go_with_the_functions(D, rng):
    D[2, 3] = D[3, 2] = 0.0
    with pytest.raises(
        ValueError, match="loss='logarithmic' needs positive targets, and that of object 2 and object 3"
    ):
        fit(D, loss="logarithmic")
    with pytest.raises(ValueError, match="loss='sammon' needs non-negative targets"):
        fit(D, loss="sammon", target="inner", distance="inner")
    with pytest.raises(ValueError, match="distance='student' is a share of all pairs"):
        fit(D, distance="student", weights=symmetric_weights(rng, N))
    with pytest.raises(
        ValueError, match=r"weights is a sparse matrix, which GeneralMDS does not take; pass weights.to"
    ):
        fit(D, weights=sparse.csr_array(symmetric_weights(rng, N)))
    D[0, 1] = D[1, 0] = np.nan
    with pytest.warns(MissingDissimilarityWarning), pytest.raises(ValueError, match="distance='student' is a share"):
        fit(D, distance="student")


def test_a_cost_that_is_no_number_at_the_start(D):
    def reciprocal(fitted, target, parameter):
        return 1 / (fitted - parameter), -1 / (fitted - parameter) ** 2

    U0 = np.random.default_rng(0).standard_normal((N, 2))
    U0[1] = U0[0]
    with pytest.raises(FloatingPointError, match="the cost at the start is inf"):
        fit(D, loss=Loss(reciprocal), init=(U0, None), n_init=1)


# ---- what the estimator reports


def test_report(D, known):
    index = pd.Index([f"object {i}" for i in range(N)])
    frame = pd.DataFrame(D, index=index, columns=index)
    mds = GeneralMDS(metric="precomputed", loss="huber", n_init=3, random_state=0).set_output(transform="pandas")
    embedding = mds.fit_transform(frame, known=pd.DataFrame(known, index=index, columns=["x", "y"]).iloc[::-1])
    assert list(embedding.index) == list(mds.cost_per_point_.index) == list(index)
    assert list(embedding.columns) == ["generalmds0", "generalmds1"]
    np.testing.assert_array_equal(embedding, mds.embedding_)
    assert mds.cost_per_point_.sum() == pytest.approx(mds.cost_, rel=1e-14)
    residual = mds.predict_dissimilarities().to_numpy() - D
    turn = 0.1 * np.median(upper(D))
    np.testing.assert_allclose(mds.cost_per_point_, huber(turn, residual).sum(axis=1), rtol=1e-9, atol=1e-15)
    assert np.all(np.diff(mds.cost_path_) <= 0)
    assert mds.cost_path_[-1] == pytest.approx(mds.cost_, rel=1e-12)
    assert len(mds.cost_path_) == mds.n_iter_ + 1
    assert mds.converged_
    assert mds.stop_reason_ == "the cost fell by less than tol"
    assert list(mds.starts_["kind"]) == ["closed-form", "random", "random"]
    assert mds.starts_["cost"].min() == pytest.approx(mds.cost_, rel=1e-12)
    assert mds.starts_["best"].sum() == 1
    assert list(mds.importance_.index) == ["x", "y"]
    assert 0 <= mds.leak_ <= 1
    np.testing.assert_allclose(mds.embedding_.mean(axis=0), 0.0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(D, frame)  # the input is as it was


def test_an_orthogonal_map_does_not_repeat_what_is_known(D, rng):
    known = D[:, :2]  # tells much about the places
    assert fit(D, known=known, loss="huber").leak_ > 0.01
    mds = fit(D, known=known, loss="huber", orthogonal=True)
    assert mds.leak_ < 1e-7
    np.testing.assert_allclose(mds.embedding_.T @ (known - known.mean(axis=0)), 0.0, rtol=0, atol=1e-10)


def test_single_precision_is_kept(rng):
    X = rng.standard_normal((20, 4))
    double, single = (
        GeneralMDS(loss="huber", n_init=1, random_state=0).fit_transform(X.astype(dtype))
        for dtype in (np.float64, np.float32)
    )
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single, double, rtol=0, atol=1e-3)


def test_from_a_start_that_is_given_it_goes_on(D, known):
    found = fit(D, known=known, loss="huber")
    again = fit(D, known=known, loss="huber", init=(found.embedding_, found.coef_), n_init=1)
    assert list(again.starts_["kind"]) == ["given"]
    assert again.cost_path_[0] == pytest.approx(found.cost_, rel=1e-9)
    assert again.cost_ <= found.cost_ * (1 + 1e-12)
    np.testing.assert_allclose(again.embedding_, found.embedding_, rtol=0, atol=1e-2 * np.ptp(found.embedding_))


def test_the_closed_form_alone_is_one_start(D):
    assert list(fit(D, init="closed-form", n_init="auto").starts_["kind"]) == ["closed-form"]
    with pytest.raises(ValueError, match="n_init=5 asks for several starts but init gives a single one"):
        fit(D, init="closed-form", n_init=5)
    auto = {"metric": "precomputed", "random_state": 0, "tol": 1e-2}
    assert len(GeneralMDS(**auto).fit(D).starts_) == len(ConditionalMDS(**auto).fit(D).starts_) == 127


def test_an_exact_start_is_left_where_it_is(rng):
    X = rng.standard_normal((15, 2))
    mds = GeneralMDS(n_init=1).fit(X)
    assert mds.cost_ < 1e-20
    assert mds.converged_


def test_coefficients_alone(D, known):
    mds = fit(D, known=known, n_components=0, loss="huber")
    assert mds.embedding_.shape == (N, 0)
    fitted = pdist((known - known.mean(axis=0)) @ mds.coef_.to_numpy())
    assert mds.cost_ == pytest.approx(2 * huber(0.1 * np.median(upper(D)), fitted - upper(D)).sum(), rel=1e-9)


def test_stopping_early_says_so(D):
    with pytest.warns(
        ConvergenceWarning, match=r"the best of 3 starts stopped after 2 iterations because max_iter was"
    ):
        mds = fit(D, max_iter=2)
    assert not mds.converged_


def test_verbose_prints_starts_and_iterations(D, capsys):
    fit(D, verbose=1)
    printed = capsys.readouterr().out
    assert "closed-form" in printed
    assert "iteration 1," not in printed
    fit(D, verbose=2, n_init=1)
    assert "start 1 of 1, iteration 1, stress " in capsys.readouterr().out


def test_every_type_of_known_feature_acts(rng):
    n = 40
    table = pd.DataFrame(
        {
            "x": rng.standard_normal(n),
            "site": np.array(list("abc"))[np.arange(n) % 3],
            "grade": pd.Categorical(np.array(list("pqrs"))[rng.permutation(n) % 4], ordered=True),
            "hour": rng.uniform(0, 24, n),
            "dose": rng.uniform(0, 1, n),
        }
    )
    site = (table["site"].to_numpy()[:, None] == np.array(list("abc"))).astype(float)
    hidden = rng.standard_normal((n, 2))
    angle = 2 * np.pi * table["hour"].to_numpy() / 24
    X = np.column_stack([hidden, table["x"], 2 * site, np.cos(angle), np.sin(angle), table["dose"] ** 2])
    missing = table.copy()
    missing.loc[3, "x"] = np.nan
    for known in (table, missing):
        mds = GeneralMDS(
            loss="huber", n_init=3, random_state=0, known_types={"hour": Cyclic(24), "dose": Spline(3)}
        ).fit(X, known=known)
        assert procrustes(mds, hidden).statistic < 0.05
        assert set(mds.known_summary_.index) == set(table.columns)
    assert len(mds.known_imputed_) == 1


def test_known_and_weights_are_routed_through_a_pipeline(rng):
    X, W = rng.standard_normal((20, 4)), symmetric_weights(rng, 20)
    known = X[:, :1]
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), GeneralMDS(n_init=1, random_state=0))
        routed = pipe.fit_transform(X, known=known, weights=W)
    direct = GeneralMDS(n_init=1, random_state=0).fit(StandardScaler().fit_transform(X), known=known, weights=W)
    np.testing.assert_array_equal(routed, direct.embedding_)


def test_threads_do_not_change_the_map(D):
    one, two = fit(D, loss="huber", n_jobs=1), fit(D, loss="huber", n_jobs=2)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
