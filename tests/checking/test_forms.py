"""Dissimilarities in every form people have them: the same map, or a sentence that says what is wrong."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import squareform
from skbio import DistanceMatrix

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


def test_both_directions_of_a_long_table_are_kept_apart_until_they_are_averaged(kinship):
    D = kinship.dissimilarities.astype(float)
    D.iloc[0, 1] += 8
    with pytest.raises(ValueError, match=r"not symmetric: .* \(object 'Aunt', object 'Brother'\)"):
        ConditionalMDS(**OPTIONS).fit(long_table(D))
    found = ConditionalMDS(symmetrize="mean", **OPTIONS).fit(long_table(D))
    np.testing.assert_array_equal(found.embedding_, ConditionalMDS(**OPTIONS).fit((D + D.T) / 2).embedding_)


def test_a_network_is_mapped_by_its_shortest_paths_and_its_nodes_are_the_labels():
    club = nx.karate_club_graph()
    paths = pd.DataFrame(dict(nx.all_pairs_dijkstra_path_length(club))).sort_index()[range(34)]
    known = pd.DataFrame({"degree": dict(club.degree)})
    expected = ConditionalMDS(**OPTIONS).fit(paths, known=known)
    found = ConditionalMDS(**OPTIONS).fit(club, known=known.iloc[::-1])
    np.testing.assert_allclose(found.embedding_, expected.embedding_, rtol=0, atol=1e-9)
    with pytest.warns(MissingDissimilarityWarning), pytest.raises(ValueError, match=r"2 groups .* group 2: '3', '4'"):
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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.ones(20), "1 dimension and 20 entries; .*15, 21 or 28 would do"),
        (sp.csr_array(np.ones((3, 4))), r"shape \(3, 4\) but must be square"),
        (pd.DataFrame({"i": list("aab"), "j": list("bbc"), "d": [1, 2, 3]}), r"names the pair \('a', 'b'\) 2 times"),
        (pd.DataFrame({"i": ["a", None], "j": ["b", "c"], "d": [1, 2]}), "a missing label in column 'i'"),
        (pd.DataFrame({"i": ["a", "b"], "j": ["b", "c"], "d": ["near", "far"]}), "third column, 'd', that are not"),
        (pd.DataFrame({"i": ["a", "a"], "j": ["a", "b"], "d": [2, 1]}), "only n_samples=2 objects"),
        (pd.DataFrame({"i": list("aab"), "j": list("abc"), "d": [2, 1, 1]}), "2 on the diagonal, for object 'a'"),
        (pd.DataFrame(np.ones((5, 3))), r"shape \(5, 3\) but must be square"),
        (nx.DiGraph([(0, 1)]), "the network is directed"),
        (nx.empty_graph(3), "network of 3 nodes has no edges"),
        (nx.Graph([(0, 1, {"weight": -2.0})]), r"edge \(0, 1\) has length .*-2.0.*; lengths must be finite"),
        (nx.Graph([(0, 1, {"weight": "far"})]), r"edge \(0, 1\) has length .*'far'.*; lengths must be finite"),
    ],
)
def test_what_is_wrong_is_said(data, message):
    with pytest.raises(ValueError, match=message):
        ConditionalMDS(metric="precomputed").fit(data)


def test_parallel_edges_count_by_the_shortest_and_loops_not_at_all():
    network = nx.MultiGraph([(0, 1, {"weight": 5}), (0, 1, {"weight": 2}), (1, 2, {}), (2, 2, {"weight": 9})])
    mds = ConditionalMDS(1, **OPTIONS).fit(network)
    np.testing.assert_allclose(np.sort(np.abs(np.diff(mds.embedding_[:, 0]))), [1, 2], rtol=1e-6)
