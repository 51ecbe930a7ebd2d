"""Numbers with a smooth effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...checking import require_integer
from .._blocks import FunctionBlock
from ._base import Coding, FeatureType
from ._cells import to_numbers


@dataclass(frozen=True)
class SplineCoding(Coding):
    """A cubic spline basis over the range of the fitted values, linear beyond it."""

    kind = "spline"
    block = FunctionBlock

    name: str
    basis: Any

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(f"[s{c + 1}]" for c in range(self.basis.n_features_out_))

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
        distinct = len(np.unique(values[~np.isnan(values)]))
        if distinct <= df:
            raise ValueError(
                f"known_types: Spline({df}) of {name!r} needs more than {df} distinct values but there are {distinct}; "
                "lower df, or declare the feature numeric or ordinal."
            )
        degree = min(3, df)
        basis = SplineTransformer(df - degree + 2, degree=degree, include_bias=False, extrapolation="linear")
        return SplineCoding(name, basis.fit(values[~np.isnan(values), None]))

    @classmethod
    def from_text(cls, options: str) -> Spline:
        return cls(int(options)) if options else cls()

    @property
    def options(self) -> str:
        return str(self.df)
