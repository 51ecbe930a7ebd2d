"""Dynamic time warping of series, by the package dtaidistance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..._typing import Array
from ...checking import require_integer, require_number, require_package, warn_user
from ._family import Family, Reader
from ._sequences import read_sequences, require_some


class DynamicTimeWarping(Family):
    """Root of the sum of squared differences along the best alignment of two series.

    The package's compiled part holds the interpreter lock; it divides a tile among threads of its own (OpenMP).
    """

    parameters = ("penalty", "window")
    releases_lock = False
    tile = 128

    def __init__(self, name: str, params: Mapping[str, Any]) -> None:
        super().__init__(name, params)
        window = self.params.get("window")
        self.options: dict[str, Any] = {
            "penalty": require_number("metric_params['penalty']", self.params.get("penalty", 0), 0.0),
            "window": None if window is None else require_integer("metric_params['window']", window, 1),
        }

    def fit(self, reader: Reader) -> list[Array]:
        """Return the series after checking that the package is installed, and compiled."""
        dtw = require_package("dtaidistance.dtw", "metric='dtw'", "series")
        if dtw.dtw_cc is None:
            warn_user(
                "dtaidistance was installed without its compiled part; its Python part takes about a hundred times as "
                "long. Reinstall it where a C compiler is at hand.",
                RuntimeWarning,
            )
        return self.read(reader)

    def read(self, reader: Reader) -> list[Array]:
        """Return the series; NaN after the last value of a row in a table pad the shorter ones."""
        series = read_sequences(reader, self.name)
        return [self._trimmed(values, reader.object(row)) for row, values in enumerate(series)]

    @staticmethod
    def _trimmed(values: Array, name: str) -> Array:
        present = np.flatnonzero(~np.isnan(values))
        trimmed = require_some(values[: present[-1] + 1] if len(present) else values[:0], name)
        if np.isnan(trimmed).any():
            raise ValueError(
                f"{name} of X has a gap (NaN) at position {int(np.argmax(np.isnan(trimmed)))}, before its last value; "
                "fill it, for example by interpolation."
            )
        return np.ascontiguousarray(trimmed)

    def between(self, rows: list[Array], columns: list[Array]) -> Array:
        """Return the costs of the best alignments."""
        dtw = require_package("dtaidistance.dtw", "metric='dtw'", "series")
        n = len(rows)
        pairs: dict[str, Any] = {
            "block": ((0, n), (n, n + len(columns))),
            "compact": True,
            "use_c": dtw.dtw_cc is not None,
            "parallel": self.threads > 1 and dtw.dtw_cc is not None and dtw.dtw_cc_omp is not None,
        }
        with threadpool_limits(self.threads, user_api="openmp"):
            costs = dtw.distance_matrix([*rows, *columns], **pairs, **self.options)
        return np.asarray(costs, dtype=np.float64).reshape(n, len(columns))
