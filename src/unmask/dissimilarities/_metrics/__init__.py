"""The families of metrics behind :class:`unmask.dissimilarities.Metric`, and how tiles of pairs are filled."""

from ._blocks import Names, compare_tile, count_missing, fill_rectangle, fill_square
from ._family import Family, Reader, count, take
from ._registry import NAMES, make_family

__all__ = [
    "NAMES",
    "Family",
    "Names",
    "Reader",
    "compare_tile",
    "count",
    "count_missing",
    "fill_rectangle",
    "fill_square",
    "make_family",
    "take",
]
