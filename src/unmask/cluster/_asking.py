"""Tasks for the workers of a cluster, and what happens when some of these, or all, are lost."""

from __future__ import annotations

import asyncio
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np

from .._typing import Array
from ._client import ClusterError
from ._held import run_here

Answer = TypeVar("Answer")

# What is lost although the scheduler answers, as when the only worker that held something is lost, is asked again.
ATTEMPTS = 4
SMALL = 2**23  # bytes that go along with the tasks of a pass
FAN = 8  # workers that take what all need from the same one
LOOK_EVERY = 5.0  # seconds after which a pass that is not over looks whether its workers are there
PATIENCE = 30.0  # seconds to wait for a worker when there is none
BETWEEN_CALLS = 0.1  # seconds between two looks whether one has come
RESULTS_HELD = 8  # results that the client holds at a time
GO_ON = "A fit that callback=Checkpoint(path) has saved continues with init=path."

numbers = itertools.count()  # by which tasks of one name are told apart


class Worker(NamedTuple):
    """A worker: where it is, its threads, and its bytes of memory (infinite without a limit)."""

    address: str
    threads: int
    memory: float


class LostError(Exception):
    """Something was lost that can be made again."""


class Asking:
    """A cluster as a fit uses it. Tasks have a home, which is a wish only: others may stand in for a lost worker."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.token = uuid4().hex  # other processes may use the same scheduler, and count as we do
        self._kept: list[Any] = []  # until others are asked for

    def workers(self) -> list[Worker]:
        """Return who is there; wait a while if nobody is."""
        with self.faults():
            found = self._found()
            if not found:
                # A cluster that adapts grows only if there is something to do.
                wanted = self.client.submit(int, key=f"unmask-wanted-{self.token}")
                deadline = time.monotonic() + PATIENCE
                while not (found := self._found()):
                    if time.monotonic() > deadline:
                        raise ClusterError(
                            f"the Dask cluster has no worker, and none came within {PATIENCE:g} s; start some "
                            f"(dask worker {self.client.scheduler.address}). {GO_ON}"
                        )
                    time.sleep(BETWEEN_CALLS)
                del wanted
        return sorted(
            Worker(str(address), int(about["nthreads"]), float(about["memory_limit"] or np.inf))
            for address, about in found.items()
        )

    def _found(self) -> dict[str, Any]:
        """Ask the scheduler itself for its workers: ``Client.scheduler_info`` now and then names none."""
        try:
            return dict(self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"])
        except OSError as error:
            raise self._disconnected() from error

    def submit(self, name: str, home: str | None, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a task; its name is what Dask's dashboard shows."""
        where = {} if home is None else {"workers": [home], "allow_other_workers": True}
        with _sending_tables():
            return self.client.submit(function, *arguments, key=f"unmask-{name}-{self.token}", **where)

    def run(self, name: str, tasks: dict[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """Yield the results of tasks (a function and its arguments) by their homes, and the addresses where they ran.

        The client holds a few results at a time. All tasks are sent in one message, and the last results are kept until
        then: a client sends a message every 10 ms, and letting go of results is one.
        """
        from dask.base import annotate

        number = next(numbers)
        homes = {f"unmask-{name}-{number}-{at}-{self.token}": [home] for at, home in enumerate(tasks)}
        graph = {key: (run_here, *task) for key, task in zip(homes, tasks.values(), strict=True)}
        with annotate(workers=homes.__getitem__, allow_other_workers=True), _sending_tables():
            self._kept = self.client.get(graph, list(homes), sync=False)
        futures, addresses = list(self._kept), list(tasks)
        for first in range(0, len(tasks), RESULTS_HELD):
            yield from self.gather(futures[first : first + RESULTS_HELD], set(addresses[first : first + RESULTS_HELD]))

    def gather(self, futures: list[Any], homes: set[str]) -> list[Any]:
        """Wait for tasks and return their results.

        When all workers are lost at once, Dask waits for ever, also for results that were ready. Hence one request that
        is never started anew, and a look at the workers meanwhile.
        """
        request = asyncio.run_coroutine_threadsafe(
            self.client.gather(futures, asynchronous=True), self.client.loop.asyncio_loop
        )
        try:
            while not wait([request], timeout=LOOK_EVERY).done:
                if not homes & {worker.address for worker in self.workers()}:
                    raise LostError
            return list(request.result())
        finally:
            request.cancel()

    def send(self, table: Array, homes: list[str]) -> list[Any]:
        """Return copies of a table on every eighth worker, each made from another; a small table goes with every task.

        The copies are results of tasks, which Dask makes again if a worker is lost; scattered data would be gone.
        """
        if len(homes) * table.nbytes <= SMALL:
            return [table] * len(homes[::FAN])
        copies: list[Any] = []
        number = next(numbers)
        for at, home in enumerate(homes[::FAN]):
            given = copies[(at - 1) // FAN] if at else table
            copies.append(self.submit(f"coordinates-{number}-{at}", home, relay, given))
        return copies

    def stubbornly(self, ask: Callable[[], Answer], anew: Callable[[], None]) -> Answer:
        """Ask, and if something is lost make it ``anew`` and ask again, as long as there is a scheduler."""
        for attempt in itertools.count(1):
            try:
                with self.faults():
                    return ask()
            except LostError as lost:
                if attempt == ATTEMPTS:
                    raise ClusterError(
                        f"workers of the Dask cluster were lost {ATTEMPTS} times in a row ({lost.__cause__}); look at "
                        f"their logs. {GO_ON}"
                    ) from lost.__cause__
                anew()
        raise AssertionError

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turn errors of the cluster into sentences, and what can be asked again into `LostError`."""
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            yield
        except MemoryError as error:
            raise ClusterError(
                f"a worker of the Dask cluster ran out of memory; {self.more_room()}. {GO_ON}"
            ) from error
        except KilledWorker as error:
            raise ClusterError(
                f"{error.allowed_failures + 1} workers of the Dask cluster died one after another at the same task "
                f"({error.task}), the last at {error.last_worker.address}; Dask does not know why, but their logs may. "
                f"If it was for lack of memory, {self.more_room()}. {GO_ON}"
            ) from error
        except (Exception, asyncio.CancelledError) as error:
            if self.client.status != "running":
                raise self._disconnected() from error
            if isinstance(
                error, CancelledError | asyncio.CancelledError | ConnectionError | TimeoutError | CommClosedError
            ):
                raise LostError from error
            if isinstance(error, OSError):
                raise ClusterError(
                    f"a worker of the Dask cluster cannot read the table ({error}); all need the same path to it."
                ) from error
            raise

    def _disconnected(self) -> ClusterError:
        """Return the error of a client without a scheduler."""
        if self.client.status in ("closing", "closed"):  # also some time after its scheduler was lost
            return ClusterError(
                "the Dask client was closed in the middle of a fit; connect another one (distributed.Client(ADDRESS)) "
                f"and fit again. {GO_ON}"
            )
        return ClusterError(f"the scheduler of the Dask cluster was lost in the middle of a fit. {GO_ON}")

    def more_room(self) -> str:
        """Return what to do about a worker without enough memory."""
        return "give it more"


@contextmanager
def _sending_tables() -> Iterator[None]:
    """Silence Dask's warning of a large graph: a table is sent once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


def relay(table: Any) -> Any:
    """Hand on what every worker needs."""
    return table
