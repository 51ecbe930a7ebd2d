"""Names of axes against scipy and statsmodels, corrections against published procedures, calibration by simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import permutation_test

from unmask import ConditionalMDS
from unmask.inspection import name_axes


@pytest.fixture
def data(rng):
    U = rng.standard_normal((60, 2)) * [2.0, 1.0]
    external = pd.DataFrame(
        {
            "size": U @ [1.0, -0.5] + rng.standard_normal(60),
            "kind": np.where(U[:, 0] + rng.standard_normal(60) > 0.7, "x", np.where(U[:, 1] > 0, "y", "z")),
            "flag": U[:, 1] + rng.standard_normal(60) > 0,
            "noise": rng.standard_normal(60),
        }
    )
    return U, external


def test_axes_have_the_t_test_of_a_correlation(data):
    U, external = data
    table = name_axes(U, external, correction=None)
    for axis in range(2):
        row = table.loc[("size", f"axis{axis + 1}")]
        expected = stats.pearsonr(U[:, axis], external["size"])
        assert row["correlation"] == pytest.approx(expected.statistic, rel=1e-12)
        assert row["p_value"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert row["angle"] == 90.0 * axis
    assert table["p_corrected"].equals(table["p_value"].rename("p_corrected"))


@pytest.mark.parametrize("rounding", [0.0, 1e-15])
def test_a_feature_that_the_map_was_adjusted_for_has_no_direction(rounding):
    U = np.repeat([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], 5, axis=0) * [2.0, 1.0]
    y = np.prod(U, axis=1)  # exactly uncorrelated with both axes
    table = name_axes(U, pd.DataFrame({"y": y + rounding * U[:, 0]}))
    assert table["correlation"].tolist() == [0.0, 0.0, 0.0]
    assert table.loc[("y", "axis1"), "cos_axis1"] == 1.0
    assert table.loc[("y", "best"), ["angle", "cos_axis1", "cos_axis2"]].isna().all()
    np.testing.assert_allclose(table["p_value"], 1.0)


def test_categories_have_the_f_test_of_one_way_analysis_of_variance(data):
    U, external = data
    row = name_axes(U, external).loc[("kind", "axis1")]
    groups = [U[external["kind"] == level, 0] for level in "xyz"]
    f = stats.f_oneway(*groups)
    assert row["p_value"] == pytest.approx(f.pvalue, rel=1e-9)
    between = sum(len(g) * (g.mean() - U[:, 0].mean()) ** 2 for g in groups)
    assert row["correlation"] == pytest.approx(np.sqrt(between / np.sum((U[:, 0] - U[:, 0].mean()) ** 2)), rel=1e-12)


def test_the_best_direction_is_that_of_a_regression(data):
    U, external = data
    y = external["size"].to_numpy()
    design = np.column_stack([np.ones(60), U])
    b = np.linalg.lstsq(design, y, rcond=None)[0]
    r2 = np.corrcoef(design @ b, y)[0, 1] ** 2
    f = r2 / 2 / ((1 - r2) / 57)
    row = name_axes(U, external).loc[("size", "best")]
    assert row["correlation"] == pytest.approx(np.sqrt(r2), rel=1e-10)
    assert row["p_value"] == pytest.approx(stats.f.sf(f, 2, 57), rel=1e-8)
    assert row["angle"] == pytest.approx(np.degrees(np.arctan2(b[2], b[1])), rel=1e-9)
    cosines = row[["cos_axis1", "cos_axis2"]].to_numpy(dtype=float)
    np.testing.assert_allclose(cosines, b[1:] / np.linalg.norm(b[1:]), rtol=1e-9)
    assert np.corrcoef(U @ cosines, y)[0, 1] == pytest.approx(row["correlation"], rel=1e-10)


def test_no_direction_goes_with_categories_more_than_the_best(data):
    U, external = data
    row = name_axes(U, external).loc[("kind", "best")]

    def eta(angle):
        along = U @ [np.cos(angle), np.sin(angle)]
        means = pd.Series(along).groupby(external["kind"]).transform("mean")
        return means.std() / along.std(ddof=1)

    tried = max(eta(angle) for angle in np.linspace(0, np.pi, 721))
    assert tried <= row["correlation"] + 1e-12
    assert eta(np.radians(row["angle"])) == pytest.approx(row["correlation"], rel=1e-10)
    assert tried == pytest.approx(row["correlation"], abs=1e-4)


@pytest.mark.parametrize(("dimensions", "levels"), [(2, 2), (2, 4), (3, 3), (4, 5)])
def test_wilks_lambda_is_that_of_statsmodels(rng, dimensions, levels):
    manova = pytest.importorskip("statsmodels.multivariate.manova")
    group = rng.integers(0, levels, 70)
    U = rng.standard_normal((70, dimensions)) + 0.3 * group[:, None]
    indicators = np.column_stack([np.ones(70), *(group == level for level in range(1, levels))]).astype(float)
    tests = manova.MANOVA(U, indicators).mv_test([("g", np.eye(levels)[1:])])
    expected = float(tests.results["g"]["stat"].loc["Wilks' lambda", "Pr > F"])
    row = name_axes(U, pd.Series(group.astype(str), name="group")).loc[("group", "best")]
    assert row["p_value"] == pytest.approx(expected, rel=1e-8)
    assert np.isnan(row["angle"]) == (dimensions != 2)


def test_a_map_of_one_dimension_is_not_tested_twice(rng):
    table = name_axes(rng.standard_normal(20), pd.Series(rng.standard_normal(20)))
    assert list(table.index) == [("feature1", "axis1")]


def test_holm_by_hand_and_benjamini_hochberg(data):
    U, external = data
    raw = name_axes(U, external)["p_value"].to_numpy()
    m = len(raw)
    order = np.argsort(raw)
    expected, largest = np.empty(m), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, (m - rank) * raw[at])
        expected[at] = min(largest, 1.0)
    np.testing.assert_allclose(name_axes(U, external)["p_corrected"], expected, rtol=1e-12)
    fdr = np.minimum.accumulate((raw[order] * m / np.arange(1, m + 1))[::-1])[::-1]
    np.testing.assert_allclose(
        name_axes(U, external, correction="fdr")["p_corrected"].to_numpy()[order], fdr, rtol=1e-12
    )


def test_permutations_agree_with_scipys_and_with_the_f_test(rng):
    u = rng.standard_normal(25)
    y = 0.4 * u + rng.standard_normal(25)
    own = name_axes(u, y, n_permutations=4999, random_state=0)["p_value"].iloc[0]
    expected = permutation_test(
        (y,),
        lambda z: abs(np.corrcoef(u, z)[0, 1]),
        permutation_type="pairings",
        n_resamples=4999,
        alternative="greater",
        random_state=1,
    ).pvalue
    assert own == pytest.approx(expected, abs=0.02)
    assert own == pytest.approx(stats.pearsonr(u, y).pvalue, abs=0.02)
    perfect = name_axes(u, 2 * u, n_permutations=99, random_state=0)["p_value"].iloc[0]
    assert perfect == 1 / 100
    assert name_axes(u, 2 * u)["p_value"].iloc[0] == pytest.approx(0, abs=1e-100)


@pytest.mark.slow
def test_names_given_to_noise_are_as_rare_as_said(rng):
    false = 0
    for _ in range(300):
        U = rng.standard_normal((20, 2))
        external = pd.DataFrame({"a": rng.standard_normal(20), "b": rng.choice(list("xyz"), 20)})
        false += (name_axes(U, external)["p_corrected"] < 0.1).any()
    assert 0.01 < false / 300 < 0.14  # Holm's bound is 0.1; the tests of one feature are correlated


def test_rows_are_matched_by_label_and_turning_the_map_turns_the_angle(data):
    U, external = data
    labels = [f"o{i}" for i in range(60)]
    frame, table = pd.DataFrame(U, index=labels, columns=["u", "v"]), external.set_axis(labels)
    found = name_axes(frame, table.iloc[::-1])
    np.testing.assert_allclose(found["correlation"], name_axes(U, external)["correlation"], rtol=1e-10)
    assert ("size", "u") in found.index
    turn = np.radians(30)
    turned = U @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    before, after = (name_axes(map_, external).loc[("size", "best")] for map_ in (U, turned))
    assert after["angle"] == pytest.approx(before["angle"] + 30, rel=1e-9)
    assert after["p_value"] == pytest.approx(before["p_value"], rel=1e-8)


def test_gaps_are_counted_and_constants_are_no_tests(data):
    U, external = data
    external.loc[:9, "size"] = np.nan
    external.loc[3:4, "kind"] = None
    external["flat"], external["same"] = 1.0, "a"
    table = name_axes(U, external)
    assert table.loc[("size", "best"), "n"] == 50
    assert table.loc[("kind", "best"), "n"] == 58
    assert table.loc[("size", "axis1"), "p_value"] == pytest.approx(
        stats.pearsonr(U[10:, 0], external["size"][10:]).pvalue, rel=1e-9
    )
    for name in ("flat", "same"):
        assert table.loc[name][["correlation", "p_value", "p_corrected"]].isna().all(axis=None)
    without = name_axes(U, external.drop(columns=["flat", "same"]))
    pd.testing.assert_series_equal(table["p_corrected"].dropna(), without["p_corrected"])


def test_arrays_booleans_and_polars(data):
    polars = pytest.importorskip("polars")
    U, external = data
    table = name_axes(U, external)
    assert table.loc["flag", "type"].tolist() == ["nominal"] * 3
    mixed = name_axes(U, external.to_numpy(dtype=object))
    np.testing.assert_allclose(mixed["p_value"], table["p_value"], rtol=1e-10)
    numbers = name_axes(U, polars.DataFrame({"size": external["size"].to_numpy()}))
    assert numbers.index.get_level_values("feature")[0] == "size"


def test_kinship_directions_have_the_names_one_sees(kinship):
    mds = ConditionalMDS(metric="precomputed", n_init=4, random_state=0)
    mds.fit(kinship.dissimilarities, known=kinship.known[["gender"]])
    table = name_axes(mds, kinship.known.drop(columns="gender").iloc[::-1])
    best = table.xs("best", level="direction")
    assert (best.loc[["degree", "generation_difference"], "p_corrected"] < 0.01).all()
    assert best.loc["generation", "p_corrected"] == 1


def test_an_axis_that_is_flat_for_those_who_have_the_feature_is_no_test(rng):
    U = np.column_stack([rng.standard_normal(20), np.r_[np.zeros(12), rng.standard_normal(8)]])
    y = np.r_[rng.standard_normal(12), np.full(8, np.nan)]
    table = name_axes(U, pd.Series(y, name="y"))
    assert table["p_value"].isna().tolist() == [False, True, True]
