"""Types of known features: each turns a column as people have it into columns of numbers.

A type (declared by the user, or inferred) learns from a column, and codes new values in the same way. A new type is a
class, and its place in the table below, which the estimators, the command line and saved studies read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, cast

from ._base import FeatureType
from ._kinds import Cyclic, Nominal, Numeric, Ordinal, Spline

# By name. Types are tried from the last to the first until one recognises a column.
FEATURE_TYPES: dict[str, type[FeatureType]] = {kind.kind: kind for kind in (Numeric, Nominal, Ordinal, Cyclic, Spline)}


def types_with_levels() -> list[str]:
    """Return the names of the types whose values are levels."""
    return [name for name, kind in FEATURE_TYPES.items() if kind.has_levels]


def inferred_type(column: Any, name: str) -> FeatureType:
    """Return the type of a column as it looks: ordered categories, other categories and text, or numbers."""
    return next(kind for kind in reversed(FEATURE_TYPES.values()) if kind.recognises(column, name))()


def feature_type(declared: Any, name: str) -> FeatureType:
    """Return the type that a user declared."""
    if isinstance(declared, FeatureType):
        return declared
    try:
        return _read(declared)
    except (AttributeError, TypeError, ValueError):  # it is no text, or one that lacks an option, or another
        names = ", ".join([*map(repr, FEATURE_TYPES), *(kind.signature for kind in FEATURE_TYPES.values())])
        raise ValueError(f"known_types: {name!r} is declared {declared!r}; declare it as one of {names}.") from None


def declares_error(types: Any) -> bool:
    """Return whether a declared type has a measurement error."""
    if not isinstance(types, Mapping):
        return False
    return any(getattr(feature_type(kind, str(name)), "error", None) for name, kind in types.items())


def without_errors(types: Mapping[Any, Any] | None) -> dict[Any, Any] | None:
    """Return declared types without their measurement errors."""
    if not isinstance(types, Mapping):
        return types
    kinds = {name: feature_type(kind, str(name)) for name, kind in types.items()}
    return {name: replace(kind, error=None) if isinstance(kind, Numeric) else kind for name, kind in kinds.items()}


# ---- as text


def type_from_text(text: str) -> Any:
    """Return a type from its form on the command line: nominal, cyclic:24, ordinal:low<high, numeric:log:lower=1."""
    name, _, options = text.partition(":")
    try:
        return _read(text) if options else text if _read(text) else None
    except (TypeError, ValueError):
        problem = (
            f"{options!r} is not what {name} takes" if options and name in FEATURE_TYPES else f"{text!r} is not a type"
        )
        *forms, last = (form for each in FEATURE_TYPES.values() for form in each.forms)
        raise ValueError(f"{problem}; write {', '.join(forms)} or {last}.") from None


def type_as_text(declared: FeatureType | str) -> str:
    """Return a type in its form on the command line, where nominal features do not list their levels."""
    if isinstance(declared, str):
        return declared
    options, text = fields(cast("Any", declared)), [declared.kind]
    for option in options:
        value = getattr(declared, option.name)
        if value is None or value is False or declared.kind == "nominal":
            continue
        shown = "<".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        text.append(option.name if value is True else shown if len(options) == 1 else f"{option.name}={shown}")
    return ":".join(text)


def _read(text: str) -> FeatureType:
    """Return the type that a text describes; raise if it describes none."""
    name, *options = text.split(":")
    if name not in FEATURE_TYPES:
        raise ValueError
    kind = FEATURE_TYPES[name]
    names, given = [option.name for option in fields(cast("Any", kind))], {}
    for option in options:
        key, equals, value = option.partition("=")
        if len(names) == 1 and not equals:
            key, value = names[0], option
        elif key not in names or (key == "log") == bool(equals):
            raise ValueError
        given[key] = _levels(value) if key == "levels" else key == "log" or _number(value)
    return kind(**given)


def _levels(text: str) -> tuple[Any, ...]:
    names = tuple(map(str.strip, text.split("<")))
    if len(names) < 2 or not all(names):
        raise ValueError
    try:  # numbers if all are: the columns of a file are read in the same way
        return tuple(map(float, names))
    except ValueError:
        return names


def _number(text: str) -> float:
    return int(text) if text.lstrip("+-").isdecimal() else float(text)
