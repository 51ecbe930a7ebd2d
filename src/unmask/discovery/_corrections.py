"""Values of a known feature, some of which are replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..checking import is_missing, is_pandas, quote
from ._proposals import in_order, own_labels


def corrected(column: pd.Series[Any], given: Any) -> tuple[pd.Series[Any], tuple[Any, ...]]:
    """Return a feature with other values, and the objects that have got another one.

    A dictionary or a Series may name some of the objects; anything else has a value for each, in order.
    """
    if given is None:
        return column, ()
    objects = column.index
    told = _by_label(given, objects)
    cells = [told.get(label, value) for label, value in column.items()]
    changed = tuple(label for label, old, new in zip(objects, column, cells, strict=True) if not _same(old, new))
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(cells, dtype=_levels(column.dtype, cells, column.name)), index=objects), changed
    return pd.Series(cells, index=objects, dtype=object).infer_objects(), changed


def _by_label(given: Any, objects: pd.Index) -> dict[Any, Any]:
    if isinstance(given, Mapping) or (is_pandas(given) and not hasattr(given, "columns")):
        labels, cells = zip(*given.items(), strict=True) if len(given) else ((), ())
        return dict(zip(own_labels(labels, objects, "values"), cells, strict=True))
    listed = list(in_order(given, objects))
    if len(listed) != len(objects):
        raise ValueError(
            f"values has {len(listed)} entries but there are {len(objects)} objects; pass one per object, or a "
            "dictionary from labels."
        )
    return dict(zip(objects, listed, strict=True))


def _same(old: Any, new: Any) -> bool:
    return (is_missing(old) and is_missing(new)) or bool(old == new)


def _levels(dtype: Any, cells: list[Any], name: Any) -> Any:
    """Return the categories of a feature, with new ones at the end; where they have an order there can be none."""
    new = [cell for cell in dict.fromkeys(cells) if not is_missing(cell) and cell not in dtype.categories]
    if new and dtype.ordered:
        raise ValueError(
            f"values has {quote(new)}, which is no level of {name!r}; its levels are, in order, "
            f"{quote(dtype.categories)}: use one of them."
        )
    return pd.CategoricalDtype([*dtype.categories, *new], dtype.ordered)
