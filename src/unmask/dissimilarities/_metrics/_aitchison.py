"""Aitchison's distances between compositions: only the ratios of their parts matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._typing import Array
from ...checking import require_number
from ._family import Reader
from ._named import EuclideanCoordinates, require_non_negative, require_shares


class Aitchison(EuclideanCoordinates):
    """Euclidean distances of centred log-ratios (Aitchison 1986)."""

    parameters = ("pseudocount",)
    positive_only = True

    def __init__(self, name: str, params: Mapping[str, Any]) -> None:
        super().__init__(name, params)
        self.pseudocount = require_number("metric_params['pseudocount']", self.params.get("pseudocount", 0.0), 0.0)

    def read(self, reader: Reader) -> Array:
        """Return logarithms of the parts less their mean in each object."""
        parts = require_non_negative(reader.table(), reader, self.name) + np.float64(self.pseudocount)
        if (parts == 0).any():
            raise ValueError(
                f"X holds {reader.first_cell(parts, parts == 0)}, whose logarithm metric='aitchison' would need; "
                "replace zeros, pass metric_params={'pseudocount': 0.5} to add so much to every cell, or use "
                "metric='robust_aitchison'."
            )
        logarithms = np.log(parts)
        return np.asarray(logarithms - logarithms.mean(axis=1, keepdims=True))


class RobustAitchison(EuclideanCoordinates):
    """Aitchison's distance that allows zeros: a part of 0 counts as the geometric mean of the other parts."""

    positive_only = True

    def read(self, reader: Reader) -> Array:
        """Return logarithms of the non-zero parts less their mean, and 0 for the others."""
        parts = require_shares(reader.table(), reader, self.name).astype(np.float64)
        there = parts > 0
        logarithms = np.log(parts, out=np.zeros_like(parts), where=there)
        mean = logarithms.sum(axis=1, keepdims=True) / there.sum(axis=1, keepdims=True)
        return np.where(there, logarithms - mean, 0.0)
