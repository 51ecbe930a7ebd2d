"""Simulated cylinders have the shapes they promise, and their settings mask the angle."""

import numpy as np
import pytest

from unmask import ConditionalMDS
from unmask.datasets import make_cylinders
from unmask.datasets._cylinders import _slow_drift
from unmask.inspection import average_canonical_correlation

# Not among the seeds (0 to 4) with which the constants of the simulation were chosen.
FRESH_SEEDS = range(100, 108)


def test_ninety_cylinders_at_nine_settings():
    cylinders = make_cylinders(random_state=0)
    assert cylinders.surfaces.shape == (90, 210, 64)
    counts = cylinders.known.value_counts()
    assert sorted(counts.index) == [(s, d) for s in (65.0, 70.0, 80.0) for d in (0.4, 0.8, 1.2)]
    assert set(counts) == {10}
    names = list(cylinders.known.index)
    assert names == list(cylinders.actual.index) == list(cylinders.angle.index)
    assert names == list(cylinders.dissimilarities.index) == list(cylinders.dissimilarities.columns)
    assert names[0] == "cylinder 1"
    assert cylinders.angle.between(-90, 90).all()
    assert "Simulate the surfaces" in cylinders.DESCR
    assert make_cylinders(2, random_state=0).known.shape == (18, 2)


def test_a_surface_is_taper_waist_and_ovality():
    cylinders = make_cylinders(2, noise=0.0, random_state=1)
    i = 5
    speed, depth = cylinders.actual.iloc[i]
    tops, bottoms = cylinders.surfaces[i, -1], cylinders.surfaces[i, 0]
    # Worked by hand: at both ends the waist is -1 times 3.2 per metre a minute above the mean speed, 215 / 3.
    waist = -3.2 * (speed - 215 / 3)
    np.testing.assert_allclose(bottoms, waist, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tops.mean(), waist + 53 * depth, rtol=1e-12, atol=0)
    # The second harmonic is the only one, and its phase twice the angle.
    spectrum = np.fft.rfft(tops - tops.mean())
    assert np.argmax(np.abs(spectrum)) == 2
    np.testing.assert_allclose(np.delete(spectrum, 2), 0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        np.exp(1j * np.angle(spectrum[2])), np.exp(-2j * np.radians(cylinders.angle.iloc[i])), rtol=0, atol=1e-9
    )
    longest = cylinders.directions[np.argmax(tops)]
    assert abs((longest - cylinders.angle.iloc[i] + 90) % 180 - 90) <= 360 / 64 / 2


def test_the_size_of_what_is_asked_for():
    round_ones = make_cylinders(ovality=0.0, noise=0.0, random_state=0)
    np.testing.assert_allclose(round_ones.surfaces.std(axis=2), 0, rtol=0, atol=1e-9)
    exact = make_cylinders(drift=0.0, random_state=0)
    np.testing.assert_array_equal(exact.actual, exact.known)
    clean, noisy = (make_cylinders(noise=noise, random_state=0).surfaces for noise in (0.0, 2.0))
    assert (noisy - clean).std() == pytest.approx(2.0, rel=0.01)
    sizes = np.ptp(make_cylinders(drift=0.0, noise=0.0, random_state=0).surfaces[:, -1], axis=1) / 2
    assert sizes.mean() == pytest.approx(14.0, rel=0.05)
    assert sizes.std() == pytest.approx(0.15 * 14.0, rel=0.2)


def test_drift_is_slow_and_has_its_size():
    series = _slow_drift(20_000, np.random.RandomState(0))
    np.testing.assert_allclose(series.std(axis=0), 1, rtol=0.05, atol=0)
    for column in series.T:
        assert np.corrcoef(column[1:], column[:-1])[0, 1] == pytest.approx(0.9, abs=0.01)
    # The same random numbers, in the units of the settings and by the size asked for.
    drifts = [(c.actual - c.known).to_numpy() for c in (make_cylinders(1, drift=d, random_state=0) for d in (1.0, 3.0))]
    np.testing.assert_allclose(drifts[1], 3 * drifts[0], rtol=1e-9, atol=1e-12)
    expected = _slow_drift(9, np.random.RandomState(0)) * [0.7, 0.03]
    np.testing.assert_allclose(drifts[0], expected, rtol=1e-9, atol=1e-12)


def test_dissimilarities_are_root_mean_square_differences():
    cylinders = make_cylinders(1, random_state=2)
    difference = cylinders.surfaces[3] - cylinders.surfaces[7]
    expected = np.sqrt(np.mean(difference**2))
    np.testing.assert_allclose(cylinders.dissimilarities.iloc[3, 7], expected, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(cylinders.dissimilarities, cylinders.dissimilarities.T)
    np.testing.assert_array_equal(np.diag(cylinders.dissimilarities), 0)


def test_a_seed_makes_the_cylinders_again():
    first, again, other = (make_cylinders(1, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.surfaces, again.surfaces)
    assert not np.allclose(first.angle, other.angle)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_per_setting": 0}, "n_per_setting"),
        ({"ovality": -1.0}, "ovality"),
        ({"drift": -1.0}, "drift"),
        ({"noise": -1.0}, "noise"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_cylinders(**wrong)


def median_error(embedding, angle):
    """Return the median error in degrees of the angle, predicted from a map by regression; a guess is 45 off."""
    doubled = np.radians(2 * angle.to_numpy())
    circle = np.column_stack([np.cos(doubled), np.sin(doubled)])
    X = np.column_stack([np.ones(len(angle)), embedding])
    cosine, sine = (X @ np.linalg.lstsq(X, circle, rcond=None)[0]).T
    error = np.degrees(np.angle(np.exp(1j * (np.arctan2(sine, cosine) - doubled)))) / 2
    return np.median(np.abs(error)), average_canonical_correlation(embedding, circle)


@pytest.mark.parametrize("seed", FRESH_SEEDS)
def test_the_settings_mask_the_angle_and_conditioning_shows_it(seed):
    cylinders = make_cylinders(random_state=seed)
    options = {"metric": "precomputed", "n_init": 4, "random_state": 0}
    plain = ConditionalMDS(2, **options).fit(cylinders.dissimilarities)
    given = ConditionalMDS(2, **options).fit(cylinders.dissimilarities, known=cylinders.known)
    assert average_canonical_correlation(plain.embedding_, cylinders.known) > 0.9
    error, acc = median_error(plain.embedding_, cylinders.angle)
    assert error > 25
    assert acc < 0.35
    error, acc = median_error(given.embedding_, cylinders.angle)
    assert error < 8
    assert acc > 0.85
    # A third dimension with nothing known shows one of the angle's two, which does not tell the angle.
    third = ConditionalMDS(3, **options).fit(cylinders.dissimilarities)
    assert median_error(third.embedding_, cylinders.angle)[0] > 12
