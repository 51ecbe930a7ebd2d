"""Threads for the compiled passes.

The kernels release the interpreter lock, so plain Python threads run them in parallel. Compared with numba's own
``parallel=True`` this compiles ten times faster, is safe when several fits run at once or a process forks, and lets
the division of the work, and therefore every rounding, be independent of the number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from joblib import cpu_count


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads meant by ``n_jobs`` (``None`` and -1: every core this process may use)."""
    available = int(cpu_count())
    if n_jobs is None:
        return available
    if n_jobs < 0:
        return max(1, available + 1 + n_jobs)
    return n_jobs


class Workers:
    """A pool of threads that lives as long as a fit; started only when there is something to share."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def run(self, task: Callable[[int], None], count: int) -> None:
        """Call ``task(0) … task(count - 1)``, each once, on whichever thread is free."""
        crew = min(self.threads, count)
        if crew <= 1:
            for index in range(count):
                task(index)
            return
        queue = itertools.count()  # next() is atomic under the interpreter lock

        def drain() -> None:
            while (index := next(queue)) < count:
                task(index)

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="unmask")
        helpers = [self._pool.submit(drain) for _ in range(crew - 1)]
        drain()
        for helper in helpers:
            helper.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
