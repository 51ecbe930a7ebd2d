"""Types of known features: what is inferred, how levels and circles are coded, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import Cyclic, KnownFeatureWarning, Nominal, Numeric, Ordinal, Spline
from unmask.problem import CommonBlock, check_known, type_as_text, type_from_text

ROUND = {"rtol": 0, "atol": 1e-12}
NOWHERE = np.empty(0)  # a type need not look at the fitted coordinates


def coded(column, declared=None, **options):
    """Return the one feature of a table with a single column, and the table as it was coded."""
    types = None if declared is None else {0: declared}
    known = check_known(column, len(column), None, "auto", types=types, **options)
    return known.features[0], known


# ---- what is inferred

INFERRED = {
    "numbers": (pd.Series([1.5, 2.0, 4.0]), "numeric"),
    "integers": (pd.Series([1, 2, 4]), "numeric"),
    "integers with a hole": (pd.Series([1, None, 4, 5], dtype="Int64"), "numeric"),
    "numbers as objects": (pd.Series([1, 2.5, None, 4], dtype=object), "numeric"),
    "categories": (pd.Series(["b", "a", "b"], dtype="category"), "nominal"),
    "categories that are integers": (pd.Series([3, 1, 3], dtype="category"), "nominal"),
    "categories that are fractions": (pd.Series([0.5, 1.5, 0.5], dtype="category"), "nominal"),
    "text": (pd.Series(["b", "a", "b"]), "nominal"),
    "text of pandas' own type": (pd.Series(["b", None, "a"], dtype="string"), "nominal"),
    "truth": (pd.Series([True, False, True]), "nominal"),
    "truth with a hole": (pd.Series([True, None, False], dtype="boolean"), "nominal"),
    "truth as objects": (np.array([True, None, False], dtype=object), "nominal"),
    "bytes": (np.array([b"x", b"y", b"x"], dtype=object), "nominal"),
    "ordered categories": (pd.Series(pd.Categorical(["lo", "hi", "lo"], ["lo", "hi"], ordered=True)), "ordinal"),
    "intervals": (pd.Series(pd.cut([1, 5, 9, 2], [0, 3, 6, 10])), "ordinal"),
    "an array of text": (np.array(["b", "a", "b"]), "nominal"),
    "an array of objects": (np.array(["b", None, "a"], dtype=object), "nominal"),
    "polars text": (pl.DataFrame({"x": ["b", None, "a"]}), "nominal"),
    "polars categories": (pl.DataFrame({"x": pl.Series(["b", "a", "b"], dtype=pl.Categorical)}), "nominal"),
    "polars numbers": (pl.DataFrame({"x": [1, None, 3, 5]}), "numeric"),
    "polars truth": (pl.DataFrame({"x": [True, False, True]}), "nominal"),
}


@pytest.mark.parametrize("case", INFERRED)
def test_types_are_inferred(case):
    column, kind = INFERRED[case]
    feature, _ = coded(column)
    assert feature.coding.kind == kind
    assert not feature.declared


def test_columns_of_one_object_array_have_types_of_their_own():
    table = np.array([["a", 1.5, True], ["b", 2.5, None], ["c", 3.5, False], ["a", None, False]], dtype=object)
    known = check_known(table, 4, None, "auto")
    assert [feature.coding.kind for feature in known.features] == ["nominal", "numeric", "nominal"]
    assert [list(feature.missing) for feature in known.features] == [[], [3], [1]]


def test_categories_keep_their_order_and_only_those_that_occur_are_levels():
    column = pd.Series(pd.Categorical(["mid", "low", "mid"], ["low", "mid", "high"], ordered=True))
    assert coded(column)[0].coding.levels == ("low", "mid")
    assert coded(column.astype(str))[0].coding.levels == ("low", "mid")
    assert coded(pd.Series(["z", "a", "z"]))[0].coding.levels == ("a", "z")
    assert coded(np.array(["b", 1, "b", 2], dtype=object))[0].coding.levels == (1, 2, "b")  # no order of their own


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("numeric", "numeric"),
        ("nominal", "nominal"),
        ("ordinal", "ordinal"),
        (Numeric(), "numeric"),
        (Nominal(), "nominal"),
        (Ordinal([3, 1, 2]), "ordinal"),
        (Cyclic(3), "cyclic"),
        (Spline(2), "spline"),
    ],
)
def test_a_declared_type_is_taken(declared, kind):
    feature, _ = coded(np.array([1, 2, 3, 1, 3]), declared)
    assert feature.coding.kind == kind
    assert feature.declared


def test_a_logarithm_enters_and_the_value_comes_back():
    feature, known = coded(np.array([1.0, 10.0, 100.0, np.nan]), Numeric(log=True))
    assert known.names == ("known0[log]",)
    coding = feature.coding
    np.testing.assert_allclose(coding.encode([1.0, 10.0, np.nan], "x")[:, 0], [0.0, np.log(10.0), np.nan], **ROUND)
    assert coding.restore(np.log(7.0)) == pytest.approx(7.0, rel=1e-14)
    np.testing.assert_allclose(Numeric(2, 8, log=True).learn([], "x").bounds, np.log([2.0, 8.0]), **ROUND)
    assert Numeric(-2, 8, log=True).learn([], "x").bounds[0] == -np.inf


def test_levels_declared_out_of_order_keep_the_declared_order():
    feature, _ = coded(np.array([1, 2, 3, 1]), Ordinal([3, 9, 1, 2]))
    assert feature.coding.levels == (3, 1, 2)


# ---- how levels are coded


@pytest.mark.parametrize("number", [2, 3, 6])
def test_nominal_levels_are_corners_of_a_regular_simplex_with_edges_of_one(number):
    feature, known = coded(np.array([f"l{i}" for i in range(number)] * 3))
    corners = feature.coding.vertices()
    assert corners.shape == (number, number - 1)
    assert known.values.shape == (3 * number, number - 1)
    np.testing.assert_allclose(pdist(corners), 1.0, **ROUND)
    assert np.linalg.matrix_rank(known.values) == number - 1


def test_ordinal_levels_are_steps():
    feature, _ = coded(pd.Series(pd.Categorical(list("cab"), ordered=True)))
    np.testing.assert_array_equal(feature.coding.vertices(), [[0, 0], [1, 0], [1, 1]])
    np.testing.assert_array_equal(feature.coding.encode(["b", "c", None], "x"), [[1, 0], [1, 1], [np.nan, np.nan]])
    assert feature.coding.suffixes == ("[>=b]", "[>=c]")


@pytest.mark.parametrize("declared", ["nominal", "ordinal"])
def test_levels_decode_to_themselves(declared):
    coding = coded(np.array([10, 20, 30, 20]), declared)[0].coding
    corners = coding.vertices()
    for level, corner in zip((10, 20, 30), corners, strict=True):
        value, certainty = coding.decode(corner, corner, corners)
        assert value == level
        assert certainty == pytest.approx(1.0, abs=1e-12)


def test_mixtures_of_unordered_levels_decode_to_their_largest_share():
    coding = coded(np.array([10, 20, 30, 20]), "nominal")[0].coding
    corners = coding.vertices()
    value, certainty = coding.decode(np.array([0.2, 0.7, 0.1]) @ corners, NOWHERE, corners)
    assert (value, round(certainty, 9)) == (20, 0.7)


def test_a_place_between_ordered_levels_decodes_to_the_nearest():
    coding = coded(np.array([10, 20, 30, 20]), "ordinal")[0].coding
    places = np.array([[0.0], [1.0], [5.0]])  # the second and the third are far apart
    assert coding.decode(NOWHERE, np.array([2.0]), places) == (20, 0.75)
    assert coding.decode(NOWHERE, np.array([7.0]), places) == (30, 1.0)


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_one_level_carries_no_information(kind):
    table = pd.DataFrame({"x": ["one"] * 5, "y": np.arange(5.0)})
    declared = Ordinal(["one"]) if kind == "ordinal" else kind
    with pytest.warns(KnownFeatureWarning, match="'x' is constant"):
        known = check_known(table, 5, None, "auto", types={"x": declared})
    assert known.kept == (1,)


# ---- circles


def test_a_cyclic_feature_lies_on_a_circle_as_long_as_its_period(rng):
    hours = rng.uniform(0, 24, 30)
    coding = coded(hours, Cyclic(24))[0].coding
    points = coding.encode(hours, "x")
    np.testing.assert_allclose(np.hypot(*points.T), 24 / (2 * np.pi), **ROUND)
    gap = np.abs(hours[:, None] - hours)
    chord = 24 / np.pi * np.sin(np.pi * gap / 24)
    np.testing.assert_allclose(squareform(pdist(points)), np.abs(chord), rtol=0, atol=1e-10)
    np.testing.assert_allclose(coding.encode(hours + 48, "x"), points, rtol=0, atol=1e-10)
    # Near values are as far apart as they differ.
    assert pdist(coding.encode([23.99, 0.01], "x"))[0] == pytest.approx(0.02, rel=1e-5)


def test_points_of_the_circle_decode_to_their_values_and_its_centre_to_no_certainty():
    coding = coded(np.arange(24.0), Cyclic(24))[0].coding
    for hour in (0.0, 5.5, 12.0, 23.0):
        value, certainty = coding.decode(coding.encode([hour], "x")[0], NOWHERE, NOWHERE)
        assert value == pytest.approx(hour, abs=1e-9)
        assert certainty == pytest.approx(1.0, abs=1e-12)
    assert coding.decode(np.zeros(2), NOWHERE, NOWHERE)[1] == 0.0
    corners = coding.vertices()
    assert corners.shape == (12, 2)
    np.testing.assert_allclose(np.hypot(*corners.T), 24 / (2 * np.pi), **ROUND)


def test_sine_and_cosine_are_scaled_alike(rng):
    _, known = coded(rng.uniform(0, 2, 30), Cyclic(24))  # a short arc: the cosine varies much less than the sine
    assert known.scale[0] == known.scale[1]
    assert known.block_types == (CommonBlock,)


# ---- splines


@pytest.mark.parametrize("df", [1, 2, 3, 4, 6])
def test_a_spline_has_as_many_columns_as_degrees_of_freedom_and_holds_every_line(rng, df):
    values = rng.uniform(2, 9, 40)
    feature, known = coded(values, Spline(df))
    assert len(feature.columns) == df
    design = np.column_stack([np.ones(40), feature.coding.encode(values, "x")])
    _, residual, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    assert rank == df + 1
    np.testing.assert_allclose(residual, 0, rtol=0, atol=1e-20)
    assert known.n_dimensions == 1


def test_a_spline_goes_on_straight_beyond_its_range(rng):
    values = rng.uniform(0, 1, 40)
    coding = coded(values, Spline(4))[0].coding
    far = coding.encode(np.array([2.0, 3.0, 4.0]), "x")
    np.testing.assert_allclose(far[2] - far[1], far[1] - far[0], rtol=1e-9, atol=1e-12)
    inside, edge = coding.encode(np.array([values.max() - 1e-7, values.max()]), "x")
    np.testing.assert_allclose(far[1] - far[0], (edge - inside) / 1e-7, rtol=1e-4, atol=1e-5)
    assert np.abs(far[1] - far[0]).max() > 1
    below = coding.encode(np.array([-3.0, -2.0, -1.0]), "x")
    np.testing.assert_allclose(below[2] - below[1], below[1] - below[0], rtol=1e-9, atol=1e-12)
    edge, inside = coding.encode(np.array([values.min(), values.min() + 1e-7]), "x")
    np.testing.assert_allclose(below[1] - below[0], (inside - edge) / 1e-7, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(edge - below[2], (values.min() + 1) * (below[1] - below[0]), rtol=1e-9, atol=1e-12)
    assert np.abs(below[1] - below[0]).max() > 1
    assert coding.vertices() is None


# ---- what is refused


def test_text_that_reads_as_numbers_is_taken_for_a_mistake_unless_declared():
    column = pd.Series(["1", "2", "10"], name="code")
    with pytest.raises(ValueError, match=r"column 'code' holds text \('1'\) that reads as numbers"):
        coded(column)
    assert coded(column, "nominal")[0].coding.levels == ("1", "10", "2")
    assert coded(column.astype("category"))[0].coding.kind == "nominal"


@pytest.mark.parametrize(
    "text",
    [
        "numeric",
        "numeric:log",
        "numeric:lower=0:upper=100",
        "numeric:upper=-3.5",
        "numeric:lower=1:log",
        "numeric:error=0.5",
        "nominal",
        "ordinal:low<mid<high",
        "cyclic:24",
        "spline:3",
    ],
)
def test_a_type_is_written_as_it_is_read(text):
    assert type_as_text(type_from_text(text)) == text
