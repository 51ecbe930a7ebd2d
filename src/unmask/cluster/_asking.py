"""Asking the workers of a cluster for something, and what happens when some of them, or all, are lost."""

from __future__ import annotations

import asyncio
import itertools
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np

from .._typing import Array
from ._client import ClusterError

Answer = TypeVar("Answer")

# What is lost although the scheduler answers, as when the only worker that held something is lost, is asked again.
ATTEMPTS = 4
SMALL = 2**23  # bytes that go along with the tasks of a pass
FAN = 8  # workers that take what all need from the same one
LOOK_EVERY = 5.0  # seconds after which a pass that is not over looks whether its workers are there
GO_ON = "What a Checkpoint has kept of the fit goes on with resume_from=."

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

    def workers(self) -> list[Worker]:
        """Return who is there; wait a while if nobody is."""
        with self.faults():
            if not self.client.scheduler_info(n_workers=-1)["workers"]:
                # A cluster that adapts grows only if there is something to do.
                wanted = self.client.submit(int, key=f"unmask-wanted-{self.token}")
                try:
                    self.client.wait_for_workers(1, timeout=30)
                except TimeoutError:
                    raise ClusterError(
                        f"no worker of the Dask cluster came within 30 s; start some (dask worker ADDRESS). {GO_ON}"
                    ) from None
                del wanted
            found = self.client.scheduler_info(n_workers=-1)["workers"]
        return sorted(
            Worker(str(address), int(about["nthreads"]), float(about["memory_limit"] or np.inf))
            for address, about in found.items()
        )

    def submit(self, name: str, home: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a task; its name is what Dask's dashboard shows."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # which it is not: a table, sent once
            return self.client.submit(
                function, *arguments, key=f"unmask-{name}-{self.token}", workers=[home], allow_other_workers=True
            )

    def gather(self, futures: list[Any], homes: set[str]) -> list[Any]:
        """Wait for tasks and return their results.

        When all workers are lost at once, Dask does not start again what had its home there: then it is lost.
        """
        from distributed import wait

        while True:
            try:
                wait(futures, timeout=LOOK_EVERY)  # type: ignore[no-untyped-call]
                return list(self.client.gather(futures))
            except TimeoutError:
                if not homes & {worker.address for worker in self.workers()}:
                    raise LostError from None

    def send(self, table: Array, homes: list[str]) -> list[Any]:
        """Return copies of a table on every eighth worker, each made of another: a tree in which all take their part.

        A small table goes along with every task instead, which saves a step. The copies are results of tasks, which
        Dask makes again if a worker is lost. What is scattered is gone then, and broadcasting waits for the lost worker
        for ever.
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
        for _ in range(ATTEMPTS - 1):
            try:
                with self.faults():
                    return ask()
            except LostError:
                anew()
        try:
            with self.faults():
                return ask()
        except LostError as lost:
            raise ClusterError(
                f"workers of the Dask cluster were lost {ATTEMPTS} times in a row ({lost.__cause__}); look at their "
                f"logs. {GO_ON}"
            ) from lost.__cause__

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Say in a sentence what went wrong with the cluster while something was asked of it."""
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            yield
        except (MemoryError, KilledWorker) as error:
            raise self.out_of_memory() from error
        except (CancelledError, asyncio.CancelledError, OSError) as error:  # also of time, and of connections
            if self.client.status != "running":
                raise ClusterError(
                    f"the scheduler of the Dask cluster was lost in the middle of a fit. {GO_ON}"
                ) from error
            lost = (CancelledError, asyncio.CancelledError, ConnectionError, TimeoutError, CommClosedError)
            if not isinstance(error, lost):
                raise ClusterError(
                    f"a worker of the Dask cluster cannot read the table ({error}); all need the same path to it."
                ) from error
            raise LostError from error

    def out_of_memory(self) -> ClusterError:
        """Return what to say when a worker had not enough memory."""
        return ClusterError(f"a worker of the Dask cluster ran out of memory; give it more. {GO_ON}")


def relay(table: Any) -> Any:
    """Hand on what every worker needs."""
    return table


def size_in_words(amount: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} TB"
