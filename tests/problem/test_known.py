"""The known table: its columns, their units, which share coefficients, and which say nothing of their own."""

import numpy as np
import pandas as pd
import pytest

from unmask import Cyclic, KnownFeatureWarning, Ordinal, Spline
from unmask.problem import check_known, known_table


@pytest.fixture
def table(rng):
    return pd.DataFrame(
        {
            "x": rng.standard_normal(12) * 100 + 1e9,
            "site": np.array(list("abc"))[np.arange(12) % 3],
            "hour": rng.uniform(0, 24, 12),
            "dose": rng.uniform(size=12),
            "grade": np.arange(12) % 4,
        }
    )


TYPES = {"hour": Cyclic(24), "dose": Spline(3), "grade": Ordinal([0, 1, 2, 3])}


@pytest.mark.parametrize(("coef", "first", "second"), [("grouped", "Dense", "Dense"), ("diagonal", "Dense", "Common")])
def test_each_type_has_its_block_and_coef_decides_for_the_others(table, coef, first, second):
    known = check_known(table, 12, None, coef, types=TYPES)
    assert known.groups == ((0,), (1, 2), (3, 4), (5, 6, 7), (8, 9, 10))
    kinds = [kind.__name__.removesuffix("Block") for kind in known.block_types]
    assert kinds == [first, second, "Common", "Function", "Monotone"]
    assert known.n_dimensions == 1 + 2 + 2 + 1 + 1


def test_numbers_alone_share_a_full_block_and_levels_make_it_one_for_each_feature(table):
    table["y"] = np.sin(table["x"])
    assert check_known(table[["x", "y"]], 12, None, "auto").groups == ((0, 1),)
    assert check_known(table[["x", "y", "site"]], 12, None, "auto").groups == ((0,), (1,), (2, 3))


def test_values_are_in_standard_units_and_come_back(table):
    known = check_known(table, 12, None, "auto", types=TYPES)
    np.testing.assert_allclose(known.values.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(known.values[:, 0].std(), 1, rtol=1e-12)
    np.testing.assert_allclose(known.restore(known.values[:, 0], 0), table["x"], rtol=1e-15)
    raw = known.encode(known_table(table, 12, None))
    np.testing.assert_allclose(known.standardise(raw), known.values, atol=1e-9)


def test_a_feature_knows_its_columns_its_levels_places_and_its_bounds(table):
    known = check_known(table, 12, None, "auto", types=TYPES)
    x, site, hour = known.features[:3]
    assert [known.columns_of(f) for f in (x, site, hour)] == [[0], [1, 2], [3, 4]]
    assert known.vertices_of(x) is None
    places = known.values[[list(table["site"]).index(level) for level in "abc"]][:, [1, 2]]
    np.testing.assert_allclose(known.vertices_of(site), places, atol=1e-12)
    assert known.bounds_of(x) == (-np.inf, np.inf)


def test_columns_that_say_nothing_of_their_own_are_named_and_left_out(table):
    wide = table[["x"]].assign(twice=2 * table["x"], same=7.0)
    with pytest.warns(KnownFeatureWarning, match="'twice' is a copy of 'x'; 'same' is constant"):
        known = check_known(wide, 12, None, "full")
    assert known.redundant == {"twice": "a copy of 'x'", "same": "constant"}
    assert known.kept == (0,)


def test_labels_of_two_levels_are_joined(table):
    wide = table[["x", "dose"]].set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), axis=1)
    assert [column.name for column in known_table(wide, 12, None)] == ["a/1", "a/2"]
