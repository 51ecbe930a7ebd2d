"""Types of known features as they are written on the command line: site=nominal, hour=cyclic:24."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._options import names_in

HELP = (
    "write numeric, numeric:0..100 (bounds; one may be left out), numeric:log, numeric:log:1.., nominal, ordinal, "
    "ordinal:low<mid<high, cyclic:24, spline or spline:3"
)


def types_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the declared type of each column."""
    found: dict[str, Any] = {}
    for text in names_in(texts) or []:
        name, equals, declared = text.partition("=")
        if not equals or not name.strip() or not declared.strip():
            raise ValueError(f"--types {text}: this is not COLUMN=TYPE; {HELP} after the name of a column.")
        if name.strip() in found:
            raise ValueError(f"--types {text}: column {name.strip()!r} has a type already; give it one.")
        found[name.strip()] = _type_of(declared.strip(), text)
    return found


def _type_of(declared: str, text: str) -> Any:
    kind, colon, detail = declared.partition(":")
    makers = _DETAILED if colon else _PLAIN
    if kind not in makers:
        raise ValueError(f"--types {text}: {declared!r} is no type; {HELP}.")
    try:
        return makers[kind](detail)
    except ValueError:
        raise ValueError(f"--types {text}: {detail!r} is not what {kind} takes; {HELP}.") from None


def _numeric(detail: str) -> Any:
    from ..problem import Numeric

    first, _, rest = detail.partition(":")
    log, bounds = (True, rest) if first == "log" else (False, detail)
    lower, dots, upper = bounds.partition("..")
    if bounds and (not dots or not (lower or upper)):
        raise ValueError
    return Numeric(float(lower) if lower else None, float(upper) if upper else None, log)


def _cyclic(period: str) -> Any:
    from ..problem import Cyclic

    return Cyclic(float(period))


def _spline(df: str) -> Any:
    from ..problem import Spline

    return Spline(int(df)) if df else Spline()


def _ordinal(levels: str) -> Any:
    from ..problem import Ordinal

    names = [level.strip() for level in levels.split("<")]
    if len(names) < 2 or not all(names):
        raise ValueError
    return Ordinal(tuple(_numbers(names) or names))


def _numbers(names: list[str]) -> list[float] | None:
    """Return levels as numbers if they all are: the columns of a file are read in the same way."""
    try:
        return [float(name) for name in names]
    except ValueError:
        return None


_PLAIN: dict[str, Callable[[str], Any]] = {
    "numeric": lambda _: "numeric",
    "nominal": lambda _: "nominal",
    "ordinal": lambda _: "ordinal",
    "spline": _spline,
}
_DETAILED: dict[str, Callable[[str], Any]] = {
    "numeric": _numeric,
    "ordinal": _ordinal,
    "cyclic": _cyclic,
    "spline": _spline,
}
