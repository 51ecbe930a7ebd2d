"""Bad input gets an error that names the argument; what only looks bad is taken."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from unmask import ConditionalClassicalMDS, ConditionalMDS, KnownFeatureWarning, MissingDissimilarityWarning


def fit(D, known=None, weights=None, **options):
    options = {"metric": "precomputed", "n_init": 1, "random_state": 0} | options
    return ConditionalMDS(**options).fit(D, known=known, weights=weights)


@pytest.fixture
def D(kinship):
    return kinship.dissimilarities.astype(float)


@pytest.fixture
def V(kinship):
    return kinship.known[["gender", "degree"]].astype(float)


def with_pair(D, value, other=None, pair=("Son", "Uncle")):
    """Return a table with another value for a pair, and perhaps another one for the pair in the other order."""
    D = D.copy()
    D.loc[pair], D.loc[pair[::-1]] = value, value if other is None else other
    return D


def in_parts(D, value, n=7):
    """Return a table with a value between the first n objects and the others."""
    D = D.copy()
    D.iloc[:n, n:] = D.iloc[n:, :n] = value
    return D


U0 = np.random.default_rng(0).standard_normal((14, 2))
RANDOM = np.random.default_rng(1).standard_normal((5, 6))
W = np.ones((14, 14))
BAD_W = pd.DataFrame(W).set_axis(range(14)).pipe(in_parts, 0.0)
LOPSIDED = W.copy()
LOPSIDED[0, 1] = 2

# A call with bad input, and the words that its error must have: the argument, the place, or the way out.
ERRORS = {
    "no dissimilarity of an object": (lambda D, _: fit(in_parts(D, np.nan, 1)), "object 'Aunt' has no dissimilarity"),
    "groups": (lambda D, _: fit(in_parts(D, np.nan)), r"2 groups.*7 objects \('Aunt'.*7 objects \('Grandson'"),
    "infinite": (lambda D, _: fit(with_pair(D, np.inf)), r"\(object 'Son', object 'Uncle'\).*NaN"),
    "infinite without labels": (lambda D, _: fit(with_pair(D, -np.inf).to_numpy()), r"\(object 12, object 13\)"),
    "negative": (lambda D, _: fit(with_pair(D, -3)), r"-3 .*\(object 'Son', object 'Uncle'\).*similarities"),
    "not symmetric": (lambda D, _: fit(with_pair(D, 61, 59)), r"61 and 59.*\(D \+ D\.T\) / 2"),
    "one side missing": (lambda D, _: fit(with_pair(D, np.nan, 59)), "not symmetric: nan and 59"),
    "diagonal": (lambda D, _: fit(with_pair(D, 1.0, pair=("Mother", "Mother"))), "diagonal, for object 'Mother'"),
    "only zeros": (lambda D, _: fit(D * 0), "all dissimilarities are zero"),
    "two objects": (lambda D, _: fit(D.iloc[:2, :2]), "n_samples=2 objects"),
    "two rows": (lambda *_: ConditionalMDS().fit(np.ones((2, 4))), "n_samples=2 objects"),
    "text": (lambda D, _: fit(with_pair(D.astype(object), "eighty")), "column 'Son' holds text.*'eighty'"),
    "numbers as text": (lambda D, _: fit(D.astype(str)), "dissimilarities: column 'Aunt' holds text"),
    "labels in a later column": (lambda D, _: fit(D.reset_index().iloc[:, :14]), "read it as the index"),
    "not square": (lambda D, _: fit(D.iloc[:, :13]), r"shape \(14, 13\).*metric='euclidean'"),
    "one row": (lambda D, _: fit(D["Aunt"]), "1 dimension"),
    "other columns": (lambda D, _: fit(D.rename(columns={"Uncle": "Oncle"})), "'Uncle' missing from.*'Oncle'"),
    "duplicate labels": (lambda D, _: fit(D.rename(index={"Uncle": "Aunt"})), "duplicate labels: 'Aunt'"),
    "missing features": (lambda *_: ConditionalMDS().fit([[0.0, np.nan], [1, 2], [2, 3]]), "NaN"),
    "other labels of known": (lambda D, V: fit(D, V.rename({"Uncle": "Oncle"})), "'Uncle' missing from known, 'Oncle'"),
    "duplicate labels of known": (lambda D, V: fit(D, V.rename({"Uncle": "Aunt"})), "known has duplicate labels"),
    "rows of known": (lambda D, V: fit(D, V.to_numpy()[:13]), "known has 13 rows but there are 14 objects"),
    "text in known": (lambda D, V: fit(D, V.astype(str).iloc[:, :1]), "known: column 'gender' holds text"),
    "text for numbers": (
        lambda D, V: fit(D, V.assign(gender="f"), known_types={"gender": "numeric"}),
        "known: column 'gender' holds text",
    ),
    "dates": (lambda D, V: fit(D, V.assign(born=pd.Timestamp("2000-01-01"))), "known: column 'born' holds dates"),
    "infinite known": (lambda D, V: fit(D, V.assign(degree=np.inf)), "known has an infinite value in column 'degree'"),
    "empty known": (lambda D, V: fit(D, V.assign(degree=np.nan)), "known has no value at all in column 'degree'"),
    "names of known": (lambda D, V: fit(D, V.set_axis(["a", "a"], axis=1)), "known has duplicate column names: 'a'"),
    "a cube": (lambda D, _: fit(D, np.ones((14, 2, 2))), "known has 3 dimensions"),
    "components": (lambda D, V: fit(D, V, n_components=12), "leave at most n_components=11"),
    "known features": (
        lambda D, _: fit(D.iloc[:5, :5], RANDOM, n_components=0, coef="diagonal"),
        "6 known features are too many",
    ),
    "nothing to fit": (lambda D, _: fit(D, n_components=0), "n_components=0.*pass known"),
    "groups of coef": (lambda D, V: fit(D, V, coef=[["gender"]]), "coef|must name every known column exactly once"),
    "unknown in coef": (lambda D, V: fit(D, V, coef=[["gender"], ["dgree"]]), "coef names 'dgree'"),
    "shape of weights": (lambda D, _: fit(D, weights=np.ones((3, 3))), r"shape \(3, 3\) but there are 14 objects"),
    "shape of sparse weights": (lambda D, _: fit(D, weights=sp.eye(3)), r"shape \(3, 3\) but there are 14 objects"),
    "a scheme in fit": (lambda D, _: fit(D, weights="sammon"), "weights='sammon', a scheme"),
    "a scheme and an array": (
        lambda D, _: ConditionalMDS(metric="precomputed", weights="sammon").fit(D, weights=W),
        "choose one of them",
    ),
    "an array as parameter": (lambda D, _: ConditionalMDS(weights=W).fit(D), "weights is an array"),
    "a misspelt scheme": (lambda D, _: ConditionalMDS(weights="samon").fit(D), "weights='samon'"),
    "lopsided weights": (lambda D, _: fit(D, weights=LOPSIDED), "weights is not symmetric: 2 and 1"),
    "lopsided sparse weights": (lambda D, _: fit(D, weights=sp.csr_matrix(LOPSIDED)), "weights is not symmetric"),
    "weights of zero": (lambda D, _: fit(D, weights=0 * W), "weights are all zero"),
    "sparse weights of zero": (lambda D, _: fit(D, weights=sp.csr_matrix((14, 14))), "weights are all zero"),
    "groups of weights": (lambda D, _: fit(D, weights=BAD_W.to_numpy()), "2 groups .* all weights are zero"),
    "groups of sparse weights": (lambda D, _: fit(D, weights=sp.csr_matrix(BAD_W)), "2 groups .* all weights are zero"),
    "parts of init": (lambda D, V: fit(D, V, init=(U0, np.eye(2), 1)), "init has 3 parts"),
    "shape of init": (lambda D, V: fit(D, V, init=(U0, np.eye(3))), r"init has shapes \(14, 2\) and \(3, 3\)"),
    "NaN in init": (lambda D, V: fit(D, V, init=(U0 * np.nan, np.eye(2))), "init holds NaN"),
    "constant init": (lambda D, V: fit(D, V, init=(U0 * 0, np.eye(2))), "init has a constant column"),
    "zeros in init": (lambda D, V: fit(D, V, init=(U0, np.zeros((2, 2)))), "init has .*zeros in B0"),
    "blocks of init": (lambda D, V: fit(D, V, init=(U0, W[:2, :2]), coef="diagonal"), "init .*do not share a block"),
}
# Values of parameters of ConditionalMDS that are refused by name.
PARAMETERS = [
    *({"n_components": value} for value in (-1, 2.5, True)),
    *({"coef": value} for value in ("block", 3, ["a", "b"])),
    *({"n_init": value} for value in (0, "many", 1.5)),
    *({"tol": value} for value in (-1e-3, np.nan, "x")),
    *({"adjust": value} for value in ("yes", 1)),
    *({"init": value} for value in ("pca", 3)),
    {"solver": "newton"},
    {"max_iter": 0},
    {"orthogonal": "no"},
    {"verbose": "x"},
    {"n_jobs": 0},
    {"level": "nominal"},
    {"ties": "tertiary"},
    {"metric_params": {"p": 1}},
    {"n_init": 4, "init": "closed-form"},
    {"adjust": True, "orthogonal": True},
]
# What new objects are refused for.
NEW = {
    "no known": (lambda mds, D, _: mds.transform(D), "known is needed: the map was fitted given gender, degree"),
    "fewer columns": (lambda mds, D, V: mds.transform(D, known=V[["gender"]]), "known has columns"),
    "columns without names": (lambda mds, D, V: mds.transform(D, known=V.to_numpy()[:, :1]), "known has columns"),
    "fewer dissimilarities": (lambda mds, D, V: mds.transform(D.to_numpy()[:, :13], known=V), "14 features"),
    "negative": (lambda mds, D, V: mds.transform(-D.to_numpy(), known=V), "in row 0, column 1; .*>= 0"),
    "text": (lambda mds, D, V: mds.transform(with_pair(D.astype(object), "x"), known=V), "column 'Son' holds text"),
    "no dissimilarity": (lambda mds, D, V: mds.transform(D * np.nan, known=V), "new object 0"),
    "other labels": (lambda mds, D, V: mds.transform(D.rename(columns={"Uncle": "Oncle"}), known=V), "labels"),
}


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
@pytest.mark.parametrize("name", ERRORS)
def test_bad_data_are_refused(D, V, name):
    call, words = ERRORS[name]
    with pytest.raises(ValueError, match=words):
        call(D, V)


@pytest.mark.parametrize("options", PARAMETERS, ids=str)
def test_bad_parameters_are_refused(D, options):
    name = next(iter(options))
    with pytest.raises(ValueError, match=f"{name}="):
        fit(D, **options)


@pytest.mark.parametrize("name", NEW)
def test_bad_new_objects_are_refused(D, V, name):
    call, words = NEW[name]
    with pytest.raises(ValueError, match=words):
        call(fit(D, V), D, V)


def test_a_map_without_known_features_takes_none(D, V):
    with pytest.raises(ValueError, match="fitted without known features"):
        ConditionalClassicalMDS(metric="precomputed").fit(D).transform(D, known=V)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_bad_weight_is_named_by_its_pair(D, value, form):
    bad = W.copy()
    bad[2, 3] = bad[3, 2] = value
    with pytest.raises(ValueError, match=r"weights has .*\(object 'Daughter', object 'Father'\)"):
        fit(D, weights=form(bad))


def test_a_failed_fit_leaves_no_fitted_estimator(D, V):
    mds = fit(D, V)
    with pytest.raises(ValueError, match="known has 13 rows"):
        mds.fit(D, known=V.iloc[:13])
    with pytest.raises(NotFittedError):
        mds.transform(D, known=V)


# ---- what is taken


def test_missing_dissimilarities_are_counted_in_one_warning_at_the_users_line(D):
    D.iloc[0, 1] = D.iloc[1, 0] = D.iloc[3, 5] = D.iloc[5, 3] = np.nan
    for method in ("fit", "fit_transform"):
        mds = ConditionalMDS(metric="precomputed", n_init=1)
        with pytest.warns(MissingDissimilarityWarning, match="2 of 91 pairs") as caught:
            getattr(mds, method)(D)
        assert len(caught) == 1
        assert caught[0].filename == __file__
    assert np.isfinite(mds.embedding_).all()


def test_asymmetry_and_a_diagonal_of_rounding_are_taken(D):
    D = D.to_numpy()
    rounded = D * (1 + 1e-13 * np.random.default_rng(0).standard_normal(D.shape))
    np.fill_diagonal(rounded, 1e-12)
    assert fit(rounded).stress_ == pytest.approx(fit(D).stress_, rel=1e-9)


def test_the_most_components_and_equal_objects_are_taken(D, V):
    assert fit(D, V, n_components=11).embedding_.shape == (14, 11)
    assert np.isfinite(fit(np.block([[D.to_numpy()] * 2] * 2)).stress_)


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


def test_labels_are_read_from_wherever_they_are(D):
    for table in (D.reset_index(), D.reset_index(drop=True), D.set_axis(range(14), axis=1)):
        assert list(fit(table).object_names_) == list(D.index)


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
            mds = fit(D, near, n_init=2)
    else:
        mds = fit(D, near, n_init=2)
    assert mds.stress_ <= fit(D, V, n_init=2).stress_ * (1 + 1e-6)
    assert np.isfinite(mds.coef_.to_numpy()).all()


def test_only_redundant_columns_leave_ordinary_mds(D):
    with pytest.warns(KnownFeatureWarning, match="The fit goes on without it"):
        mds = fit(D, np.ones(14))
    assert mds.stress_ == pytest.approx(fit(D).stress_, rel=1e-9)
    assert mds.importance_.to_numpy().tolist() == [[0.0, 0.0]]
    assert fit(D, np.empty((14, 0))).coef_.shape == (0, 0)


def test_a_series_is_one_known_feature(D, V):
    assert list(fit(D, V["gender"]).coef_.columns) == ["gender"]
    assert list(fit(D, V["gender"].rename(None)).coef_.columns) == ["known0"]


def test_groups_name_columns_by_label_or_position(D, V):
    swapped = fit(D, V.assign(x=range(14)).set_axis([2, 0, 1], axis=1), coef=[[2, 0], [1]])
    assert swapped.coef_.loc["2", "0"] != 0  # labels come before positions
    assert swapped.coef_.loc["2", "1"] == 0
    twolevel = V.set_axis(pd.MultiIndex.from_tuples([("a", "gender"), ("b", "degree")]), axis=1)
    assert fit(D, twolevel, coef=[[("a", "gender")], [("b", "degree")]]).coef_.iloc[0, 1] == 0
    assert fit(D, V, coef=[[0], [1]]).coef_.loc["gender", "degree"] == 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_pair_without_weight_may_hold_anything(D, V, form):
    weights = W.copy()
    weights[2, 3] = weights[3, 2] = 0
    expected = fit(D, V, form(weights))
    D.iloc[2, 3] = D.iloc[3, 2] = 1e200
    found = fit(D, V, form(weights))
    assert found.stress_ == pytest.approx(expected.stress_, rel=1e-9)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, rtol=1e-6)
    zero = D * 0
    zero.iloc[2, 3] = zero.iloc[3, 2] = 1.0
    with pytest.raises(ValueError, match="all dissimilarities with a positive weight are zero"):
        fit(zero, None, form(weights))


def test_the_diagonal_of_weights_is_never_used(D):
    weights = np.random.default_rng(0).uniform(1, 2, (14, 14))
    weights = weights + weights.T
    expected = fit(D, weights=weights).stress_
    np.fill_diagonal(weights, np.inf)
    assert fit(D, weights=weights).stress_ == expected


def test_a_start_with_labels_is_aligned(D, V):
    first = fit(D, V)
    U0 = pd.DataFrame(first.embedding_, index=D.index).iloc[::-1]
    B0 = first.coef_.iloc[::-1, ::-1]
    again = fit(D, V, init=(U0, B0))
    assert again.stress_path_[0] == pytest.approx(first.stress_, rel=1e-9)
    assert fit(D, V, init=(U0, [1.0, 1.0])).starts_["kind"].tolist() == ["given"]


def test_labels_of_features_align_known(rng):
    X = pd.DataFrame(rng.standard_normal((20, 3)), index=[f"o{i}" for i in range(20)], columns=list("abc"))
    known = X[["a"]].sample(frac=1, random_state=0)
    one, two = (ConditionalMDS(2, n_init=2, random_state=0).fit(X, known=k) for k in (X[["a"]], known))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert list(one.stress_per_point_.index) == list(X.index)
