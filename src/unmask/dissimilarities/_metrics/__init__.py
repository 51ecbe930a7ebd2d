"""The families of metrics behind :class:`unmask.dissimilarities.Metric`, and how tiles of pairs are filled."""

from ._blocks import Names, fill_rectangle, fill_square
from ._family import Family, Reader, count
from ._registry import NAMES, make_family

__all__ = ["NAMES", "Family", "Names", "Reader", "count", "fill_rectangle", "fill_square", "make_family"]
