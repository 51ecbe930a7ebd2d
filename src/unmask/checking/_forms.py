"""The forms in which people have dissimilarities, each turned into a table: one row per object.

A form is recognised by what it offers, not by its class, so that no package is imported to look: scikit-bio's distance
matrices, networks of networkx and igraph, scipy's sparse matrices, condensed vectors and long tables of pairs. Whatever
is none of these passes unchanged. A source is read in parts, and few of very many pairs become one; so does a large
array of Zarr, and a path ending in npy or zarr is one of a table that stays in its file.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import squareform

from .._typing import Array, IntArray
from ..cluster import is_dask_array
from ..graphs import as_network, network_graph, shortest_paths
from ..kernels import Source
from ._sources import StoredPairs, are_few, chunked, filled, in_dask, is_chunked, is_file, open_file
from ._tables import (
    align_columns,
    as_frame,
    as_pandas,
    by_header,
    find_labels,
    is_pandas,
    is_unlabelled,
    offers,
    quote,
    refuse_path,
    require_unique,
)

if TYPE_CHECKING:
    import pandas as pd


class Table(NamedTuple):
    """A table (anything that a square table may be), and the objects' labels where the form has them."""

    values: Any
    labels: pd.Index | None


def square_table(data: Any) -> Table:
    """Return dissimilarities in any form as a square table; each label occurs once, and columns follow the rows."""
    table = _read_form(by_header(as_pandas(data)))
    frame = table.values
    if table.labels is not None:
        require_unique(table.labels, "the table of dissimilarities")
        return table
    if not is_pandas(frame):
        return table
    if not hasattr(frame, "columns"):
        raise ValueError("dissimilarities is one column; pass a square table, one row and one column per object.")
    if frame.shape[0] != frame.shape[1]:
        return Table(frame, frame.index)  # refused right after, with the shape in the message
    labels = frame.columns if is_unlabelled(frame.index) and not is_unlabelled(frame.columns) else frame.index
    require_unique(labels, "the table of dissimilarities")
    if labels is frame.index and not is_unlabelled(frame.columns):
        frame = align_columns(frame, labels, "the header")
    return Table(frame, labels)


def _read_form(data: Any) -> Table:
    if not (is_pandas(data) or isinstance(data, np.ndarray)):
        for recognises, convert in _FORMS:
            if recognises(data):
                return convert(data)
        refuse_path(data)
    if is_long(data):
        return _from_long(data)
    if not hasattr(data, "columns"):
        one_level = data.index.nlevels == 1 and len(data) > 1 if is_pandas(data) else isinstance(data, np.ndarray)
        numeric = is_pandas(data) or (one_level and data.ndim == 1 and data.dtype.kind in "iuf")
        return _from_condensed(data) if one_level and numeric else Table(data, None)
    if 3 < len(data.columns) != len(data) and _kinds(data) == ["O", "O"]:
        # A long table with more columns than object, object, dissimilarity: which one counts is a guess.
        raise ValueError(
            f"dissimilarities has {len(data.columns)} columns, of which the first two hold labels ("
            f"{quote(list(data.columns)[:2])}); a long table of pairs has three, object, object, dissimilarity: "
            "leave the others out."
        )
    return Table(named_by_first_column(data, len(data)), None)


def new_rows(data: Any, labels: pd.Index | None, n_fitted: int) -> Any:
    """Return dissimilarities of new objects to the fitted ones as a table with one column per fitted object."""
    data = by_header(as_pandas(data))
    refuse_source(data, "pass those of new objects to them as an array with one row per new object")
    if sp.issparse(data):
        return filled(_summed(data))
    # Numbers in three columns are dissimilarities to three objects.
    if not is_long(data) or (n_fitted == 3 and "O" not in _kinds(data)):
        return named_by_first_column(data, n_fitted)
    import pandas as pd

    new, fitted, lengths = _columns_of_pairs(data)
    rows = pd.Index(pd.unique(pd.Series(new)))
    columns = pd.RangeIndex(n_fitted) if labels is None else labels
    at = find_labels(columns, pd.Index(fitted))
    if (at < 0).any():
        raise ValueError(
            f"the long table of new dissimilarities names {quote(pd.unique(pd.Series(fitted)[at < 0]))} in its second "
            "column, which were not fitted; put new objects into the first column and fitted ones into the second."
        )
    row = rows.get_indexer(pd.Index(new))
    _require_one_row_each(row, at, n_fitted, (rows, columns))
    values = np.full((len(rows), n_fitted), np.nan)
    values[row, at] = lengths
    return pd.DataFrame(values, index=rows, columns=columns)


def is_source(data: Any) -> bool:
    """Return whether the dissimilarities are a source, which is read in parts."""
    return isinstance(data, Source)


def refuse_source(data: Any, way_out: str) -> None:
    """Raise on a source where something else is to be read."""
    if is_source(data):
        raise ValueError(f"X is a source, which shows the dissimilarities among all of its objects; {way_out}.")


