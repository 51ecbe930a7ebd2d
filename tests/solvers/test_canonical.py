"""How a map is written down once, by what its cost leaves open."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from unmask.solvers import (
    axis_signs,
    canonical_map,
    ordered_axes,
    ordering_turn,
    principal_axes,
    principal_turn,
)


@pytest.fixture
def U(rng):
    return rng.gamma(2, size=(20, 3)) * [1, 3, 2] + [4, -3, 2]


def test_principal_axes_turn_about_the_origin_and_keep_inner_products(U, rng):
    turned = principal_axes(U)
    np.testing.assert_allclose(turned @ turned.T, U @ U.T, rtol=1e-12, atol=1e-12)
    moments = turned.T @ turned
    np.testing.assert_allclose(moments, np.diag(np.diag(moments)), rtol=0, atol=1e-9)
    assert np.all(np.diff(np.diag(moments)) < 0)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    np.testing.assert_allclose(principal_axes(U @ rotation), turned, rtol=0, atol=1e-11)
    np.testing.assert_allclose(principal_axes(-U), turned, rtol=0, atol=1e-11)
    # A shift changes inner products, so it is not undone; canonical_map undoes it.
    assert np.abs(principal_axes(U + 1.0) - turned).max() > 0.1
    np.testing.assert_allclose(canonical_map(U + 1.0), canonical_map(U), rtol=0, atol=1e-11)


def test_ordered_axes_keep_city_block_distances(U):
    ordered = ordered_axes(U)
    np.testing.assert_allclose(pdist(ordered, "cityblock"), pdist(U, "cityblock"), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ordered.mean(axis=0), 0.0, rtol=0, atol=1e-12)
    assert np.all(np.diff(ordered.var(axis=0)) < 0)
    assert np.all(np.sum(ordered**3, axis=0) > 0)  # the longer tail is on the positive side
    for same in (U[:, [2, 0, 1]], -U, U + 5.0):
        np.testing.assert_allclose(ordered_axes(same), ordered, rtol=0, atol=1e-11)


@pytest.mark.parametrize("write", [canonical_map, principal_axes, ordered_axes])
def test_maps_without_axes_and_with_more_axes_than_objects(write, rng):
    assert write(np.empty((4, 0))).shape == (4, 0)
    U = rng.standard_normal((2, 3))
    written = write(U)
    assert written.shape == (2, 3)
    metric = "cityblock" if write is ordered_axes else "euclidean"
    np.testing.assert_allclose(pdist(written, metric), pdist(U, metric), rtol=1e-12, atol=0)


def test_canonical_map_is_the_same_for_rotated_shifted_mirrored_and_relabelled_maps(rng):
    U = rng.gamma(2, size=(20, 3)) * [3, 2, 1]
    canonical = canonical_map(U)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order = rng.permutation(20)
    np.testing.assert_allclose(canonical_map(U @ rotation + 5), canonical, atol=1e-12)
    np.testing.assert_allclose(canonical_map(-U), canonical, atol=1e-12)
    np.testing.assert_allclose(canonical_map(U[order]), canonical[order], atol=1e-12)
    np.testing.assert_allclose(canonical.mean(axis=0), 0, atol=1e-12)
    covariance = np.cov(canonical.T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    assert np.all(np.diff(np.diag(covariance)) < 0)


def test_axis_without_skew_takes_the_sign_of_its_largest_coordinate():
    U = np.array([[-2.0, -2.0], [2.0 - 1e-9, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(axis_signs(U), [-1, -1])
    np.testing.assert_array_equal(axis_signs(-U), [1, 1])


@pytest.mark.parametrize("turn_of", [principal_turn, ordering_turn])
def test_turns_change_no_distance(U, turn_of):
    turn = turn_of(U)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)


def test_rounding_does_not_decide_the_sign_of_a_symmetric_axis(rng):
    half = rng.standard_normal((6, 2))
    U = np.vstack([half, -half])
    for noise in 1e-15 * rng.standard_normal((20, *U.shape)):
        np.testing.assert_array_equal(axis_signs(U + noise), axis_signs(U))
