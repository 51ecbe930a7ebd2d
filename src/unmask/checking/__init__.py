"""Checking and aligning square tables and labels: used by everything that reads dissimilarities."""

from ._dissimilarities import Dissimilarities, check_dissimilarities, numbers, rounding_level
from ._exceptions import MissingDissimilarityWarning, RedundantKnownWarning, warn_user
from ._labels import align_columns, align_rows, is_pandas, name_object, quote

__all__ = [
    "Dissimilarities",
    "MissingDissimilarityWarning",
    "RedundantKnownWarning",
    "align_columns",
    "align_rows",
    "check_dissimilarities",
    "is_pandas",
    "name_object",
    "numbers",
    "quote",
    "rounding_level",
    "warn_user",
]