def require_features(data: Any) -> None:
    """Raise on what is read elsewhere than where features are: the path of a file, or a graph."""
    refuse_path(data)
    if as_network(data) is not None:
        raise TypeError(
            "X is a graph, whose paths are dissimilarities and not features; use an estimator with "
            "metric='precomputed', or unmask.dissimilarities.NetworkDissimilarity for other ways to compare nodes."
        )


def _from_source(data: Any) -> Table:
    if not isinstance(data, Source):
        raise ValueError(
            f"X is a {type(data).__name__}, which has a tile but is not a source; let it inherit from "
            "unmask.kernels.Source."
        )
    if data.dtype not in (np.float32, np.float64):
        raise ValueError(
            f"the source of dissimilarities has dtype {data.dtype}; it must be float64 or float32: convert what tile "
            "returns."
        )
    labels = data.labels
    if labels is not None and len(labels) != data.n:
        raise ValueError(f"the source has {len(labels)} labels for n={data.n} objects; give one label per object.")
    return Table(data, None if labels is None else _index(labels))


def number_of_objects_in(data: Any) -> int | None:
    """Return the number of objects of dissimilarities in any form without making a table; None if that is unknown."""
    shape = (len(data), len(data)) if isinstance(data, list) else tuple(getattr(data, "shape", ()))
    n: int | None = None
    if is_source(data):
        n = data.n
    elif len(shape) == 2 and shape[0] == shape[1] and shape[0] != 3:  # three rows may be a list of pairs
        n = shape[0]
    elif (network := as_network(data)) is not None:
        n = len(network.nodes)
    elif hasattr(data, "column_names"):  # of pyarrow, which is read as a table of pandas later
        pass
    elif is_long(data):
        first, second, _ = _columns_of_pairs(as_frame(data))
        n = len({*first, *second})
    elif len(shape) == 1:
        n = _size_of_square(shape[0])
    elif len(shape) == 2 and shape[1] in (shape[0], shape[0] + 1):  # with a first column of labels
        n = shape[0]
    return n


# ---- distance matrices and networks


def _from_network(data: Any) -> Table:
    network = as_network(data)
    assert network is not None
    graph, nodes = network_graph(network, weight="weight")
    D = shortest_paths(graph)
    D[np.isinf(D)] = np.nan  # no path: missing, which is reported as any other missing dissimilarity
    return Table(D, _index(nodes))


def _index(labels: Any) -> pd.Index:
    import pandas as pd

    index: pd.Index = pd.Index(list(labels), tupleize_cols=False)
    return index


# ---- tables whose labels are in a first column of text


def named_by_first_column(data: Any, width: int) -> Any:
    """Return a table of ``width`` columns, after a first column of text became its index."""
    if not hasattr(data, "columns") or len(data.columns) != width + 1:
        return data
    if _kind(data.iloc[:, 0]) != "O" or not is_unlabelled(data.index):
        return data
    return data.iloc[:, 1:].set_axis(list(data.iloc[:, 0]), axis=0)


# ---- lists of pairs: sparse matrices, long tables and condensed vectors


