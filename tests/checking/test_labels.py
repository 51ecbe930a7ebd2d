"""Labels: the same in every room, whether a file gave them as text or as numbers, and from every kind of table."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalMDS
from unmask.checking import as_pandas, labels_of
from unmask.discovery import Discovery
from unmask.dissimilarities import Metric
from unmask.inspection import (
    abs_correlations,
    dbrda_test,
    jackknife,
    leak,
    name_axes,
    partial_dbrda,
    procrustes,
    shepard,
)
from unmask.plotting import plot_map, plot_pair, plot_shepard

N = 14
FAST = {"metric": "precomputed", "n_init": 1, "random_state": 0, "tol": 1e-4}


@pytest.fixture(scope="module")
def data():
    """Dissimilarities as pandas reads what R's write.csv wrote (rows 1, 2 …), and two features in another order."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 4))
    rows = pd.Index(range(1, N + 1))
    D = pd.DataFrame(squareform(pdist(X)), index=rows, columns=rows.map(str))
    features = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}, index=rows)
    return D, features, features.set_axis(rows.map(str)).iloc[rng.permutation(N)]


@pytest.fixture(scope="module")
def embedding(data):
    D, features, _ = data
    return pd.DataFrame(ConditionalMDS(**FAST).fit_transform(D, known=features), index=D.index, columns=["x", "y"])


@pytest.mark.parametrize(
    "number",
    [
        lambda D, U, known: ConditionalMDS(**FAST).fit(D, known=known).stress_,
        lambda D, U, known: partial_dbrda(D, known),
        lambda D, U, known: dbrda_test(D, known, n_permutations=19, random_state=0),
        lambda D, U, known: name_axes(U, known, n_permutations=0),
        lambda D, U, known: abs_correlations(U, known),
        lambda D, U, known: leak(U, known),
        lambda D, U, known: procrustes(U, known).statistic,
        lambda D, U, known: jackknife(ConditionalMDS(**FAST), D, known=known).objects,
        lambda D, U, known: Discovery(D, known).known,
    ],
    ids=[
        "fit",
        "partial_dbrda",
        "dbrda_test",
        "name_axes",
        "abs_correlations",
        "leak",
        "procrustes",
        "jackknife",
        "study",
    ],
)
def test_text_and_whole_numbers_are_the_same_labels_in_every_room(data, embedding, number):
    D, same, text = data
    expected, found = number(D, embedding, same), number(D, embedding, text)
    np.testing.assert_allclose(np.asarray(_numbers(found)), np.asarray(_numbers(expected)), rtol=1e-9, atol=1e-12)


def _numbers(found):
    found = getattr(found, "embedding", found)
    return found.select_dtypes("number") if hasattr(found, "select_dtypes") else found


def test_pictures_know_text_and_whole_numbers_too(data, embedding):
    D, same, text = data
    colors = []
    for known in (same, text):
        _, ax = plt.subplots()
        plot_map(embedding, color=known["a"], ax=ax)
        colors.append(ax.collections[0].get_facecolors())
        plot_pair(embedding, embedding.set_axis(embedding.index.map(str)).iloc[::-1], color=known["a"])
    plt.close("all")
    np.testing.assert_array_equal(colors[0], colors[1])
    mds = ConditionalMDS(**FAST).fit(D)
    shuffled = D.set_axis(D.index.map(str)).iloc[::-1]
    one, other = (plot_shepard(mds, X).collections[0].get_offsets() for X in (D, shuffled))
    plt.close("all")
    order = [np.lexsort(np.round(points, 9).T) for points in (one, other)]
    np.testing.assert_allclose(one[order[0]], other[order[1]])
    text_map = embedding.set_axis(embedding.index.map(str)).iloc[::-1]
    np.testing.assert_allclose(shepard(D, text_map)["distance"], shepard(D, embedding)["distance"])


