"""Tables of other packages, names for what is known, and what is refused with the way out."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator

import unmask
from unmask import (
    ConditionalClassicalMDS,
    ConditionalMDS,
    SpectralMap,
    dissimilarities,
)
from unmask.dissimilarities import Geodesic, NetworkDissimilarity
from unmask.inspection import permutation_test


def mds(**options):
    return ConditionalClassicalMDS(metric="precomputed", **options)


@pytest.fixture(scope="module")
def terms(kinship):
    D = kinship.dissimilarities.astype(float)
    return D, kinship.known[["gender"]], mds().fit(D, known=kinship.known[["gender"]])


@pytest.fixture(scope="module")
def kinship():
    from unmask.datasets import load_kinship

    return load_kinship()


@pytest.fixture
def table(rng):
    return pd.DataFrame(rng.normal(size=(30, 4)), columns=["age", "height", "width", "mass"])


# ---- labels of square tables


def test_the_header_of_a_square_table_of_polars_names_the_objects(terms):
    D, gender, expected = terms
    square = pl.DataFrame(D.to_numpy(), schema=list(D.columns))
    fitted = mds().fit(square, known=gender.iloc[::-1])
    assert list(fitted.object_names_) == list(D.index)
    np.testing.assert_allclose(fitted.embedding_, expected.embedding_)
    mixed = square.select(list(D.columns)[::-1])[:3]
    placed = fitted.transform(mixed, known=gender.iloc[:3].to_numpy())
    np.testing.assert_allclose(placed, expected.embedding_[:3], atol=1e-8)


@pytest.mark.parametrize("names", [None, [str(i) for i in range(14)]])
def test_a_header_that_only_counts_names_nothing(terms, names):
    D, gender, expected = terms
    fitted = mds().fit(pl.DataFrame(D.to_numpy(), schema=names), known=gender)
    np.testing.assert_allclose(fitted.embedding_, expected.embedding_)
    assert list(fitted.object_names_) == list(range(14))


@pytest.mark.parametrize("make", [lambda D: D.reset_index(), lambda D: pl.from_pandas(D.reset_index())])
def test_a_leading_column_of_text_names_the_objects(terms, make):
    D, gender, expected = terms
    fitted = mds().fit(make(D), known=gender.iloc[::-1])
    assert list(fitted.object_names_) == list(D.index)
    np.testing.assert_allclose(fitted.embedding_, expected.embedding_)
    new = make(D)[:3]
    np.testing.assert_allclose(fitted.transform(new, known=gender.iloc[[2, 0, 1]]), expected.embedding_[:3], atol=1e-8)


def test_a_leading_column_that_contradicts_the_header_is_refused(terms):
    D, *_ = terms
    wrong = pl.from_pandas(D.reset_index(names="term")).with_columns(pl.Series("term", [f"t{i}" for i in range(14)]))
    with pytest.raises(ValueError, match="disagree on labels"):
        mds().fit(wrong)


def test_labels_survive_an_output_of_polars(terms):
    D, gender, _ = terms
    found = mds().set_output(transform="polars")
    places = found.fit_transform(D, known=gender)
    assert isinstance(places, pl.DataFrame)
    assert list(found.object_names_) == list(D.index)


QUICKLY = {
    "ConditionalGPLVM": {"n_components": 1, "max_iter": 2},
    "ConditionalTSNE": {"perplexity": 5, "max_iter": 20},
    "ConditionalUMAP": {"max_iter": 20},
    "MaximumVarianceUnfolding": {"max_iter": 2},
} | {name: {"n_init": 1} for name in ("ConditionalMDS", "ConditionalIsomap", "GeneralMDS")}
OF_OTHER_DATA = {"NetworkDissimilarity", "TextureDissimilarity", "WordDissimilarity"}


def estimators():
    """Return every public estimator of a table of features."""
    for room in (unmask, dissimilarities):
        for name, kind in ((name, getattr(room, name)) for name in room.__all__):
            if isinstance(kind, type) and issubclass(kind, BaseEstimator) and name not in OF_OTHER_DATA:
                yield kind(**QUICKLY.get(name, {}))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [*estimators(), SpectralMap(Geodesic())], ids=lambda one: type(one).__name__)
def test_every_estimator_says_what_its_objects_are_called(estimator, table):
    assert not hasattr(estimator, "object_names_")
    assert list(estimator.fit(table.to_numpy()).object_names_) == list(range(30))
    named = table.set_axis([f"o{i}" for i in range(30)])
    assert isinstance(estimator.set_output(transform="polars").fit_transform(named), pl.DataFrame)
    assert list(estimator.object_names_) == list(named.index)


# ---- what is known, by name


@pytest.mark.parametrize("make", [lambda X: X, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("known", ["age", ["age", "mass"]])
def test_known_columns_are_named_and_leave_the_features(table, make, known):
    names = [known] if isinstance(known, str) else known
    X = make(table)
    fitted = ConditionalMDS(n_init=1, random_state=0).fit(X, known=known)
    expected = ConditionalMDS(n_init=1, random_state=0).fit(table.drop(columns=names), known=table[names])
    np.testing.assert_array_equal(fitted.embedding_, expected.embedding_)
    assert list(fitted.known_summary_.index) == names
    assert not set(fitted.feature_names_in_) & set(names)
    np.testing.assert_allclose(fitted.transform(X, known=known), fitted.embedding_, atol=1e-6)


def test_texts_for_all_objects_are_values(table):
    levels = ["a", "b"] * 15
    fitted = ConditionalMDS(n_init=1, random_state=0).fit(table, known=levels)
    assert fitted.known_summary_.loc["known0", "levels"] == "a, b"


def test_a_test_of_features_takes_names(table):
    found = permutation_test(ConditionalMDS(1, n_init=1, random_state=0), table, ["age"], n_permutations=3)
    assert list(found.index) == ["age"]


# ---- networks


def club_of_igraph():
    igraph = pytest.importorskip("igraph", reason="needs igraph: pip install igraph")
    club = nx.karate_club_graph()
    graph = igraph.Graph(n=34, edges=list(club.edges))
    graph.vs["club"] = [club.nodes[node]["club"] for node in club]
    graph.es["weight"] = [club.edges[edge]["weight"] for edge in club.edges]
    return club, graph


@pytest.mark.parametrize("weight", ["weight", None])
def test_networks_of_igraph_are_those_of_networkx(weight):
    club, graph = club_of_igraph()
    ours, theirs = (NetworkDissimilarity(weight).fit(g) for g in (graph, club))
    np.testing.assert_array_equal(ours.dissimilarities_, theirs.dissimilarities_)
    assert ours.nodes_ == list(range(34))
    graph.vs["name"] = [f"n{i}" for i in range(34)]
    assert list(NetworkDissimilarity().fit(graph).object_names_)[:2] == ["n0", "n1"]
    graph.vs["name"] = ["same"] * 34
    assert NetworkDissimilarity().fit(graph).nodes_ == list(range(34))


@pytest.mark.parametrize("known", ["club", ["club"]])
def test_known_names_an_attribute_of_the_nodes(known):
    club, graph = club_of_igraph()
    values = pd.DataFrame({"club": [club.nodes[node]["club"] for node in club]})
    expected = mds().fit(NetworkDissimilarity().fit_transform(club), known=values)
    for network in (club, graph):
        fitted = mds().fit(network, known=known)
        np.testing.assert_array_equal(fitted.embedding_, expected.embedding_)
        assert list(fitted.known_summary_.index) == ["club"]


def test_networks_of_igraph_are_drawn():
    from matplotlib.figure import Figure

    from unmask.plotting import plot_network

    _, graph = club_of_igraph()
    ax = plot_network(graph, np.random.default_rng(0).normal(size=(34, 2)), color="club", ax=Figure().add_subplot())
    assert len(ax.collections[-1].get_segments()) == 78
    with pytest.raises(ValueError, match="color='nothing' is no attribute of the nodes, which have 'club'"):
        plot_network(graph, known=["club"], color="nothing")


def test_a_directed_network_of_igraph_is_refused():
    igraph = pytest.importorskip("igraph")
    with pytest.raises(ValueError, match=r"the network is directed.* pass network.as_undirected\(\)"):
        mds().fit(igraph.Graph(n=3, edges=[(0, 1), (1, 2)], directed=True))


# ---- word vectors, and what is refused


def test_word_vectors_are_features_with_their_words_as_labels(rng):
    gensim = pytest.importorskip("gensim.models")
    words = [f"word{i}" for i in range(12)]
    vectors = gensim.KeyedVectors(5)
    vectors.add_vectors(words, rng.normal(size=(12, 5)))
    for metric in ("cosine", Geodesic(4)):
        fitted = ConditionalMDS(metric=metric, n_init=1, random_state=0).fit(vectors)
        expected = ConditionalMDS(metric=metric, n_init=1, random_state=0).fit(vectors.vectors)
        np.testing.assert_allclose(fitted.embedding_, expected.embedding_, atol=1e-5)
        assert list(fitted.object_names_) == words
    counts = pd.DataFrame({"count": np.arange(12.0)}, index=words[::-1])
    given = ConditionalMDS(metric="cosine", n_init=1, random_state=0).fit(vectors, known=counts)
    assert list(given.object_names_) == words


def test_texts_are_values_of_the_objects_of_a_list_of_pairs(kinship):
    texts = ["m", "f"] * 7
    pairs = kinship.dissimilarities.astype(float).stack().reset_index()
    expected = mds().fit(kinship.dissimilarities, known=texts).embedding_
    np.testing.assert_allclose(mds().fit(pairs, known=texts).embedding_, expected)
