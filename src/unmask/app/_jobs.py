"""Long work in a process of its own, which stays warm: it reports progress, can be stopped, and may die.

The page stays quick while a map is fitted, and a crash in compiled code takes no study with it. Jobs run one after
the other. Urgent ones (a fit that somebody waits for) come before background ones (a reading of a map), which stop for
them and begin again later. A job that does not stop when it is asked to can be ended with its worker: `Jobs.restart`.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal

from ._pipe import Pipe

GONE = "the worker ended unexpectedly (out of memory, perhaps) and was replaced; nothing else is lost: try again"
RESTARTED = "it was ended, and the worker was started anew; nothing comes of it, and nothing else is lost"
CLOSED = "the workbench has ended"


@dataclass(eq=False)
class Job:
    """Something that the worker does: ``work(talk, *arguments)`` returns a result.

    Attributes
    ----------
    number : int
        Later jobs have larger numbers.
    work : callable
        A function of a module, which the worker imports.
    arguments : tuple
        What it is called with.
    urgent : bool
        Whether somebody waits for it.
    future : Future, optional
        Gets the result in place of the listener.
    """

    number: int
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    urgent: bool = True
    future: Future[Any] | None = None
    cancelled: bool = False
    steps_aside: bool = field(default=False, repr=False)  # for an urgent one
    stop_is_sent: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class News:
    """How far a job is, or how it ended: with its result, a sentence to show, or (``"stopped"``) before it began."""

    number: int
    kind: Literal["progress", "done", "failed", "stopped"]
    content: Any = None


class Jobs:
    """The jobs of one study, and the worker that does them.

    The worker is a program of its own, which imports nothing of the one it was started from: no script needs a guard.

    Parameters
    ----------
    listener : callable
        Called with every `News`, from the one thread that follows the worker.
    """

    def __init__(self, listener: Callable[[News], None]) -> None:
        self._listener = listener
        self._changed = threading.Condition()
        self._queue: list[Job] = []
        self._running: Job | None = None
        self._material: Any = None
        self._sent: Any = None  # the material that the worker has
        self._last = 0
        self._closed = self._restarted = False
        self._begin_worker()
        self._thread = threading.Thread(target=self._follow, name="unmask-jobs", daemon=True)
        self._thread.start()

    @property
    def process_id(self) -> int:
        """The worker's process."""
        return self._process.pid

    def use(self, material: Any) -> None:
        """Give the worker what all later jobs are about."""
        with self._changed:
            self._material = material

    def start(self, work: Callable[..., Any], *arguments: Any, urgent: bool = True) -> int:
        """Put a job into the queue and return its number."""
        return self._start(work, arguments, urgent, None)

    def result(self, work: Callable[..., Any], *arguments: Any, urgent: bool = True) -> Any:
        """Do a job, wait for it, and return what it found; a ValueError says why there is nothing."""
        future: Future[Any] = Future()
        self._start(work, arguments, urgent, future)
        return future.result()

    def _start(self, work: Callable[..., Any], arguments: tuple[Any, ...], urgent: bool, future: Any) -> int:
        with self._changed:
            if self._closed:
                raise ValueError(CLOSED)
            self._last += 1
            job = Job(self._last, work, arguments, urgent, future)
            first = next((k for k, other in enumerate(self._queue) if urgent and not other.urgent), len(self._queue))
            self._queue.insert(first, job)
            if urgent and self._running is not None and not self._running.urgent and not self._running.cancelled:
                self._running.steps_aside = True
                self._stop(self._running)
            self._changed.notify()
            return job.number

    def cancel(self, number: int) -> None:
        """Stop a job: one that runs ends with the best it has so far, one that waits is not begun."""
        with self._changed:
            if self._running is not None and self._running.number == number:
                self._running.cancelled, self._running.steps_aside = True, False
                self._stop(self._running)
                return
            waiting = [job for job in self._queue if job.number == number]
            self._queue = [job for job in self._queue if job.number != number]
        for job in waiting:
            self._pass_on(job, News(job.number, "stopped"))

    def restart(self) -> None:
        """End the worker with what it does, and begin another one."""
        with self._changed:
            self._restarted = self._running is not None
            self._process.kill()
            self._process.wait()  # so that no job is sent to it

    def close(self) -> None:
        """End the worker; what runs or waits is lost."""
        with self._changed:
            self._closed = True
            self._process.kill()
            self._changed.notify()
        self._thread.join()

    # ---- the worker

    def _begin_worker(self) -> None:
        # The path first: before it is set, a file of the user in this folder would be taken for a module of Python.
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__package__}._worker import main; main()"
        command = [sys.executable, "-c", program]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._pipe, self._sent = Pipe(self._process.stdout, self._process.stdin), None

    def _stop(self, job: Job) -> None:
        """Ask the worker to stop, unless a job is being sent to it, which must not be waited for."""
        job.stop_is_sent = self._pipe.send_if_free(("stop", job.number))

    def _follow(self) -> None:
        """Have one job done after the other, and replace a worker that has ended."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._queue)
                lost = self._queue if self._closed else []
                job = None if self._closed else self._queue.pop(0)
                self._running = job
            if job is None:
                break
            self._end(job, self._do(job))
        for other in lost:
            self._pass_on(other, News(other.number, "failed", CLOSED))
        self._process.wait()
        self._pipe.close()

    def _do(self, job: Job) -> News:
        """Have the worker do a job; return how it ended."""
        job.steps_aside = job.stop_is_sent = False
        try:
            packed = Pipe.packed(("job", job.number, job.work, job.arguments), self._material)
        except Exception as problem:  # it cannot be sent
            traceback.print_exc()
            return News(job.number, "failed", f"{type(problem).__name__}: {problem}")
        with self._changed:
            if self._process.poll() is not None and not self._closed:
                self._replace()
                self._restarted = False
        try:
            if self._sent is not self._material:
                self._pipe.send(("material", self._material))
                self._sent = self._material
            self._pipe.write(packed)
            with self._changed:
                if (job.cancelled or job.steps_aside) and not job.stop_is_sent:
                    self._stop(job)
            while True:
                news = News(*self._pipe.receive(self._material))
                if news.number == job.number and news.kind != "progress":
                    return news
                self._pass_on(job, news)
        except (EOFError, OSError):
            pass
        except Exception:  # it sent what cannot be read
            traceback.print_exc()
        with self._changed:
            why, self._restarted = RESTARTED if self._restarted else GONE, False
            if not self._closed:
                self._replace()
        return News(job.number, "failed", CLOSED if self._closed else why)

    def _replace(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()
        self._begin_worker()

    def _end(self, job: Job, news: News) -> None:
        with self._changed:
            self._running = None
            if job.steps_aside and news.content is not RESTARTED and not self._closed:
                self._queue.append(job)
                return
        self._pass_on(job, news)

    def _pass_on(self, job: Job, news: News) -> None:
        try:
            if job.future is None:
                self._listener(news)
            elif news.kind == "done":
                job.future.set_result(news.content)
            elif news.kind != "progress":
                job.future.set_exception(ValueError(news.content))
        except Exception:  # a mistake of the listener ends no other job
            traceback.print_exc()
