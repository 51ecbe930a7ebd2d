"""Long work in a process of its own, which stays warm: it says how far it is, can be stopped, and may die.

The page stays quick while a map is fitted, and a crash in compiled code takes no study with it. Jobs run one after
the other, urgent ones (a fit that somebody waits for) before background ones (a reading of a map), which step aside.
"""

from __future__ import annotations

import math
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ._pipe import Pipe

# Seconds for which the worker, which shows every second that it lives, may be silent before it is replaced.
PATIENCE = 60.0
# Seconds it may take to start.
STARTING = 60.0

# Seconds for which a job that is to stop may go on without asking whether it is, and most seconds of any job.
GRACE = 20.0
LONGEST = 6 * 3600.0

# Workers in a row that may end before they say a word.
STILLBORN = 3

SILENT = "the worker was silent for too long and was replaced; try again, with fewer objects or another method"
GONE = "the worker ended unexpectedly (out of memory, perhaps) and was replaced; nothing else is lost: try again"

DEAF = "it did not stop when it was told to, and the worker was replaced; nothing comes of it, and nothing else is lost"

NONE = "no worker can be started (what it says is in the terminal); nothing is lost: try again when that is mended"


@dataclass
class Job:
    """Something to be done by the worker: ``work(talk, *arguments)`` returns what it found.

    Attributes
    ----------
    number : int
        Its name; later jobs have larger numbers.
    work : callable
        A function of a module, which the worker imports.
    arguments : tuple
        What it is called with.
    urgent : bool
        Whether somebody waits for it.
    state : str
        ``"waiting"``, ``"running"``, ``"done"``, ``"failed"`` or ``"stopped"``.
    """

    number: int
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    urgent: bool = True
    state: str = "waiting"
    stepped_aside: bool = field(default=False, repr=False)
    cancelled: bool = field(default=False, repr=False)
    begun_at: float = field(default=math.inf, repr=False)
    told_at: float = field(default=math.inf, repr=False)  # to stop, or when it heard that
    has_heard: bool = field(default=False, repr=False)

    @property
    def may_step_aside(self) -> bool:
        """Whether it can make room for an urgent job, and has not been told to."""
        return not (self.urgent or self.cancelled or self.stepped_aside)

    def is_deaf(self, grace: float, longest: float) -> bool:
        """Whether it runs, was told to stop, and has not heard it, or goes on, for so many seconds."""
        return time.monotonic() - max(self.begun_at, self.told_at) > (longest if self.has_heard else grace)

    def is_long(self, longest: float) -> bool:
        """Whether it runs for more than so many seconds, and was not ended."""
        return not self.cancelled and time.monotonic() - self.begun_at > longest


@dataclass(frozen=True)
class News:
    """What became of a job, or how far it is.

    Attributes
    ----------
    number : int
        Of the job.
    kind : str
        ``"running"``, ``"progress"``, ``"done"``, ``"failed"`` or ``"stopped"`` (before it had begun).
    content : object
        Of progress a dictionary, of a finished job what it returned, of a failed one the sentence to show.
    """

    number: int
    kind: str
    content: Any = None


@dataclass(frozen=True)
class Ended:
    """The last that comes of a worker: it has ended, perhaps because it was silent."""

    silent: bool