def test_features_are_adopted_under_labels_of_either_kind(data):
    D, same, text = data
    study = Discovery(D)
    study.fit(2, n_init=1)
    study.adopt("a", values=text["a"])
    study.adopt("b", values=text["b"].to_dict())
    np.testing.assert_array_equal(study.known, same)
    study.adopt("first", groups={"some": ["1", "2", "3"]})
    assert study.known["first"].tolist() == ["some"] * 3 + ["other"] * (N - 3)
    study.adopt("line", along=("1", "2"))
    study.adopt("again", along=(1, 2))
    np.testing.assert_array_equal(study.known["line"], study.known["again"])
    script = study.to_script()
    assert "along=[1, 2]" in script
    assert '"1"' not in script


# ---- arrays of xarray, tables of pyarrow


class StandIn:
    """As much of an xarray DataArray as tells it from other arrays; xarray itself where it is installed."""

    def __new__(cls, values, coords=(), dims=("object", "feature"), name=None):
        try:
            import xarray
        except ImportError:
            return super().__new__(cls)
        values = np.asarray(values)
        return xarray.DataArray(values, dict(coords), dims[: values.ndim], name=name)

    def __init__(self, values, coords=(), dims=("object", "feature"), name=None):
        self.values, self.coords, self.name = np.asarray(values), dict(coords), name
        self.ndim, self.shape, self.dims = self.values.ndim, self.values.shape, dims[: self.values.ndim]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)

    def to_pandas(self):
        labels = [self.coords.get(dim) for dim in self.dims]
        if self.ndim == 1:
            return pd.Series(self.values, index=labels[0], name=self.name)
        return pd.DataFrame(self.values, index=labels[0], columns=labels[1])


def as_array(frame, *, labelled=True):
    coords = {"object": list(frame.index)} if labelled else {}
    if frame.ndim == 2:
        coords |= {"feature": list(frame.columns)} if labelled else {}
    return StandIn(frame.to_numpy(), coords, name=None)


def test_coordinates_of_arrays_are_labels(data):
    D, same, text = data
    expected = ConditionalMDS(**FAST).fit(D, known=same)
    shuffled = D.iloc[::-1]
    for X, known in ((D, as_array(text)), (as_array(D), as_array(text)), (as_array(shuffled), as_array(text))):
        mds = ConditionalMDS(**FAST).fit(X, known=known)
        assert mds.stress_ == pytest.approx(expected.stress_, rel=1e-3)
        assert list(mds.coef_.columns) == ["a", "b"]
        assert sorted(mds.stress_per_point_.index) == list(D.index)
    np.testing.assert_allclose(partial_dbrda(as_array(D), as_array(text)).embedding, partial_dbrda(D, same).embedding)
    assert leak(mds, as_array(text)) == pytest.approx(leak(mds, text))
    one, other = (
        plot_map(mds, color=color).collections[0].get_facecolors() for color in (text["a"], as_array(text["a"]))
    )
    plt.close("all")
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(Discovery(D, as_array(text)).known, same)


def test_arrays_of_features_bring_their_labels(data):
    _, same, text = data
    params = {**FAST, "metric": "euclidean"}
    mds = ConditionalMDS(1, **params).fit(as_array(same), known=text[["a"]])
    like = ConditionalMDS(1, **params).fit(same, known=same[["a"]])
    assert mds.stress_ == pytest.approx(like.stress_)
    assert list(mds.stress_per_point_.index) == list(same.index)
    placed = mds.transform(as_array(same.iloc[:4]), known=as_array(text[["a"]].loc[["4", "3", "2", "1"]]))
    np.testing.assert_allclose(placed, like.transform(same.iloc[:4], known=same[["a"]].iloc[:4]))
    assert Metric("euclidean").fit(as_array(same)).get_feature_names_out().tolist() == [str(row) for row in same.index]


