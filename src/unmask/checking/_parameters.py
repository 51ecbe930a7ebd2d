"""Checking parameters: each error names the value that was given and the values that are allowed."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._exceptions import MapWarning, warn_user


def shown(value: Any) -> str:
    """Return a value for a message, on one line and not too long; of an array its shape."""
    if isinstance(value, np.ndarray) or hasattr(value, "iloc"):
        return f"array of shape {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def count(n: int, one: str) -> str:
    """Return a number with its noun."""
    return f"{n} {one}{'' if n == 1 else 's'}"


def require_real(data: Any, what: str) -> None:
    """Raise on complex numbers, whose imaginary part would be lost."""
    if getattr(getattr(data, "dtype", None), "kind", "") == "c":
        raise ValueError(
            f"Complex data not supported: {what} holds complex numbers; take their real part or their modulus."
        )


def require_integer(name: str, value: Any, least: int) -> int:
    """Return an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={shown(value)} must be an integer of at least {least}.")
    return int(value)


def require_number(name: str, value: Any, least: float) -> float:
    """Return a finite number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Real) or not least <= float(value) < np.inf:
        raise ValueError(f"{name}={shown(value)} must be a number of at least {least:g}.")
    return float(value)


def require_fraction(name: str, value: Any) -> float:
    """Return a number above 0 and below 1."""
    if not 0 < require_number(name, value, 0.0) < 1:
        raise ValueError(f"{name}={shown(value)} must be above 0 and below 1.")
    return float(value)


def require_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not isinstance(value, str | type(None)) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        near = get_close_matches(str(value), [choice for choice in choices if isinstance(choice, str)], n=1)
        question = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"{name}={shown(value)} is not one of {listed}{question}")


def require_coef(value: Any) -> None:
    """Raise unless ``value`` names a structure of the coefficients or lists groups of columns."""
    if isinstance(value, str):
        require_choice("coef", value, ("auto", "full", "diagonal", "grouped"))
    elif not (isinstance(value, Sequence) and all(isinstance(g, Sequence) and not isinstance(g, str) for g in value)):
        raise ValueError(
            f"coef={shown(value)} must be 'auto', 'full', 'diagonal', 'grouped' or a list of groups of columns, "
            "for example [['x', 'y'], ['age']]."
        )


def require_jobs(value: Any) -> int | None:
    """Return ``n_jobs`` if it is None or a non-zero integer."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or value == 0:
        raise ValueError(
            f"n_jobs={shown(value)} must be None, a positive number of threads, or negative (-1: every core)."
        )
    return int(value)


def require_flag(name: str, value: Any) -> bool:
    """Return True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={shown(value)} must be True or False.")
    return bool(value)


def refuse_target(y: Any) -> None:
    """Raise on a target, since a map has none; a one-dimensional one, as pipelines pass it, is a warning."""
    if y is None:
        return
    if np.asarray(y).ndim == 1:
        warn_user(
            "y is ignored: a map has no target. If it holds what is known about the objects, pass it as known=….",
            MapWarning,
        )
        return
    raise ValueError(
        f"fit received a second argument of type {type(y).__name__}, which stands for a target y, and a map has none; "
        "pass what is known about the objects by name: fit(X, known=…)."
    )


def require_package(module: str, what: str, extra: str) -> Any:
    """Return an optional package; the error names the command that installs it."""
    import importlib

    try:  # ArviZ before version 1 warns once a day of its future, and would not be imported where warnings are errors
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs the package {module.partition('.')[0]!r}, which is not installed; "
            f"install it with: pip install 'unmask[{extra}]'"
        ) from error