class Jobs:
    """The jobs of one study and the worker that does them.

    The worker is a program of its own, which imports nothing of the one it was started from: no script needs a guard.

    Parameters
    ----------
    hear : callable
        Called with every `News`, from a thread of its own.
    patience : float, default=60
        Seconds of silence after which the worker is taken for hung, killed and replaced.
    grace : float, default=20
        Seconds in which a job that is to stop must have asked whether it is. Otherwise the worker is killed and
        replaced, and nothing comes of the job. One that has asked may bring what it has to an end.
    longest : float, default=21600
        Seconds after which a job is told to stop, and which it then has to come to an end.
    """

    def __init__(
        self,
        hear: Callable[[News], None],
        *,
        patience: float = PATIENCE,
        grace: float = GRACE,
        longest: float = LONGEST,
    ) -> None:
        self._hear, self._patience, self._grace, self._longest = hear, patience, grace, longest
        self._lock = threading.RLock()
        self._queue: list[Job] = []
        self._running: Job | None = None
        self._material: Any = None
        self._last = self._stillborn = 0
        self._closed = self._is_without = False
        self._begin_worker()

    @property
    def process_id(self) -> int:
        """The worker's process."""
        return self._process.pid

    def use(self, material: Any) -> None:
        """Give the worker what all later jobs are about."""
        with self._lock:
            self._tell("material", material)
            self._material = material

    def start(self, work: Callable[..., Any], *arguments: Any, urgent: bool = True) -> int:
        """Put a job into the queue and return its number."""
        with self._lock:
            self._last += 1
            job = Job(self._last, work, arguments, urgent)
            first = next((k for k, other in enumerate(self._queue) if urgent and not other.urgent), len(self._queue))
            self._queue.insert(first, job)
            if self._is_without:  # perhaps there is room for one again
                self._is_without, self._stillborn = False, 0
                self._begin_worker()
            running = self._running
            if urgent and running is not None and running.may_step_aside:
                running.stepped_aside = True
                self._stop(running)
            self._begin_next()
            return job.number

    def cancel(self, number: int) -> None:
        """Stop a job: one that runs ends with the best it has so far, one that waits is not begun."""
        with self._lock:
            if self._running is not None and self._running.number == number:
                self._running.stepped_aside, self._running.cancelled = False, True
                self._stop(self._running)
                return
            waiting = [job for job in self._queue if job.number == number]
            self._queue = [job for job in self._queue if job.number != number]
        for job in waiting:
            self._pass_on(News(job.number, "stopped"))

    def close(self) -> None:
        """End the worker; what runs is lost."""
        with self._lock:
            self._closed = True
            self._process.kill()
        for thread in self._threads:
            thread.join()

    # ---- the worker

    def _begin_worker(self) -> None:
        self._stillborn += 1  # until it says a word
        # The path first: before it is set, a file of the user in this folder would be taken for a module of Python.
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__package__}._worker import main; main()"
        command = [sys.executable, "-c", program]
        self._process = process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._pipe = Pipe(process.stdout, process.stdin)
        self._heard_at = time.monotonic() + STARTING
        self._told: queue.Queue[memoryview | None] = queue.Queue()
        if self._material is not None:
            self._tell("material", self._material)
        self._said: queue.Queue[News | Ended] = queue.Queue()
        said, told = self._said, self._told
        self._threads = [
            threading.Thread(target=self._listen, args=(process, self._pipe, said, told), name="unmask-listen"),
            threading.Thread(target=self._write, args=(self._pipe, told), name="unmask-write"),
            threading.Thread(target=self._follow, args=(process, said), name="unmask-jobs"),
            threading.Thread(target=self._watch, args=(process,), name="unmask-watch"),
        ]
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def _tell(self, *message: Any) -> None:
        """Have something said to the worker, packed as it is now, without waiting until the worker takes it."""
        self._told.put(Pipe.packed(message, None if message[0] == "material" else self._material))

    @staticmethod
    def _write(pipe: Pipe, told: queue.Queue[memoryview | None]) -> None:
        """Say it to the worker, holding no lock: one that does not read is to be watched and killed meanwhile."""
        with suppress(OSError):  # it has just died; the listener replaces it, and the new one is given everything again
            while (packed := told.get()) is not None:
                pipe.write(packed)

    def _stop(self, job: Job) -> None:
        if not job.has_heard:  # one that has is finishing, and keeps its time
            job.told_at = time.monotonic()
        self._tell("stop", job.number)

    def _begin_next(self) -> None:
        if self._running is not None or not self._queue or self._closed:
            return
        self._running = job = self._queue.pop(0)
        job.state, job.stepped_aside, job.has_heard = "running", False, False
        job.begun_at = job.told_at = math.inf
        try:
            self._tell("job", job.number, job.work, job.arguments)
        except Exception as problem:  # it cannot be sent; those behind it can, perhaps
            traceback.print_exc()
            self._said.put(News(job.number, "failed", f"{type(problem).__name__}: {problem}"))

    def _listen(
        self, process: Any, pipe: Pipe, said: queue.Queue[News | Ended], told: queue.Queue[memoryview | None]
    ) -> None:
        """Hear the worker and wait for nothing else, so that it is not taken for silent while others are busy."""
        try:
            while True:
                message = pipe.receive(self._material)
                self._heard_at, self._stillborn = time.monotonic(), 0
                if message != "alive":
                    said.put(News(*message))
        except (EOFError, OSError):
            pass
        except Exception:  # it sent what cannot be read: another one takes its place
            traceback.print_exc()
        said.put(Ended(silent=time.monotonic() - self._heard_at > self._patience))
        process.kill()
        process.wait()
        told.put(None)
        pipe.close()

    def _follow(self, process: Any, said: queue.Queue[News | Ended]) -> None:
        """Do what follows from what the worker said, and replace it when it has ended."""
        while not isinstance(news := said.get(), Ended):
            self._take(news)
        process.wait()
        self._replace(news)

    def _watch(self, process: Any) -> None:
        """Kill a worker that is silent or does not stop; the listener then hears that it has ended."""
        while process.poll() is None:
            with self._lock:
                job = self._running if process is self._process else None
                is_silent = time.monotonic() - self._heard_at > self._patience
                if is_silent or (job and job.is_deaf(self._grace, self._longest)):
                    process.kill()
                elif job and job.is_long(self._longest):
                    self.cancel(job.number)
            time.sleep(min(1.0, self._patience / 4, self._grace / 4))

    def _take(self, news: News) -> None:
        with self._lock:
            job = self._running
            if job is None or job.number != news.number:
                return
            if news.kind == "running":
                job.begun_at = time.monotonic()
            if news.kind == "stopping":
                job.told_at, job.has_heard = time.monotonic(), True
            if news.kind in ("done", "failed"):
                self._running = None
                if job.stepped_aside:
                    self._queue.append(job)
                    job.state = "waiting"
                else:
                    job.state = news.kind
                self._begin_next()
            again = job.state == "waiting"
        if not again and news.kind != "stopping":
            self._pass_on(news)

    def _replace(self, end: Ended) -> None:
        with self._lock:
            lost, self._running = [] if self._running is None else [self._running], None
            if self._closed:
                return
            deaf = [job for job in lost if job.is_deaf(self._grace, self._longest)]
            for job in deaf:
                if job.stepped_aside:  # it was only in the way of another one
                    self._queue.append(job)
                    job.state = "waiting"
                    lost.remove(job)
            self._is_without = self._stillborn >= STILLBORN
            if self._is_without:
                lost, self._queue = [*lost, *self._queue], []
            else:
                self._begin_worker()
                self._begin_next()
            why = NONE if self._is_without else DEAF if deaf else SILENT if end.silent else GONE
        for job in lost:
            self._pass_on(News(job.number, "failed", why))

    def _pass_on(self, news: News) -> None:
        try:
            self._hear(news)
        except Exception:  # a mistake of who hears it ends no other job
            traceback.print_exc()
