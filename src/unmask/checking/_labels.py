"""Labels of objects: finding them on pandas input and bringing everything into the order of the dissimilarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..cluster import is_dask_frame
from ._packages import as_pandas, is_pandas, is_polars

if TYPE_CHECKING:
    import pandas as pd

MAX_LISTED = 5


def is_missing(cell: Any) -> bool:
    """Tell whether a cell holds no value: None, NaN, or pandas' own marks."""
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


def polars_column(data: Any, name: Any) -> Any:
    """Return a column of a polars table; categories as those of pandas: an Enum has an order, a Categorical none."""
    column = data.get_column(name) if hasattr(data, "get_column") else data[name]
    kind = getattr(column, "dtype", None)
    if str(kind).partition("(")[0] not in ("Categorical", "Enum") or is_pandas(column):
        return column
    import pandas as pd

    ordered = hasattr(kind, "categories") and str(kind).startswith("Enum")
    levels = kind.categories.to_list() if ordered else None  # type: ignore[union-attr]
    return pd.Series(pd.Categorical(column.to_list(), categories=levels, ordered=ordered), name=column.name)


def header_of(data: Any) -> list[str] | None:
    """Return the header of a table of polars; None if it only counts the columns, as polars and transformers do."""
    made_up = all(name in (f"column_{at}", str(at)) for at, name in enumerate(data.columns))
    return None if made_up else list(data.columns)


def quote(labels: Any) -> str:
    """List a few labels for a message."""
    labels = list(labels)
    listed = ", ".join(repr(str(label)) for label in labels[:MAX_LISTED])
    return listed + (f" and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else "")


def name_object(labels: pd.Index | None, position: int) -> str:
    """Name an object for a message, by its label if it has one."""
    return f"object {position}" if labels is None else f"object {str(labels[position])!r}"


def require_unique(labels: pd.Index, what: str) -> None:
    """Raise if a label occurs twice: aligning by it would be a guess."""
    if not labels.is_unique:
        repeated = labels[labels.duplicated()].unique()
        raise ValueError(f"{what} has duplicate labels: {quote(repeated)}; give every object a label of its own.")


def is_unlabelled(labels: pd.Index) -> bool:
    """Tell whether pandas made the labels up itself (0, 1, 2 …)."""
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
    frame = as_pandas(data)
    if labels is None or not (is_pandas(frame) or is_polars(frame)):
        return frame
    if is_pandas(frame):
        equal = labels.is_unique and frame.columns.equals(labels)
        return frame if equal else frame.iloc[:, _positions(frame.columns, labels, what, "columns")]
    import pandas as pd

    header = header_of(frame)
    return frame if header is None else frame[:, _positions(pd.Index(header), labels, what, "columns").tolist()]


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


def choose_rows(what: str) -> str:
    """Return the advice for a table with more rows than there are objects."""
    return f"{what}.loc[ids], with the labels of the dissimilarities as ids, has one row for each of them."


def _positions(given: pd.Index, labels: pd.Index, what: str, lines: str, reference: str = "the dissimilarities") -> Any:
    """Return where each label is among those given; each must be there once, and no other."""
    if len(given) != len(labels):
        has_all = lines == "rows" and given.is_unique and (find_labels(given, labels) >= 0).all()
        select = f" {choose_rows(what)}" if has_all else ""
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
