"""Starts: how many there are, and that none is stuck."""

import numpy as np

from tests.helpers import noisy_distances
from unmask.solvers import automatic_number, closed_form, make_starts

from .problems import objective_for


def test_negative_squared_coefficients_become_zero_and_starts_leave_zero(rng):
    """A feature that makes objects more alike has no real coefficient; a start must not be stuck there."""
    n = 30
    V = rng.standard_normal((n, 2))
    D = noisy_distances(rng, n) + 1
    D = D - 0.3 * np.abs(V[:, :1] - V[:, 0])
    D = np.abs(np.triu(D, 1))
    D = D + D.T
    objective, coded = objective_for(D, V, coef="diagonal")
    gram = closed_form(objective.engine, coded, 2).gram
    assert gram[0, 0] == 0
    (start,) = make_starts(objective, coded, "closed-form", 1, rng)
    assert objective.structure.gram(start.theta)[0, 0] > 0


def test_number_of_automatic_starts_falls_with_the_number_of_objects():
    numbers = [automatic_number(n) for n in (3, 14, 30, 100, 299, 300, 100_000)]
    assert numbers == sorted(numbers, reverse=True)
    assert automatic_number(14) >= 100
    assert automatic_number(100_000) == 1
