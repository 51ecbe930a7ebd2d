"""Tables of every package, the labels of their rows and columns, and bringing these into the order of the objects."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cluster import is_dask_array, is_dask_frame
from ..graphs import Network, as_network

if TYPE_CHECKING:
    import pandas as pd

MAX_LISTED = 5


# ---- packages: each table is recognised by what it offers, so that none is imported to look


def is_pandas(data: Any) -> bool:
    """Return whether this is a DataFrame or Series of pandas, without importing pandas."""
    return hasattr(data, "iloc") and hasattr(data, "index") and not is_dask_frame(data)


def is_polars(data: Any) -> bool:
    """Return whether this is a table of polars."""
    return hasattr(data, "columns") and hasattr(data, "get_column")


def as_frame(data: Any) -> Any:
    """Return a table of polars as one of pandas: an Enum has an order, a Categorical none; anything else as it is."""
    if not is_polars(data):
        return data
    import pandas as pd

    columns: dict[str, Any] = {}
    for name, kind in data.schema.items():
        column, kind_name = data.get_column(name), str(kind).partition("(")[0]
        if kind_name in ("Categorical", "Enum"):
            levels = kind.categories.to_list() if kind_name == "Enum" else None
            columns[name] = pd.Categorical(column.to_list(), categories=levels, ordered=kind_name == "Enum")
        else:
            columns[name] = column.to_numpy()
    return pd.DataFrame(columns, copy=False)


def as_pandas(data: Any) -> Any:
    """Return tables that have labels of their own as those of pandas; anything else as it is.

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


# ---- labels


def is_missing(cell: Any) -> bool:
    """Return whether a cell holds no value: None, NaN, or a mark of pandas."""
    import pandas as pd

    missing = pd.isna(cell)  # of a cell that is itself a list, one answer for each of its parts
    return isinstance(missing, bool | np.bool_) and bool(missing)


def labelled_frame(data: Any) -> Any:
    """Return a table of another package as one of pandas if its rows have labels; anything else as it is."""
    if is_pandas(data) or is_dask_frame(data):  # which is not computed for its labels
        return data
    frame = as_pandas(data)
    return data if is_pandas(frame) and is_unlabelled(frame.index) else frame


def labels_of(data: Any) -> pd.Index | None:
    """Return the labels of a table's rows; None where it has none."""
    frame = data if is_pandas(data) else labelled_frame(data)
    return frame.index if is_pandas(frame) else None


def object_names(labels: pd.Index | None, n: int) -> Any:
    """Return the labels of n objects as an array; their numbers if they have none."""
    return np.arange(n) if labels is None else labels.to_numpy()


def by_header(data: Any) -> Any:
    """Return a table of polars as one of pandas, or an array of numbers if its header only counts the columns.

    Polars and transformers make such a header; its names are not labels.
    """
    if not is_polars(data):
        return data
    frame = as_frame(data)
    if any(name not in (f"column_{at}", str(at)) for at, name in enumerate(frame.columns)):
        return frame
    kinds = {dtype.kind for dtype in frame.dtypes}
    pairs = len(frame.columns) == 3 and "f" not in kinds  # a long table of numbered objects
    return frame.to_numpy() if kinds <= {*"fiub"} and not pairs else frame


