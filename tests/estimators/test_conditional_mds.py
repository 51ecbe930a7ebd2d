"""ConditionalMDS: known numbers, and truth that is recovered."""

import numpy as np
import pytest
from sklearn.manifold import smacof

from unmask.datasets import make_car_brands
from unmask.inspection import average_canonical_correlation

from .fits import fit

BEST = {
    "gender": (["gender"], {}, 0.026086954836),
    "full": (["gender", "degree"], {}, 0.014288491061),
    "diagonal": (["gender", "degree"], {"coef": "diagonal"}, 0.014289490737),
    "sammon": (["gender", "degree"], {"weights": "sammon"}, 0.019867975049),
}


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 20))])
@pytest.mark.parametrize("case", BEST)
def test_defaults_find_the_best_known_minimum_with_any_seed(kinship, case, seed):
    columns, options, stress = BEST[case]
    mds = fit(kinship.dissimilarities, kinship.known[columns], random_state=seed, **options)
    assert mds.stress_ == pytest.approx(stress, abs=1e-8)
    assert mds.converged_


def test_estimator_follows_the_reference_from_its_start(kinship, reference):
    """The same through the public face: init=(U0, B0), the solver and the tolerance of the reference."""
    expected = reference("b_GD_matrix_g1e-9")
    mds = fit(
        kinship.dissimilarities,
        kinship.known[["gender", "degree"]],
        init=(reference("U_start.csv"), np.eye(2)),
        solver="smacof",
        tol=1e-9,
    )
    total = np.sum(np.triu(kinship.dissimilarities.to_numpy(), 1) ** 2.0)
    np.testing.assert_allclose(mds.stress_path_ * total, expected["sigma"], rtol=1e-9)
    B = np.array(expected["B"])
    np.testing.assert_allclose(mds.coef_.to_numpy() @ mds.coef_.to_numpy(), B @ B.T, rtol=1e-7)
    assert list(mds.starts_["kind"]) == ["given"]


def test_without_known_features_it_is_metric_mds(kinship):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    mine = fit(D)
    start = mine.embedding_ + 0.1 * np.random.default_rng(0).standard_normal((14, 2))
    _, raw, _ = smacof(
        D, n_components=2, init=start, n_init=1, max_iter=3000, eps=1e-12, return_n_iter=True, normalized_stress=False
    )
    assert mine.stress_ * np.sum(np.triu(D) ** 2) == pytest.approx(raw, rel=1e-6)
    assert mine.leak_ == 0
    assert mine.coef_.shape == (0, 0)
    assert mine.importance_.shape == (0, 2)


def test_exact_configurations_are_recovered_exactly(rng):
    """Without noise the map is the unknown features up to rotation and the coefficients are the true ones."""
    U, V, b = rng.standard_normal((30, 2)) * [2, 1], rng.standard_normal((30, 2)), np.array([1.5, 0.5])
    Z = np.column_stack([U, V * b])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    for coef in ("full", "diagonal"):
        mds = fit(D, V, coef=coef)
        assert mds.stress_ < 1e-10
        np.testing.assert_allclose(mds.coef_.to_numpy(), np.diag(b), atol=1e-3)
        assert average_canonical_correlation(mds.embedding_, U) == pytest.approx(1, abs=1e-5)


def test_no_unknown_dimension_fits_the_coefficients_alone(rng):
    V, B = rng.standard_normal((20, 2)), np.array([[2.0, 0.3], [0.3, 1.0]])
    Z = V @ B
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    mds = fit(D, V, n_components=0)
    assert mds.embedding_.shape == (20, 0)
    np.testing.assert_allclose(mds.coef_.to_numpy(), B, atol=1e-4)
    assert mds.leak_ == 0
    assert mds.transform(D, known=V).shape == (20, 0)


@pytest.mark.parametrize(("replicates", "n_init"), [(15, 20), pytest.param(100, "auto", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("q", "least"), [(4, 0.89), (5, 0.915), (6, 0.96)])
def test_car_brands_recover_all_seven_features(q, least, replicates, n_init):
    """Median over the replicates of the papers' score; plain metric MDS reaches about .81."""
    scores = []
    for replicate in range(replicates):
        cars = make_car_brands(random_state=replicate)
        known = cars.known.iloc[:, :q]
        U = fit(cars.dissimilarities, known, n_components=7 - q, n_init=n_init, random_state=replicate).embedding_
        scores.append(average_canonical_correlation(np.column_stack([U, known]), cars.features))
    assert np.median(scores) >= least
