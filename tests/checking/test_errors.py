"""What is refused, and the words that lead to the mistake: the argument, the object, the pair, the way out."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from unmask import ConditionalClassicalMDS, ConditionalIsomap, ConditionalMDS, GeneralMDS, inspection
from unmask.checking import (
    check_dissimilarities,
    refuse_target,
    require_choice,
    require_coef,
    require_flag,
    require_integer,
    require_jobs,
    require_number,
    require_real,
)
from unmask.discovery import Discovery
from unmask.dissimilarities import Geodesic, KernelDissimilarity, Metric
from unmask.inspection import partial_dbrda
from unmask.kernels import Source, Workers
from unmask.plotting import explore, plot_map

N = 8
X = np.random.default_rng(0).normal(size=(N, 3))
D = np.linalg.norm(X[:, None] - X, axis=2)
FEATURES = pd.DataFrame(X, columns=["age", "height", "width"])


class Formula(Source):
    """Dissimilarities that a formula gives; never a square table."""

    def __init__(self, n, change=lambda i, j, values: values, labels=None, dtype=np.float64):
        self.n, self.dtype, self.labels, self.change = n, np.dtype(dtype), labels, change

    def tile(self, rows, columns):
        i, j = np.arange(self.n)[rows][:, None], np.arange(self.n)[columns][None, :]
        return self.change(i, j, np.sqrt(np.abs(i - j).astype(float)))


def changed(value, back, at=(3, 400)):
    """Return a source with other dissimilarities of one pair."""

    def change(i, j, values):
        values = np.where((i == at[0]) & (j == at[1]), value, values)
        return np.where((i == at[1]) & (j == at[0]), back, values)

    return Formula(501, change)


def square(cells):
    """Return the square table with other values in some cells."""
    changed = D.copy()
    for cell, value in cells.items():
        changed[cell] = value
    return changed


def long(i, j, d, **others):
    return pd.DataFrame({"i": i, "j": j, "d": d} | others)


def check(data, **options):
    return check_dissimilarities(data, workers=Workers(1), **options)


DISSIMILARITIES = [
    (square({(2, 5): np.inf, (5, 2): np.inf}), "inf", "object 2", "object 5"),
    (square({(2, 5): -1.0, (5, 2): -1.0}), "Negative values in data", "-1", "object 2", "similarities"),
    (square({(5, 2): -1.0}), "-1", "(object 5, object 2)"),
    (square({(2, 5): 99.0}), "99", "object 2", "object 5", "(D + D.T) / 2"),
    (square({(2, 5): np.nan}), "nan", "object 2", "object 5", "missing"),
    (square({(3, 3): 1.0}), "diagonal", "object 3"),
    (np.zeros((2, 2)), "n_samples=2"),
    (np.zeros((4, 4)), "zero"),
    (np.where(np.eye(4), 0, np.nan), "all 6 pairs"),
    (np.ones((4, 5)), "(4, 5)", "square"),
    ((1 - np.eye(4)) * 1e-301, "1e-301", "1e-300"),
    ((1 - np.eye(4)) * 1j, "omplex"),
    # Forms
    (np.ones(20), "20 entries", "15 or 21"),
    (sp.csr_array(np.ones((3, 4))), "(3, 4)", "square"),
    (long(list("aab"), list("bbc"), [1, 2, 3]), "('a', 'b')", "2 times"),
    (long(["a", None], ["b", "c"], [1, 2]), "label", "'i'"),
    (long(["a", "b"], ["b", "c"], ["near", "far"]), "third column", "'d'"),
    (long(["a", "a"], ["a", "b"], [2, 1]), "n_samples=2"),
    (long(list("aab"), list("abc"), [2, 1, 1]), "diagonal", "object 'a'"),
    (long(list("aab"), list("bcc"), [1.0, 2.0, 2.5], n=[7, 8, 9]), "4 columns", "'i', 'j'", "leave"),
    (pl.DataFrame({"i": list("aab"), "j": list("bcc"), "d": [1.0, 2.0, 2.5], "n": [7, 8, 9]}), "4 columns"),
    (long([1, 1, 2, 1], ["2", "3", "3", "4"], [1.0, 2.0, 2.5, 3.0]), "'2' and 2", "same type"),
    (pl.DataFrame({"i": [1, 1, 2], "j": ["2", "3", "3"], "d": [1.0, 2.0, 2.5]}), "'2' and 2", "same type"),
    (pd.DataFrame(np.ones((5, 3))), "(5, 3)", "square"),
    (nx.DiGraph([(0, 1)]), "directed"),
    (nx.empty_graph(3), "3 nodes", "edges"),
    (nx.Graph([(0, 1, {"weight": -2.0})]), "edge (0, 1)", "-2.0"),
    (nx.Graph([(0, 1, {"weight": "far"})]), "edge (0, 1)", "'far'"),
    # Sources
    (changed(np.inf, np.inf), "inf", "object 3", "object 400"),
    (changed(-1.0, -1.0), "-1", "object 3", "object 400"),
    (changed(2.0, 2.0, (400, 400)), "diagonal", "object 400"),
    (changed(5.0, 6.0), "5 and 6", "object 3", "object 400", "let the source average"),
    (changed(np.nan, 6.0), "nan and 6", "object 3", "object 400"),
    (Formula(501, lambda i, j, values: values * 0), "zero"),
    (Formula(501, lambda i, j, values: np.where(i == j, 0, np.nan)), "all 125250 pairs"),
    (Formula(9, dtype=np.float16), "float16"),
    (Formula(9, labels=list("abc")), "3 labels", "n=9"),
    (Formula(4, labels=list("abca")), "duplicate"),
    (Formula(2), "n_samples=2"),
    (type("Tiles", (), {"n": 9, "dtype": np.dtype(float), "tile": None})(), "Tiles", "unmask.kernels.Source"),
]


@pytest.mark.parametrize(("data", "words"), [(data, words) for data, *words in DISSIMILARITIES])
def test_dissimilarities_that_are_refused_and_what_is_named(data, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as error:
        check(data)
    assert [word for word in words if word not in str(error.value)] == []


def mds(**options):
    return ConditionalMDS(metric="precomputed", n_init=1, random_state=0, **options)


CALLS = [
    (ValueError, lambda: require_integer("n", 0, 1), "n=0"),
    (ValueError, lambda: require_integer("n", True, 1), "n=True"),
    (ValueError, lambda: require_integer("n", 2.0, 1), "n=2.0"),
    (ValueError, lambda: require_integer("n", "2", 1), "n='2'"),
    (ValueError, lambda: require_number("tol", -1e-9, 0), "tol=-1e-09"),
    (ValueError, lambda: require_number("tol", np.inf, 0), "tol=inf"),
    (ValueError, lambda: require_number("tol", np.nan, 0), "tol=nan"),
    (ValueError, lambda: require_number("tol", False, 0), "tol=False"),
    (ValueError, lambda: require_choice("level", "ration", ("ratio", None)), "level='ration'", "did you mean 'ratio'"),
    (ValueError, lambda: require_choice("level", ["ratio"], ("ratio",)), "level=['ratio']"),
    (ValueError, lambda: require_coef("diag"), "coef='diag'", "'diagonal'"),
    (ValueError, lambda: require_coef(3), "coef=3", "groups of columns"),
    (ValueError, lambda: require_coef(["x", "y"]), "coef=['x', 'y']"),
    (ValueError, lambda: require_jobs(0), "n_jobs=0"),
    (ValueError, lambda: require_jobs(True), "n_jobs=True"),
    (ValueError, lambda: require_flag("orthogonal", 1), "orthogonal=1"),
    (ValueError, lambda: require_real(np.array([1j]), "known"), "Complex data not supported", "known"),
    (ValueError, lambda: refuse_target(np.zeros((3, 2))), "y", "known="),
    # What needs all dissimilarities at once, or no source
    (ValueError, lambda: check(square({(0, 1): np.nan, (1, 0): np.nan}), complete_for="the closed form"), "2 cells"),
    (ValueError, lambda: check(Formula(9)).array_for("the scree plot"), "the scree plot", "9 x 9"),
    (ValueError, lambda: GeneralMDS(metric="precomputed").fit(Formula(40)), "GeneralMDS", "use ConditionalMDS"),
    (ValueError, lambda: ConditionalIsomap(metric="precomputed").fit(Formula(40)), "Geodesic", "40 x 40"),
    (ValueError, lambda: Discovery(Formula(40)), "a study", "40 x 40"),
    (ValueError, lambda: inspection.scree(mds(), Formula(40)), "scree", "40 x 40"),
    (ValueError, lambda: inspection.compare(Formula(40)), "compare", "40 x 40"),
    (ValueError, lambda: ConditionalMDS().fit(Formula(30)), "source", "metric='precomputed'"),
    (ValueError, lambda: ConditionalMDS(metric=Geodesic(5)).fit(Formula(30)), "source", "metric='precomputed'"),
    (ValueError, lambda: Geodesic(5).fit(Formula(30)), "source", "metric='precomputed'"),
    (ValueError, lambda: Metric().fit(Formula(30)), "source", "features"),
    (ValueError, lambda: mds().fit(D).transform(Formula(N)), "source", "one row per new object"),
    # Known features by name
    (ValueError, lambda: ConditionalMDS().fit(FEATURES, known="agee"), "known names 'agee'", "'age', 'height'"),
    (ValueError, lambda: ConditionalMDS().fit(FEATURES, known=["age", "mass"]), "known names 'mass'"),
    (ValueError, lambda: ConditionalMDS().fit(FEATURES, known=list(FEATURES)), "known names all columns of X"),
    (ValueError, lambda: ConditionalMDS().fit(X, known="age"), "known='age'", "X has no columns"),
    (ValueError, lambda: ConditionalMDS().fit(X, known=["age"]), "known=['age']"),
    (ValueError, lambda: mds().fit(D, known=["age"]), "known=['age']"),
    (ValueError, lambda: mds().fit(nx.karate_club_graph(), known="clubb"), "known names 'clubb'", "'club'"),
    (TypeError, lambda: mds().fit(D, known=pl.LazyFrame({"x": range(N)})), ".collect()"),
    # Labels
    (ValueError, lambda: partial_dbrda(pd.DataFrame(D), FEATURES.set_axis([*range(1, N), 99])), "known", "'0'", "'99'"),
    (
        ValueError,
        lambda: plot_map(pd.DataFrame(X[:, :2]), color=pd.Series(X[:, 0], range(1, N + 1))),
        "color",
        "labels",
    ),
    # Maps are not drawn from paths
    (TypeError, lambda: plot_map("map.csv"), "embedding='map.csv'", "read"),
    (TypeError, lambda: explore("map.csv"), "embedding='map.csv'", "read"),
]


@pytest.mark.parametrize(("kind", "call", "words"), [(kind, call, words) for kind, call, *words in CALLS])
def test_calls_that_are_refused_and_what_is_named(kind, call, words):
    with pytest.raises(kind, match=re.escape(words[0])) as error:
        call()
    assert [word for word in words if word not in str(error.value)] == []


NO_DATA = [
    (type("AnnData", (), {"obs": 1, "obsm": 2, "obsp": 3})(), "unmask.interop.anndata"),
    (pl.LazyFrame({"x": [1, 2, 3]}), ".collect()"),
    ("d.rds", "write.csv(as.matrix(d)"),
    ("d.csv", "X='d.csv'"),
    (type("Word2Vec", (), {"wv": 1, "corpus_count": 2})(), "model.wv"),
]
ESTIMATORS = [ConditionalMDS(), ConditionalIsomap(), KernelDissimilarity(), Metric()]


@pytest.mark.parametrize("estimator", [*ESTIMATORS, ConditionalClassicalMDS(metric="precomputed")], ids=str)
def test_what_is_no_table_gets_the_way_out(estimator):
    for data, way_out in NO_DATA:
        with pytest.raises(TypeError, match=re.escape(way_out)):
            estimator.fit(data)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("graph", [nx.grid_2d_graph(2, 3), nx.Graph([("a", "b"), ("b", "c")])])
def test_a_graph_is_not_taken_for_features(estimator, graph):
    with pytest.raises(TypeError, match=r"NetworkDissimilarity"):
        estimator.fit(graph)
