"""Square tables that stay in their files: mapped into memory, or in chunks."""

import tracemalloc

import numpy as np
import pytest

from unmask import ConditionalMDS, GeneralMDS
from unmask.checking import check_dissimilarities
from unmask.checking._sources import ChunkedTable, is_chunked
from unmask.dissimilarities import Metric
from unmask.engines import make_engine
from unmask.kernels import ArraySource, Pairs, Source, Workers

N = 1100


class Chunks:
    """An array in chunks, with as much of Zarr's interface as is asked for; it counts what is read."""

    def __init__(self, values, chunks):
        self.values, self.chunks = values, chunks
        self.shape, self.dtype = values.shape, values.dtype
        self.cells = 0

    def __array__(self, *args, **kwargs):
        raise AssertionError("the whole array was asked for")

    def __getitem__(self, key):
        part = self.values[key]
        self.cells += part.size
        return part


@pytest.fixture(scope="module")
def D():
    return Metric().fit_transform(np.random.default_rng(0).standard_normal((N, 3)))


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr("unmask.checking._sources.LARGE", 0)


def check(data, **options):
    with Workers(2) as workers:
        return check_dissimilarities(data, **{"workers": workers} | options)


@pytest.mark.parametrize("chunks", [(300, 300), (100, 700), (N, 1), (2000, 2000)])
def test_parts_of_an_array_in_chunks_are_those_of_the_array(D, chunks):
    table = ChunkedTable(Chunks(D, chunks))
    assert isinstance(table, Source)
    assert (table.n, table.dtype) == (N, np.float64)
    for rows, columns in [(slice(0, N), slice(0, N)), (slice(3, 4), slice(0, 9)), (slice(256, 512), slice(900, N))]:
        np.testing.assert_array_equal(table.tile(rows, columns), D[rows, columns])
    which = np.array([7, 1099, 0, 7])
    np.testing.assert_array_equal(table.tile(which, slice(5, 900)), D[which, 5:900])
    np.testing.assert_array_equal(table.rows(which), D[which])


@pytest.mark.usefixtures("large")
def test_a_pass_over_chunks_is_that_over_the_array(D):
    stored = Chunks(D, (300, 300))
    checked = check(stored)
    assert isinstance(checked.source, ChunkedTable)
    Z = np.random.default_rng(1).standard_normal((N, 2))
    stored.cells = 0
    stress, G = make_engine(Pairs(checked.source, 0.25), Workers(1)).stress(Z)
    assert stored.cells <= D.size  # chunks that are needed again are kept
    expected, expected_G = make_engine(Pairs(ArraySource(D), 0.25), Workers(1)).stress(Z)
    assert stress == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-10 * N)


def test_what_is_kept_of_chunks_is_bounded(D, monkeypatch):
    monkeypatch.setattr("unmask.checking._sources.KEPT", 4 * 100 * 100 * 8)
    table = ChunkedTable(Chunks(D, (100, 100)))
    tracemalloc.start()
    for first in range(0, N, 100):
        table.tile(slice(first, first + 100), slice(0, N))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 6 * 100 * 100 * 8
    assert table._chunk.cache_info().currsize == 4


def test_an_array_in_chunks_that_is_not_large_is_read_into_memory(D):
    checked = check(Chunks((D[:40, :40] * 100).astype(np.int16), (16, 16)))
    assert isinstance(checked.source, ArraySource)
    assert checked.source.dtype == np.float64
    GeneralMDS(metric="precomputed", n_init=1, random_state=0).fit(Chunks(D[:40, :40], (16, 16)))


@pytest.mark.usefixtures("large")
def test_what_is_wrong_with_an_array_in_chunks_is_said(D):
    with pytest.raises(ValueError, match=r"shape \(1100, 9\) but must be square"):
        check(Chunks(D[:, :9], (5, 5)))
    with pytest.raises(ValueError, match="holds <U3; every cell must be a number"):
        check(Chunks(np.full((4, 4), "abc"), (5, 5)))
    with pytest.raises(ValueError, match="level='ordinal' needs all 60 x 60 dissimilarities at once"):
        ConditionalMDS(metric="precomputed", level="ordinal").fit(Chunks(D[:60, :60], (16, 16)))
    wrong = D.copy()
    wrong[3, 800] = -1.0
    with pytest.raises(ValueError, match=r"has -1 for the pair \(object 3, object 800\)"):
        check(Chunks(wrong, (300, 300)))


def test_arrays_of_other_kinds_are_not_taken_for_chunks(D):
    class Dask(Chunks):
        pass

    assert not is_chunked(D)
    assert not is_chunked(Dask(D, ((600, 500), (600, 500))))
    assert not is_chunked(Chunks(D, None))


# ---- paths


@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_a_path_of_numpys_is_mapped(tmp_path, D, as_path):
    np.save(tmp_path / "D.npy", D.astype(np.float32))
    path = as_path(tmp_path / "D.npy")
    checked = check(path)
    assert isinstance(checked.array_for("this").base, np.memmap) or isinstance(checked.source.array, np.memmap)
    mds = ConditionalMDS(2, metric="precomputed", n_init=1, max_iter=50, tol=1e-3, random_state=0)
    expected = mds.fit_transform(D.astype(np.float32))
    np.testing.assert_array_equal(mds.fit_transform(path), expected)
    assert mds.n_features_in_ == N


def test_a_path_that_leads_nowhere_or_holds_no_table(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.npy"):
        check(str(tmp_path / "none.npy"))
    np.save(tmp_path / "wide.npy", np.ones((5, 3)))
    with pytest.raises(ValueError, match=r"shape \(5, 3\) but must be square"):
        check(tmp_path / "wide.npy")
    np.save(tmp_path / "whole.npy", 1 - np.eye(5, dtype=int))
    assert check(tmp_path / "whole.npy").source.dtype == np.float64  # small enough for a copy


def test_zarr_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    with pytest.raises(ImportError, match=r"D\.zarr' needs the package 'zarr'.*pip install 'unmask\[zarr\]'"):
        check(str(tmp_path / "D.zarr"))


@pytest.mark.usefixtures("large")
def test_zarr(tmp_path, D):
    zarr = pytest.importorskip("zarr")
    stored = zarr.open(str(tmp_path / "D.zarr"), mode="w", shape=D.shape, chunks=(300, 300), dtype=D.dtype)
    stored[:, :] = D
    for given in (stored, str(tmp_path / "D.zarr"), tmp_path / "D.zarr"):
        source = check(given).source
        np.testing.assert_array_equal(source.tile(slice(200, 700), slice(0, N)), D[200:700])
        np.testing.assert_array_equal(source.tile(np.array([9, 0, 9]), slice(0, 90)), D[[9, 0, 9], :90])
    zarr.open_group(str(tmp_path / "group.zarr"), mode="w")
    with pytest.raises(ValueError, match="X is a Group rather than one array of numbers"):
        check(tmp_path / "group.zarr")


@pytest.mark.usefixtures("large")
def test_hdf5(tmp_path, D):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "D.h5", "w") as file:
        source = check(file.create_dataset("D", data=D, chunks=(300, 300))).source
        assert isinstance(source, ChunkedTable)
        np.testing.assert_array_equal(source.tile(slice(200, 700), slice(0, N)), D[200:700])
        np.testing.assert_array_equal(source.tile(np.array([9, 0, 9]), slice(0, 90)), D[[9, 0, 9], :90])
