"""Types of known features: each turns a column as people have it into columns of numbers.

A type (what the user declares, or what is inferred) looks at a column and becomes a coding, which remembers what it saw
and codes new values the same way. A new type is a file with the two classes, and its place in the table below: the
estimators, the command line and saved studies go by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ._base import Coding, FeatureType
from ._cyclic import Cyclic
from ._nominal import LevelCoding, Nominal
from ._numeric import Numeric
from ._ordinal import Ordinal
from ._spline import Spline

__all__ = [
    "FEATURE_TYPES",
    "Coding",
    "Cyclic",
    "FeatureType",
    "LevelCoding",
    "Nominal",
    "Numeric",
    "Ordinal",
    "Spline",
    "declares_error",
    "feature_type",
    "inferred_type",
    "type_as_text",
    "type_from_text",
    "types_with_levels",
    "without_errors",
]

# By name. Of a column of which nothing is declared the last is asked first whether it is one of its own.
FEATURE_TYPES: dict[str, type[FeatureType]] = {
    kind.coding.kind: kind for kind in (Numeric, Nominal, Ordinal, Cyclic, Spline)
}


def types_with_levels() -> list[str]:
    """Return the names of the types whose values are levels."""
    return [name for name, kind in FEATURE_TYPES.items() if kind.coding.has_levels]


def inferred_type(column: Any, name: str) -> FeatureType:
    """Return what a column looks like: ordered categories, other categories and text, or numbers."""
    return next(kind for kind in reversed(FEATURE_TYPES.values()) if kind.recognises(column, name))()


def feature_type(declared: Any, name: str) -> FeatureType:
    """Return the type a user declared."""
    if isinstance(declared, FeatureType):
        return declared
    known = FEATURE_TYPES.get(declared) if isinstance(declared, str) else None
    if known is not None and known.by_name:
        return known()
    way = "Numeric(log=True)" if declared == "log" else known and known.signature
    if way:
        raise ValueError(f"known_types: {name!r} is declared {declared!r}; declare it {way}.")
    words = [repr(word) for word, kind in FEATURE_TYPES.items() if kind.by_name]
    raise ValueError(
        f"known_types: {name!r} is declared {declared!r}, which is none of "
        f"{', '.join([*words, *(kind.signature for kind in FEATURE_TYPES.values())])}."
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
    """Return a type that is written as on the command line: nominal, cyclic:24."""
    name, colon, options = text.partition(":")
    kind = FEATURE_TYPES.get(name)
    if kind is None or not any((":" in form) == bool(colon) for form in kind.forms):
        raise ValueError(f"{text!r} is no type; {_every_form()}.")
    if kind.by_name and not colon:
        return name
    try:
        return kind.from_text(options)
    except ValueError:
        raise ValueError(f"{options!r} is not what {name} takes; {_every_form()}.") from None


def type_as_text(declared: FeatureType | str) -> str:
    """Return a type as it is written on the command line, where nominal features do not list their levels."""
    if isinstance(declared, str):
        return declared
    return f"{declared.coding.kind}{':' if declared.options else ''}{declared.options}"


def _every_form() -> str:
    *forms, last = (form for kind in FEATURE_TYPES.values() for form in kind.forms)
    return f"write {', '.join(forms)} or {last}"
