"""ConditionalGPLVM: its likelihood and derivatives, probabilistic PCA as a special case, what conditioning shows."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from scipy.stats import multivariate_normal, spearmanr
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, PairwiseKernel
from sklearn.manifold import Isomap
from sklearn.utils.estimator_checks import parametrize_with_checks

from unmask import ConditionalGPLVM, Nominal
from unmask.checking import UnfinishedWarning
from unmask.estimators import _conditional_gplvm as room
from unmask.inspection import gplvm_score


@pytest.fixture(scope="module")
def curves():
    """Return data that are curves of a known and an unknown feature, and these; the known one matters more."""
    rng = np.random.default_rng(0)
    known, unknown = rng.uniform(-2, 2, size=(2, 60))
    phases = np.linspace(0, 4, 6)
    Y = 3 * np.sin(known[:, None] + phases) + np.cos(unknown[:, None] - phases)
    return Y + 0.1 * rng.standard_normal(Y.shape), known, unknown


def likelihood_of(Y, V, kernel):
    own = ConstantKernel(0.7) * RBF(np.ones(V.shape[1])) if V.shape[1] else None
    return room.Process(Y, 2, kernel, V, own)


@pytest.mark.parametrize("kernel", ["rbf", "matern", "exponential", "linear"])
@pytest.mark.parametrize("q", [0, 2])
def test_the_derivative_is_that_of_the_likelihood(kernel, q, rng):
    likelihood = likelihood_of(rng.standard_normal((8, 3)), rng.standard_normal((8, q)), kernel)
    theta = likelihood.pack(rng.standard_normal((8, 2)))
    theta[16:] += 0.3 * rng.standard_normal(len(theta) - 16)
    off = check_grad(lambda x: likelihood(x).value, lambda x: 2.0 * likelihood(x).gradient, theta)
    assert off < 1e-4 * np.linalg.norm(likelihood(theta).gradient)


def test_the_likelihood_is_that_of_a_gaussian(curves):
    Y, known, _ = curves
    gplvm = ConditionalGPLVM().fit(Y, known=known[:, None])
    (of_map, bias, noise), unit = gplvm._map.variances, gplvm._map.process.unit
    squared = np.sum((gplvm.embedding_[:, None] - gplvm.embedding_) ** 2, axis=2)
    standard = ((known - known.mean()) / known.std())[:, None]
    K = of_map * np.exp(-0.5 * squared) + gplvm.known_kernel_(standard) + bias + noise * np.eye(len(Y))
    expected = multivariate_normal(cov=unit**2 * K).logpdf((Y - Y.mean(axis=0)).T).sum()
    assert gplvm.log_likelihood_ == pytest.approx(expected, rel=1e-8)


def test_with_a_linear_kernel_and_nothing_known_it_is_probabilistic_pca(rng):
    Y = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 12)) + 0.5 * rng.standard_normal((30, 12))
    Y -= Y.mean(axis=0)
    n, outputs, p = 30, 12, 2
    # Objects are the coordinates here: S has rank 12, its p largest eigenvalues are kept, the others are noise.
    values = np.zeros(n)
    values[:outputs] = np.linalg.svd(Y, compute_uv=False) ** 2 / outputs
    noise = values[p:].mean()
    best = -0.5 * outputs * (n * np.log(2 * np.pi) + np.log(values[:p]).sum() + (n - p) * np.log(noise) + n)
    gplvm = ConditionalGPLVM(p, kernel="linear", tol=1e-10, max_iter=2000).fit(Y)
    assert gplvm.log_likelihood_ == pytest.approx(best, abs=0.01)
    assert gplvm.variances_["noise"] == pytest.approx(noise, rel=1e-3)
    components = np.linalg.svd(Y)[0][:, :p]
    assert np.linalg.svd(components.T @ np.linalg.qr(gplvm.embedding_)[0])[1] == pytest.approx([1, 1], abs=1e-3)


def test_no_map_of_the_same_data_has_a_higher_score(curves):
    Y = curves[0]
    gplvm = ConditionalGPLVM(tol=1e-8, max_iter=5000).fit(Y)
    for start in (PCA(2).fit_transform(Y), Isomap(n_neighbors=8).fit_transform(Y)):
        assert gplvm.log_likelihood_ > gplvm_score(start, Y) + 10
    assert gplvm_score(gplvm.embedding_, Y, standardize=False) == pytest.approx(gplvm.log_likelihood_, abs=0.5)


@pytest.mark.parametrize("kernel", ["rbf", "matern", "exponential"])
def test_given_what_is_known_the_map_shows_what_is_not(kernel, curves):
    Y, known, unknown = curves
    given = ConditionalGPLVM(1, kernel=kernel).fit(Y, known=known[:, None])
    plain = ConditionalGPLVM(1, kernel=kernel).fit(Y)
    assert abs(spearmanr(given.embedding_[:, 0], unknown).statistic) > 0.9
    assert abs(spearmanr(plain.embedding_[:, 0], unknown).statistic) < 0.5
    assert given.leak_ < 0.3
    assert given.variances_["known"] > 2 * given.variances_["map"] > 2 * given.variances_["noise"]


def test_types_of_known_features_and_kernels_of_scikit_learn(curves):
    Y, known, _ = curves
    thirds = pd.DataFrame({"third": pd.qcut(known, 3, labels=["low", "middle", "high"]).astype(str)})
    levels = ConditionalGPLVM(1, known_types={"third": Nominal()}).fit(Y, known=thirds)
    assert levels.known_kernel_.k2.length_scale.shape == (levels._map.known.n_kept,)
    linear = ConditionalGPLVM(1, known_kernel=ConstantKernel() * DotProduct(0.1, "fixed")).fit(Y, known=known[:, None])
    smooth = ConditionalGPLVM(1).fit(Y, known=known[:, None])
    # Of a sine a line explains less than a curve.
    assert smooth.log_likelihood_ > linear.log_likelihood_ + 20


def test_new_objects_are_placed_where_they_belong(curves):
    Y, known, unknown = curves
    old, new = slice(0, 45), slice(45, 60)
    gplvm = ConditionalGPLVM(1).fit(Y[old], known=known[old, None])
    assert gplvm.transform(Y[:5], known=known[:5, None]).tolist() == gplvm.embedding_[:5].tolist()
    nearly = gplvm.transform(Y[:5] + 1e-9, known=known[:5, None])
    assert np.median(np.abs(nearly - gplvm.embedding_[:5])) < 0.05 * gplvm.embedding_.std()
    placed = gplvm.transform(Y[new], known=known[new, None])
    both = np.concatenate([gplvm.embedding_, placed])[:, 0]
    assert abs(spearmanr(both, unknown).statistic) > 0.9


@pytest.mark.parametrize("kernel", ["rbf", "matern", "exponential", "linear"])
def test_the_derivative_of_a_place_is_right(kernel, curves, rng):
    Y, known, _ = curves
    with pytest.warns(ConvergenceWarning):
        model = ConditionalGPLVM(2, kernel=kernel, max_iter=5).fit(Y[:20], known=known[:20, None])._map
    u, v = rng.standard_normal(2), np.array([[0.3]])
    given = (model.process.Y[3], model.known_kernel(v, model.process.V)[0], model.known_kernel.diag(v)[0])
    derivative = model.cost(u, *given)[1]
    # Differences to both sides: those to one side are off by more than the cost's rounding lets them show.
    steps = 1e-5 * np.eye(2)
    slopes = [(model.cost(u + step, *given)[0] - model.cost(u - step, *given)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(derivative, slopes, rtol=0, atol=1e-5 * (1 + np.linalg.norm(derivative)))


def test_labels_and_columns_by_name(curves):
    Y, known, _ = curves
    names = [f"o{i}" for i in range(60)]
    frame = pd.DataFrame(Y, index=names, columns=list("abcdef")).assign(known=known)
    gplvm = ConditionalGPLVM().set_output(transform="pandas")
    embedding = gplvm.fit_transform(frame, known=["known"])
    assert embedding.index.tolist() == names == gplvm.object_names_.tolist()
    assert embedding.columns.tolist() == ["conditionalgplvm0", "conditionalgplvm1"]
    assert gplvm.n_features_in_ == 6


@pytest.mark.parametrize(
    ("options", "known", "message"),
    [
        ({"kernel": "cosine"}, None, "kernel='cosine'"),
        ({"n_components": 0}, None, "n_components=0"),
        ({"n_components": 60}, None, "n_components=60 but there are n_samples=60"),
        ({"init": np.zeros((3, 2))}, None, r"init has shape \(3, 2\); it must be \(60, 2\)"),
        ({"known_kernel": "rbf"}, [[1.0]] * 60, "known_kernel='rbf' is not a kernel of sklearn"),
        (
            {"known_kernel": RBF([1.0, 1.0, 1.0])},
            [[float(i)] for i in range(60)],
            "same number of dimensions",
        ),
        (
            {"known_kernel": PairwiseKernel(gamma=5.0, metric="sigmoid")},
            [[float(i)] for i in range(60)],
            "not returning a positive definite matrix",
        ),
        ({}, [[np.nan]] + [[float(i)] for i in range(59)], "known has 1 missing cells in column .* fill them"),
    ],
)
def test_what_cannot_be_is_refused(options, known, message, curves):
    with pytest.raises(ValueError, match=message):
        ConditionalGPLVM(**options).fit(curves[0], known=known)


def test_max_iter_counts_all_iterations_of_the_map(curves):
    with pytest.warns(ConvergenceWarning, match="stopped after 35 iterations"):
        gplvm = ConditionalGPLVM(max_iter=35).fit(curves[0])
    assert gplvm.n_iter_ == 35


def test_ctrl_c_keeps_the_map_and_says_so(curves, monkeypatch):
    calls, real = [], room.Process.__call__

    def interrupted(self, theta):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(self, theta)

    monkeypatch.setattr(room.Process, "__call__", interrupted)
    with pytest.warns(UnfinishedWarning, match="interrupted"):
        gplvm = ConditionalGPLVM().fit(curves[0])
    assert len(calls) == 4
    assert gplvm.embedding_.shape == (60, 2)


def test_a_fitted_process_keeps_one_table(curves):
    Y, known, _ = curves
    known = np.column_stack([known**power for power in range(1, 7)])
    with pytest.warns(ConvergenceWarning):
        gplvm = ConditionalGPLVM(max_iter=2).fit(Y, known=known)
    assert len(pickle.dumps(gplvm)) < 2 * 60 * 60 * 8


def test_many_known_columns_share_a_width(curves, rng):
    with pytest.warns(ConvergenceWarning):
        gplvm = ConditionalGPLVM(max_iter=2).fit(curves[0], known=rng.standard_normal((60, 11)))
    assert np.ndim(gplvm.known_kernel_.k2.length_scale) == 0


@pytest.mark.parametrize("size", [0.0, 1e-170, 1e160])
def test_data_without_ordinary_numbers_are_refused(size, curves):
    with pytest.raises(ValueError, match="the columns of X differ from their means by"):
        ConditionalGPLVM().fit(size * curves[0])


def test_a_start_that_is_too_large_is_refused(curves):
    with pytest.raises(ValueError, match="cannot be factorised where the search begins; pass a smaller init"):
        ConditionalGPLVM(kernel="linear", init=1e150 * np.ones((60, 2))).fit(curves[0])


def test_too_many_objects_are_refused_with_a_way_out(monkeypatch, curves):
    monkeypatch.setattr(room, "MOST_OBJECTS", 50)
    with pytest.raises(ValueError, match=r"X holds 60 objects, .* at most 50; map a sample and transform the others"):
        ConditionalGPLVM().fit(curves[0])


def test_new_objects_need_what_is_known(curves):
    Y, known, _ = curves
    with pytest.warns(ConvergenceWarning, match="stopped after 3 iterations because max_iter was reached"):
        gplvm = ConditionalGPLVM(max_iter=3).fit(Y, known=known[:, None])
    with pytest.raises(ValueError, match="known is needed"):
        gplvm.transform(Y)


@parametrize_with_checks([ConditionalGPLVM(1, max_iter=5)])
def test_scikit_learn_conventions(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
