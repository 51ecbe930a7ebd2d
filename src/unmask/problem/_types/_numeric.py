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
    error: float = 0.0

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
    error : float, optional
        Standard deviation of the measurement error, in the column's own units; not with ``log=True``, where the
        logarithms can be passed as the feature. :class:`ConditionalMDS` and :class:`ConditionalIsomap` then move the
        values, at a price: a move by one standard deviation costs the mean squared residual of the fit in which they
        are exact; see ``known_corrected_``. Other estimators refuse it, and functions that describe or compare maps
        use the values as measured.

    Examples
    --------
    >>> from unmask import Numeric
    >>> Numeric(lower=0, log=True)
    Numeric(lower=0, upper=None, log=True, error=None)
    """

    coding = NumericCoding
    signature = "Numeric(lower, upper, log, error)"
    forms = (
        "numeric",
        "numeric:0..100 (bounds; one may be left out)",
        "numeric:log",
        "numeric:log:1..",
        "numeric:error=0.5 (standard deviation of its measurement error)",
    )
    by_name = True

    lower: float | None = None
    upper: float | None = None
    log: bool = False
    error: float | None = None

    def learn(self, column: Any, name: str) -> NumericCoding:
        if not isinstance(self.log, bool | np.bool_):
            raise ValueError(f"known_types: log={self.log!r} of the Numeric of {name!r} must be True or False.")
        lower = -np.inf if self.lower is None else self._bound("lower", self.lower, name)
        upper = np.inf if self.upper is None else self._bound("upper", self.upper, name)
        if lower >= upper or (self.log and upper <= 0):
            least = max(lower, 0.0) if self.log else lower
            raise ValueError(f"known_types: upper={upper:g} of the Numeric of {name!r} must be above {least:g}.")
        return NumericCoding(name, lower, upper, bool(self.log), self._checked_error(name))

    def _checked_error(self, name: str) -> float:
        error = 0.0 if self.error is None else self.error
        if isinstance(error, bool) or not isinstance(error, Real) or not 0 <= float(error) < np.inf:
            raise ValueError(
                f"known_types: error={error!r} of the Numeric of {name!r} must be a number of at least 0, or None."
            )
        if error and self.log:
            raise ValueError(
                f"known_types: error={error!r} of the Numeric of {name!r} with log=True: an error in the units of the "
                "column is not one of its logarithm; pass the logarithms as the feature, with their error."
            )
        return float(error)

    def _bound(self, which: str, bound: Any, name: str) -> float:
        if isinstance(bound, bool) or not isinstance(bound, Real) or np.isnan(float(bound)):
            raise ValueError(f"known_types: {which}={bound!r} of the Numeric of {name!r} must be a number, or None.")
        return float(bound)

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        return True  # what nothing else does

    @classmethod
    def from_text(cls, options: str) -> Numeric:
        parts = options.split(":") if options else []
        log = parts[:1] == ["log"]
        rest = parts[log:]
        error = rest.pop().removeprefix("error=") if rest and rest[-1].startswith("error=") else None
        lower, dots, upper = rest[0].partition("..") if rest else ("", "", "")
        if rest and (len(rest) > 1 or not dots or not (lower or upper)):
            raise ValueError
        low, high = (float(bound) if bound else None for bound in (lower, upper))
        return cls(low, high, log, None if error is None else float(error))

    @property
    def options(self) -> str:
        lower, upper = ("" if bound is None else f"{bound:.15g}" for bound in (self.lower, self.upper))
        bounds = f"{lower}..{upper}" if lower or upper else ""
        error = "" if self.error is None else f"error={self.error:.15g}"
        return ":".join(part for part in ("log" if self.log else "", bounds, error) if part)
