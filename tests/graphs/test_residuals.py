"""Features without what known features explain."""

import numpy as np
import pytest

from tests.neighbours.simulated import batches
from unmask.graphs import match_residuals


def one_hot(codes):
    return np.eye(codes.max() + 1)[codes]


def test_shifts_of_confounded_groups_are_found():
    """Groups are unevenly spread over the batches: ordinary residuals charge part of the groups to the batches."""
    rng = np.random.default_rng(3)
    n, columns = 900, 10
    group = rng.integers(4, size=n)
    batch = (rng.random(n) < np.array([0.15, 0.35, 0.65, 0.85])[group]).astype(int)
    shift, centres = 2.0 * rng.normal(size=columns), 4.0 * rng.normal(size=(4, columns))
    pure = centres[group] + rng.normal(size=(n, columns))
    V = one_hot(batch)
    model = match_residuals(pure + batch[:, None] * shift, V, batch, seed=0)
    left = model.residuals(pure + batch[:, None] * shift, V)
    ordinary = pure + batch[:, None] * shift
    ordinary = ordinary - V @ np.linalg.lstsq(V, ordinary, rcond=None)[0]

    def error(Z):
        """Return how far batches are apart within groups."""
        apart = [
            Z[(group == g) & (batch == 1)].mean(axis=0) - Z[(group == g) & (batch == 0)].mean(axis=0) for g in range(4)
        ]
        return float(np.mean(np.linalg.norm(apart, axis=1)))

    assert error(left) < 0.25 * error(ordinary)


def test_shifts_of_their_own_of_each_group_are_found():
    X, group, batch = batches(1500, seed=1)
    left = match_residuals(X, one_hot(batch), batch, seed=0).residuals(X, one_hot(batch))

    def apart(Z):
        means = np.array([[Z[(group == g) & (batch == b)].mean(axis=0) for b in range(3)] for g in range(5)])
        return float(np.linalg.norm(means - means.mean(axis=1, keepdims=True), axis=2).mean())

    ordinary = X - np.array([X[batch == b].mean(axis=0) for b in range(3)])[batch]
    assert apart(left) < 0.6 * apart(ordinary)


def test_new_objects_are_treated_as_fitted_ones():
    X, _, batch = batches(500)
    V = one_hot(batch)
    model = match_residuals(X, V, batch, seed=0)
    np.testing.assert_allclose(model.residuals(X[:40], V[:40]), model.residuals(X, V)[:40], atol=1e-10)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_the_place_of_features_and_known_columns_does_not_matter(shift):
    X, _, batch = batches(400)
    V = one_hot(batch)
    left = match_residuals(X, V, batch, seed=0).residuals(X, V)
    moved = match_residuals(X + shift, V + shift, batch, seed=0).residuals(X + shift, V + shift)
    np.testing.assert_allclose(moved - moved.mean(axis=0), left - left.mean(axis=0), atol=1e-5)


def test_collinear_columns_and_levels_of_one_object():
    X, _, batch = batches(300)
    batch[0] = 3  # alone
    V = np.column_stack([one_hot(batch), one_hot(batch)[:, 0] * 2.0])
    assert np.isfinite(match_residuals(X, V, batch, seed=0).residuals(X, V)).all()


def test_one_stratum_leaves_ordinary_residuals():
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    left = match_residuals(X, V, np.zeros(60, dtype=int), seed=0).residuals(X, V)
    centred = V - V.mean(axis=0)
    np.testing.assert_allclose(left, X - centred @ np.linalg.lstsq(centred, X, rcond=None)[0], atol=1e-10)
