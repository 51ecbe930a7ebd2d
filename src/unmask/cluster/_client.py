"""The cluster that is there, if any: found without importing what nobody has imported."""

from __future__ import annotations

import sys
from typing import Any


class ClusterError(RuntimeError):
    """A cluster that a fit runs on was lost, or is too small for it; the message says what to do."""


def ambient_client() -> Any:
    """Return the client of the cluster in which work is done now, as dask itself would choose it; None without one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.default_client()
    except ValueError:
        return None
    if client.status == "running":
        return client
    if client.status == "closed":
        return None
    raise ClusterError(
        f"the Dask client has no scheduler (it is {client.status!r}); connect again, or close it to work on local "
        "threads."
    )


def is_dask_array(data: Any) -> bool:
    """Return whether the data are an array of Dask, by its attributes."""
    return hasattr(data, "__dask_graph__") and hasattr(data, "rechunk")


def is_dask_frame(data: Any) -> bool:
    """Return whether the data are a table of Dask, by its attributes."""
    return hasattr(data, "__dask_graph__") and hasattr(data, "npartitions") and hasattr(data, "columns")
