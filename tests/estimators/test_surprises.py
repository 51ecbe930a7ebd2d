"""Input that used to surprise: each gets one sentence, or simply works."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalClassicalMDS, ConditionalIsomap, ConditionalMDS, ConditionalTSNE, GeneralMDS
from unmask.checking import KnownFeatureWarning
from unmask.discovery import Discovery

X = np.random.default_rng(0).normal(size=(12, 3))
D = squareform(pdist(X))
x = X[:, 0]
FAST = {"metric": "precomputed", "n_init": 1, "random_state": 0}


@pytest.mark.parametrize("column", [["x"] * 12, pd.Categorical(["x"] * 12), [True] * 12])
@pytest.mark.parametrize("estimator", [ConditionalMDS(**FAST), ConditionalClassicalMDS(metric="precomputed")])
def test_a_column_of_one_text_is_as_constant_as_one_of_one_number(column, estimator):
    with pytest.warns(KnownFeatureWarning, match="'a' is constant"):
        mds = estimator.fit(D, known=pd.DataFrame({"a": column}))
    with pytest.warns(KnownFeatureWarning, match="'a' is constant"):
        like = estimator.__class__(**estimator.get_params()).fit(D, known=pd.DataFrame({"a": [1.0] * 12}))
    assert mds.stress_ == pytest.approx(like.stress_)
    assert (mds.coef_.to_numpy() == 0).all()
    assert np.nan_to_num(mds.level_positions_.to_numpy()).sum() == 0


@pytest.mark.parametrize(
    ("estimator", "wrong"),
    [
        (ConditionalMDS(**FAST), -D),
        (ConditionalMDS(**FAST), D[:2, :2]),
        (ConditionalClassicalMDS(metric="precomputed"), -D),
        (ConditionalIsomap(n_neighbors=6, **FAST), -D),
        (GeneralMDS(**FAST), -D),
        (ConditionalTSNE(metric="precomputed", perplexity=2, random_state=0), -D),
    ],
)
def test_a_failing_refit_leaves_nothing_of_the_fit_before(estimator, wrong):
    estimator.fit(D)
    assert [name for name in vars(estimator) if name.endswith("_")]
    with pytest.raises(ValueError, match=r"Negative|at least"):
        estimator.fit(wrong)
    left = {name for name in vars(estimator) if name.endswith("_") and not name.endswith("_in_")}
    assert left <= {"geodesic_", "solver_"}
    assert not hasattr(getattr(estimator, "geodesic_", None), "dissimilarities_")
    estimator.fit(D[:8, :8])
    assert len(estimator.embedding_) == 8


def test_a_failing_parameter_leaves_nothing_either():
    mds = ConditionalMDS(**FAST).fit(D)
    with pytest.raises(ValueError, match="n_components=-1"):
        mds.set_params(n_components=-1).fit(D)
    assert not hasattr(mds, "stress_")


# ---- numbers that floating point cannot hold


@pytest.mark.parametrize("scale", [1e-310, 1e305])
@pytest.mark.parametrize("estimator", [ConditionalMDS(**FAST), GeneralMDS(**FAST), ConditionalIsomap(**FAST)])
def test_dissimilarities_beyond_floating_point_get_a_sentence(estimator, scale):
    with pytest.raises(ValueError, match=r"the largest dissimilarity is .*; it must be between 1e-\d+ and 1e\+?\d+: "):
        estimator.fit(D * scale)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("estimator", [ConditionalClassicalMDS(metric="precomputed"), GeneralMDS(**FAST)])
def test_dissimilarities_whose_squares_are_beyond_it_get_one_too(estimator, scale):
    with pytest.raises(ValueError, match=r"between 1e-150 and 1e\+150: multiply or divide all of them by one number"):
        estimator.fit(D * scale)


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_conditional_scaling_takes_almost_everything(scale):
    mds, like = (ConditionalMDS(**FAST).fit(D * factor, known=x) for factor in (scale, 1.0))
    np.testing.assert_allclose(mds.embedding_ / scale, like.embedding_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", [1e60, 1e100, 1e200])
@pytest.mark.parametrize("estimator", [ConditionalMDS(**FAST), ConditionalClassicalMDS(metric="precomputed")])
def test_new_dissimilarities_in_other_units_get_a_sentence(estimator, scale):
    mds = estimator.fit(D, known=x)
    with pytest.raises(ValueError, match=r"the new dissimilarities reach .*, which is more than 1e\+?50 times .*units"):
        mds.transform(D[:2] * scale, known=x[:2])
    assert np.isfinite(mds.transform(D[:2] * 1e6, known=x[:2])).all()


def test_known_numbers_beyond_floating_point_are_not_called_constant():
    with pytest.raises(
        ValueError, match=r"known has 1.7e\+308 in column 'known0', row 1; .* between 1e-300 and 1e\+300"
    ):
        ConditionalMDS(**FAST).fit(D, known=np.where(np.arange(12) % 2, 1.7e308, 1.0))
    with pytest.raises(ValueError, match=r"in column 'known0', row 4; .* between 1e-300 and 1e\+300"):
        ConditionalMDS(**FAST).fit(D, known=x * 1e-310)
    assert ConditionalMDS(**FAST).fit(D, known=x * 1e200).stress_ < 1e-9


@pytest.mark.parametrize(
    ("known", "weights", "what"),
    [
        (x + 1j, None, "known: column 'known0'"),
        (pd.DataFrame({"a": x + 1j * x}), None, "known: column 'a'"),
        (None, np.ones((12, 12)) + 1j, "weights"),
    ],
)
def test_complex_numbers_get_a_sentence(known, weights, what):
    with pytest.raises(ValueError, match=f"{what} holds complex numbers; take their real part or their modulus"):
        ConditionalMDS(**FAST).fit(D, known=known, weights=weights)


def test_complex_dissimilarities_get_a_sentence_of_one_line():
    for table in (D + 0j, pd.DataFrame(D + 0j)):
        with pytest.raises(ValueError, match=r"dissimilarities.* holds complex numbers") as error:
            ConditionalMDS(**FAST).fit(table)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["init", "coef", "level", "n_init", "tol", "solver"])
def test_an_array_where_a_word_should_be_is_not_printed(name):
    with pytest.raises(ValueError, match=rf"{name}=array of shape \(12, 2\)") as error:
        ConditionalMDS(**{**FAST, name: X[:, :2]}).fit(D)
    assert len(str(error.value)) < 200
    with pytest.raises(ValueError, match=rf"{name}=\[0, 1, 2.*\.\.\."):
        ConditionalMDS(**{**FAST, name: list(range(1000))}).fit(D)


def test_a_start_without_coefficients_says_how_to_give_it():
    with pytest.raises(ValueError, match=r"init=array of shape \(12, 2\).* \(map, coefficients\): .*like coef_"):
        ConditionalMDS(**{**FAST, "init": X[:, :2]}).fit(D)


@pytest.mark.parametrize("diagonal", [0.0, np.nan])
def test_a_table_without_any_number_is_not_called_zero(diagonal):
    table = np.full((5, 5), np.nan)
    np.fill_diagonal(table, diagonal)
    with pytest.raises(ValueError, match=r"all 10 pairs are missing \(NaN\); there is nothing to map"):
        ConditionalMDS(**FAST).fit(table)


# ---- counting


def test_a_feature_of_four_levels_is_one_feature():
    known = pd.DataFrame({"a": list("abcd") * 3})
    with pytest.raises(ValueError, match=r"12 objects and 1 known feature \(3 columns\) leave at most n_components=8"):
        ConditionalMDS(12, **FAST).fit(D, known=known)
    with pytest.raises(ValueError, match=r"12 objects and 2 known features leave at most n_components=9"):
        ConditionalMDS(12, **FAST).fit(D, known=X[:, :2])
    with pytest.raises(ValueError, match=r"1 known feature \(11 columns\) leave at most n_components=0"):
        ConditionalMDS(1, **FAST).fit(D, known=pd.DataFrame({"a": list("abcdefghijkl")}))


def test_one_dimension_is_one():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = Discovery(D)
        step = study.fit(1, n_init=1)
    assert step.text == "fit 1 in 1 dimension, nothing known"
    assert "1 dimensions" not in repr(study)
    assert "1 dimension," in repr(study)


@pytest.mark.parametrize("estimator", [ConditionalMDS, GeneralMDS])
def test_features_too_large_for_distances_are_named(rng, estimator):
    with pytest.raises(ValueError, match=r"X has 2\.\d+e\+200 among its features, too large for finite distances"):
        estimator().fit(rng.uniform(1.0, 2.9, size=(12, 3)) * 1e200)
