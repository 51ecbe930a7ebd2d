"""A table of dissimilarities that the workers of a Dask cluster hold together, and the passes over it.

Neither dask nor distributed is imported before there is something of theirs to work with.
"""

from __future__ import annotations

from ._client import ClusterError, ambient_client, is_dask_array, is_dask_frame
from ._objects import SpreadObjects
from ._parts import over_parts
from ._readers import LocalArray, Reader, StoredArray
from ._table import SpreadTable, spread

__all__ = [
    "ClusterError",
    "LocalArray",
    "Reader",
    "SpreadObjects",
    "SpreadTable",
    "StoredArray",
    "ambient_client",
    "is_dask_array",
    "is_dask_frame",
    "over_parts",
    "spread",
]
