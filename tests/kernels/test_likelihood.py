"""The pass of a likelihood: compiled, plain, and by scipy's normal distribution."""

import numpy as np
import pytest
from scipy.stats import norm

from unmask.kernels import likelihood

from . import twins


def made_up(rng, n=9, k=3):
    rows, columns = np.triu_indices(n, 1)
    keep = rng.uniform(size=len(rows)) < 0.8
    rows, columns = rows[keep], columns[keep]
    Z = rng.standard_normal((n, k))
    Z[1] = Z[0]  # two objects in one place
    return Z, rows, columns, rng.uniform(0, 2, len(rows)), rng.uniform(0.5, 2, len(rows))


@pytest.mark.parametrize("gamma", [-0.4, 0.0, 0.7])
def test_compiled_and_plain_pass_agree(rng, gamma):
    Z, *pairs = made_up(rng)
    G, twin = np.empty_like(Z), np.empty_like(Z)
    found = likelihood.likelihood_pass(Z, *pairs, -1.3, gamma, G)
    np.testing.assert_allclose(found, twins.likelihood_pass(Z, *pairs, -1.3, gamma, twin), rtol=1e-10)
    np.testing.assert_allclose(G, twin, rtol=1e-10, atol=1e-9)


def test_it_is_the_sum_of_normal_log_densities(rng):
    Z, rows, columns, delta, precision = made_up(rng)
    d = np.linalg.norm(Z[rows] - Z[columns], axis=1)
    sd = np.exp(-1.3) * np.sqrt(d**2 + 0.01**2) ** 0.7 / np.sqrt(precision)
    value, _, _ = likelihood.likelihood_pass(Z, rows, columns, delta, precision, -1.3, 0.7, np.empty_like(Z))
    assert value == pytest.approx(norm.logpdf(delta, d, sd).sum(), rel=1e-12)
