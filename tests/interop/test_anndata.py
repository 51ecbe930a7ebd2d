"""Maps of the cells of an AnnData: what is written, where, and what is refused.

What does not need the package runs without it, on an object that has the same parts.
"""

import inspect
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from unmask import ConditionalIsomap, ConditionalMDS, LeakWarning
from unmask.interop.anndata import cisomap, cmds, ctsne, cumap

N = 40


def parts(n=N):
    rng = np.random.default_rng(0)
    obs = pd.DataFrame(
        {"batch": pd.Categorical(np.tile(["a", "b"], n // 2)), "depth": rng.normal(size=n)},
        index=[f"cell{i}" for i in range(n)],
    )
    X = rng.normal(size=(n, 4))
    X[:, 0] += 4 * (obs["batch"] == "b")
    return obs, X


@pytest.fixture
def cells():
    """What an AnnData offers, without the package."""
    obs, X = parts()
    graph = kneighbors_graph(X, 12, mode="distance")
    return SimpleNamespace(
        obs=obs, obs_names=obs.index, X=X, obsm={"X_pca": X}, obsp={"distances": sp.csr_matrix(graph)}, uns={}
    )


@pytest.fixture
def adata():
    anndata = pytest.importorskip("anndata", reason="needs anndata: pip install 'unmask[anndata]'")
    obs, X = parts()
    found = anndata.AnnData(X, obs=obs, obsm={"X_pca": X.astype(np.float32)})
    found.obsp["distances"] = sp.csr_matrix(kneighbors_graph(X, 12, mode="distance"))
    return found


def test_a_map_of_cells_is_that_of_the_estimator(cells):
    assert cmds(cells, ["batch", "depth"], n_init=2) is None
    mds = ConditionalMDS(n_init=2, random_state=0).fit(
        cells.obsm["X_pca"], known=cells.obs[["batch", "depth"]].to_numpy()
    )
    np.testing.assert_allclose(np.abs(cells.obsm["X_cmds"]), np.abs(mds.embedding_), atol=1e-6)
    found = cells.uns["cmds"]
    assert found["stress"] == pytest.approx(mds.stress_)
    assert found["leak"] == pytest.approx(mds.leak_)
    pd.testing.assert_frame_equal(found["knn_leak"], mds.knn_leak_.set_axis(["batch", "depth"]), check_names=False)
    assert list(found["importance"].index) == ["batch", "depth"]
    expected = {"use_rep": "X_pca", "known": ["batch", "depth"], "n_components": 2, "random_state": 0, "n_init": 2}
    assert found["params"] == expected
    np.testing.assert_allclose(cells.obs["cmds_stress"].sum(), mds.stress_)


def test_a_table_that_is_known_is_matched_by_the_names_of_cells(cells):
    cmds(cells, "depth", n_init=1)
    cmds(cells, cells.obs[["depth"]].sample(frac=1, random_state=0), n_init=1, key_added="again")
    np.testing.assert_array_equal(cells.obsm["again"], cells.obsm["X_cmds"])
    cisomap(cells, "depth", obsp="distances", n_init=1)
    cisomap(cells, cells.obs[["depth"]].sample(frac=1, random_state=0), obsp="distances", n_init=1, key_added="mixed")
    np.testing.assert_array_equal(cells.obsm["mixed"], cells.obsm["X_cisomap"])


def test_neighbours_that_tell_a_known_feature_are_warned_of(cells):
    groups = np.repeat([0, 1], N // 2)
    cells.obs["type"] = np.where(groups, "T", "B")
    cells.obsm["X_pca"] = np.column_stack([cells.X, 9.0 * groups * np.random.default_rng(1).choice([-1, 1], N)])
    with pytest.warns(LeakWarning, match="neighbours on the map tell .type."):
        cmds(cells, "type", n_init=1)
    assert cells.uns["cmds"]["knn_leak"].loc["type", "p_value"] <= 0.05


@pytest.mark.parametrize("function", [cisomap, ctsne, cumap])
def test_all_have_one_signature(function):
    assert inspect.signature(function) == inspect.signature(cmds)


def test_key_added_names_what_is_written(cells):
    cmds(cells, "batch", key_added="given_batch", n_init=1)
    assert set(cells.uns) == {"given_batch"}
    assert set(cells.obsm) == {"X_pca", "given_batch"}
    assert "given_batch_stress" in cells.obs


def test_isomap_takes_the_graph_of_neighbours_with_all_of_its_edges(cells):
    cisomap(cells, "batch", obsp="distances", n_init=1)
    features = ConditionalIsomap(n_neighbors=12, n_init=1, random_state=0).fit(
        cells.X, known=cells.obs[["batch"]].to_numpy()
    )
    assert cells.uns["cisomap"]["stress"] == pytest.approx(features.stress_, rel=1e-9)
    assert cells.uns["cisomap"]["params"]["obsp"] == "distances"
    cisomap(cells, "batch", obsp="distances", n_init=1, n_neighbors=6, key_added="six")
    six = ConditionalIsomap(n_neighbors=6, n_init=1, random_state=0).fit(cells.X, known=cells.obs[["batch"]].to_numpy())
    assert cells.uns["six"]["stress"] == pytest.approx(six.stress_, rel=1e-9)


def test_maps_of_neighbours_have_no_stress(cells):
    ctsne(cells, "batch", perplexity=8, max_iter=30)
    cumap(cells, "batch", max_iter=30)
    cumap(cells, None, obsp="distances", n_neighbors=8, max_iter=30, key_added="graph")
    for name in ("ctsne", "cumap"):
        assert set(cells.uns[name]) == {"params", "leak", "knn_leak"}
        assert list(cells.uns[name]["knn_leak"].index) == ["batch"]
        assert cells.obsm[f"X_{name}"].shape == (40, 2)
    assert cells.uns["graph"]["params"]["obsp"] == "distances"
    assert list(cells.obs) == ["batch", "depth"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cells: cmds(cells, "bach"), r"known names 'bach', which adata.obs does not have; .* 'batch', 'depth'"),
        (lambda cells: cmds(cells, ["batch", "age"]), "known names 'age', which"),
        (lambda cells: cmds(cells, "batch", use_rep="X_scvi"), r"adata.obsm has no 'X_scvi'; it has 'X_pca'"),
        (lambda cells: cmds(cells, "batch", obsp="conn"), r"adata.obsp has no 'conn'; it has 'distances'"),
        (lambda cells: cisomap(cells, "batch", obsp="connectivities"), "similarities, .* pass obsp='distances'"),
        (lambda cells: cmds(cells, "batch", obsp="distances"), "none from .* ConditionalIsomap"),
    ],
)
def test_what_is_not_there_is_named_and_nothing_is_written(cells, call, message):
    before = set(cells.obsm), set(cells.uns), list(cells.obs)
    with pytest.raises(ValueError, match=message):
        call(cells)
    assert (set(cells.obsm), set(cells.uns), list(cells.obs)) == before


def test_nothing_known_and_the_data_themselves(cells):
    cmds(cells, None, use_rep="X", n_init=1)
    assert "importance" not in cells.uns["cmds"]
    cells.X = sp.csr_matrix(cells.X)
    cmds(cells, None, use_rep="X", n_init=1, key_added="sparse")
    assert cells.uns["sparse"]["stress"] == pytest.approx(cells.uns["cmds"]["stress"], rel=1e-6)


# ---- with the package


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # which anndata sets
def test_a_file_gives_back_what_was_written(adata, tmp_path):
    import anndata

    cmds(adata, ["batch", "depth"], n_init=1, known_types={"depth": "numeric"})
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(read.obsm["X_cmds"], adata.obsm["X_cmds"])
    np.testing.assert_array_equal(read.obs["cmds_stress"], adata.obs["cmds_stress"])
    assert read.uns["cmds"]["stress"] == adata.uns["cmds"]["stress"]
    assert list(read.uns["cmds"]["params"]["known"]) == ["batch", "depth"]
    assert read.uns["cmds"]["params"]["known_types"] == "{'depth': 'numeric'}"
    pd.testing.assert_frame_equal(
        read.uns["cmds"]["importance"], adata.uns["cmds"]["importance"], check_index_type=False, check_names=False
    )


@pytest.mark.filterwarnings("ignore:The 'mode.chained_assignment' option")  # which anndata sets
def test_a_view_does_not_change_its_parent(adata):
    import anndata

    view = adata[adata.obs["depth"] > 0]
    with pytest.warns(anndata.ImplicitModificationWarning):
        cmds(view, "batch", n_init=1)
    assert "X_cmds" in view.obsm
    assert set(adata.obsm) == {"X_pca"}
    assert "cmds" not in adata.uns
    assert "cmds_stress" not in adata.obs


def test_a_copy_is_returned_if_asked_for(adata):
    found = cmds(adata, "batch", n_init=1, copy=True)
    assert "X_cmds" in found.obsm
    assert "X_cmds" not in adata.obsm
    assert cmds(adata, "batch", n_init=1) is None
    np.testing.assert_array_equal(found.obsm["X_cmds"], adata.obsm["X_cmds"])


def test_fit_says_where_the_tables_of_an_anndata_are(adata):
    with pytest.raises(TypeError, match=r"AnnData holds many tables; call unmask.interop.anndata.cmds"):
        ConditionalMDS().fit(adata)


@pytest.mark.filterwarnings("default")
def test_scanpy_draws_the_map(adata):
    sc = pytest.importorskip("scanpy", reason="scanpy is not installed: that it draws the map is NOT tested here")
    from matplotlib import pyplot

    cmds(adata, "batch", n_init=1)
    axes = sc.pl.embedding(adata, "cmds", color="batch", show=False)
    np.testing.assert_allclose(axes.collections[0].get_offsets(), adata.obsm["X_cmds"], rtol=1e-6)
    pyplot.close("all")
