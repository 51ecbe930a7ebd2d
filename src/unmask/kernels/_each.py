"""The same done with many things, one after another here, or by whoever joblib has been told to use."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend


def each(function: Callable[[Any], Any], things: Iterable[Any], threads: int = 1) -> Generator[Any, None, None]:
    """Yield ``function(thing)`` in the order of the things.

    Inside ``joblib.parallel_config(backend="dask")`` the workers of the ambient Dask cluster share them. Without, they
    are shared by so many threads of this process, without warnings; one after another unless told otherwise, for a
    single fit of many objects uses all cores by itself.
    """
    if elsewhere() > 1:
        yield from Parallel(return_as="generator")(delayed(function)(thing) for thing in things)
    elif threads > 1:
        crew = Parallel(n_jobs=threads, backend="threading", return_as="generator")
        # What warnings to show is the process's: threads that silence some, each for a while, would leave it so.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from crew(delayed(function)(thing) for thing in things)
    else:
        yield from map(function, things)


def elsewhere() -> int:
    """Return how many others there are to do something: one, this process, unless joblib has been told of more."""
    backend = type(get_active_backend()[0]).__name__
    return int(effective_n_jobs(-1)) if backend == "DaskDistributedBackend" else 1
