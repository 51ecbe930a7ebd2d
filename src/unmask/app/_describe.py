"""A study as the page is told of it: everything but what has the size of its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..discovery import Adoption, Amendment, Discovery, Step
from ..problem import feature_type, inferred_type, type_as_text
from ..problem.leak import leak_in_words
from ._protocol import Fit

if TYPE_CHECKING:
    import pandas as pd

_KINDS = {"Step": "fit", "Adoption": "adopt", "Amendment": "amend", "Forgetting": "forget"}
_SCALES = {"nominal": "category", "ordinal": "ordered", "cyclic": "cycle"}


def describe_tree(study: Discovery) -> list[dict[str, Any]]:
    """Return everything that was ever done, one record each."""
    return [_action(action) for action in study.tree]


def _action(action: Any) -> dict[str, Any]:
    told = {"id": action.id, "parent": action.parent, "kind": _KINDS[type(action).__name__], "text": text_of(action)}
    if isinstance(action, Step):
        return {**told, "why": "", "fit": _fit(action)}
    name = action.called if isinstance(action, Adoption | Amendment) else action.name
    return {**told, "why": action.why, "name": name}


def text_of(action: Any) -> str:
    """Return what was done, in a few words."""
    if isinstance(action, Step):
        return f"map {action.number}, {action.title}"
    if isinstance(action, Adoption):
        return f"{action.name}, {_origin(action)}"
    return f"{action.name} corrected" if isinstance(action, Amendment) else f"{action.name} put aside"


def _origin(action: Adoption) -> str:
    (way, detail), *_ = action.source.items()
    if way == "groups":
        return "from your lasso" if action.values.nunique() == 2 else "from your groups"
    if way == "along":
        return (
            f"along the {detail}"
            if isinstance(detail, str)
            else f"from your {'arrow' if len(detail) == 2 else 'curve'}"
        )
    return {"from_axis": "from an axis of the map", "column": "from a column"}.get(way, "as given")


def _fit(step: Step) -> dict[str, Any]:
    """Return a step as `Fit` has it: mostly fields of the step."""
    importance: Any = step.importance.get("standardized", {})
    told = {name: getattr(step, name) for name in Fit.__annotations__ if hasattr(step, name)}
    return {
        **told,
        "known": list(step.known),
        "leak_in_words": leak_in_words(step.leak, step.leak_reference),
        "warnings": [text.partition(": ")[2] for text in step.warnings],
        "importance": [{"name": str(name), "standardized": value} for name, value in importance.items()],
    }


def describe_known(study: Discovery) -> list[dict[str, Any]]:
    """Return every feature that was ever known, with its type, and whether it is known now."""
    now, kinds, began = study.known, study.feature_types, set(study.material.known.columns)
    return [
        {
            "name": str(name),
            "type": type_name(column, kinds.get(str(name))),
            "missing": int(column.isna().sum()),
            "used": name in now.columns,
            "origin": "from the start" if name in began else "found here",
            "key": f"known:{name}",
        }
        for name, column in study.features.items()
    ]


def describe_columns(study: Discovery) -> list[dict[str, Any]]:
    """Return every column that the map can be coloured by."""
    known = [(f"known:{name}", name, column, True) for name, column in study.features.items()]
    table = [(f"table:{name}", name, column, False) for name, column in study.material.table.items()]
    kinds = study.feature_types
    return [
        {
            "key": key,
            "name": str(name),
            "scale": scale_of(column, kinds.get(str(name)) if is_known else None),
            "known": is_known,
        }
        for key, name, column, is_known in [*known, *table]
    ]


def find_column(study: Discovery, key: str) -> tuple[pd.Series[Any], Any]:
    """Return the column of a key, and its declared type."""
    where, _, name = key.partition(":")
    frame = {"known": study.features, "table": study.material.table}.get(where)
    found = [] if frame is None else [own for own in frame.columns if str(own) == name]
    if frame is None or not found:
        raise ValueError(f"there is no column {name!r} any more; reload the page.")
    return frame[found[0]], study.feature_types.get(name) if where == "known" else None


def type_name(column: pd.Series[Any], kind: Any = None) -> str:
    """Return the type of a column as it is written on the command line."""
    return type_as_text(_type(column, kind))


def _type(column: pd.Series[Any], kind: Any) -> Any:
    """Return the declared type, or what the column looks like; text that reads as numbers is shown as it is."""
    name = str(column.name)
    if kind is not None:
        return feature_type(kind, name)
    try:
        return inferred_type(column, name)
    except ValueError:  # a question to whoever makes it known; to look at it needs no answer
        return feature_type("nominal", name)


def scale_of(column: pd.Series[Any], kind: Any = None) -> str:
    """Return how the values of a column are drawn."""
    return _SCALES.get(_type(column, kind).kind, "number")


def draw_values(column: pd.Series[Any], kind: Any = None) -> dict[str, Any]:
    """Return a column as it is drawn: numbers, or codes of levels; NaN where missing."""
    import pandas as pd

    scale = scale_of(column, kind)
    if scale in ("category", "ordered"):
        levels = _type(column, kind).learn(column, str(column.name)).levels if column.notna().any() else ()
        codes = pd.Index(levels, dtype=object).get_indexer(pd.Index(column.astype(object)))
        values = np.where(codes < 0, np.nan, codes).astype(np.float32)
        return {"scale": scale, "levels": [str(level) for level in levels], "values": values}
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    period = {"period": feature_type(kind, str(column.name)).period} if scale == "cycle" else {}  # type: ignore[attr-defined]
    return {"scale": scale, **period, "values": values}
