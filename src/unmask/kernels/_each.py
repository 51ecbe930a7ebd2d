"""The same done with many things, one after another here, or by whoever joblib has been told to use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend


def each(function: Callable[[Any], Any], things: Iterable[Any]) -> Iterator[Any]:
    """Yield ``function(thing)`` in the order of the things.

    Inside ``joblib.parallel_config(backend="dask")`` the workers of the ambient Dask cluster share them. Without, they
    are done one after another, for a single fit uses all cores of this machine by itself.
    """
    if elsewhere() == 1:
        yield from map(function, things)
        return
    yield from Parallel(return_as="generator")(delayed(function)(thing) for thing in things)


def elsewhere() -> int:
    """Return how many others there are to do something: one, this process, unless joblib has been told of more."""
    backend = type(get_active_backend()[0]).__name__
    return int(effective_n_jobs(-1)) if backend == "DaskDistributedBackend" else 1
