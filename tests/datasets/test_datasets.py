"""Data sets have the shapes, labels and statistics they promise."""

import numpy as np
import pytest

from unmask.datasets import load_kinship, make_car_brands


def test_kinship(kinship):
    D = kinship.dissimilarities
    assert D.shape == (14, 14)
    assert list(D.index) == list(D.columns) == list(kinship.known.index)
    assert (D.to_numpy() == D.to_numpy().T).all()
    assert list(kinship.known.columns) == ["gender", "degree", "generation", "generation_difference"]
    assert kinship.known.loc["Grandmother"].tolist() == [2, 2, -2, 2]
    np.testing.assert_array_equal(kinship.known["generation_difference"], kinship.known["generation"].abs())


def test_kinship_is_loaded_anew_each_time():
    first = load_kinship()
    first.dissimilarities.iloc[0, 1] = -1
    assert load_kinship().dissimilarities.iloc[0, 1] == 79


def test_car_brands_are_weighted_distances_plus_proportional_noise():
    cars = make_car_brands(200, random_state=0)
    Z = cars.features.to_numpy() * cars.coef.to_numpy()
    i, j = np.triu_indices(200, 1)
    exact = np.linalg.norm(Z[i] - Z[j], axis=1)
    np.testing.assert_allclose(cars.noiseless.to_numpy()[i, j], exact, rtol=1e-7)
    error = cars.dissimilarities.to_numpy()[i, j] / exact - 1
    assert error.std() == pytest.approx(0.2, rel=0.02)
    assert abs(error.mean()) < 0.01
    assert cars.dissimilarities.to_numpy().min() == 0
    known_error = cars.known.to_numpy() / cars.features.to_numpy() - 1
    assert known_error.std() == pytest.approx(0.05, rel=0.05)
    assert cars.coef.sum() == pytest.approx(1)
    assert cars.coef["quality"] / cars.coef["technology"] == pytest.approx(90 / 68)


def test_car_brands_without_noise_and_with_a_seed():
    cars = make_car_brands(12, noise=0, known_noise=0, random_state=3)
    np.testing.assert_array_equal(cars.dissimilarities, cars.noiseless)
    np.testing.assert_array_equal(cars.known, cars.features)
    again, other = make_car_brands(12, random_state=3), make_car_brands(12, random_state=4)
    np.testing.assert_array_equal(again.features, cars.features)
    assert not np.allclose(other.features, cars.features)
