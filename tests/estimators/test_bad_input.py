"""Bad input gets a sentence that names the argument, the value and the way out."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from unmask import ConditionalClassicalMDS, ConditionalMDS, KnownFeatureWarning, MissingDissimilarityWarning


def fit(D, known=None, weights=None, **options):
    return ConditionalMDS(**({"metric": "precomputed", "n_init": 2, "random_state": 0} | options)).fit(
        D, known=known, weights=weights
    )


@pytest.fixture
def D(kinship):
    return kinship.dissimilarities.astype(float)


@pytest.fixture
def V(kinship):
    return kinship.known[["gender", "degree"]].astype(float)


def refused(message, *arguments, **options):
    with pytest.raises(ValueError, match=message):
        fit(*arguments, **options)


# ---- dissimilarities


def test_missing_dissimilarities_are_counted_in_one_warning(D):
    D.iloc[0, 1] = D.iloc[1, 0] = D.iloc[3, 5] = D.iloc[5, 3] = np.nan
    for method in ("fit", "fit_transform"):
        mds = ConditionalMDS(metric="precomputed", n_init=2)
        with pytest.warns(MissingDissimilarityWarning, match=r"2 of 91 pairs have no dissimilarity \(NaN\)") as caught:
            getattr(mds, method)(D)
        assert len(caught) == 1
        assert caught[0].filename == __file__  # the warning points at the user's line
    assert np.isfinite(mds.embedding_).all()


@pytest.mark.parametrize("labelled", [True, False])
def test_an_object_without_any_dissimilarity_is_named(D, labelled):
    D.loc["Niece"] = D["Niece"] = np.nan
    data, name = (D, "object 'Niece'") if labelled else (D.to_numpy(), "object 10")
    with pytest.warns(MissingDissimilarityWarning):
        refused(f"{name} has no dissimilarity to any other object left", data)


def test_groups_between_which_all_dissimilarities_are_missing_are_listed(D):
    D.iloc[:7, 7:] = D.iloc[7:, :7] = np.nan
    with pytest.warns(MissingDissimilarityWarning):
        refused(
            r"2 groups between which all dissimilarities are missing: 7 objects \('Aunt'.*7 objects \('Grandson'", D
        )


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_dissimilarities_name_the_first_pair(D, value):
    D.loc["Son", "Uncle"] = D.loc["Uncle", "Son"] = value
    refused(rf"has {value:g} for the pair \(object 'Son', object 'Uncle'\); replace it, or use NaN", D)
    refused(rf"has {value:g} for the pair \(object 12, object 13\)", D.to_numpy())


def test_negative_dissimilarities_name_the_first_pair(D):
    D.loc["Son", "Uncle"] = D.loc["Uncle", "Son"] = -3
    refused(r"has -3 for the pair \(object 'Son', object 'Uncle'\).*Are these similarities", D)


def test_asymmetry_names_the_pair_and_the_way_out(D):
    D.loc["Son", "Uncle"] += 2
    refused(r"not symmetric: 61 and 59 for the pair \(object 'Son', object 'Uncle'\); .*\(D \+ D\.T\) / 2", D)
    averaged = fit((D + D.T) / 2)
    D.loc["Son", "Uncle"] = D.loc["Uncle", "Son"] = 60
    assert averaged.stress_ == pytest.approx(fit(D).stress_, rel=1e-12)


def test_one_sided_missing_is_asymmetry(D):
    D.loc["Son", "Uncle"] = np.nan
    refused(r"not symmetric: nan and 59.*fill in the missing one", D)


def test_rounding_level_asymmetry_and_diagonal_are_tolerated(D):
    D = D.to_numpy()
    rounded = D * (1 + 1e-13 * np.random.default_rng(0).standard_normal(D.shape))
    np.fill_diagonal(rounded, 1e-12)
    assert fit(rounded).stress_ == pytest.approx(fit(D).stress_, rel=1e-9)


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_non_zero_diagonal_names_the_object(D, value):
    D.loc["Mother", "Mother"] = value
    refused(f"has {value:g} on the diagonal, for object 'Mother'", D)


def test_all_zero_dissimilarities_are_refused():
    refused("all dissimilarities are zero", np.zeros((5, 5)))


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_objects_are_refused(n):
    refused(f"n_samples={n} objects; a map needs at least 3", np.ones((n, n)) - np.eye(n))
    with pytest.raises(ValueError, match=f"n_samples={n} objects; a map needs at least 3"):
        ConditionalMDS().fit(np.ones((n, 4)))


def test_too_many_components_state_the_maximum(D, V):
    refused("14 objects and 2 known features leave at most n_components=11", D, V, n_components=12)
    assert fit(D, V, n_components=11).embedding_.shape == (14, 11)


def test_too_many_known_features_are_refused(rng):
    D = np.abs(np.subtract.outer(range(5), range(5))) * 1.0
    refused(
        "6 known features are too many for 5 objects; keep at most 4",
        D,
        rng.standard_normal((5, 6)),
        n_components=0,
        coef="diagonal",
    )


def test_nothing_to_fit_is_refused(D):
    refused("pass known, or n_components >= 1", D, n_components=0)


def test_text_names_the_column(D):
    D = D.astype(object)
    D.loc["Aunt", "Son"] = "eighty"
    refused("dissimilarities: column 'Son' holds text .*'eighty'", D)
    refused("dissimilarities: column '12' holds text", D.to_numpy())
    with pytest.raises(ValueError, match="column 'Son' holds text"):
        fit(D.replace("eighty", 80.0).astype(float)).transform(D)


def test_numbers_written_as_text_are_text(D, V):
    refused("dissimilarities: column 'Aunt' holds text .*'0.0'", D.astype(str))
    refused("dissimilarities: column '0' holds text", D.to_numpy().astype(str))
    refused("known: column 'gender' holds text .'1.0'. that reads as numbers", D, V.astype(str).iloc[:, :1])


def test_dates_are_no_numbers(D, V):
    refused("known: column 'born' holds dates or times", D, V.assign(born=pd.Timestamp("2000-01-01")))


def test_pandas_nullable_types_and_masked_arrays_mark_missing(D, V):
    nullable = D.astype("Float64")
    nullable.iloc[0, 1] = nullable.iloc[1, 0] = pd.NA
    masked = np.ma.masked_array(D.to_numpy(), mask=nullable.isna().to_numpy())
    for form in (nullable, masked):
        with pytest.warns(MissingDissimilarityWarning, match="1 of 91 pairs"):
            fit(form)
    known = V.astype("Float64")
    assert fit(D, known).stress_ == pytest.approx(fit(D, V).stress_, rel=1e-12)
    known.iloc[0, 0] = pd.NA
    assert list(fit(D, known).known_imputed_["object"]) == ["Aunt"]


def test_labels_that_are_numbers_in_one_place_and_text_in_another_are_matched(D, V):
    numbers = range(101, 115)
    header = D.set_axis(numbers).set_axis([str(i) for i in numbers], axis=1)  # as a CSV file is read
    assert fit(header, V.set_axis([float(i) for i in numbers]).iloc[::-1]).stress_ == pytest.approx(fit(D, V).stress_)
    aligned = fit(header, V.set_axis([str(i) for i in numbers]).iloc[::-1])
    assert aligned.stress_ == pytest.approx(fit(D, V).stress_, rel=1e-12)


def test_text_is_refused_but_for_a_first_column_with_labels(D):
    with_labels = D.reset_index()
    assert list(fit(with_labels).object_names_) == list(D.index)
    refused("column 'index' holds text .*read it as the index", with_labels[["Aunt", "index", *D.columns[1:]]])
    refused("column 'index' holds text .*read it as the index", with_labels.iloc[:, :14])


def test_not_square_shows_the_shape_and_the_way_out(D):
    refused(r"shape \(14, 13\) but must be square.*metric='euclidean'", D.iloc[:, :13])
    with pytest.raises(ValueError, match="1 dimension and 14 entries"):
        fit(D["Aunt"])


def test_labels_of_rows_and_columns_must_agree(D):
    refused("'Uncle' missing from.*'Oncle' not among the objects", D.rename(columns={"Uncle": "Oncle"}))
    refused("duplicate labels: 'Aunt'", D.rename(index={"Uncle": "Aunt"}))
    assert fit(D.reset_index(drop=True)).stress_per_point_.index[0] == "Aunt"
    assert fit(D.set_axis(range(14), axis=1)).stress_per_point_.index[0] == "Aunt"


def test_duplicates_among_objects_are_fine(D):
    doubled = np.block([[D.to_numpy()] * 2] * 2)
    assert np.isfinite(fit(doubled).stress_)


# ---- known features


def test_labels_of_known_must_match(D, V):
    refused("'Uncle' missing from known, 'Oncle' not among the objects.*to_numpy", D, V.rename({"Uncle": "Oncle"}))
    refused("known has duplicate labels: 'Aunt'", D, V.rename({"Uncle": "Aunt"}))


def test_another_number_of_rows_gives_both_counts(D, V):
    refused("known has 13 rows but there are 14 objects.*'Uncle'", D, V.iloc[:13])
    refused("known has 13 rows but there are 14 objects; pass one row per object", D, V.to_numpy()[:13])


@pytest.mark.parametrize("coef", ["full", "diagonal"])
def test_redundant_known_columns_are_named_and_left_out(D, V, coef):
    expected = fit(D, V, coef=coef)
    V = V.assign(same=2 * V["degree"] + 1, nothing=7.0)
    with pytest.warns(KnownFeatureWarning, match="'same' is a copy of 'degree'; 'nothing' is constant") as caught:
        mds = fit(D, V, coef=coef)
    assert caught[0].filename == __file__
    assert mds.stress_ == pytest.approx(expected.stress_, rel=1e-12)
    assert dict(mds.known_redundant_) == {"nothing": "constant", "same": "a copy of 'degree'"}
    np.testing.assert_array_equal(mds.coef_.loc[["same", "nothing"]], 0)
    np.testing.assert_allclose(mds.coef_.loc[["gender", "degree"], ["gender", "degree"]], expected.coef_)
    np.testing.assert_allclose(mds.transform(D, known=V), mds.embedding_, atol=1e-9)


def test_linearly_dependent_known_columns_are_named_and_left_out(D, V):
    with pytest.warns(KnownFeatureWarning, match="'sum' is a linear combination of 'gender', 'degree'"):
        mds = fit(D, V.assign(sum=V["gender"] - 2 * V["degree"]))
    assert mds.stress_ == pytest.approx(fit(D, V).stress_, rel=1e-12)
    # With a diagonal B the squared differences of a sum are a regressor of their own.
    assert len(fit(D, V.assign(sum=V["gender"] - 2 * V["degree"]), coef="diagonal").known_redundant_) == 0


def test_the_copy_that_stands_alone_is_left_out_and_not_its_double_in_a_larger_block(D, V):
    V = V.assign(again=V["gender"])
    with pytest.warns(KnownFeatureWarning, match="'gender' is a copy of 'again'"):
        mds = fit(D, V, coef=[["gender"], ["again", "degree"]])
    assert mds.stress_ == pytest.approx(fit(D, V[["again", "degree"]]).stress_, rel=1e-12)


@pytest.mark.parametrize("size", [1e-9, 3e-8, 1e-6, 1e-5])
def test_nearly_dependent_known_columns_neither_crash_nor_explode(D, V, rng, size):
    near = V.assign(sum=V["gender"] + V["degree"] + size * rng.standard_normal(14))
    if size < 1e-6:
        with pytest.warns(KnownFeatureWarning, match="'sum' is a linear combination"):
            mds = fit(D, near)
    else:
        mds = fit(D, near)
    assert mds.stress_ <= fit(D, V).stress_ * (1 + 1e-6)
    assert np.isfinite(mds.coef_.to_numpy()).all()


def test_only_redundant_columns_leave_ordinary_mds(D):
    with pytest.warns(KnownFeatureWarning, match="The fit goes on without it"):
        mds = fit(D, np.ones(14))
    assert mds.stress_ == pytest.approx(fit(D).stress_, rel=1e-9)
    assert mds.importance_.to_numpy().tolist() == [[0.0, 0.0]]


def test_known_must_be_finite_or_missing(D, V):
    V.loc["Brother", "degree"] = np.inf
    refused("known has an infinite value in column 'degree', row 1", D, V)
    refused("known has no value at all in column 'degree'", D, V.assign(degree=np.nan))


def test_known_must_be_numbers_with_names_of_their_own(D, V):
    refused(
        "known: column 'gender' holds text .* declared a feature of numbers",
        D,
        V.assign(gender="f"),
        known_types={"gender": "numeric"},
    )
    refused("known has duplicate column names: 'gender'", D, V.set_axis(["gender", "gender"], axis=1))
    refused("known has 3 dimensions", D, np.ones((14, 2, 2)))
    assert fit(D, np.empty((14, 0))).coef_.shape == (0, 0)


def test_a_series_is_one_known_feature(D, V):
    assert list(fit(D, V["gender"]).coef_.columns) == ["gender"]
    assert list(fit(D, V["gender"].rename(None)).coef_.columns) == ["known0"]


def test_groups_must_name_every_column_once(D, V):
    refused("must name every known column exactly once", D, V, coef=[["gender"]])
    refused("coef names 'dgree', which is not a known column", D, V, coef=[["gender"], ["dgree"]])
    swapped = fit(D, V.assign(x=range(14)).set_axis([2, 0, 1], axis=1), coef=[[2, 0], [1]])
    assert swapped.coef_.loc["2", "0"] != 0  # labels come before positions
    assert swapped.coef_.loc["2", "1"] == 0
    twolevel = V.set_axis(pd.MultiIndex.from_tuples([("a", "gender"), ("b", "degree")]), axis=1)
    assert fit(D, twolevel, coef=[[("a", "gender")], [("b", "degree")]]).coef_.iloc[0, 1] == 0
    assert fit(D, V, coef=[[0], [1]]).coef_.loc["gender", "degree"] == 0


# ---- weights


def test_bad_weights(D):
    W = np.ones((14, 14))
    refused(r"shape \(3, 3\) but there are 14 objects", D, weights=np.ones((3, 3)))
    refused(r"shape \(3, 3\) but there are 14 objects", D, weights=sp.eye(3))
    refused("fit received weights='sammon', a scheme", D, weights="sammon")
    with pytest.raises(ValueError, match="weights='samon' is not one of None, 'sammon'"):
        ConditionalMDS(metric="precomputed", weights="samon").fit(D)
    with pytest.raises(ValueError, match="choose one of them"):
        ConditionalMDS(metric="precomputed", weights="sammon").fit(D, weights=W)
    with pytest.raises(ValueError, match="weights is an array, which is data"):
        ConditionalMDS(metric="precomputed", weights=W).fit(D)
    for value, why in ((-1.0, "negative"), (np.nan, "not finite"), (np.inf, "not finite")):
        bad = W.copy()
        bad[2, 3] = bad[3, 2] = value
        refused(rf"weights has .* for the pair \(object 'Daughter', object 'Father'\), which is {why}", D, weights=bad)
        refused(
            rf"weights has .* for the pair \(object 'Daughter', object 'Father'\), which is {why}",
            D,
            weights=sp.csr_matrix(bad),
        )
    lopsided = W.copy()
    lopsided[0, 1] = 2
    refused(r"weights is not symmetric: 2 and 1 for the pair \(object 'Aunt', object 'Brother'\)", D, weights=lopsided)
    refused(r"weights is not symmetric: 2 and 1 for the pair \(object 'Aunt'", D, weights=sp.csr_matrix(lopsided))
    refused("weights are all zero", D, weights=np.zeros((14, 14)))
    refused("weights are all zero", D, weights=sp.csr_matrix((14, 14)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_pair_without_weight_may_hold_anything(D, V, form):
    W = np.ones((14, 14))
    W[2, 3] = W[3, 2] = 0
    expected = fit(D, V, form(W))
    D.iloc[2, 3] = D.iloc[3, 2] = 1e200
    found = fit(D, V, form(W))
    assert found.stress_ == pytest.approx(expected.stress_, rel=1e-9)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, rtol=1e-6)
    zero = D * 0
    zero.iloc[2, 3] = zero.iloc[3, 2] = 1.0
    refused("all dissimilarities with a positive weight are zero", zero, None, form(W))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_disconnected_weights_list_the_groups(D, form):
    W = np.zeros((14, 14))
    W[:6, :6] = W[6:, 6:] = 1
    refused(
        r"2 groups .* all weights are zero: 8 objects \('Grandmother', .*; 6 objects \('Aunt', .* and 1 more\)",
        D,
        weights=form(W),
    )


def test_the_diagonal_of_weights_is_never_used(D):
    W = np.random.default_rng(0).uniform(1, 2, (14, 14))
    W = W + W.T
    expected = fit(D, weights=W).stress_
    np.fill_diagonal(W, np.inf)
    assert fit(D, weights=W).stress_ == expected


# ---- parameters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": -1}, "n_components=-1 must be an integer of at least 0"),
        ({"n_components": 2.5}, "n_components=2.5 must be an integer"),
        ({"coef": "block"}, "coef='block' is not one of 'auto', 'full', 'diagonal', 'grouped'"),
        ({"coef": 3}, "coef=3 must be"),
        ({"coef": ["a", "b"]}, "or a list of groups of columns"),
        ({"solver": "newton"}, "solver='newton' is not one of 'auto', 'lbfgs', 'smacof'"),
        ({"init": "pca"}, "init='pca' is not one of 'auto', 'closed-form', 'random'"),
        ({"n_init": 0}, "n_init=0 must be an integer of at least 1"),
        ({"n_init": "many"}, "n_init='many' is not one of 'auto'"),
        ({"init": "closed-form", "n_init": 4}, "n_init=4 asks for several starts but init gives a single one"),
        ({"max_iter": 0}, "max_iter=0 must be an integer of at least 1"),
        ({"tol": -1e-3}, "tol=-0.001 must be a number of at least 0"),
        ({"tol": np.nan}, "tol=nan must be a number"),
        ({"orthogonal": "no"}, "orthogonal='no' must be True or False"),
        ({"verbose": "x"}, "verbose='x' must be an integer"),
        ({"metric_params": {"p": 1}}, "metric_params={'p': 1} means nothing with metric='precomputed'"),
        ({"n_jobs": 0}, "n_jobs=0 must be None, a positive number of threads"),
    ],
)
def test_bad_parameters(D, options, message):
    refused(message, D, **options)


def test_bad_starts(D, V):
    U0 = np.zeros((14, 2))
    refused("init has 3 parts", D, V, init=(U0, np.eye(2), 1), n_init="auto")
    refused(
        r"init has shapes \(14, 2\) and \(3, 3\) but must have \(14, 2\) for U0 and \(2, 2\)",
        D,
        V,
        init=(U0, np.eye(3)),
        n_init=1,
    )
    refused("init holds NaN", D, V, init=(U0 * np.nan, np.eye(2)), n_init=1)
    refused("no descent ever leaves", D, V, init=(U0, np.eye(2)), n_init=1)
    U0 = np.random.default_rng(0).standard_normal((14, 2))
    refused("no descent ever leaves", D, V, init=(U0, np.zeros((2, 2))), n_init=1)
    refused("do not share a block", D, V, init=(U0, np.ones((2, 2))), n_init=1, coef="diagonal")
    given = fit(D, V, init=(np.random.default_rng(0).standard_normal((14, 2)), [1.0, 1.0]), n_init=1)
    assert given.starts_["kind"].tolist() == ["given"]


# ---- new objects


def test_a_start_with_labels_is_aligned(D, V):
    first = fit(D, V)
    U0 = pd.DataFrame(first.embedding_, index=D.index).iloc[::-1]
    B0 = first.coef_.iloc[::-1, ::-1]
    again = fit(D, V, init=(U0, B0), n_init=1)
    assert again.stress_path_[0] == pytest.approx(first.stress_, rel=1e-9)


def test_a_failed_fit_leaves_no_fitted_estimator(D, V):
    mds = fit(D, V)
    with pytest.raises(ValueError, match="known has 13 rows"):
        mds.fit(D, known=V.iloc[:13])
    with pytest.raises(NotFittedError):
        mds.transform(D, known=V)


def test_bad_new_objects(D, V):
    mds = fit(D, V)
    with pytest.raises(ValueError, match="known is needed: the map was fitted given gender, degree"):
        mds.transform(D)
    with pytest.raises(ValueError, match=r"known has columns .* but the map was fitted given"):
        mds.transform(D, known=V[["gender"]])
    with pytest.raises(ValueError, match="known has columns"):
        mds.transform(D, known=V.to_numpy()[:, :1])
    with pytest.raises(ValueError, match="known has columns"):
        fit(D, V["gender"]).transform(D, known=V["degree"])
    with pytest.raises(ValueError, match="expecting 14 features"):
        mds.transform(D.to_numpy()[:, :13], known=V)
    with pytest.raises(ValueError, match=r"in row 0, column 1; they must be finite and >= 0"):
        mds.transform(-D.to_numpy(), known=V)
    lonely = D.copy()
    lonely.loc["Aunt"] = np.nan
    with pytest.raises(ValueError, match="new object 0 has no dissimilarity to any fitted object"):
        mds.transform(lonely, known=V)
    with pytest.raises(ValueError, match="disagree on labels"):
        mds.transform(D.rename(columns={"Uncle": "Oncle"}), known=V)
    unconditional = ConditionalClassicalMDS(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="fitted without known features"):
        unconditional.transform(D, known=V)


def test_missing_values_in_features_are_refused(rng):
    X = rng.standard_normal((10, 3))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ConditionalMDS().fit(X)


def test_labels_of_features_align_known(rng):
    X = pd.DataFrame(rng.standard_normal((20, 3)), index=[f"o{i}" for i in range(20)], columns=list("abc"))
    known = X[["a"]].sample(frac=1, random_state=0)
    one, two = (ConditionalMDS(2, n_init=2, random_state=0).fit(X, known=k) for k in (X[["a"]], known))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert list(one.stress_per_point_.index) == list(X.index)
