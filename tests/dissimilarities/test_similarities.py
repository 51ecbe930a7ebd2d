"""Similarities as dissimilarities: numbers worked by hand, the distances they stand for, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalMDS
from unmask.dissimilarities import similarity_to_dissimilarity

METHODS = ("correlation", "absolute_correlation", "cosine", "unit", "counts", "confusion", "standard")


def table(S, labels="abc"):
    return pd.DataFrame(S, index=list(labels), columns=list(labels))


def distances(X):
    return squareform(pdist(X))


def example(method, rng, n=6):
    """Return similarities of some objects that the method takes."""
    X = rng.standard_normal((40, n))
    presence = (rng.uniform(size=(40, n)) < 0.5).astype(float)
    confusion = rng.integers(1, 10, (n, n)) + 50.0 * np.eye(n)
    return {
        "correlation": np.corrcoef(X.T),
        "absolute_correlation": np.corrcoef(X.T),
        "cosine": (X / np.linalg.norm(X, axis=0)).T @ (X / np.linalg.norm(X, axis=0)),
        "unit": 1 - squareform(pdist(presence.T, "jaccard")),
        "counts": presence.T @ presence,
        "confusion": confusion,
        "standard": X.T @ X,
    }[method]


# ---- numbers


@pytest.mark.parametrize(
    ("method", "S", "options", "expected"),
    [
        ("correlation", [[1, 0.5, -1], [0.5, 1, 0.28], [-1, 0.28, 1]], {}, [1.0, 2.0, 1.2]),
        ("absolute_correlation", [[1, 0.6, -1], [0.6, 1, -0.8], [-1, -0.8, 1]], {}, [0.8, 0.0, 0.6]),
        ("cosine", [[1, 0.82, 0], [0.82, 1, -0.28], [0, -0.28, 1]], {}, [0.6, np.sqrt(2), 1.6]),
        ("unit", [[1, 0.25, 0], [0.25, 1, 1], [0, 1, 1]], {}, [0.75, 1.0, 0.0]),
        # Ochiai's coefficients 2/6, 0 and 3/6
        ("counts", [[4, 2, 0], [2, 9, 3], [0, 3, 4]], {}, [np.sqrt(4 / 3), np.sqrt(2), 1.0]),
        # margins 2, 5, 3: coefficients 2/sqrt(10), 0 and 3/sqrt(15); the diagonal does not matter
        (
            "counts",
            [[0, 2, 0], [2, 7, 3], [0, 3, np.nan]],
            {"occurrences": [2, 5, 3]},
            [np.sqrt(2 - 4 / np.sqrt(10)), np.sqrt(2), np.sqrt(2 - 6 / np.sqrt(15))],
        ),
        ("counts", [[0, 2, 0], [2, 0, 3], [0, 3, 0]], {"occurrences": [4, 9, 4]}, [np.sqrt(4 / 3), np.sqrt(2), 1.0]),
        # a and b: sqrt(1*4/(8*8)) = 1/4; a and c: sqrt(2*1/(8*4)) = 1/4; b and c: sqrt(2*1/(8*4)) = 1/4
        ("confusion", [[8, 1, 2], [4, 8, 2], [1, 1, 4]], {}, np.log([4, 4, 4])),
        # with 1 added: sqrt(1*4/(4*4)), sqrt(1*1/(4*9)), sqrt(9*1/(4*9))
        ("confusion", [[3, 0, 0], [3, 3, 8], [0, 0, 8]], {"pseudocount": 1}, np.log([2, 6, 2])),
        ("standard", [[4, 1, 0], [1, 3, 2], [0, 2, 6]], {}, [np.sqrt(5), np.sqrt(10), np.sqrt(5)]),
    ],
)
def test_numbers_worked_by_hand(method, S, options, expected):
    found = similarity_to_dissimilarity(np.array(S, dtype=float), method, **options)
    np.testing.assert_allclose(found[[0, 0, 1], [1, 2, 2]], expected, rtol=1e-14, atol=1e-14)


def test_standard_transformation_of_inner_products_gives_euclidean_distances(rng):
    X = rng.standard_normal((20, 4))
    found = similarity_to_dissimilarity(X @ X.T, "standard")
    np.testing.assert_allclose(found, distances(X), rtol=1e-10, atol=0)


def test_correlations_give_distances_of_standardised_variables(rng):
    X = rng.standard_normal((30, 5)) * [1, 10, 0.1, 3, 5] + 7
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    found = similarity_to_dissimilarity(np.corrcoef(X.T), "correlation")
    np.testing.assert_allclose(found, distances(standardised.T) / np.sqrt(30), rtol=1e-10, atol=0)


def test_cosines_give_distances_of_vectors_of_length_one(rng):
    X = rng.standard_normal((6, 4))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    found = similarity_to_dissimilarity(unit @ unit.T, "cosine")
    np.testing.assert_allclose(found, distances(unit), rtol=1e-10, atol=0)


def test_the_sign_of_a_variable_does_not_matter_to_absolute_correlations(rng):
    X = rng.standard_normal((30, 5))
    turned = X * [1, -1, 1, -1, -1]
    found = similarity_to_dissimilarity(np.corrcoef(X.T), "absolute_correlation")
    np.testing.assert_allclose(
        found, similarity_to_dissimilarity(np.corrcoef(turned.T), "absolute_correlation"), rtol=1e-10, atol=0
    )
    residual = [1 - np.corrcoef(X[:, 0], X[:, j])[0, 1] ** 2 for j in range(1, 5)]  # variance left by a regression
    np.testing.assert_allclose(found[0, 1:], np.sqrt(residual), rtol=1e-12, atol=0)


def test_counts_give_distances_of_the_presence_table_behind_them(rng):
    presence = (rng.uniform(size=(50, 7)) < [0.05, 0.1, 0.3, 0.5, 0.5, 0.8, 0.9]).astype(float)
    unit = presence / np.linalg.norm(presence, axis=0)
    found = similarity_to_dissimilarity(presence.T @ presence, "counts")
    np.testing.assert_allclose(found, distances(unit.T), rtol=1e-10, atol=1e-14)


def test_zero_co_occurrence_is_farthest_and_finite():
    S = np.diag([1.0, 1000.0, 1e6])
    S[0, 1] = S[1, 0] = 1.0
    found = similarity_to_dissimilarity(S, "counts")
    assert found[0, 2] == found[1, 2] == np.sqrt(2)
    assert found[0, 1] < np.sqrt(2)


def test_confusions_of_the_choice_model_give_its_distances_whatever_the_bias(rng):
    D = distances(rng.standard_normal((8, 2)))
    strength = np.exp(-D) * rng.uniform(0.2, 5.0, 8)  # bias of the answers, by column
    shares = strength / strength.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(similarity_to_dissimilarity(shares, "confusion"), D, rtol=1e-12, atol=1e-12)
    presented = rng.integers(10, 1000, (8, 1))
    np.testing.assert_allclose(similarity_to_dissimilarity(shares * presented, "confusion"), D, rtol=1e-12, atol=1e-12)


def test_never_confused_objects_are_farther_than_confused_ones():
    C = np.array([[20, 5, 0], [3, 20, 1], [0, 2, 20]])
    found = similarity_to_dissimilarity(C, "confusion", pseudocount=0.5)
    assert found[0, 1] < found[1, 2] < found[0, 2] < np.inf
    assert found[0, 2] == pytest.approx(np.log(41), rel=1e-12)


def test_standard_transformation_of_a_unit_diagonal_is_that_of_correlations(rng):
    S = example("correlation", rng)
    np.testing.assert_allclose(
        similarity_to_dissimilarity(S, "standard"), similarity_to_dissimilarity(S, "correlation"), rtol=1e-12, atol=0
    )


# ---- invariants


@pytest.mark.parametrize("method", METHODS)
def test_results_are_dissimilarities_that_a_map_takes(rng, method):
    S = example(method, rng)
    given = S.copy()
    D = similarity_to_dissimilarity(S, method)
    np.testing.assert_array_equal(S, given)
    assert isinstance(D, np.ndarray)
    assert D.dtype == np.float64
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diagonal(D), 0)
    off = ~np.eye(6, dtype=bool)
    assert np.all(D[off] > 0)
    order = rng.permutation(6)
    np.testing.assert_array_equal(similarity_to_dissimilarity(S[np.ix_(order, order)], method), D[np.ix_(order, order)])
    mds = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0).fit(D)
    assert mds.embedding_.shape == (6, 1)


@pytest.mark.parametrize("method", ["correlation", "absolute_correlation", "cosine", "unit"])
def test_the_more_similar_the_nearer(rng, method):
    S = example(method, rng, 12)
    upper = np.triu_indices(12, 1)
    closeness = np.abs(S[upper]) if method == "absolute_correlation" else S[upper]
    D = similarity_to_dissimilarity(S, method)[upper]
    assert np.all(np.diff(D[np.argsort(closeness)]) <= 0)
    assert len(np.unique(D)) > 30


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_is_kept(rng, method):
    S = example(method, rng)
    found = similarity_to_dissimilarity(S.astype(np.float32), method)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, similarity_to_dissimilarity(S, method), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_missing_similarities_are_missing_dissimilarities(rng, method):
    S = example(method, rng)
    expected = similarity_to_dissimilarity(S, method)
    S[1, 4] = np.nan
    if method != "confusion":
        S[4, 1] = np.nan
    expected[[1, 4], [4, 1]] = np.nan
    np.testing.assert_array_equal(similarity_to_dissimilarity(S, method), expected)


@pytest.mark.parametrize("method", METHODS)
def test_labels_are_kept_and_columns_matched_by_them(rng, method):
    S = example(method, rng)
    expected = table(similarity_to_dissimilarity(S, method), "uvwxyz")
    frame = table(S, "uvwxyz")
    pd.testing.assert_frame_equal(similarity_to_dissimilarity(frame, method), expected)
    pd.testing.assert_frame_equal(similarity_to_dissimilarity(frame.iloc[:, ::-1], method), expected)


def test_labels_on_one_side_are_enough(rng):
    S = example("correlation", rng, 3)
    expected = table(similarity_to_dissimilarity(S, "correlation"))
    for frame in (pd.DataFrame(S, columns=list("abc")), pd.DataFrame(S, index=list("abc"))):
        pd.testing.assert_frame_equal(similarity_to_dissimilarity(frame, "correlation"), expected)
    plain = similarity_to_dissimilarity(pd.DataFrame(S), "correlation")
    assert list(plain.index) == list(plain.columns) == [0, 1, 2]


def test_a_constant_variable_is_missing_throughout():
    X = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 1.0, 1.0], "c": [0.0, 5.0, 1.0], "d": [3.0, 0.0, 0.0]})
    found = similarity_to_dissimilarity(X.corr(), "correlation")
    assert found["b"].drop("b").isna().all()
    assert found.drop(index="b", columns="b").notna().all(axis=None)


def test_rounding_is_no_error_and_leaves_exact_zeros():
    S = np.array([[1, 1 + 2e-12, 0.5], [1, 1 - 1e-12, 0.5 + 1e-12], [0.5, 0.5, 1]])
    found = similarity_to_dissimilarity(S, "correlation")
    assert found[0, 1] == 0
    np.testing.assert_array_equal(found, found.T)
    gram = np.array([[2.0, 2.0 + 1e-11], [2.0 + 1e-11, 2.0]])
    np.testing.assert_array_equal(similarity_to_dissimilarity(gram, "standard"), np.zeros((2, 2)))
    thrice = np.array([[0.3, 0.1 + 0.2], [0.3, 0.3]])
    np.testing.assert_array_equal(similarity_to_dissimilarity(thrice, "confusion"), np.zeros((2, 2)))


def test_occurrences_are_matched_by_label():
    S = table([[0, 2, 0], [2, 0, 3], [0, 3, 0]])
    occurrences = pd.Series({"c": 4, "a": 4, "b": 9})
    found = similarity_to_dissimilarity(S, "counts", occurrences=occurrences)
    np.testing.assert_allclose(found.loc["a", "b"], np.sqrt(4 / 3), rtol=1e-14, atol=0)


def test_integers_and_pandas_own_types_are_taken():
    S = table([[4, 2, 0], [2, 9, 3], [0, 3, 4]])
    expected = similarity_to_dissimilarity(S.astype(float), "counts")
    pd.testing.assert_frame_equal(similarity_to_dissimilarity(S, "counts"), expected)
    pd.testing.assert_frame_equal(similarity_to_dissimilarity(S.astype("Int64"), "counts"), expected)


def test_the_way_out_of_a_pair_confused_more_than_recognised():
    C = table([[2.0, 3.0, 1.0], [4.0, 3.0, 1.0], [1.0, 1.0, 3.0]])
    C.loc["a", "b"] = C.loc["b", "a"] = np.nan
    found = similarity_to_dissimilarity(C, "confusion")
    assert np.isnan(found.loc["a", "b"])
    np.testing.assert_allclose(found.loc["b", "c"], np.log(3), rtol=1e-12, atol=0)
