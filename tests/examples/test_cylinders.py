"""What the page on machined cylinders says, on its own data and on data that it was not written with."""

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from unmask import ConditionalMDS, Numeric
from unmask.datasets import make_cylinders
from unmask.inspection import abs_correlations

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
def test_drift_shows_as_correlation_with_the_settings(seed):
    highest = {}
    for drift in (0.0, 1.0):
        cylinders = make_cylinders(drift=drift, random_state=seed)
        mds = ConditionalMDS(3, **OPTIONS).fit(cylinders.dissimilarities, known=cylinders.known)
        highest[drift] = abs_correlations(mds.embedding_, cylinders.known).to_numpy().max()
    assert highest[0.0] < 0.3
    assert highest[1.0] > 0.5


@pytest.mark.parametrize("seed", FRESH_SEEDS)
def test_a_measurement_error_finds_the_drift(seed):
    cylinders = make_cylinders(random_state=seed)
    types = {"speed": Numeric(error=1.4), "depth": Numeric(error=0.06)}
    mds = ConditionalMDS(2, known_types=types, **OPTIONS).fit(cylinders.dissimilarities, known=cylinders.known)
    drift, moves = cylinders.actual - cylinders.known, mds.known_corrected_ - cylinders.known
    assert (moves.corrwith(drift) > 0.5).all()
    assert (((moves - drift) ** 2).mean() < (drift**2).mean()).all()
