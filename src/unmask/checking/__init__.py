"""Checking and aligning square tables and labels: used by everything that reads dissimilarities."""

from ._dissimilarities import Dissimilarities, check_dissimilarities, numbers, rounding_level
from ._exceptions import (
    FewPairsWarning,
    ImputedKnownWarning,
    MissingDissimilarityWarning,
    RedundantKnownWarning,
    SmallNeighbourhoodWarning,
    warn_user,
)
from ._forms import is_long, is_network, new_rows
from ._labels import (
    align_columns,
    align_rows,
    find_labels,
    is_pandas,
    is_unlabelled,
    name_object,
    quote,
    require_unique,
    with_labels,
)
from ._parameters import (
    require_choice,
    require_coef,
    require_flag,
    require_integer,
    require_jobs,
    require_number,
    require_package,
)

__all__ = [
    "Dissimilarities",
    "FewPairsWarning",
    "ImputedKnownWarning",
    "MissingDissimilarityWarning",
    "RedundantKnownWarning",
    "SmallNeighbourhoodWarning",
    "align_columns",
    "align_rows",
    "check_dissimilarities",
    "find_labels",
    "is_long",
    "is_network",
    "is_pandas",
    "is_unlabelled",
    "name_object",
    "new_rows",
    "numbers",
    "quote",
    "require_choice",
    "require_coef",
    "require_flag",
    "require_integer",
    "require_jobs",
    "require_number",
    "require_package",
    "require_unique",
    "rounding_level",
    "warn_user",
    "with_labels",
]
