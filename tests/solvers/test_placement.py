"""Placing new objects on a finished map."""

import numpy as np

from unmask.solvers import place


def test_placement_finds_the_global_minimum_on_a_grid(rng):
    n, p = 15, 2
    U, c = rng.standard_normal((n, p)), rng.uniform(0, 0.5, (4, n))
    delta = rng.uniform(0.5, 3, (4, n))
    weight = rng.uniform(0.2, 1, (4, n))
    weight[1, :5] = 0
    placed = place(delta, weight, U, c, c, np.zeros(n))
    axis = np.linspace(-4, 4, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for row in range(4):

        def stress(u, row=row):
            d = np.sqrt(((u[:, None] - U[None]) ** 2).sum(axis=2) + c[row])
            return (weight[row] * (delta[row] - d) ** 2).sum(axis=1)

        assert stress(placed[row : row + 1])[0] <= stress(grid).min() + 1e-9


def test_placement_of_nothing_and_in_no_dimension():
    one, c = np.ones((2, 5)), np.zeros((2, 5))
    assert place(one, one, np.empty((5, 0)), c, c, np.zeros(5)).shape == (2, 0)
