"""Types of known features: each turns a column as people have it into columns of numbers.

A type (declared by the user, or inferred) looks at a column and returns a coding, which codes new values the same way.
A new type is a file with the two classes, and its place in the table below, which the estimators, the command line and
saved studies read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ._base import FeatureType
from ._categories import Nominal, Ordinal
from ._numbers import Cyclic, Numeric, Spline

# By name. The last type is the first to be asked whether it recognises a column.
FEATURE_TYPES: dict[str, type[FeatureType]] = {
    kind.coding.kind: kind for kind in (Numeric, Nominal, Ordinal, Cyclic, Spline)
}


def types_with_levels() -> list[str]:
    """Return the names of the types whose values are levels."""
    return [name for name, kind in FEATURE_TYPES.items() if kind.coding.has_levels]


def inferred_type(column: Any, name: str) -> FeatureType:
    """Return the type of a column as it looks: ordered categories, other categories and text, or numbers."""
    return next(kind for kind in reversed(FEATURE_TYPES.values()) if kind.recognises(column, name))()


def feature_type(declared: Any, name: str) -> FeatureType:
    """Return the type that a user declared."""
    if isinstance(declared, FeatureType):
        return declared
    known = FEATURE_TYPES.get(declared) if isinstance(declared, str) else None
    if known is not None and known.by_name:
        return known()
    way = "Numeric(log=True)" if declared == "log" else known and known.signature
    if way:
        raise ValueError(f"known_types: {name!r} is declared {declared!r}; declare it {way}.")
    names = [repr(key) for key, kind in FEATURE_TYPES.items() if kind.by_name]
    raise ValueError(
        f"known_types: {name!r} is declared {declared!r}, which is none of "
        f"{', '.join([*names, *(kind.signature for kind in FEATURE_TYPES.values())])}."
    )


def declares_error(types: Any) -> bool:
    """Return whether a declared type has a measurement error."""
    return isinstance(types, Mapping) and any(getattr(kind, "error", None) for kind in types.values())


def without_errors(types: Mapping[Any, Any] | None) -> dict[Any, Any] | None:
    """Return declared types without their measurement errors."""
    if not isinstance(types, Mapping):
        return types
    return {name: replace(kind, error=None) if isinstance(kind, Numeric) else kind for name, kind in types.items()}


def type_from_text(text: str) -> Any:
    """Return a type from its form on the command line: nominal, cyclic:24."""
    name, colon, options = text.partition(":")
    kind, problem = FEATURE_TYPES.get(name), f"{text!r} is not a type"
    if kind is not None and any((":" in form) == bool(colon) for form in kind.forms):
        if kind.by_name and not colon:
            return name
        try:
            return kind.from_text(options)
        except ValueError:
            problem = f"{options!r} is not what {name} takes"
    *forms, last = (form for each in FEATURE_TYPES.values() for form in each.forms)
    raise ValueError(f"{problem}; write {', '.join(forms)} or {last}.")


def type_as_text(declared: FeatureType | str) -> str:
    """Return a type in its form on the command line, where nominal features do not list their levels."""
    if isinstance(declared, str):
        return declared
    return f"{declared.coding.kind}{':' if declared.options else ''}{declared.options}"
