"""What is predicted of pairs has the noise of the model, and comes back in the unit in which it was given."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from unmask.posterior import Chains, Draws, Line

from .simulated import make_model

N, DRAWS = 8, 4000


def certain(rng, s=0.3, gamma=0.5, precision=None):
    """Return draws that are all the same, so that only the noise of a judgement is left, and their distances."""
    model = make_model(N, 2)
    if precision is not None:
        model = replace(model, evidence=replace(model.evidence, precision=precision))
    x = rng.standard_normal(model.size)
    x[-2:] = np.log(s) + 1.6, (gamma - 0.5) / 0.5
    draws = Draws(model, Chains(np.tile(x, (1, DRAWS, 1)), np.zeros((1, DRAWS), dtype=bool)), 2)
    U = model.parameters(x).U
    return draws, np.linalg.norm(U[model.evidence.rows] - U[model.evidence.columns], axis=1)


def test_a_judgement_has_the_noise_of_its_own_precision(rng):
    precision = rng.uniform(0.2, 5.0, N * (N - 1) // 2)
    draws, d = certain(rng, precision=precision)
    seen = draws.model.evidence
    said = draws.predict(seen.columns, seen.rows, 0.9, 0)
    expected = 0.3 * (d**2 + 0.01**2) ** 0.25 / np.sqrt(precision)
    np.testing.assert_allclose((said.high - said.low) / (2 * norm.ppf(0.95)), expected, rtol=0.1)
    # A pair that was not seen is of precision 1.
    rest = replace(seen, **{name: getattr(seen, name)[1:] for name in ("rows", "columns", "delta", "precision")})
    said = replace(draws, model=replace(draws.model, evidence=rest)).predict(seen.rows[:1], seen.columns[:1], 0.9, 0)
    assert (said.high - said.low).item() == pytest.approx(2 * norm.ppf(0.95) * 0.3 * d[0] ** 0.5, rel=0.1)


def test_what_is_below_the_constant_of_a_line_is_predicted_too(rng):
    draws, _ = certain(rng, s=1.0, gamma=0.0)
    seen, line = draws.model.evidence, Line(5.0, 2.0)
    said = draws.predict(seen.rows, seen.columns, 0.95, 0)
    assert (line.back(said.low) < 5.0).any()
    assert (line.back(said.low) < line.back(said.high)).all()
    np.testing.assert_allclose(line.back(line(np.array([0.0, 3.0, 7.0]))), [0.0, 3.0, 7.0])
    assert line.back(np.array([-100.0])).item() == 0.0
