"""What is simulated has the shapes and hidden structure it promises."""

import io

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.distance import cdist, pdist, squareform

from unmask.datasets import make_drawn_faces, make_fabrics
from unmask.datasets._motion import make_running_figure
from unmask.datasets._robot import make_robot_wifi


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
    monkeypatch.setattr("unmask.datasets._robot.SHADOW_DEPTH", 0.0)
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


def test_neighbouring_pixels_of_a_fabric_are_as_alike_as_the_widths_of_its_threads_say():
    """A field smoothed by a bell of width w has correlation exp(-1 / 4 w^2) between neighbours."""
    fabrics = make_fabrics(8, size=256, difference=0.2, random_state=0)
    first = np.array([2.0, 2.2])
    assert len(fabrics.known.drop_duplicates()) == 4
    pieces = zip(fabrics.images, fabrics.known.to_numpy(), fabrics.hidden.to_numpy(), strict=True)
    for image, (turned, second), less in pieces:
        widths = first * [1.2, 0.8] if second else first
        widths = (widths[::-1] if turned else widths) * (1 - less)
        across = np.corrcoef(image[:, 1:].ravel(), image[:, :-1].ravel())[0, 1]
        down = np.corrcoef(image[1:].ravel(), image[:-1].ravel())[0, 1]
        np.testing.assert_allclose([across, down], np.exp(-1 / (4 * widths**2)), rtol=0, atol=0.01)


def test_fabrics_are_halves_and_contracted_by_up_to_half():
    fabrics = make_fabrics(31, size=8, random_state=0)
    assert fabrics.known["fabric"].tolist() == [0] * 16 + [1] * 15
    assert set(fabrics.known["rotation"]) == {0, 1}
    assert fabrics.hidden.to_numpy().min() >= 0
    assert 0.4 < fabrics.hidden.to_numpy().max() <= 0.5
    np.testing.assert_array_equal(fabrics.images, make_fabrics(31, size=8, random_state=0).images)
    with pytest.raises(ValueError, match="difference=1 must be less than 1"):
        make_fabrics(4, difference=1)