def _from_pairs(i: IntArray, j: IntArray, values: Array, n: int, mirrored: Any, labels: pd.Index | None) -> Table:
    """Return pairs as a square table, or as a source if they are few; ``mirrored`` ones stand for both directions."""
    source = StoredPairs.given(i, j, values, n, mirrored=mirrored)
    every = slice(0, n)
    few = are_few(n, int(np.count_nonzero(i != j) + np.count_nonzero(mirrored)) // 2)
    return Table(source if few else source.tile(every, every), labels)


def _from_sparse(data: Any) -> Table:
    n, columns = data.shape
    if n != columns:
        return Table(np.empty(data.shape), None)  # refused right after, with the shape in the message
    coo = _summed(data)
    i, j = coo.coords
    one_triangle = not ((i < j).any() and (i > j).any())  # which stands for both
    return _from_pairs(i, j, coo.data, n, (i != j) & one_triangle, None)


def stored_both_ways(data: Any) -> sp.csr_array:
    """Return a sparse matrix in which an entry that is stored in one direction only stands for both."""
    coo, n = _summed(data), np.int64(data.shape[0])
    i, j = (ends.astype(np.int64) for ends in coo.coords)
    return StoredPairs.given(i, j, coo.data, int(n), mirrored=(i != j) & ~np.isin(j * n + i, i * n + j)).table


def _summed(data: Any) -> sp.coo_array:
    """Return the entries of a sparse matrix, each once, in single precision if they are and in double otherwise."""
    summed = sp.csr_array(data)
    summed.sum_duplicates()
    return summed.astype(np.float32 if summed.dtype == np.float32 else np.float64).tocoo()


def _from_condensed(data: Any) -> Table:
    values = np.asarray(data)
    if _size_of_square(len(values)) is None:
        n = round(np.sqrt(2 * len(values)))
        raise ValueError(
            f"dissimilarities has 1 dimension and {len(values)} entries; a condensed vector of n objects has "
            f"n(n-1)/2 of them ({n * (n - 1) // 2} or {n * (n + 1) // 2} would do). "
            "Reshape your data, or pass a square table."
        )
    return Table(squareform(values.astype(np.float32 if values.dtype == np.float32 else np.float64)), None)


def _size_of_square(entries: int) -> int | None:
    """Return the number of objects of a condensed vector with so many entries; None if no number fits."""
    n = round((1 + np.sqrt(1 + 8 * entries)) / 2)
    return n if n * (n - 1) // 2 == entries else None


def is_long(data: Any) -> bool:
    """Return whether this is a long table (i, j, d): three columns, the first two of which can be labels."""
    if is_pandas(data) and not hasattr(data, "columns"):
        return bool(data.index.nlevels == 2)  # a Series with the pairs as its index
    if not (hasattr(data, "columns") and len(data.columns) == 3):
        return False
    kinds = _kinds(data)
    # Three objects have a square table of three columns too; there, numbers are dissimilarities.
    return "f" not in kinds and (len(data) != 3 or "O" in kinds)


def _kinds(data: Any) -> list[str]:
    """Return the kinds of the first two columns."""
    if hasattr(data, "column_names"):  # of pyarrow
        return [_kind(data.column(at).to_pandas()) for at in range(2)]
    data = as_frame(data)
    return [_kind(data.iloc[:, at]) for at in range(2)]


def _kind(column: Any) -> str:
    """Return "f" for measured numbers, "i" for whole ones and "O" for labels of any other type."""
    cells = np.asarray(column.dropna())
    if cells.dtype.kind == "O" and all(isinstance(cell, Real) for cell in cells):
        return "i"  # numbers in a column that could hold anything
    return cells.dtype.kind if cells.dtype.kind in "fi" else "i" if cells.dtype.kind in "bu" else "O"


def _from_long(data: Any) -> Table:
    import pandas as pd

    first, second, lengths = _columns_of_pairs(data)
    # Objects in the order in which they appear, reading row by row.
    labels = pd.Index(pd.unique(pd.Series(np.column_stack([first, second]).ravel()).infer_objects()))
    _require_one_spelling(labels)
    i, j = labels.get_indexer(pd.Index(first)), labels.get_indexer(pd.Index(second))
    _require_one_row_each(i, j, len(labels), (labels, labels))
    n = np.int64(len(labels))
    alone = (i != j) & ~np.isin(j * n + i, i * n + j)  # a pair that is named once stands for both directions
    return _from_pairs(i, j, lengths, len(labels), alone, labels)


def _require_one_spelling(labels: pd.Index) -> None:
    """Raise where 1 and "1" are both objects: columns of different types, rather than two objects."""
    spelt: dict[str, Any] = {}
    for label in labels:
        if str(label) in spelt:
            raise ValueError(
                f"the long table of dissimilarities names both {spelt[str(label)]!r} and {label!r}, which would be two "
                "objects; give the two columns of labels the same type, for example by astype(str)."
            )
        spelt[str(label)] = label


def _columns_of_pairs(data: Any) -> tuple[Any, Any, Array]:
    """Return the two labels and the dissimilarity of each row."""
    import pandas as pd

    if not hasattr(data, "columns"):
        data = data.rename("dissimilarity").reset_index(allow_duplicates=True)
    first, second, lengths = (data.iloc[:, at] for at in range(3))
    for end in (first, second):
        if pd.isna(end).any():
            raise ValueError(
                f"the long table of dissimilarities has a missing label in column {str(end.name)!r}; fill it."
            )
    try:
        numbers = np.asarray(lengths, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"the long table of dissimilarities has cells in its third column, {str(lengths.name)!r}, that are not "
            "numbers; the columns must be object, object, dissimilarity, in this order."
        ) from None
    return np.asarray(first, dtype=object), np.asarray(second, dtype=object), numbers


def _require_one_row_each(i: IntArray, j: IntArray, columns: int, labels: tuple[Any, Any]) -> None:
    """Raise on a pair that a long table names twice."""
    _, first, count = np.unique(i.astype(np.int64) * columns + j, return_index=True, return_counts=True)
    if (count > 1).any():
        twice = int(first[np.argmax(count > 1)])
        one, other = (ends.take([at[twice]]).tolist()[0] for ends, at in zip(labels, (i, j), strict=True))
        raise ValueError(
            f"the long table of dissimilarities names the pair ({one!r}, {other!r}) "
            f"{count.max()} times; keep one row per pair, for example their mean."
        )


_FORMS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Table]], ...] = (
    (is_file, lambda data: Table(open_file(data), None)),
    (lambda data: hasattr(data, "tile") and not hasattr(data, "__array__"), _from_source),
    (is_chunked, lambda data: Table(chunked(data), None)),
    (is_dask_array, lambda data: Table(in_dask(data), None)),
    (lambda data: as_network(data) is not None, _from_network),
    # A distance matrix of scikit-bio, also one that is not symmetric.
    (offers("ids", "redundant_form"), lambda data: Table(data.redundant_form(), _index(data.ids))),
    (sp.issparse, _from_sparse),
)
