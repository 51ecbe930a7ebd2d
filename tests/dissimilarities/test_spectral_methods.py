"""Each spectral method against another library, a formula, and its conditions of optimality."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.datasets import make_s_curve
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import Isomap, LocallyLinearEmbedding, spectral_embedding

from tests import recordings
from unmask import ConditionalGPLVM, MapWarning, SpectralMap
from unmask.dissimilarities import (
    AcyclicLocallyLinear,
    Drill,
    Geodesic,
    KernelDissimilarity,
    LaplacianEigenmaps,
    LocallyLinear,
    MaximumEntropyUnfolding,
)


@pytest.fixture(scope="module")
def sheet():
    return make_s_curve(150, noise=0.02, random_state=0)[0]


def edges(graph):
    """Return the undirected edges of a symmetric graph."""
    i, j = graph.tocoo().coords
    return i[i < j], j[i < j]


def assert_same_subspace(A, B, atol):
    assert np.linalg.matrix_rank(A) == A.shape[1]
    np.testing.assert_allclose(subspace_angles(A, B), 0.0, rtol=0, atol=atol)


# ---- kernel


@pytest.mark.parametrize("kernel", [("rbf", {"gamma": 0.3}), ("poly", {"degree": 2, "coef0": 1.0}), ("linear", {})])
def test_classical_map_of_a_kernel_is_kernel_pca(sheet, kernel):
    name, params = kernel
    theirs = KernelPCA(2, kernel=name, **params).fit(sheet[:100])
    ours = SpectralMap(KernelDissimilarity(name, kernel_params=params)).fit(sheet[:100])
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.transform(sheet[:100])), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        np.abs(ours.transform(sheet[100:])), np.abs(theirs.transform(sheet[100:])), rtol=1e-6, atol=1e-7
    )


def test_linear_kernel_gives_euclidean_distances_and_a_function_is_taken(sheet):
    expected = cdist(sheet, sheet)
    np.testing.assert_allclose(KernelDissimilarity("linear").fit_transform(sheet), expected, rtol=1e-6, atol=1e-7)
    by_function = KernelDissimilarity(lambda x, y: float(x @ y)).fit_transform(sheet[:20])
    np.testing.assert_allclose(by_function, expected[:20, :20], rtol=1e-6, atol=1e-7)


def test_errors_of_kernels(sheet):
    with pytest.raises(ValueError, match="kernel='precomputed' is not offered"):
        KernelDissimilarity("precomputed").fit(np.eye(5))
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelDissimilarity(lambda x, y: -float(x @ y)).fit(sheet[:10])


# ---- Isomap (the geodesic transformer with the same last stage)


def test_classical_map_of_geodesics_is_isomap(sheet):
    theirs = Isomap(n_neighbors=8, eigen_solver="dense").fit_transform(sheet)
    ours = SpectralMap(Geodesic(8)).fit_transform(sheet)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-6, atol=1e-8)


# ---- Laplacian eigenmaps


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("weights", ["constant", "rbf"])
def test_classical_map_of_resistances_is_laplacian_eigenmaps(sheet, normalized, weights):
    model = SpectralMap(LaplacianEigenmaps(8, weights=weights, gamma=2.0, normalized=normalized), 3).fit(sheet)
    lengths = model.dissimilarity_.graph_.toarray()
    adjacency = np.where(lengths > 0, np.exp(-2.0 * lengths**2) if weights == "rbf" else 1.0, 0.0)
    theirs = spectral_embedding(adjacency, n_components=3, norm_laplacian=normalized, eigen_solver="arpack",
                                eigen_tol=1e-12, random_state=0)  # fmt: skip
    for axis in range(3):  # the eigenvalues differ, so each axis is determined on its own
        assert_same_subspace(model.embedding_[:, [axis]], theirs[:, [axis]], 1e-5)


def test_resistances_add_in_series_and_conductances_in_parallel():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    D = LaplacianEigenmaps(2).fit_transform(square)
    np.testing.assert_allclose(D[0] ** 2, [0, 3 / 4, 1, 3 / 4], rtol=1e-12, atol=1e-12)


def test_default_width_is_the_median_edge(sheet):
    model = LaplacianEigenmaps(5, weights="rbf").fit(sheet)
    i, j = edges(model.graph_)
    squared = np.sum((sheet[i] - sheet[j]) ** 2, axis=1)
    weights = np.exp(-squared / np.median(squared))
    np.testing.assert_allclose(-model.precision_[i, j], weights, rtol=1e-10, atol=0)
    np.testing.assert_allclose(model.masses_, np.diagonal(model.precision_), rtol=1e-12, atol=0)


# ---- maps without a table


@pytest.mark.parametrize(
    "method",
    [
        LaplacianEigenmaps(8),
        LaplacianEigenmaps(8, weights="rbf", normalized=False),
        LocallyLinear(8),
        AcyclicLocallyLinear(8),
    ],
)
def test_sparse_map_is_the_classical_map_of_the_table(sheet, method):
    model = SpectralMap(method, 3).fit(sheet)
    transformer, n = model.dissimilarity_, len(sheet)
    masses = getattr(transformer, "masses_", np.ones(n))
    centring = np.eye(n) - masses / masses.sum()
    root = np.sqrt(n * masses / masses.sum())
    products = -0.5 * centring @ transformer.dissimilarities_**2 @ centring.T
    values, vectors = np.linalg.eigh(root[:, None] * products * root)
    expected = vectors[:, :-4:-1] * np.sqrt(values[:-4:-1]) / root[:, None]
    np.testing.assert_allclose(model.eigenvalues_, values[:-4:-1], rtol=1e-7, atol=0)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected), rtol=0, atol=1e-7 * np.abs(expected).max())
    again = SpectralMap(method, 3).fit(sheet)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    # A new object's place by Gower's formula, from the dissimilarities, is the weighted mean of its neighbours' places.
    new = sheet[:5] + 0.01
    squared = transformer.transform(new) ** 2
    means = transformer.dissimilarities_**2 @ (masses / masses.sum())
    inner = -0.5 * (squared - means) @ centring.T
    placed = inner @ (root[:, None] ** 2 * model.embedding_) / model.eigenvalues_
    np.testing.assert_allclose(model.transform(new), placed, rtol=0, atol=1e-6 * np.abs(placed).max())


def test_many_objects_are_read_in_parts(monkeypatch, sheet):
    expected = [SpectralMap(method).fit_transform(sheet) for method in (LaplacianEigenmaps(8), LocallyLinear(8))]
    monkeypatch.setattr("unmask.dissimilarities._on_demand.LARGE", 0)
    monkeypatch.setattr("unmask.dissimilarities.Metric._square", None)  # no table is made
    found = [SpectralMap(method).fit_transform(sheet) for method in (LaplacianEigenmaps(8), LocallyLinear(8))]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-7 * np.abs(other).max())


# ---- locally linear embedding


@pytest.mark.parametrize("ridge", [1e-3, 1e-2])
def test_classical_map_of_locally_linear_is_that_of_scikit_learn(sheet, ridge):
    theirs = LocallyLinearEmbedding(n_neighbors=8, n_components=2, reg=ridge, eigen_solver="dense").fit(sheet)
    ours = SpectralMap(LocallyLinear(8, ridge=ridge)).fit(sheet)
    for axis in range(2):
        assert_same_subspace(ours.embedding_[:, [axis]], theirs.embedding_[:, [axis]], 1e-5)


def test_weights_minimise_the_error_of_reconstruction(rng):
    Y = rng.normal(size=(30, 10))
    model = LocallyLinear(4).fit(Y)
    W = model.weights_.toarray()
    residual = Y - W @ Y
    np.testing.assert_allclose(W.sum(axis=1), 1.0, rtol=1e-10, atol=0)
    for i in range(30):  # at the optimum the residual is equally correlated with all neighbours
        products = (Y[i] - Y[W[i] != 0]) @ residual[i]
        np.testing.assert_allclose(products, products.mean(), rtol=1e-8, atol=0)


def test_automatic_ridge_is_for_singular_products_only(rng):
    wide, narrow = rng.normal(size=(30, 10)), rng.normal(size=(30, 2))
    for Y, ridge in ((wide, 0.0), (narrow, 1e-3)):
        expected = LocallyLinear(5, ridge=ridge).fit(Y).weights_.toarray()
        np.testing.assert_allclose(LocallyLinear(5).fit(Y).weights_.toarray(), expected, rtol=1e-9, atol=1e-12)


def test_directions_without_error_are_refused():
    line = np.column_stack([np.arange(20.0), np.zeros(20)])
    with pytest.raises(ValueError, match="ridge=0 leaves the weights"):
        LocallyLinear(2, ridge=0.0).fit(line)
    with pytest.raises(ValueError, match="ridge='some'"):
        LocallyLinear(2, ridge="some").fit(line)
    with pytest.raises(ValueError, match="ridge=-1"):
        LocallyLinear(2, ridge=-1).fit(line)


def test_groups_that_only_reconstruct_themselves_are_led_out():
    # Two tight clusters, and an object between them that belongs to neither: one graph, two closed groups.
    rng = np.random.default_rng(5)
    a, b = rng.normal(scale=0.1, size=(6, 4)), rng.normal(scale=0.1, size=(7, 4)) + np.array([5, 0, 0, 0])
    between = np.array([[2.5, 0.0, 0.0, 0.0]])
    Y = np.concatenate([a, b, between])
    with pytest.warns(MapWarning, match="2 groups"):
        model = LocallyLinear(3).fit(Y)
    extra = np.flatnonzero(np.count_nonzero(model.weights_.toarray(), axis=1) == 4)
    assert len(extra) == 1
    assert extra[0] < 6  # the smaller group
    assert np.linalg.matrix_rank(model.precision_) == 13


# ---- acyclic


def test_acyclic_field_is_the_product_of_its_conditionals(rng):
    Y = rng.normal(size=(12, 6))
    order = rng.permutation(12)
    model = AcyclicLocallyLinear(3, order=order).fit(Y)
    W, precisions = model.weights_.toarray(), model.precisions_
    place = np.argsort(order)
    assert all(place[j] > place[i] for i, j in zip(*np.nonzero(W), strict=True))
    assert precisions[order[-1]] == 0
    L = sum(t * np.outer(e - w, e - w) for t, e, w in zip(precisions, np.eye(12), W, strict=True))
    np.testing.assert_allclose(model.precision_, L, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        model.covariance_, np.linalg.pinv(L, hermitian=True), rtol=1e-6, atol=1e-8 * np.abs(model.covariance_).max()
    )
    # The likelihood of the field is that of the objects one after the other, each with its own error.
    log_determinant = np.log(np.linalg.eigvalsh(L)[1:]).sum() - np.log(12)
    assert np.log(precisions[order[:-1]]).sum() == pytest.approx(log_determinant, rel=1e-9)
    assert np.trace(Y.T @ L @ Y) == pytest.approx(11, rel=1e-9)


def test_precisions_maximise_the_likelihood(rng):
    Y = rng.normal(size=(12, 6))
    model = AcyclicLocallyLinear(3).fit(Y)
    errors = np.sum((Y - model.weights_ @ Y) ** 2, axis=1)[:-1]
    np.testing.assert_allclose(model.precisions_[:-1] * errors, 1.0, rtol=1e-9, atol=0)


def test_order_is_that_of_the_rows_and_errors_say_so(rng):
    Y = rng.normal(size=(15, 6))
    order = rng.permutation(15)
    by_order = AcyclicLocallyLinear(3, order=order).fit_transform(Y)[np.ix_(order, order)]
    np.testing.assert_allclose(by_order, AcyclicLocallyLinear(3).fit_transform(Y[order]), rtol=1e-9, atol=1e-12)
    for wrong in (np.arange(14), np.zeros(15), np.arange(15) + 1):
        with pytest.raises(ValueError, match="each once"):
            AcyclicLocallyLinear(3, order=wrong).fit(Y)


def test_objects_reproduced_exactly_have_a_bounded_precision():
    Y = np.column_stack([np.r_[np.zeros(4), 1.0, 2.0, 4.0, 7.0], np.ones(8)])
    with pytest.warns(MapWarning, match="of 7 objects are reproduced"):
        model = AcyclicLocallyLinear(1).fit(Y)
    # Steps of 0 (three of them), 1, 1, 2 and 3: the median square of the others is (1 + 4) / 2.
    assert model.precisions_.max() == pytest.approx(1 / (1e-3 * 2.5), rel=1e-9)


# ---- maximum entropy unfolding


def test_optimality_of_maximum_entropy(sheet):
    model = MaximumEntropyUnfolding(6, tol=1e-6).fit(sheet)
    i, j = edges(model.graph_)
    lengths = np.sum((sheet[i] - sheet[j]) ** 2, axis=1)
    found, weights = model.dissimilarities_[i, j] ** 2, model.multipliers_
    held = weights * lengths > 1e-4
    assert 0 < held.sum() < len(held)
    np.testing.assert_allclose(found[held], lengths[held], rtol=1e-4, atol=0)
    assert np.all(found <= lengths * (1 + 1e-4))
    assert weights.min() >= 0
    assert weights @ lengths == pytest.approx(len(sheet) - 1, rel=1e-6)
    np.testing.assert_allclose(-model.precision_[i, j], weights, rtol=1e-12, atol=0)
    determinant = np.linalg.slogdet(model.precision_ + 1 / len(sheet))[1]
    assert model.objective_ == pytest.approx(determinant - weights @ lengths, rel=1e-9)
    assert model.converged_


def test_default_tolerance_bounds_the_violation(sheet):
    model = MaximumEntropyUnfolding(6).fit(sheet)
    i, j = edges(model.graph_)
    ratio = model.dissimilarities_[i, j] ** 2 / np.sum((sheet[i] - sheet[j]) ** 2, axis=1)
    assert ratio.max() <= 1 + 1.01e-3
    assert model.n_iter_ <= 60


def test_maximum_entropy_of_a_tree_keeps_all_edges():
    # On a tree the field is a random walk: each weight is 1 / squared length, squares add along paths.
    line = np.cumsum([0.0, 1.0, 2.0, 0.5])[:, None]
    with pytest.warns(MapWarning, match="2 parts"):
        model = MaximumEntropyUnfolding(1, tol=1e-10).fit(line)
    expected = np.cumsum([0, 1.0, 4.0, 0.25])
    np.testing.assert_allclose(model.dissimilarities_[0] ** 2, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(np.sort(model.multipliers_), [1 / 4, 1, 4], rtol=1e-7, atol=0)


def test_maximum_entropy_equals_a_plain_optimiser(rng):
    Y = rng.normal(size=(8, 3))
    model = MaximumEntropyUnfolding(3, tol=1e-8).fit(Y)
    i, j = edges(model.graph_)
    lengths = np.sum((Y[i] - Y[j]) ** 2, axis=1)

    def cost(roots):
        L = np.zeros((8, 8))
        for a, b, weight in zip(i, j, roots**2, strict=True):
            L[[a, b], [a, b]] += weight
            L[[a, b], [b, a]] -= weight
        return roots**2 @ lengths - np.linalg.slogdet(L + 1 / 8)[1]

    plain = minimize(cost, np.full(len(i), 0.7), method="BFGS", options={"gtol": 1e-7, "maxiter": 5000})
    assert model.objective_ == pytest.approx(-plain.fun, rel=1e-7)
    assert model.objective_ >= -plain.fun - 1e-9


def with_base(i, j, weights, gamma):
    L = gamma * np.eye(8)
    for a, b, weight in zip(i, j, weights, strict=True):
        L[[a, b], [a, b]] += weight
        L[[a, b], [b, a]] -= weight
    return L


def test_a_base_density_equals_a_plain_optimiser(rng):
    Y, gamma = rng.normal(size=(8, 9)), 0.02
    model = MaximumEntropyUnfolding(3, gamma=gamma, tol=1e-8).fit(Y)
    i, j = edges(model.graph_)
    lengths = np.sum((Y[i] - Y[j]) ** 2, axis=1)

    def cost(roots):
        return roots**2 @ lengths - np.linalg.slogdet(with_base(i, j, roots**2, gamma))[1]

    plain = minimize(cost, np.full(len(i), 0.2), method="BFGS", options={"gtol": 1e-6, "maxiter": 5000})
    assert model.objective_ == pytest.approx(-plain.fun, rel=1e-7)
    np.testing.assert_allclose(model.precision_, with_base(i, j, model.multipliers_, gamma), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.covariance_ @ model.precision_, np.eye(8), rtol=0, atol=1e-9)


def test_kept_distances_with_a_base_density(rng):
    Y, gamma = rng.normal(size=(8, 9)), 0.02
    model = MaximumEntropyUnfolding(3, gamma=gamma, constraints="equal", tol=1e-8).fit(Y)
    i, j = edges(model.graph_)
    np.testing.assert_allclose(ratios(model, Y), 1, rtol=1e-8, atol=0)
    np.testing.assert_allclose(model.precision_, with_base(i, j, model.multipliers_, gamma), rtol=0, atol=1e-12)


def test_a_weak_base_density_changes_nothing(sheet):
    plain, weak = (MaximumEntropyUnfolding(6, tol=1e-6, gamma=gamma).fit(sheet) for gamma in (0.0, 1e-6))
    np.testing.assert_allclose(weak.dissimilarities_, plain.dissimilarities_, rtol=0, atol=1e-4)
    # A stronger one, which draws all objects to the centre, makes a smaller map.
    sizes = [
        MaximumEntropyUnfolding(6, gamma=gamma).fit(sheet).dissimilarities_.max() for gamma in (0.0, 0.1, 1.0, 5.0)
    ]
    assert np.all(np.diff(sizes) < 0)


def ratios(model, Y):
    """Return the dissimilarities of neighbours as shares of those of the data."""
    i, j = edges(model.graph_)
    return model.dissimilarities_[i, j] / np.linalg.norm(Y[i] - Y[j], axis=1)


@pytest.mark.parametrize("data", recordings.ALL)
def test_neighbours_keep_their_distances_with_equal_constraints_only(data):
    Y, k = recordings.load(data), recordings.neighbours(data)
    upper, equal = (MaximumEntropyUnfolding(k, constraints=how).fit(Y) for how in ("upper", "equal"))
    assert ratios(upper, Y).min() < 0.9
    assert ratios(upper, Y).max() < 1 + 1e-3
    assert np.mean(np.abs(ratios(upper, Y) - 1) < 0.01) < 0.9
    np.testing.assert_allclose(ratios(equal, Y), 1, rtol=0, atol=1e-4)
    assert np.mean(equal.multipliers_ < 0) > 0.1
    assert equal.objective_ > upper.objective_  # a maximum over more multipliers
    assert equal.converged_
    assert equal.n_iter_ <= 20


@pytest.mark.parametrize("columns", [40, 102])
def test_with_all_distances_kept_nothing_is_unfolded(rng, columns):
    Y = rng.normal(size=(20, columns))
    for n_neighbors in (None, 19):
        model = MaximumEntropyUnfolding(n_neighbors, constraints="equal", tol=1e-9).fit(Y)
        np.testing.assert_allclose(model.dissimilarities_, cdist(Y, Y), rtol=1e-11, atol=1e-11)
        centred = Y - Y.mean(axis=0)
        np.testing.assert_allclose(model.covariance_, centred @ centred.T, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_neighbors", [2, 6])
def test_distances_are_kept_where_the_multipliers_have_no_finite_optimum(sheet, n_neighbors):
    """Five objects in three columns that are all neighbours have distances of no field of full rank."""
    Y = sheet if n_neighbors > 2 else np.array([[0.0], [1.0], [3.0], [4.0]])
    rough, fine = (MaximumEntropyUnfolding(n_neighbors, constraints="equal", tol=tol).fit(Y) for tol in (1e-2, 1e-3))
    np.testing.assert_allclose(ratios(fine, Y), 1, rtol=0, atol=1e-4)
    assert fine.objective_ > rough.objective_ + 1  # without a bound


@pytest.mark.parametrize("constraints", ["upper", "equal"])
def test_not_converging_is_a_warning(sheet, constraints):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = MaximumEntropyUnfolding(6, constraints=constraints, max_iter=2).fit(sheet)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_missing_features_need_a_metric_that_takes_them(rng):
    X = rng.standard_normal((40, 60)).cumsum(axis=0) / 5
    gaps = np.where(rng.uniform(size=X.shape) < 0.05, np.nan, X)
    with pytest.raises(ValueError, match="NaN"):
        ConditionalGPLVM(1).fit(gaps)
    for method in (MaximumEntropyUnfolding(4), Drill(4, penalty=0.05)):
        with pytest.raises(ValueError, match="NaN"):
            method.fit(gaps)
        whole = method.fit(X).dissimilarities_
        found = method.set_params(metric="nan_euclidean").fit(gaps).dissimilarities_
        assert np.corrcoef(whole.ravel(), found.ravel())[0, 1] > 0.95
