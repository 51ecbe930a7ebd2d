"""Tables of what was found about the known features, from numbers given by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from unmask import KnownFeatureWarning
from unmask.estimators._tables import coef_table, importance_table, level_table, shared_table, summary_table
from unmask.problem import check_known

GRAM = np.array([[4.0, 1.0], [1.0, 9.0]])


def coded(table, coef="full"):
    return check_known(table, len(table), None, coef)


@pytest.fixture
def two(rng):
    """Two columns of very different units."""
    return pd.DataFrame(rng.normal(size=(20, 2)) * [100.0, 0.01], columns=["mass", "length"])


def test_coefficients_are_the_symmetric_root_per_unit_as_given(two):
    known = coded(two)
    B = coef_table(known, GRAM, unit=2.0).to_numpy()
    deviation = two.std(ddof=0).to_numpy()  # the units of the fit
    np.testing.assert_allclose(known.scale, deviation)
    np.testing.assert_allclose(B @ B, GRAM / np.outer(deviation, deviation) / 4, rtol=1e-9)
    np.testing.assert_allclose(B, B.T)
    assert np.linalg.eigvalsh(B).min() > 0


def test_units_whose_squares_are_beyond_all_numbers_are_no_hindrance(two):
    known = coded(two * 1e200)
    B = coef_table(known, GRAM, unit=1.0) * 1e200
    np.testing.assert_allclose(B, coef_table(coded(two), GRAM, unit=1.0), rtol=1e-9)


def test_a_column_that_was_left_out_has_zeros_and_keeps_its_place(two):
    with pytest.warns(KnownFeatureWarning, match="'one' is constant"):
        known = coded(two.assign(one=1.0)[["mass", "one", "length"]])
    B = coef_table(known, GRAM, unit=1.0)
    assert list(B.columns) == ["mass", "one", "length"]
    assert not B["one"].any()
    assert importance_table(known, GRAM, 1.0).loc["one"].tolist() == [0, 0]
    np.testing.assert_allclose(B.drop(index="one", columns="one"), coef_table(coded(two), GRAM, 1.0))


def test_importance_per_unit_and_per_standard_deviation(two):
    table = importance_table(coded(two), GRAM, unit=2.0)
    np.testing.assert_allclose(table["raw"] * two.std(ddof=0), [1.0, 1.5])
    np.testing.assert_allclose(table["raw"] * two.std(ddof=1), table["standardized"])


def test_effects_along_the_map_are_per_unit_as_given(two):
    shared = shared_table(coded(two), np.array([[1.0, 2.0], [3.0, 4.0]]), unit=2.0)
    assert list(shared.columns) == ["axis1", "axis2"]
    np.testing.assert_allclose(shared * two.std(ddof=0).to_numpy()[:, None], [[0.5, 1.0], [1.5, 2.0]])


def test_levels_are_where_the_coefficients_put_their_codes():
    """With coefficients that undo the units of the fit, codes of levels are all equally far from each other."""
    known = coded(pd.DataFrame({"site": list("abcabca")}), "grouped")
    places = level_table(known, np.eye(2))
    assert list(places.index) == [("site", level) for level in "abc"]
    np.testing.assert_allclose(places.mean(), 0, atol=1e-12)
    own = known.standardise(known.features[0].coding.vertices())
    np.testing.assert_allclose(pdist(places), pdist(own), rtol=1e-9)


def test_no_levels_make_an_empty_table_and_one_level_a_place_of_zero(two):
    assert level_table(coded(two), np.eye(2)).shape == (0, 0)
    with pytest.warns(KnownFeatureWarning):
        known = coded(two.assign(site="a"), "grouped")
    assert level_table(known, np.eye(2)).loc[("site", "a"), "axis1"] == 0


def test_the_summary_counts_columns_levels_and_missing_cells():
    site = pd.Series(["a", "b", "c", "a", None, "b"])
    summary = summary_table(coded(pd.DataFrame({"site": site, "x": np.arange(6.0)}), "grouped"))
    assert summary.loc["site"].tolist() == ["nominal", "inferred", 2, "a, b, c", 1]
    assert summary.loc["x"].tolist() == ["numeric", "inferred", 1, "", 0]
