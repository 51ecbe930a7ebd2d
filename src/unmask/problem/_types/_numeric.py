"""Numbers, as they are or by their logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..._typing import Array
from ._base import Coding, FeatureType
from ._cells import to_numbers


@dataclass(frozen=True)
class NumericCoding(Coding):
    """A number is a number, or its natural logarithm; no cell is outside its bounds."""

    kind = "numeric"
    is_number = True

    name: str
    lower: float = -np.inf
    upper: float = np.inf
    log: bool = False

    @property
    def suffixes(self) -> tuple[str, ...]:
        return ("[log]",) if self.log else ("",)

    @property
    def bounds(self) -> tuple[float, float]:
        if not self.log:
            return self.lower, self.upper
        return float(np.log(self.lower)) if self.lower > 0 else -np.inf, float(np.log(self.upper))

    def encode(self, column: Any) -> Array:
        values = to_numbers(column, self.name)
        self._require_within(values)
        return (np.log(values) if self.log else values)[:, None]

    def _require_within(self, values: Array) -> None:
        """Raise on a value that the declared type rules out; a missing cell is NaN and passes."""
        if self.log and (wrong := values[values <= 0]).size:
            raise ValueError(
                f"known: column {self.name!r} holds {wrong[0]:g}, which has no logarithm, but is declared "
                "Numeric(log=True); correct the value, add a constant to the column, or leave log out."
            )
        if (wrong := values[(values < self.lower) | (values > self.upper)]).size:
            raise ValueError(
                f"known: column {self.name!r} holds {wrong[0]:g}, which is outside the bounds that Numeric declares "
                f"({self.lower:g} to {self.upper:g}); correct the value, or widen the bounds."
            )

    def restore(self, coded: Array) -> Array:
        if not self.log:
            return coded
        with np.errstate(over="ignore"):  # the end of a wide interval
            return np.asarray(np.exp(coded))

    @property
    def why_no_error(self) -> str:
        if not self.log:
            return ""
        return (
            "declared Numeric(log=True), and an error in its own units is none in those of its logarithm; pass the "
            "logarithms as the feature, with their error, or leave it out"
        )


@dataclass(frozen=True)
class Numeric(FeatureType):
    """A measured feature, which enters linearly or by its logarithm.

    Parameters
    ----------
    lower, upper : float, optional
        The smallest and the largest value that is possible: a missing cell is estimated within them, and a value
        outside is an error.
    log : bool, default=False
        Whether the natural logarithm of the feature enters: equal ratios then count alike, not equal differences.
        All values must be above 0, and so is whatever is estimated for a missing cell. Importance and coefficients
        are then per unit of the logarithm: of a value and one that is 2.72 times as large.

    Examples
    --------
    >>> from unmask import Numeric
    >>> Numeric(lower=0, log=True)
    Numeric(lower=0, upper=None, log=True)
    """

    coding = NumericCoding
    signature = "Numeric(lower, upper, log)"
    forms = ("numeric", "numeric:0..100 (bounds; one may be left out)", "numeric:log", "numeric:log:1..")
    by_name = True

    lower: float | None = None
    upper: float | None = None
    log: bool = False

    def learn(self, column: Any, name: str) -> NumericCoding:
        if not isinstance(self.log, bool | np.bool_):
            raise ValueError(f"known_types: log={self.log!r} of the Numeric of {name!r} must be True or False.")
        lower = -np.inf if self.lower is None else self._bound("lower", self.lower, name)
        upper = np.inf if self.upper is None else self._bound("upper", self.upper, name)
        if lower >= upper or (self.log and upper <= 0):
            least = max(lower, 0.0) if self.log else lower
            raise ValueError(f"known_types: upper={upper:g} of the Numeric of {name!r} must be above {least:g}.")
        return NumericCoding(name, lower, upper, bool(self.log))

    def _bound(self, which: str, bound: Any, name: str) -> float:
        if isinstance(bound, bool) or not isinstance(bound, Real) or np.isnan(float(bound)):
            raise ValueError(f"known_types: {which}={bound!r} of the Numeric of {name!r} must be a number, or None.")
        return float(bound)

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        return True  # what nothing else does

    @classmethod
    def from_text(cls, options: str) -> Numeric:
        first, _, rest = options.partition(":")
        log, bounds = (True, rest) if first == "log" else (False, options)
        lower, dots, upper = bounds.partition("..")
        if bounds and (not dots or not (lower or upper)):
            raise ValueError
        return cls(float(lower) if lower else None, float(upper) if upper else None, log)

    @property
    def options(self) -> str:
        lower, upper = ("" if bound is None else f"{bound:.15g}" for bound in (self.lower, self.upper))
        bounds = f"{lower}..{upper}" if lower or upper else ""
        return ":".join(part for part in ("log" if self.log else "", bounds) if part)
