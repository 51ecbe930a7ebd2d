"""Networks as pictures: what is drawn, that nodes are placed as well as others place them, what is refused."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

from unmask import ConditionalMDS
from unmask.dissimilarities import NetworkDissimilarity
from unmask.inspection import canonical_correlations
from unmask.plotting._network import _Nodes, plot_network


@pytest.fixture
def ax():
    return Figure(figsize=(5, 5)).add_subplot()


@pytest.fixture(scope="module")
def club():
    return nx.karate_club_graph()


def lines(ax):
    (collection,) = (drawn for drawn in ax.collections if isinstance(drawn, LineCollection))
    return collection


def points(ax):
    return np.concatenate([drawn.get_offsets() for drawn in ax.collections if not isinstance(drawn, LineCollection)])


def texts(ax):
    return sorted(text.get_text() for text in ax.texts)


def ladder():
    """Return a small network with attributes and names, and coordinates of its nodes."""
    network = nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")])
    nx.set_node_attributes(network, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 5.0}, "size")
    nx.set_node_attributes(network, {"a": "x", "b": "y", "c": "x"}, "kind")
    nx.set_node_attributes(network, {node: f"node {node}" for node in "abcd"}, "name")
    return network, np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


# ---- how well nodes are placed

GRAPHS = {
    "grid": lambda: nx.grid_2d_graph(6, 6),
    "oblong grid": lambda: nx.grid_2d_graph(5, 8),
    "binary tree": lambda: nx.balanced_tree(2, 4),
    "Zachary's club": nx.karate_club_graph,
}


def errors(U, paths, weights):
    """Return the weighted sum of squared errors over pairs, after the one factor that makes it smallest."""
    upper = np.triu_indices(len(paths), 1)
    d = np.linalg.norm(U[upper[0]] - U[upper[1]], axis=1)
    delta, w = paths[upper], weights[upper]
    factor = (w * d * delta).sum() / (w * d * d).sum()
    return (w * (factor * d - delta) ** 2).sum(), (w * (d - delta) ** 2).sum()


def kamada_kawai(network, paths):
    nodes = list(network)
    lengths = {a: dict(zip(nodes, row, strict=True)) for a, row in zip(nodes, paths.tolist(), strict=True)}
    layout = nx.kamada_kawai_layout(network, dist=lengths)
    return np.array([layout[node] for node in nodes])


@pytest.mark.parametrize(
    ("name", "weight"), [*((name, None) for name in GRAPHS), ("Zachary's club", "weight")]
)  # hops, and the club's weights as lengths
def test_nodes_are_placed_at_least_as_well_as_by_kamada_and_kawai(ax, name, weight):
    network = GRAPHS[name]()
    paths = np.asarray(NetworkDissimilarity(weight).fit_transform(network))
    relative = 1 / np.where(paths > 0, paths, 1.0) ** 2
    theirs = kamada_kawai(network, paths)
    plot_network(network, weight=weight, max_labels=0, ax=ax)
    _, drawn = errors(np.asarray(points(ax)), paths, relative)
    assert drawn <= 1.01 * errors(theirs, paths, relative)[0]
    equal = np.ones_like(paths)
    stress = ConditionalMDS(metric="precomputed", random_state=0).fit(paths).stress_
    total = (paths[np.triu_indices(len(paths), 1)] ** 2).sum()
    assert stress <= 1.01 * errors(theirs, paths, equal)[0] / total


def test_the_fit_is_that_of_conditional_scaling_with_relative_errors(club, ax):
    D = NetworkDissimilarity().set_output(transform="pandas").fit_transform(club)
    weights = 1 / np.where(D > 0, D, 1.0) ** 2
    degree = pd.DataFrame({"degree": dict(club.degree)})
    mds = ConditionalMDS(2, metric="precomputed", random_state=0).fit(D, known=degree, weights=weights)
    plot_network(club, known=degree.iloc[::-1], orthogonal=False, max_labels=0, ax=ax)
    np.testing.assert_allclose(points(ax), mds.embedding_, rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def grid():
    grid = nx.grid_2d_graph(5, 7)
    for row, column in grid:
        grid.nodes[row, column].update(row=row, column=column)
    return grid


@pytest.mark.parametrize(
    ("options", "row_is_seen"),
    [
        ({}, True),
        ({"known": "row"}, False),
        # Given the rows only one dimension is unknown, and the second one drawn repeats them.
        ({"known": "row", "orthogonal": False}, True),
    ],
)
def test_what_is_known_is_conditioned_out(grid, ax, options, row_is_seen):
    drawn = points(plot_network(grid, max_labels=0, ax=ax, **options))
    row, column = (canonical_correlations(drawn, side)[0] for side in zip(*grid, strict=True))
    assert column > 0.99
    assert row > 0.99 if row_is_seen else row < 1e-8


def test_a_path_of_length_zero_counts_as_the_shortest_other(ax):
    network = nx.Graph()
    network.add_weighted_edges_from([(0, 1, 0.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 2.0), (2, 4, 1.5)])
    plot_network(network, ax=ax)
    first, second = points(ax)[:2]
    assert np.linalg.norm(first - second) < 0.05
    assert "0 / 1" in texts(ax)


def test_the_same_picture_each_time(club):
    first, second = (points(plot_network(club, max_labels=0, ax=Figure().add_subplot())) for _ in range(2))
    np.testing.assert_array_equal(first, second)


# ---- what is drawn


@pytest.mark.parametrize("form", ["array", "DataFrame", "dict"])
def test_nodes_and_edges_are_drawn_where_the_embedding_says(ax, form):
    network, square = ladder()
    given = {
        "array": square,
        "DataFrame": pd.DataFrame(square, index=list("abcd")).iloc[::-1],
        "dict": dict(zip("dcba", square[::-1], strict=True)),
    }[form]
    assert plot_network(network, given, title="Four", ax=ax) is ax
    np.testing.assert_array_equal(points(ax), square)
    expected = {frozenset(edge) for edge in network.edges}
    node = {tuple(place): name for name, place in zip("abcd", square, strict=True)}
    assert {frozenset(node[tuple(end)] for end in line) for line in lines(ax).get_segments()} == expected
    assert texts(ax) == list("abcd")
    assert ax.get_title(loc="left") == "Four"
    assert lines(ax).get_zorder() < min(drawn.get_zorder() for drawn in ax.collections if drawn is not lines(ax))


def test_labels_have_an_outline_and_text_that_was_there_has_none(ax):
    network, square = ladder()
    note = ax.text(0.5, 0.5, "a note")
    plot_network(network, square, ax=ax)
    assert [bool(text.get_path_effects()) for text in ax.texts] == [text is not note for text in ax.texts]
    assert len(ax.texts) == 5


def test_edges_do_not_move_the_limits_for_which_labels_were_placed():
    network, square = ladder()
    ax = plot_network(network, square, ax=Figure(layout="constrained").add_subplot())
    limits = ax.get_xlim(), ax.get_ylim()
    ax.figure.draw_without_rendering()
    assert (ax.get_xlim(), ax.get_ylim()) == limits


def test_a_sparse_matrix_has_no_labels_of_its_own(club, ax):
    adjacency = nx.to_scipy_sparse_array(club)
    plot_network(adjacency, ax=ax)
    assert texts(ax) == []
    assert len(lines(ax).get_segments()) == club.number_of_edges()
    named = plot_network(club, max_labels=0, ax=Figure().add_subplot())
    np.testing.assert_allclose(points(ax), points(named), rtol=0, atol=1e-9)
    labelled = plot_network(sp.triu(adjacency), labels=[f"n{i}" for i in range(34)], merge=0, ax=Figure().add_subplot())
    assert "n16" in texts(labelled)


def test_a_map_of_a_sparse_matrix_is_taken_by_position(ax):
    network, square = ladder()
    adjacency = nx.to_scipy_sparse_array(network)
    plot_network(adjacency, dict(enumerate(square)), ax=ax)
    np.testing.assert_array_equal(points(ax), square)
    by_frame = plot_network(adjacency, pd.DataFrame(square), ax=Figure().add_subplot())
    np.testing.assert_array_equal(points(by_frame), square)


def test_attributes_colour_and_label_nodes():
    network, square = ladder()
    numbers = plot_network(network, square, color="size", labels="name", ax=Figure().add_subplot())
    np.testing.assert_array_equal(numbers.collections[0].get_array(), [1, 2, 3, 5])
    assert texts(numbers) == ["node a", "node b", "node c", "node d"]
    kinds = plot_network(network, square, color="kind", ax=Figure().add_subplot())
    legend = kinds.get_legend()
    assert legend.get_title().get_text() == "kind"
    assert [text.get_text() for text in legend.get_texts()] == ["x", "y", "missing"]
    series = pd.Series([5.0, 3.0, 2.0, 1.0], index=list("dcba"))
    by_label = plot_network(network, square, color=series, ax=Figure().add_subplot())
    np.testing.assert_array_equal(by_label.collections[0].get_array(), [1, 2, 3, 5])


def test_attributes_may_be_known_by_name_or_as_a_table():
    network, _ = ladder()
    nodes = _Nodes.of(network)
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 5.0], "name": [f"node {node}" for node in "abcd"]}, list("abcd"))
    pd.testing.assert_frame_equal(nodes.attributes("known", ["size", "name"]), table)
    pd.testing.assert_frame_equal(nodes.attributes("known", "size"), table[["size"]])
    for given in (None, table, table.to_numpy(), [[1.0], [2.0], [3.0], [5.0]]):
        assert nodes.attributes("known", given) is given


def test_known_attributes_reach_the_fit_by_node(grid):
    table = pd.DataFrame({"row": [row for row, _ in grid]}, index=pd.Index(list(grid), tupleize_cols=False))
    by_name, by_table = (
        points(plot_network(grid, known=known, max_labels=0, ax=Figure().add_subplot()))
        for known in ("row", table.iloc[::-1])
    )
    np.testing.assert_array_equal(by_name, by_table)


@pytest.mark.parametrize(("n", "raster"), [(2000, False), (2002, True)])
def test_many_edges_are_rasterised(ax, n, raster):
    network = nx.cycle_graph(n)
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    plot_network(network, np.column_stack([np.cos(angle), np.sin(angle)]), max_labels=0, ax=ax)
    assert bool(lines(ax).get_rasterized()) is raster


def test_without_axes_a_new_figure_is_made():
    from matplotlib import pyplot

    network, square = ladder()
    with pyplot.rc_context({"backend": "Agg"}):
        ax = plot_network(network, square)
        assert isinstance(ax, Axes)
        pyplot.close(ax.figure)


def test_a_network_in_parts_is_drawn_where_an_embedding_says(ax):
    parts = nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))
    plot_network(parts, nx.circular_layout(parts), ax=ax)
    assert len(lines(ax).get_segments()) == 3


# ---- errors

LADDER, SQUARE = ladder()


@pytest.mark.parametrize(
    ("network", "options", "error", "message"),
    [
        (np.ones((3, 3)), {}, TypeError, r"network is ndarray; pass a graph of networkx or igraph .*csr_array\(X\)"),
        (nx.DiGraph(LADDER), {}, ValueError, "the network is directed"),
        (
            nx.disjoint_union(nx.path_graph(3), nx.path_graph(2)),
            {},
            ValueError,
            r"falls into 2 parts \(of 3, 2 nodes\), between which there is no path; draw one of them at a time",
        ),
        (nx.disjoint_union_all([nx.path_graph(2)] * 6), {}, ValueError, "6 parts .of 2, 2, 2, 2, 2 … nodes"),
        (LADDER, {"embedding": SQUARE, "known": "size"}, ValueError, "known is for the fit, but embedding says where"),
        (LADDER, {"embedding": SQUARE[:3]}, ValueError, r"embedding has shape \(3, 2\) but the network has 4 nodes"),
        (LADDER, {"embedding": SQUARE[:, :1]}, ValueError, r"shape \(4, 1\) but .* two columns"),
        (
            LADDER,
            {"embedding": {"a": (0, 0), "b": (1, 1)}},
            ValueError,
            "embedding is missing for 2 of 4 nodes: 'c', 'd'",
        ),
        (
            LADDER,
            {"embedding": pd.DataFrame(SQUARE, index=list("abcx"))},
            ValueError,
            "disagree on labels: 'd' missing from embedding",
        ),
        (
            LADDER,
            {"known": ["size", "age"]},
            ValueError,
            "known='age' is no attribute of the nodes, which have 'kind', 'name', 'size'; pass one of these",
        ),
        (LADDER, {"known": "kind"}, ValueError, "the node attribute 'kind' is missing for 1 of 4 nodes: 'd'; add it"),
        (LADDER, {"embedding": SQUARE, "labels": "kind"}, ValueError, "attribute 'kind' is missing for 1 of 4 nodes"),
        (nx.path_graph(4), {"color": "kind"}, ValueError, "color='kind' is no attribute of the nodes, which have none"),
        (
            nx.to_scipy_sparse_array(LADDER),
            {"known": "size"},
            ValueError,
            "known='size' names a node attribute, but a sparse matrix has none; pass the values",
        ),
        (LADDER, {"weight": 3}, ValueError, "weight=3 must be the name"),
        (LADDER, {"embedding": SQUARE, "color": [1, 2]}, ValueError, "color has 2 entries but the map has 4 objects"),
    ],
)
def test_what_is_wrong_is_said(ax, network, options, error, message):
    with pytest.raises(error, match=message):
        plot_network(network, ax=ax, **options)


def test_a_number_and_the_same_as_text_are_two_nodes():
    ax = plot_network(nx.Graph([(1, "1"), ("1", (2, 3)), ((2, 3), "z")]), ax=Figure().add_subplot())
    assert [text.get_text() for text in ax.texts] == ["1", "1", "(2, 3)", "z"]


def test_a_network_of_edges_without_length_is_refused():
    network = nx.cycle_graph(4)
    nx.set_edge_attributes(network, 0, "weight")
    with pytest.raises(ValueError, match="all dissimilarities are zero"):
        plot_network(network, ax=Figure().add_subplot())


def test_types_of_what_is_known_are_passed_on():
    club = nx.karate_club_graph()
    nx.set_node_attributes(club, {node: node % 3 for node in club}, "third")
    numeric = plot_network(club, known="third", max_labels=0, ax=Figure().add_subplot())
    nominal = plot_network(
        club, known="third", known_types={"third": "nominal"}, max_labels=0, ax=Figure().add_subplot()
    )
    places = [ax.findobj(PathCollection)[0].get_offsets() for ax in (numeric, nominal)]
    assert not np.allclose(*places)
