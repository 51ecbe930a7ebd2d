"""The numbers behind the pages on what differs from the papers."""

import numpy as np
import pytest
from benchmarks.adjusted.page import renew
from benchmarks.measure import ROOT
from benchmarks.papers import complexity

from unmask import ConditionalMDS
from unmask.datasets import make_car_brands


@pytest.mark.parametrize("weights", [None, "sammon"])
def test_the_reference_is_the_published_algorithm(weights):
    cars = make_car_brands(25, random_state=0)
    D, V = cars.dissimilarities.to_numpy(), cars.known.iloc[:, :4].to_numpy()
    W = np.ones(D.shape) if weights is None else 1 / np.where(D > 0, D, 1.0)
    np.fill_diagonal(W, 0.0)
    reference = complexity.Reference(D, V, W)
    inverse, regression = reference.inverse(), reference.regression(reference.laplacian)
    if weights is None:
        np.testing.assert_allclose(inverse, reference.inverse_for_equal_weights(), rtol=0, atol=1e-12)
    start = U, B = np.random.default_rng(0).uniform(size=(25, 3)), np.eye(4)
    path = [reference.stress(reference.distances(U, B))]
    for _ in range(6):
        C = reference.attraction(U, B)
        U, B = reference.update_map(inverse, C, U), reference.update_coefficients(regression, C, B)
        path.append(reference.stress(reference.distances(U, B)))
    mds = ConditionalMDS(3, metric="precomputed", weights=weights, solver="smacof", init=start, n_init=1, tol=0.0)
    with pytest.warns(Warning, match="max_iter"):
        mds.set_params(max_iter=6).fit(D, known=V)
    np.testing.assert_allclose(mds.stress_path_[:7], path, rtol=1e-6, atol=0)


def test_exponents_are_slopes_and_the_page_has_all_steps(monkeypatch):
    assert complexity.exponent({10: 1.0, 100: 100.0, 1000: 1e4}) == pytest.approx(2)
    monkeypatch.setattr(complexity, "ENOUGH", 0.0)
    parts = complexity.page(complexity.measure(sizes=(20, 40), rounds=1))
    lines = parts["complexity"].splitlines()
    assert len(lines) == 2 + len(complexity.ROWS)
    assert all("N^" in line for line in lines[2:])
    text = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert renew(text, parts, by="make papers") != text  # the marks are there
