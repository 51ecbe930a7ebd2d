"""Threads for the compiled passes, and workers of joblib for whole fits.

The compiled passes release the interpreter lock, so plain Python threads run them in parallel. Compared with numba's
``parallel=True`` this compiles ten times faster, is safe when several fits run at once or a process forks, and makes
every rounding independent of the number of threads.
"""

from __future__ import annotations

import itertools
import threading
import warnings
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads meant by ``n_jobs`` (``None`` and -1: every core this process may use)."""
    available = int(cpu_count())
    if n_jobs is None:
        return available
    if n_jobs < 0:
        return max(1, available + 1 + n_jobs)
    return n_jobs


class OneBlasThread:
    """Keep BLAS to one thread while any fit runs; after the last one it gets its threads back.

    The matrices outside the passes are small: several threads of BLAS would mostly wait for each other. The setting
    belongs to the process, so fits that run at the same time are counted.
    """

    _lock = threading.Lock()
    _depth = 0
    _limiter: Any = None

    def __enter__(self) -> OneBlasThread:
        cls = OneBlasThread
        with cls._lock:
            if cls._depth == 0:
                cls._limiter = _thread_pools().limit(limits=1, user_api="blas")
            cls._depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        cls = OneBlasThread
        with cls._lock:
            cls._depth -= 1
            if cls._depth == 0:
                cls._limiter.restore_original_limits()


@lru_cache(maxsize=1)
def _thread_pools() -> ThreadpoolController:
    """Return the controller of the loaded BLAS libraries; looking for them takes a while, so it is done once."""
    return ThreadpoolController()


class Workers:
    """A pool of threads that lives as long as a fit; started only when there is something to share."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def __reduce__(self) -> Any:
        return Workers, (self.threads,)

    def run(self, task: Callable[[int], None], count: int) -> None:
        """Call ``task(0) … task(count - 1)``, each once, on whichever thread is free; an error ends all of them."""
        crew = min(self.threads, count)
        if crew <= 1:
            for index in range(count):
                task(index)
            return
        queue = itertools.count()  # next() is atomic under the interpreter lock
        failed = threading.Event()

        def drain() -> None:
            while not failed.is_set() and (index := next(queue)) < count:
                try:
                    task(index)
                except BaseException:  # Ctrl-C too: the other threads would go on to the end of the queue
                    failed.set()
                    raise

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="unmask")
        helpers = [self._pool.submit(drain) for _ in range(crew - 1)]
        try:
            drain()
        except BaseException:
            failed.set()
            raise
        finally:
            wait(helpers)
        for helper in helpers:
            helper.result()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def each(function: Callable[[Any], Any], things: Iterable[Any], threads: int = 1) -> Generator[Any, None, None]:
    """Yield ``function(thing)`` in the order of the things.

    Inside ``joblib.parallel_config(backend="dask")`` the workers of the ambient Dask cluster share the calls; otherwise
    so many threads of this process do. By default there is one, because a fit of many objects uses all cores by itself.
    """
    if elsewhere() > 1:
        yield from Parallel(return_as="generator")(delayed(function)(thing) for thing in things)
    elif threads > 1:
        # Warning filters belong to the process: threads that each change them for a while would leave them changed.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pool = Parallel(n_jobs=threads, backend="threading", return_as="generator")
            yield from pool(delayed(function)(thing) for thing in things)
    else:
        yield from map(function, things)


def elsewhere() -> int:
    """Return the number of workers of the ambient Dask cluster; 1 without one."""
    backend = type(get_active_backend()[0]).__name__
    return int(effective_n_jobs(-1)) if backend == "DaskDistributedBackend" else 1
