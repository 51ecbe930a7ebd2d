"""Features of numbers: linear, by their logarithm, round a circle, or by a smooth curve."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..._typing import Array
from ...checking import require_integer
from .._blocks import CommonBlock, FunctionBlock
from ._base import Coding, FeatureType, to_numbers


@dataclass(frozen=True)
class NumericCoding(Coding):
    """A number, or its natural logarithm; values outside the bounds are refused."""

    kind = "numeric"
    is_number = True

    name: str
    lower: float = -np.inf
    upper: float = np.inf
    log: bool = False
    error: float = 0.0
    suffixes: tuple[str, ...] = ("",)

    @property
    def bounds(self) -> tuple[float, float]:
        if not self.log:
            return self.lower, self.upper
        return float(np.log(self.lower)) if self.lower > 0 else -np.inf, float(np.log(self.upper))

    def encode(self, column: Any) -> Array:
        values = to_numbers(column, self.name)  # NaN where a cell is missing, which passes
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
        return (np.log(values) if self.log else values)[:, None]

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
        The smallest and the largest possible value. A missing cell is estimated within them, and a value outside is an
        error.
    log : bool, default=False
        Whether the natural logarithm of the feature enters, so that equal ratios count alike. All values must be above
        0, and so is an estimated one. Importance and coefficients are then per unit of the logarithm: of a value and
        one that is 2.72 times as large.
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
    forms = ("numeric", "numeric:log", "numeric:lower=0:upper=100", "numeric:error=0.5")

    lower: float | None = None
    upper: float | None = None
    log: bool = False
    error: float | None = None

    def learn(self, column: Any, name: str) -> NumericCoding:
        if not isinstance(self.log, bool | np.bool_):
            raise ValueError(f"known_types: log={self.log!r} of the Numeric of {name!r} must be True or False.")
        numbers = []
        for option, unset in (("lower", -np.inf), ("upper", np.inf), ("error", 0.0)):
            value = getattr(self, option)
            if not (value is None or _is_number(value)) or (option == "error" and value and not 0 <= value < np.inf):
                rule = "a number of at least 0" if option == "error" else "a number"
                raise ValueError(f"known_types: {option}={value!r} of the Numeric of {name!r} must be {rule}, or None.")
            numbers.append(unset if value is None else float(value))
        lower, upper, error = numbers
        if lower >= upper or (self.log and upper <= 0):
            least = max(lower, 0.0) if self.log else lower
            raise ValueError(f"known_types: upper={upper:g} of the Numeric of {name!r} must be above {least:g}.")
        if error and self.log:
            raise ValueError(
                f"known_types: error={error!r} of the Numeric of {name!r} with log=True: an error in the units of the "
                "column does not fit its logarithm; pass the logarithms as the feature, with their error."
            )
        return NumericCoding(name, lower, upper, bool(self.log), error, ("[log]",) if self.log else ("",))

    @staticmethod
    def recognises(column: Any, name: str) -> bool:  # noqa: ARG004
        """Return True: numbers are what remains."""
        return True


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not np.isnan(float(value))


@dataclass(frozen=True)
class CyclicCoding(Coding):
    """A point on a circle whose circumference is the period, so that near values are as far apart as they differ."""

    kind = "cyclic"
    block = CommonBlock
    suffixes = ("[cos]", "[sin]")

    name: str
    period: float

    def encode(self, column: Any) -> Array:
        radius = self.period / (2 * np.pi)
        angle = to_numbers(column, self.name) / radius
        return radius * np.column_stack([np.cos(angle), np.sin(angle)])

    def vertices(self) -> Array:
        return self.encode(np.arange(12) * (self.period / 12))  # mixtures of these fill the disc but for its rim

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        radius = self.period / (2 * np.pi)
        angle = float(np.arctan2(coded[1], coded[0])) % (2 * np.pi)
        return angle * radius, float(np.hypot(*coded)) / radius


@dataclass(frozen=True)
class Cyclic(FeatureType):
    """A feature that comes round: hours of the day (``Cyclic(24)``), directions (``Cyclic(360)``).

    It becomes a sine and a cosine with one common coefficient.

    Parameters
    ----------
    period : float
        The value at which the feature is back where it was at 0.
    """

    coding = CyclicCoding
    signature = "Cyclic(period)"
    forms = ("cyclic:24",)

    period: float

    def learn(self, column: Any, name: str) -> CyclicCoding:
        if not _is_number(self.period) or not 0 < self.period < np.inf:
            raise ValueError(f"known_types: Cyclic({self.period!r}) of {name!r} needs a period above 0.")
        return CyclicCoding(name, float(self.period))


@dataclass(frozen=True)
class SplineCoding(Coding):
    """A cubic spline basis over the range of the fitted values, linear beyond it."""

    kind = "spline"
    block = FunctionBlock

    name: str
    basis: Any
    suffixes: tuple[str, ...]

    def encode(self, column: Any) -> Array:
        values = to_numbers(column, self.name)
        if np.isnan(values).any():
            raise ValueError(
                f"known has missing cells in column {self.name!r}, which is declared a spline; a missing cell can be "
                "estimated for numeric, nominal, ordinal and cyclic features. Fill it, or declare another type."
            )
        return np.asarray(self.basis.transform(values[:, None]))


@dataclass(frozen=True)
class Spline(FeatureType):
    """A numeric feature with a smooth effect that need not be linear.

    The feature's place in the fitted distances is a cubic spline of its value.

    Parameters
    ----------
    df : int, default=4
        Degrees of freedom: number of columns of the basis. 1 is linear, 2 a parabola, and so on.
    """

    coding = SplineCoding
    signature = "Spline(df)"
    forms = ("spline", "spline:3")

    df: int = 4

    def learn(self, column: Any, name: str) -> SplineCoding:
        from sklearn.preprocessing import SplineTransformer

        df = require_integer(f"known_types: df of the Spline of {name!r}", self.df, 1)
        values = to_numbers(column, name)
        values = values[~np.isnan(values)]
        distinct = len(np.unique(values))
        if distinct <= df:
            raise ValueError(
                f"known_types: Spline({df}) of {name!r} needs more than {df} distinct values but there are {distinct}; "
                "lower df, or declare the feature numeric or ordinal."
            )
        degree = min(3, df)
        basis = SplineTransformer(df - degree + 2, degree=degree, include_bias=False, extrapolation="linear")
        return SplineCoding(name, basis.fit(values[:, None]), tuple(f"[s{c + 1}]" for c in range(df)))
