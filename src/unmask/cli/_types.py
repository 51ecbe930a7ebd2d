"""Types of known features as they are written on the command line: site=nominal, hour=cyclic:24."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._options import names_in


def types_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the declared type of each column."""
    from ..problem import type_from_text

    types: dict[str, Any] = {}
    for text in names_in(texts) or []:
        name, equals, declared = text.partition("=")
        if not equals or not name.strip() or not declared.strip():
            raise ValueError(f"--types {text}: this is not COLUMN=TYPE, such as site=nominal or hour=cyclic:24.")
        if name.strip() in types:
            raise ValueError(f"--types {text}: column {name.strip()!r} has a type already; give it one.")
        try:
            types[name.strip()] = type_from_text(declared.strip())
        except ValueError as problem:
            raise ValueError(f"--types {text}: {problem}") from None
    return types
