"""Procrustes comparison against scipy, and what it must not depend on."""

import numpy as np
import pandas as pd
import pytest
import scipy.spatial

from unmask import ConditionalMDS
from unmask.inspection import procrustes


def turned(rng, U, factor=2.5):
    return factor * U @ np.linalg.qr(rng.standard_normal((U.shape[1],) * 2))[0] + rng.standard_normal(U.shape[1])


def test_the_statistic_is_scipys_and_symmetric(rng):
    A = rng.standard_normal((20, 3))
    B = turned(rng, A) + rng.standard_normal((20, 3))
    found = procrustes(A, B)
    assert found.statistic == pytest.approx(scipy.spatial.procrustes(A, B)[2], rel=1e-10)
    assert procrustes(B, A).statistic == pytest.approx(found.statistic, rel=1e-10)
    assert found.correlation**2 == pytest.approx(1 - found.statistic, rel=1e-10)


def test_a_turned_mirrored_shifted_and_scaled_map_is_the_same_map(rng):
    A = pd.DataFrame(rng.standard_normal((10, 2)), index=list("abcdefghij"))
    B = pd.DataFrame(turned(rng, A.to_numpy()) * [1.0, 1.0], index=A.index).iloc[::-1]
    found = procrustes(A, B)
    assert found.statistic == pytest.approx(0, abs=1e-14)
    assert found.scale == pytest.approx(1 / 2.5, rel=1e-9)
    np.testing.assert_allclose(found.aligned, A, atol=1e-12)
    assert list(found.residuals.index) == list("abcdefghij")
    assert procrustes(A, B.to_numpy()).statistic > 0.1  # by position they are other objects


def test_without_scaling_the_residuals_say_how_large_the_difference_is(rng):
    A = rng.standard_normal((15, 2))
    found = procrustes(A, 3 * A, scale=False)
    assert found.scale == 1.0
    assert found.statistic == pytest.approx(4, rel=1e-10)  # twice the map is left
    np.testing.assert_allclose(found.residuals, 2 * np.linalg.norm(A - A.mean(axis=0), axis=1), rtol=1e-10)
    np.testing.assert_allclose(found.residuals**2, np.sum((found.reference - found.aligned) ** 2, axis=1), rtol=1e-10)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(2), atol=1e-12)


def test_a_map_with_fewer_columns_gets_zeros(rng):
    A = rng.standard_normal((12, 3))
    found = procrustes(A, A[:, :2])
    padded = np.column_stack([A[:, :2], np.zeros(12)])
    assert found.statistic == pytest.approx(scipy.spatial.procrustes(A, padded)[2], rel=1e-10)
    assert found.aligned.shape == (12, 3)


def test_fits_are_compared_by_their_labels(kinship):
    D = kinship.dissimilarities
    order = D.index[::-1]
    fits = [
        ConditionalMDS(metric="precomputed", random_state=0).fit(table, known=kinship.known[["gender"]])
        for table in (D, D.loc[order, order])
    ]
    found = procrustes(*fits)
    assert found.statistic < 1e-6
    assert list(found.aligned.index) == list(D.index)


def test_labels_of_the_second_map_serve_a_first_without():
    U = pd.DataFrame({"x": [0.0, 1.0, 3.0]}, index=list("abc"))
    assert list(procrustes(U.to_numpy(), U).residuals.index) == ["a", "b", "c"]
    assert list(procrustes(U.to_numpy(), U.to_numpy()).residuals.index) == [0, 1, 2]
