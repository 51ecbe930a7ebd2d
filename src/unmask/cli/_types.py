"""Types of known features as they are written on the command line: site=nominal, hour=cyclic:24."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._options import names_in


def types_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the declared type of each column."""
    types: dict[str, Any] = {}
    for text in names_in(texts) or []:
        name, equals, declared = text.partition("=")
        if not equals or not name.strip() or not declared.strip():
            raise ValueError(f"--types {text}: this is not COLUMN=TYPE; {_every_form()} after the name of a column.")
        if name.strip() in types:
            raise ValueError(f"--types {text}: column {name.strip()!r} has a type already; give it one.")
        types[name.strip()] = _type_of(declared.strip(), text)
    return types


def _type_of(declared: str, text: str) -> Any:
    from ..problem import FEATURE_TYPES

    name, colon, options = declared.partition(":")
    kind = FEATURE_TYPES.get(name)
    if kind is None or not any((":" in form) == bool(colon) for form in kind.forms):
        raise ValueError(f"--types {text}: {declared!r} is no type; {_every_form()}.")
    if kind.by_name and not colon:
        return name
    try:
        return kind.from_text(options)
    except ValueError:
        raise ValueError(f"--types {text}: {options!r} is not what {name} takes; {_every_form()}.") from None


def _every_form() -> str:
    """Return how types are written, for a message."""
    from ..problem import FEATURE_TYPES

    *forms, last = (form for kind in FEATURE_TYPES.values() for form in kind.forms)
    return f"write {', '.join(forms)} or {last}"
