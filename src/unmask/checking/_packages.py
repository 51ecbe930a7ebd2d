"""Tables of other packages: each recognised by what it offers, so that none is imported to look."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import Any

import numpy as np

from ..cluster import is_dask_array, is_dask_frame


def is_pandas(data: Any) -> bool:
    """Tell a pandas DataFrame or Series from everything else without importing pandas."""
    return hasattr(data, "iloc") and hasattr(data, "index") and not is_dask_frame(data)


def is_polars(data: Any) -> bool:
    """Tell a table of polars from everything else."""
    return hasattr(data, "columns") and hasattr(data, "get_column")


def as_pandas(data: Any) -> Any:
    """Return tables that have labels or names of their own as those of pandas; anything else as it is.

    These are tables of xarray with coordinates, pyarrow, gensim's word vectors, biom (one row per sample), and the
    samples of scikit-bio's ordinations. An object that holds several tables is refused with a hint at the right one.
    """
    if is_pandas(data) or isinstance(data, np.ndarray):
        return data
    for recognises, convert in _TABLES:
        if recognises(data):
            return convert(data)
    for recognises, way_out in _UNREAD:
        if recognises(data):
            raise TypeError(way_out)
    return data


def computed(data: Any) -> Any:
    """Return an array or a table of Dask as it is when it is computed; anything else as it is."""
    return data.compute() if is_dask_array(data) or is_dask_frame(data) else data


def refuse_path(data: Any, argument: str = "X") -> None:
    """Raise on the path of a file that has to be read first."""
    if not isinstance(data, str | PathLike):
        return
    path = str(fspath(data))
    if path.lower().endswith((".rds", ".rda", ".rdata")):
        raise TypeError(
            f"{argument}={path!r} is a file of R's own, which only R reads; write a table there, "
            "write.csv(as.matrix(d), 'd.csv'), and read it by unmask.io.read_dissimilarities or unmask.io.read_table."
        )
    raise TypeError(
        f"{argument}={path!r} is text, not data; read a file first, by unmask.io.read_dissimilarities or "
        "unmask.io.read_table."
    )


def offers(*names: str) -> Callable[[Any], bool]:
    """Return the test for objects that have all of these attributes."""
    return lambda data: all(hasattr(data, name) for name in names)


def _from_xarray(data: Any) -> Any:
    has_labels = len(data.dims) in (1, 2) and any(dim in data.coords for dim in data.dims)
    return data.to_pandas() if has_labels else data


def _from_word_vectors(data: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(data.vectors, index=list(data.index_to_key), copy=False)


def _from_biom(data: Any) -> Any:
    import pandas as pd

    counts = data.matrix_data.T.toarray()
    return pd.DataFrame(counts, index=data.ids().tolist(), columns=data.ids(axis="observation").tolist(), copy=False)


_TABLES: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (is_dask_frame, lambda data: data.compute()),
    (offers("to_pandas", "dims", "coords"), _from_xarray),
    (offers("to_pandas", "column_names"), lambda data: data.to_pandas()),
    (offers("index_to_key", "vectors"), _from_word_vectors),
    (offers("matrix_data", "ids", "metadata"), _from_biom),
    (offers("samples", "eigvals"), lambda data: as_pandas(data.samples)),
)

_UNREAD: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (
        offers("obs", "obsm", "obsp"),
        "an AnnData holds many tables; call unmask.interop.anndata.cmds(adata, known), which takes the right one, or "
        "pass one: adata.obsm['X_pca'] as X and columns of adata.obs as known.",
    ),
    (
        offers("collect", "lazy", "collect_schema"),
        "a LazyFrame of polars has no rows yet; pass .collect() of it.",
    ),
    (offers("wv", "corpus_count"), "a model of gensim is not a table; pass its word vectors, model.wv."),
)
