"""Dissimilarities in every form people have them: the same map, or a sentence that says what is wrong."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from skbio import DistanceMatrix
from sklearn.base import clone

from unmask import ConditionalClassicalMDS, ConditionalIsomap, ConditionalMDS, MissingDissimilarityWarning
from unmask.dissimilarities import Geodesic

OPTIONS = {"metric": "precomputed", "n_init": 2, "random_state": 0}


def long_table(D):
    table = D.stack().reset_index()
    table.columns = ["first", "second", "d"]
    return table


def one_direction(D):
    place = {label: position for position, label in enumerate(D.index)}
    table = long_table(D)
    return table[table["first"].map(place) < table["second"].map(place)]


FORMS = {
    "condensed vector": (lambda D: squareform(D.to_numpy()), False),
    "condensed Series": (lambda D: pd.Series(squareform(D.to_numpy())), False),
    "long table": (long_table, True),
    "long table, each pair once": (one_direction, True),
    "long table of polars": (
        lambda D: pl.DataFrame({name: list(column) for name, column in one_direction(D).items()}),
        True,
    ),
    "Series with pairs as index": (lambda D: D.stack(), True),
    "scikit-bio": (lambda D: DistanceMatrix(D.to_numpy(), list(D.index)), True),
    "sparse": (lambda D: sp.csr_array(D.to_numpy()), False),
    "sparse, upper triangle": (lambda D: sp.coo_matrix(np.triu(D.to_numpy())), False),
    "sparse, lower triangle": (lambda D: sp.csc_array(np.tril(D.to_numpy())), False),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_map_of_the_square_table(kinship, form):
    D, known = kinship.dissimilarities.astype(float), kinship.known[["gender"]]
    make, labelled = FORMS[form]
    known = known.iloc[::-1] if labelled else known.to_numpy()
    expected = ConditionalMDS(**OPTIONS).fit(D, known=kinship.known[["gender"]])
    found = ConditionalMDS(**OPTIONS).fit(make(D), known=known)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    assert list(found.stress_per_point_.index) == (list(D.index) if labelled else list(range(14)))


@pytest.mark.parametrize("form", ["long table", "scikit-bio", "Series with pairs as index"])
@pytest.mark.parametrize(
    "estimator",
    [
        ConditionalMDS(**OPTIONS),
        ConditionalIsomap(n_neighbors=6, **OPTIONS),
        ConditionalClassicalMDS(metric="precomputed"),
        Geodesic(6, metric="precomputed"),
    ],
)
def test_labels_reach_the_output_of_every_estimator(kinship, form, estimator):
    D = kinship.dissimilarities.astype(float)
    found = estimator.set_output(transform="pandas").fit_transform(FORMS[form][0](D))
    assert list(found.index) == list(D.index)
    np.testing.assert_array_equal(found, estimator.fit_transform(D))


def test_single_precision_is_kept(kinship):
    D = kinship.dissimilarities.to_numpy(dtype=np.float32)
    for form in (squareform(D), sp.csr_array(D)):
        assert ConditionalMDS(**OPTIONS).fit_transform(form).dtype == np.float32


@pytest.mark.parametrize("form", ["long", "sparse"])
def test_what_is_absent_is_missing_and_a_stored_zero_is_a_zero(kinship, form):
    D = kinship.dissimilarities.astype(float)
    D.iloc[0, 1] = D.iloc[1, 0] = 0.0
    holes = D.copy()
    holes.iloc[2, 3] = holes.iloc[3, 2] = np.nan
    if form == "long":
        given = holes.stack().dropna()
    else:
        i, j = np.nonzero(holes.notna().to_numpy())
        given = sp.coo_array((holes.to_numpy()[i, j], (i, j)), shape=D.shape)
    with pytest.warns(MissingDissimilarityWarning, match="1 of 91 pairs"):
        expected = ConditionalMDS(**OPTIONS).fit(holes)
    with pytest.warns(MissingDissimilarityWarning, match="1 of 91 pairs"):
        found = ConditionalMDS(**OPTIONS).fit(given)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


def test_both_directions_of_a_long_table_must_agree(kinship):
    D = kinship.dissimilarities.astype(float)
    D.iloc[0, 1] += 8
    with pytest.raises(ValueError, match=r"not symmetric: .* \(object 'Aunt', object 'Brother'\)"):
        ConditionalMDS(**OPTIONS).fit(long_table(D))


def test_a_network_is_mapped_by_its_shortest_paths_and_its_nodes_are_the_labels():
    club = nx.karate_club_graph()
    paths = pd.DataFrame(dict(nx.all_pairs_dijkstra_path_length(club))).sort_index()[range(34)]
    known = pd.DataFrame({"degree": dict(club.degree)})
    expected = ConditionalMDS(**OPTIONS).fit(paths, known=known)
    found = ConditionalMDS(**OPTIONS).fit(club, known=known.iloc[::-1])
    np.testing.assert_allclose(found.embedding_, expected.embedding_, rtol=0, atol=1e-9)
    with (
        pytest.warns(MissingDissimilarityWarning),
        pytest.raises(ValueError, match=r"2 groups .* 2 objects \('3', '4'\)"),
    ):
        ConditionalMDS(**OPTIONS).fit(nx.disjoint_union(nx.path_graph(3), nx.path_graph(2)))


def test_three_objects_in_three_columns():
    square = pd.DataFrame([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]], index=list("abc"), columns=list("abc"))
    pairs = pd.DataFrame({"a": ["x", "x", "y"], "b": ["y", "z", "z"], "d": [3.0, 4.0, 5.0]})
    for table in (square, square.astype(int), pairs):
        mds = ConditionalMDS(**OPTIONS).fit(table)
        assert len(mds.embedding_) == 3
        assert mds.stress_ < 1e-12


@pytest.mark.parametrize("fitted", [ConditionalMDS(**OPTIONS), ConditionalIsomap(n_neighbors=6, **OPTIONS)])
def test_new_objects_in_every_form(kinship, fitted):
    D = kinship.dissimilarities.astype(float)
    fitted.set_output(transform="pandas").fit(D)
    new = D.iloc[[3, 1]].set_axis(["new b", "new a"])
    expected = fitted.transform(new)
    assert list(expected.index) == ["new b", "new a"]
    long = new.stack()
    for given in (long, long.reset_index(), long.sample(frac=1, random_state=3).reset_index()):
        pd.testing.assert_frame_equal(fitted.transform(given).loc[expected.index], expected)
    full = sp.coo_array((new.to_numpy().ravel(), (np.repeat([0, 1], 14), np.tile(np.arange(14), 2))))
    np.testing.assert_array_equal(fitted.transform(full), expected)
    with pytest.raises(ValueError, match="names 'Nobody' in its second column, which were not fitted"):
        fitted.transform(long.rename({"Aunt": "Nobody"}, level=1))


def test_new_objects_of_unlabelled_ones_are_told_by_position(kinship):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    fitted = ConditionalMDS(**OPTIONS).fit(D)
    long = pd.DataFrame({"new": "x", "old": np.arange(14), "d": D[4]})
    np.testing.assert_array_equal(fitted.transform(long), fitted.transform(D[4:5]))


def test_parallel_edges_count_by_the_shortest_and_loops_not_at_all():
    network = nx.MultiGraph([(0, 1, {"weight": 5}), (0, 1, {"weight": 2}), (1, 2, {}), (2, 2, {"weight": 9})])
    mds = ConditionalMDS(1, **OPTIONS).fit(network)
    np.testing.assert_allclose(np.sort(np.abs(np.diff(mds.embedding_[:, 0]))), [1, 2], rtol=1e-6)


SQUARE = pd.DataFrame([[0, 3, 4], [3, 0, 5], [4, 5, 0]], index=list("abc"), columns=list("abc"))


@pytest.mark.parametrize("dtype", ["int64", "Int64", "Float64", "object", "float32", "uint8"])
def test_whole_numbers_between_three_objects_are_a_square_table_whatever_their_type(dtype):
    expected = ConditionalMDS(1, **OPTIONS).fit(SQUARE.to_numpy()).embedding_
    mds = ConditionalMDS(1, **OPTIONS).set_output(transform="pandas")
    found = mds.fit_transform(SQUARE.astype(dtype))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert list(found.index) == list("abc")


@pytest.mark.parametrize("make", [ConditionalMDS, ConditionalIsomap])
def test_whole_numbers_from_new_objects_to_three_fitted_ones_are_dissimilarities(make):
    options = {"n_neighbors": 2} if make is ConditionalIsomap else {}
    fitted = make(1, **OPTIONS, **options).fit(SQUARE)
    expected = fitted.transform(np.array([[1.0, 2.0, 4.0]]))
    for new in (
        pd.DataFrame([[4, 2, 1]], columns=list("cba")),
        pd.DataFrame([[1, 2, 4]], columns=list("abc")).astype("Int64"),
        pl.DataFrame({"a": [1], "b": [2], "c": [4]}),
        pd.DataFrame({"new": ["x"] * 3, "old": list("abc"), "d": [1, 2, 4]}),
    ):
        np.testing.assert_allclose(fitted.transform(new), expected, rtol=1e-12, atol=1e-12)


def test_new_objects_in_a_long_table_name_fitted_ones_as_numbers_or_as_text(rng):
    X = rng.standard_normal((6, 2))
    D = pd.DataFrame(squareform(pdist(X)), index=range(1, 7), columns=range(1, 7))
    mds = ConditionalMDS(1, **OPTIONS).fit(D)
    new = pd.DataFrame({"new": "x", "old": range(1, 7), "d": D[2].to_numpy()})
    as_text = mds.transform(new.assign(old=new["old"].astype(str)))
    np.testing.assert_allclose(as_text, mds.transform(new), rtol=1e-12, atol=1e-12)


def test_a_long_table_may_call_both_columns_of_labels_the_same():
    rows = [("a", "b", 3.0), ("a", "c", 4.0), ("b", "c", 5.0)]
    found = ConditionalMDS(1, **OPTIONS).fit_transform(pd.DataFrame(rows, columns=["object", "object", "d"]))
    np.testing.assert_array_equal(found, ConditionalMDS(1, **OPTIONS).fit_transform(SQUARE.to_numpy()))


@pytest.mark.parametrize("make", [ConditionalMDS(1, **OPTIONS), Geodesic(2, metric="precomputed")])
def test_a_condensed_series_has_numbered_objects_where_pandas_is_asked_for(make):
    vector = pd.Series(squareform(SQUARE.to_numpy()), index=list("xyz"), dtype=float)
    found = clone(make).set_output(transform="pandas").fit_transform(vector)
    assert list(found.index) == [0, 1, 2]
    np.testing.assert_array_equal(found, clone(make).fit_transform(vector.to_numpy()))


def test_pandas_missing_value_in_a_column_of_objects_is_missing(rng):
    D = pd.DataFrame(squareform(pdist(rng.standard_normal((6, 2)))))
    D.iloc[1, 0] = D.iloc[0, 1] = np.nan
    anything = D.astype(object)
    anything.iloc[1, 0] = anything.iloc[0, 1] = pd.NA
    with pytest.warns(MissingDissimilarityWarning, match="1 of 15 pairs"):
        expected = ConditionalMDS(1, **OPTIONS).fit_transform(D)
    with pytest.warns(MissingDissimilarityWarning, match="1 of 15 pairs"):
        np.testing.assert_array_equal(ConditionalMDS(1, **OPTIONS).fit_transform(anything), expected)