def quote(labels: Any) -> str:
    """Return a few labels as a list for a message."""
    labels = list(labels)
    listed = ", ".join(repr(str(label)) for label in labels[:MAX_LISTED])
    return listed + (f" and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else "")


def name_object(labels: pd.Index | None, position: int) -> str:
    """Return the name of an object for a message: its label or its number."""
    return f"object {position}" if labels is None else f"object {str(labels[position])!r}"


def require_unique(labels: pd.Index, what: str) -> None:
    """Raise if a label occurs twice: aligning by it would be a guess."""
    if not labels.is_unique:
        repeated = labels[labels.duplicated()].unique()
        raise ValueError(f"{what} has duplicate labels: {quote(repeated)}; give every object another label.")


def is_unlabelled(labels: pd.Index) -> bool:
    """Return whether the labels only count the objects (0, 1, 2 …), as pandas makes them by itself."""
    import pandas as pd

    return isinstance(labels, pd.RangeIndex) and labels.start == 0 and labels.step == 1


def align_rows(data: Any, labels: pd.Index | None, what: str, reference: str = "the dissimilarities") -> Any:
    """Return the rows of ``data`` in the order of ``labels``; data without labels keeps its order."""
    frame = as_pandas(data)
    if labels is None or labels_of(data) is None or (labels.is_unique and frame.index.equals(labels)):
        return frame
    return frame.iloc[_positions(frame.index, labels, what, "rows", reference)]


def align_columns(data: Any, labels: pd.Index | None, what: str) -> Any:
    """Return the columns of ``data`` in the order of ``labels``; data without labels keeps its order."""
    frame = by_header(as_pandas(data))
    if labels is None or not is_pandas(frame) or (labels.is_unique and frame.columns.equals(labels)):
        return frame
    return frame.iloc[:, _positions(frame.columns, labels, what, "columns")]


def _as_text(labels: pd.Index) -> pd.Index:
    import pandas as pd

    return pd.Index([str(label) for label in labels])


def find_labels(given: pd.Index, labels: pd.Index) -> Any:
    """Return where each label is among those given, -1 where it is not.

    A file gives numbers in one place and the same as text in another: where some label is not found, all are compared
    as text.
    """
    positions = given.get_indexer(labels)
    if (positions >= 0).all():
        return positions
    text = _as_text(given)
    return text.get_indexer(_as_text(labels)) if text.is_unique else positions


def _positions(given: pd.Index, labels: pd.Index, what: str, lines: str, reference: str = "the dissimilarities") -> Any:
    """Return the position of each label among those given; the two must have the same labels."""
    if len(given) != len(labels):
        has_all = lines == "rows" and given.is_unique and (find_labels(given, labels) >= 0).all()
        select = (
            f" {what}.loc[ids], with the labels of the dissimilarities as ids, has one row for each." if has_all else ""
        )
        raise ValueError(
            f"{what} has {len(given)} {lines} but there are {len(labels)} objects; pass one per object, "
            f"and no others. Unmatched labels: {quote(given.symmetric_difference(labels, sort=False))}.{select}"
        )
    require_unique(given, what)
    require_unique(labels, f"the index of {reference}")
    positions = find_labels(given, labels)
    if (positions < 0).any():
        given, labels = _as_text(given), _as_text(labels)
        raise ValueError(
            f"{what} and {reference} disagree on labels: {quote(labels[positions < 0])} missing from {what}, "
            f"{quote(given.difference(labels, sort=False))} not among the objects; rename them, "
            "or pass .to_numpy() to match by position."
        )
    return positions


def with_labels(estimator: Any, values: Any, labels: pd.Index | None, columns: pd.Index | None = None) -> Any:
    """Return values as a DataFrame with these labels if the estimator's output is set to pandas.

    A table with labels on both sides is a DataFrame by default too, unless a label occurs twice. scikit-learn would
    take the labels from the input's index, which a network or a list of pairs does not have.
    """
    from sklearn import get_config

    chosen = getattr(estimator, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    both = labels is not None and columns is not None and labels.is_unique and columns.is_unique
    if chosen != "pandas" and not (chosen == "default" and both):
        return values
    import pandas as pd

    return pd.DataFrame(values, index=labels, columns=columns, copy=False)


# ---- known features that are given by name


def known_by_name(X: Any, known: Any, *, features: bool) -> tuple[Any, Any]:
    """Return the data and the known features, which may be names of node attributes or of columns of features.

    Known columns leave the features. A list of texts, one per object, is taken for values unless all of them are names.
    """
    names = [known] if isinstance(known, str) else list(known) if isinstance(known, tuple) else known
    if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        return X, known
    network = as_network(X)
    if network is not None:
        there = {name for data in network.attributes() for name in data}
        if _are_names(known, there, len(network.nodes), "the nodes have the attributes"):
            return X, node_table(network, names)
        return X, known
    table = X if is_dask_frame(X) else as_frame(as_pandas(X))
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if features and hasattr(table, "columns"):
        n = -1 if is_dask_frame(X) else len(table)  # which would have to be computed
        if _are_names(known, list(table.columns), n, "X has the columns"):
            rest = table.drop(columns=names)
            if not rest.shape[1]:
                raise ValueError(
                    f"known names all columns of X ({quote(names)}); a map needs features that are not known."
                )
            return rest, table[names]
    # A list of pairs has no row per object, so the number of texts cannot be compared with its rows.
    elif isinstance(known, str) or (len(shape) == 2 and (features or shape[0] == shape[1]) and len(names) < shape[0]):
        raise ValueError(
            f"known={known!r} is neither a value for each object nor a name: X has no columns of features and no nodes "
            "with attributes; pass the values."
        )
    return X, known


def _are_names(known: Any, there: Any, n: int, what: str) -> bool:
    """Return whether texts are names of what is there, and not values of n objects; raise if they are neither."""
    names = [known] if isinstance(known, str) else known
    absent = [name for name in names if name not in there]
    if absent and (isinstance(known, str) or len(names) != n):
        listed = quote(there if isinstance(there, list) else sorted(there)) or "none"
        raise ValueError(f"known names {quote(absent)}, but {what} {listed}; pass one of these, or the values.")
    return not absent


def node_table(network: Network, names: Any) -> pd.DataFrame:
    """Return attributes of the nodes, which every node must have, as a table."""
    import pandas as pd

    columns = {name: node_column(network, name, "known", complete=True).array for name in names}
    return pd.DataFrame(columns, index=pd.Index(network.nodes, tupleize_cols=False))


def node_column(network: Network, attribute: str, argument: str, *, complete: bool) -> pd.Series[Any]:
    """Return one attribute of the nodes; None where a node has none, unless it must be complete."""
    import pandas as pd

    nodes, data = network.nodes, network.attributes()
    lacking = [node for node, own in zip(nodes, data, strict=True) if attribute not in own]
    if len(lacking) == len(nodes):
        there = sorted({str(name) for own in data for name in own})
        raise ValueError(
            f"{argument}={attribute!r} is no attribute of the nodes, which have {quote(there) or 'none'}; "
            "pass one of these, or the values."
        )
    if lacking and complete:
        raise ValueError(
            f"the node attribute {attribute!r} is missing for {len(lacking)} of {len(nodes)} nodes: {quote(lacking)}; "
            "add it."
        )
    index = pd.Index(nodes, tupleize_cols=False)
    return pd.Series([own.get(attribute) for own in data], index=index, name=attribute)