def test_arrays_without_coordinates_go_by_position(data):
    D, same, _ = data
    mds = ConditionalMDS(**FAST).fit(D, known=as_array(same, labelled=False))
    assert mds.stress_ == pytest.approx(ConditionalMDS(**FAST).fit(D, known=same.to_numpy()).stress_)
    assert list(mds.coef_.columns) == ["known0", "known1"]
    assert labels_of(as_array(same, labelled=False)) is None
    assert labels_of(same.to_numpy()) is None


def test_tables_of_pyarrow_are_read_as_those_of_pandas(data):
    pa = pytest.importorskip("pyarrow")
    D, same, text = data
    expected = ConditionalMDS(**FAST).fit(D, known=same)
    plain = pa.table({name: same[name].to_numpy() for name in same.columns})
    for known in (plain, pa.Table.from_pandas(text)):
        mds = ConditionalMDS(**FAST).fit(D, known=known)
        assert mds.stress_ == pytest.approx(expected.stress_)
        assert list(mds.coef_.columns) == ["a", "b"]
    square = pa.Table.from_pandas(D.set_axis(D.columns), preserve_index=False)
    assert ConditionalMDS(**FAST).fit(square, known=text).stress_ == pytest.approx(expected.stress_)
    long = pa.table({"i": ["a", "a", "b"], "j": ["b", "c", "c"], "d": [1.0, 2.0, 1.5]})
    assert list(ConditionalMDS(1, **FAST).fit(long).stress_per_point_.index) == ["a", "b", "c"]
    sizes = pa.table({"size": pa.array(["S", "L"] * (N // 2)).dictionary_encode()})
    assert ConditionalMDS(**FAST).fit(D, known=sizes).known_summary_["type"].tolist() == ["nominal"]
    params = {**FAST, "metric": "euclidean"}
    assert ConditionalMDS(1, **params).fit(plain, known=text[["a"]].to_numpy()).embedding_.shape == (N, 1)


def test_what_is_no_table_with_labels_stays_as_it_is(data):
    D, _, _ = data
    for thing in (D, D.to_numpy(), [[1.0]], pl.DataFrame({"a": [1]}), None, "x"):
        assert as_pandas(thing) is thing


# ---- categories of polars


@pytest.mark.parametrize(
    ("dtype", "kind", "levels"),
    [
        (pl.Categorical, "nominal", ["0", "1", "10"]),
        (pl.Enum(["10", "0", "1"]), "ordinal", ["10", "0", "1"]),
    ],
)
def test_categories_of_polars_are_those_of_pandas(data, dtype, kind, levels):
    D, _, _ = data
    codes = ["0", "1", "10", "1", "0", "10", None] * (N // 7)
    frame = pl.DataFrame({"code": pl.Series(codes, dtype=dtype)})
    like = pd.DataFrame({"code": pd.Categorical(codes, categories=levels, ordered=kind == "ordinal")}, index=D.index)
    mds, same = (ConditionalMDS(**FAST).fit(D, known=known) for known in (frame, like))
    assert mds.known_summary_["type"].tolist() == [kind]
    assert mds.stress_ == pytest.approx(same.stress_)
    pd.testing.assert_frame_equal(mds.coef_, same.coef_)
    assert Discovery(D, frame).known["code"].tolist() == Discovery(D, like).known["code"].tolist()
    assert Discovery(D, frame).known["code"].dtype == like["code"].dtype


def test_gower_knows_categories_of_polars():
    codes = ["0", "1", "10", "1"]
    frame = pl.DataFrame({"code": pl.Series(codes, dtype=pl.Enum(["10", "0", "1"])), "x": [0.0, 1.0, 2.0, 3.0]})
    like = pd.DataFrame({"code": pd.Categorical(codes, categories=["10", "0", "1"], ordered=True), "x": [0.0, 1, 2, 3]})
    np.testing.assert_allclose(Metric("gower").fit_transform(frame), Metric("gower").fit_transform(like))
