"""New objects are placed where they are most likely to be, and their pairs are predicted as surely as is said."""

import numpy as np
import pytest
from scipy.optimize import minimize

from unmask.posterior import Chains, Draws
from unmask.posterior._new import _Beside

from .simulated import make_model

N = 20


def beside(rng, *, gamma=0.8, draws=6, missing=0, noise=0.2):
    """Return a new object beside draws that are all about the same map, in which the noise grows with the distance."""
    known = rng.standard_normal((N, 2))
    model = make_model(N, 2, known)
    x = np.tile(rng.standard_normal(model.size), (draws, 1))
    x += 0.05 * rng.standard_normal(x.shape)
    x[:, -2:] = (np.log(noise) + 1.6), (gamma - 0.5) / 0.5
    found = Draws(model, Chains(x[None], np.zeros((1, draws), dtype=bool)), 2)
    v, place = rng.standard_normal(2), 0.35 * rng.standard_normal(2)
    own = model.parameters(x[0])
    d = np.sqrt(np.sum((own.U - place) ** 2, axis=1) + np.sum(((own.V - v) @ own.C) ** 2, axis=1))
    delta = np.abs(d + noise * d**gamma * rng.standard_normal(N))
    delta[:missing] = np.nan
    return _Beside(found, delta, v)


def by_differences(f, u, h=1e-5):
    steps = h * np.eye(u.shape[1])
    return np.stack([(f(u + e) - f(u - e)) / (2 * h) for e in steps], axis=-1)


@pytest.mark.parametrize("gamma", [-0.5, 0.0, 0.8, 1.5])
def test_gradient_is_that_of_the_cost_whose_noise_changes_too(rng, gamma):
    here = beside(rng, gamma=gamma, missing=3)
    u = 0.35 * rng.standard_normal((6, 2))
    np.testing.assert_allclose(here._curvature(u)[1], by_differences(here.cost, u), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("missing", [0, 12])
@pytest.mark.parametrize("gamma", [-0.5, 0.0, 0.8, 1.5])
def test_a_new_object_is_placed_where_it_is_most_likely(rng, gamma, missing):
    here = beside(rng, gamma=gamma, missing=missing)
    u = here.most_likely(rng)
    np.testing.assert_allclose(by_differences(here.cost, u), 0.0, atol=1e-4)
    H, _ = here._curvature(u)
    np.testing.assert_allclose(H, by_differences(lambda at: here._curvature(at)[1], u), rtol=1e-4, atol=1e-3)
    # What another search finds from there is no better.
    for s in range(len(u)):
        found = minimize(lambda at, s=s: here.cost(np.tile(at, (len(u), 1)))[s], u[s])
        assert found.fun > here.cost(u)[s] - 1e-6
