"""Known features as they come: what is taken for what, new objects, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unmask import Cyclic, Spline

from .fits import N, fit

# ---- what was taken for what


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_the_summary_says_what_was_inferred_and_what_declared(D, sites):
    known = pd.DataFrame(
        {
            "site": sites,
            "zip": np.arange(N) % 5,
            "hour": np.linspace(0, 20, N),
            "dose": np.random.default_rng(0).uniform(size=N),
            "grade": pd.Categorical(np.array(["low", "mid", "high"])[np.arange(N) % 3], ["low", "mid", "high"], True),
            "age": np.random.default_rng(1).uniform(size=N),
        }
    )
    known.loc[3, "age"] = np.nan
    mds = fit(D, known, known_types={"zip": "nominal", "hour": Cyclic(24), "dose": Spline(4)}, n_init=1)
    summary = mds.known_summary_
    assert summary["type"].to_dict() == {
        "site": "nominal",
        "zip": "nominal",
        "hour": "cyclic",
        "dose": "spline",
        "grade": "ordinal",
        "age": "numeric",
    }
    assert list(summary["source"]) == ["inferred", "declared", "declared", "declared", "inferred", "inferred"]
    assert list(summary["columns"]) == [3, 4, 2, 4, 2, 1]
    assert list(summary["missing"]) == [0, 0, 0, 0, 0, 1]
    assert summary.loc["grade", "levels"] == "low, mid, high"
    assert summary.loc["age", "levels"] == ""


@pytest.mark.parametrize("form", ["polars", "objects", "booleans"])
def test_the_form_of_the_table_does_not_matter(D, form):
    truth = np.arange(N) % 3 == 0
    x = np.random.default_rng(2).uniform(size=N)
    frame = pd.DataFrame({"known0": np.where(truth, "b", "a"), "known1": x})
    table = {
        "polars": pl.DataFrame({"known0": np.where(truth, "b", "a"), "known1": x}),
        "objects": frame.to_numpy(dtype=object),
        "booleans": frame.assign(known0=truth),
    }[form]
    one, other = fit(D, frame), fit(D, table)
    assert other.known_summary_["type"].to_dict() == {"known0": "nominal", "known1": "numeric"}
    np.testing.assert_array_equal(one.embedding_, other.embedding_)


def test_grouped_coefficients_are_the_default_once_a_column_is_not_numeric(D, sites):
    rng = np.random.default_rng(3)
    numbers = pd.DataFrame({"x": rng.uniform(size=N), "y": rng.uniform(size=N)})
    mixed = numbers.assign(site=sites)
    for known, structure in ((numbers, "full"), (mixed, "grouped")):
        default, explicit = fit(D, known), fit(D, known, coef=structure)
        np.testing.assert_array_equal(default.coef_, explicit.coef_)
        np.testing.assert_array_equal(default.embedding_, explicit.embedding_)
    assert fit(D, numbers).coef_.loc["x", "y"] != 0
    assert fit(D, mixed).coef_.loc["x", "y"] == 0
    assert fit(D, mixed).coef_.loc["site[1]", "site[2]"] != 0
    assert np.all(fit(D, mixed).coef_.loc["x", ["site[1]", "site[2]", "site[3]"]] == 0)


# ---- new objects


@pytest.mark.parametrize("level", ["ratio", "interval", "ordinal", "spline"])
def test_fitted_objects_return_to_their_points_whatever_is_known_about_them(D, sites, level):
    rng = np.random.default_rng(13)
    known = pd.DataFrame(
        {
            "site": sites,
            "hour": rng.uniform(0, 24, N),
            "dose": rng.uniform(size=N),
            "grade": pd.Categorical(np.array(list("abc"))[rng.permutation(N) % 3], ordered=True),
            "x": rng.uniform(size=N),
        }
    )
    mds = fit(D, known, known_types={"hour": Cyclic(24), "dose": Spline(3)}, level=level, n_init=1)
    np.testing.assert_allclose(mds.transform(D, known=known), mds.embedding_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mds.transform(D[:2], known=known.iloc[:2, ::-1]), mds.embedding_[:2], atol=1e-12)


def test_new_objects_are_refused_without_a_place_for_them(D, sites):
    known = pd.DataFrame({"site": sites, "x": np.arange(N) + 0.5 * (np.arange(N) % 2)})
    mds = fit(D, known, n_init=1)
    cases = [
        ({"site": ["up"], "x": [1.0]}, "'up' in column 'site' did not occur in the fit; its levels are 'east'"),
        ({"site": [None], "x": [1.0]}, "no finite value in column 'site', row 0; .* fill the cell"),
        ({"site": ["north"], "x": [np.nan]}, "no finite value in column 'x', row 0"),
        ({"site": ["north"], "x": [np.inf]}, "infinite value in column 'x', row 0"),
        ({"site": ["north"], "x": ["1"]}, "column 'x' holds text"),
        ({"place": ["north"], "x": [1.0]}, r"known has columns \['place', 'x'\] but the map was fitted given"),
    ]
    for new, message in cases:
        with pytest.raises(ValueError, match=message):
            mds.transform(D[:1], known=pd.DataFrame(new))


# ---- what is refused
