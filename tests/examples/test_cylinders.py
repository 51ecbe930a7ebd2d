"""What the page on machined cylinders says, on its own data and on data that it was not written with."""

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from unmask import ConditionalMDS, Numeric
from unmask.inspection import abs_correlations, average_canonical_correlation

SCRIPT = Path(__file__).parents[2] / "examples" / "papers" / "plot_5_cylinders.py"
FRESH_SEEDS = (110, 111, 112)
OPTIONS = {"metric": "precomputed", "n_init": 4, "random_state": 0}


@pytest.fixture(scope="module")
def page():
    from matplotlib import pyplot

    mpl.use("Agg")
    variables = runpy.run_path(str(SCRIPT))
    yield variables
    pyplot.close("all")


def test_the_known_settings_mask_the_angle_until_they_are_given(page):
    rows = {name: page["angle_scores"](mds) for name, mds in page["maps"].items()}
    plain, given = rows["nothing known", 2], rows["given speed and depth", 2]
    assert plain["ACC with the settings"] > 0.95
    assert plain["ACC with the angle"] < 0.3
    assert plain["median error in degrees"] > 25
    assert given["ACC with the settings"] < 0.3
    assert given["ACC with the angle"] > 0.9
    assert given["median error in degrees"] < 5
    assert rows["nothing known", 3]["median error in degrees"] > 12
    assert rows["nothing known", 4]["ACC with the angle"] > 0.95


def test_angles_are_estimated_from_the_surfaces(page):
    estimates = page["estimated_angles"](page["cylinders"].surfaces)
    error = (estimates - page["angle"].to_numpy() + 90) % 180 - 90
    assert np.abs(error).max() < 1


def test_the_magnitude_of_the_angle_grows_from_corner_to_corner(page):
    U, magnitude = page["two"].embedding_, page["angle"].abs()
    assert page["multiple_correlation"](magnitude, U) > 0.8


def test_top_views_do_not_overlap(page):
    points = page["two"].embedding_
    apart = np.ptp(points, axis=0).max() / 10
    chosen = page["with_room"](points, apart)
    distances = np.linalg.norm(points[chosen][:, None] - points[chosen], axis=2)
    assert distances[np.triu_indices(len(chosen), 1)].min() > apart


def test_table_8_has_high_correlations_with_drift_only(page):
    tables = page["tables"]
    assert tables["published"].tolist() == [[0.03, 0.41, 0.02], [0.54, 0.0, 0.35]]
    assert tables["here"].max() > 0.5
    assert tables["here, without drift"].max() < 0.25
    first = page["three"].embedding_[:, 0]
    assert page["multiple_correlation"](first, page["known"]) > 0.9
    assert page["multiple_correlation"](first, page["cylinders"].actual) > 0.95


@pytest.mark.parametrize("seed", FRESH_SEEDS)
def test_drift_shows_as_correlation_with_the_settings(page, seed):
    highest = {}
    for drift in (0.0, 1.0):
        cylinders = page["make_cylinders"](seed, drift=drift)
        mds = ConditionalMDS(3, **OPTIONS).fit(cylinders.dissimilarities, known=cylinders.known)
        highest[drift] = abs_correlations(mds.embedding_, cylinders.known).to_numpy().max()
    assert highest[0.0] < 0.3
    assert highest[1.0] > 0.5


@pytest.mark.parametrize("seed", FRESH_SEEDS)
def test_a_measurement_error_finds_the_drift(page, seed):
    cylinders = page["make_cylinders"](seed)
    types = {"speed": Numeric(error=1.4), "depth": Numeric(error=0.06)}
    mds = ConditionalMDS(2, known_types=types, **OPTIONS).fit(cylinders.dissimilarities, known=cylinders.known)
    drift, moves = cylinders.actual - cylinders.known, mds.known_corrected_ - cylinders.known
    assert (moves.corrwith(drift) > 0.5).all()
    assert (((moves - drift) ** 2).mean() < (drift**2).mean()).all()


# ---- the simulation


def test_a_surface_is_taper_waist_and_ovality(page):
    cylinders = page["make_cylinders"](1, noise=0.0, n_per_setting=2)
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


def test_drift_and_errors_have_their_sizes_and_drift_is_slow(page):
    make = page["make_cylinders"]
    exact = make(0, drift=0.0)
    np.testing.assert_array_equal(exact.actual, exact.known)
    clean, noisy = (make(0, noise=noise).surfaces for noise in (0.0, 2.0))
    assert (noisy - clean).std() == pytest.approx(2.0, rel=0.01)
    many = make(0, n_per_setting=200)
    drift = ((many.actual - many.known) / [0.7, 0.03]).to_numpy()
    np.testing.assert_allclose(drift.std(axis=0), 1, rtol=0.15, atol=0)
    for column in drift.T:
        assert np.corrcoef(column[1:], column[:-1])[0, 1] == pytest.approx(0.9, abs=0.03)


def test_dissimilarities_are_root_mean_square_differences(page):
    cylinders = page["cylinders"]
    expected = np.sqrt(np.mean((cylinders.surfaces[3] - cylinders.surfaces[7]) ** 2))
    np.testing.assert_allclose(cylinders.dissimilarities.iloc[3, 7], expected, rtol=1e-12, atol=0)


def median_error(embedding, angle):
    """Return the median error in degrees of the angle, predicted from a map by regression; a guess is 45 off."""
    doubled = np.radians(2 * angle.to_numpy())
    circle = np.column_stack([np.cos(doubled), np.sin(doubled)])
    X = np.column_stack([np.ones(len(angle)), embedding])
    cosine, sine = (X @ np.linalg.lstsq(X, circle, rcond=None)[0]).T
    error = np.degrees(np.angle(np.exp(1j * (np.arctan2(sine, cosine) - doubled)))) / 2
    return np.median(np.abs(error)), average_canonical_correlation(embedding, circle)


@pytest.mark.parametrize("seed", range(100, 108))
def test_the_settings_mask_the_angle_and_conditioning_shows_it(page, seed):
    cylinders = page["make_cylinders"](seed)
    plain = ConditionalMDS(2, **OPTIONS).fit(cylinders.dissimilarities)
    given = ConditionalMDS(2, **OPTIONS).fit(cylinders.dissimilarities, known=cylinders.known)
    assert average_canonical_correlation(plain.embedding_, cylinders.known) > 0.9
    error, acc = median_error(plain.embedding_, cylinders.angle)
    assert error > 25
    assert acc < 0.35
    error, acc = median_error(given.embedding_, cylinders.angle)
    assert error < 8
    assert acc > 0.85
    # A third dimension with nothing known shows one of the angle's two, which does not tell the angle.
    third = ConditionalMDS(3, **OPTIONS).fit(cylinders.dissimilarities)
    assert median_error(third.embedding_, cylinders.angle)[0] > 12
