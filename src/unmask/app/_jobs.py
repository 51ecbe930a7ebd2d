"""Long work in a process of its own, which stays warm: it says how far it is, can be stopped, and may die.

The page stays quick while a map is fitted, and a crash in compiled code takes no study with it. Jobs run one after
the other, urgent ones (a fit that somebody waits for) before background ones (a reading of a map), which step aside.
"""

from __future__ import annotations

import io
import multiprocessing as mp
import pickle
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

# Seconds between two signs of life of the worker, and how long it may be silent before it is replaced.
HEARTBEAT = 1.0
PATIENCE = 60.0


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


class Jobs:
    """The jobs of one study and the worker that does them.

    Parameters
    ----------
    hear : callable
        Called with every `News`, from a thread of its own.
    patience : float, default=60
        Seconds of silence after which the worker is taken for hung, killed and replaced.
    """

    def __init__(self, hear: Callable[[News], None], *, patience: float = PATIENCE) -> None:
        self._hear, self._patience = hear, patience
        self._context = mp.get_context("spawn")  # forking a process with running threads is not safe
        self._lock = threading.RLock()
        self._queue: list[Job] = []
        self._running: Job | None = None
        self._material: Any = None
        self._last = 0
        self._closed = False
        self._begin_worker()

    @property
    def process_id(self) -> int | None:
        """The worker's process."""
        return self._process.pid

    def use(self, material: Any) -> None:
        """Give the worker what all later jobs are about."""
        with self._lock:
            self._material = material
            self._tell(("material", material))

    def start(self, work: Callable[..., Any], *arguments: Any, urgent: bool = True) -> int:
        """Put a job into the queue and return its number."""
        with self._lock:
            self._last += 1
            job = Job(self._last, work, arguments, urgent)
            first = next((k for k, other in enumerate(self._queue) if urgent and not other.urgent), len(self._queue))
            self._queue.insert(first, job)
            if urgent and self._running is not None and not self._running.urgent:
                self._running.stepped_aside = True
                self._stop.value = self._running.number
            self._begin_next()
            return job.number

    def cancel(self, number: int) -> None:
        """Stop a job: one that runs ends with the best it has so far, one that waits is not begun."""
        with self._lock:
            if self._running is not None and self._running.number == number:
                self._running.stepped_aside = False
                self._stop.value = number
                return
            waiting = [job for job in self._queue if job.number == number]
            self._queue = [job for job in self._queue if job.number != number]
        for job in waiting:
            self._hear(News(job.number, "stopped"))

    def close(self) -> None:
        """End the worker; what runs is lost."""
        with self._lock:
            self._closed = True
            self._process.kill()
        self._process.join()

    # ---- the worker

    def _begin_worker(self) -> None:
        self._stop = self._context.Value("q", 0, lock=False)
        self._connection, other = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(other, self._stop), daemon=True, name="unmask-worker")
        self._process.start()
        other.close()
        threading.Thread(target=self._listen, args=(self._connection,), daemon=True, name="unmask-jobs").start()
        if self._material is not None:
            self._tell(("material", self._material))

    def _tell(self, message: tuple[Any, ...]) -> None:
        with suppress(OSError):  # it has just died; the listener replaces it, and the new one is given everything again
            self._connection.send_bytes(_packed(message, None if message[0] == "material" else self._material))

    def _begin_next(self) -> None:
        if self._running is not None or not self._queue or self._closed:
            return
        self._running = job = self._queue.pop(0)
        job.state, job.stepped_aside, self._stop.value = "running", False, 0
        self._tell(("job", job.number, job.work, job.arguments))

    def _listen(self, connection: Connection) -> None:
        silent = "the worker was silent for too long and was replaced; try again, with fewer objects or another method"
        gone = (
            "the worker ended unexpectedly (out of memory, perhaps) and was replaced; nothing else is lost: try again"
        )
        while True:
            try:
                if not connection.poll(self._patience):
                    self._replace(silent)
                    return
                message = _unpacked(connection.recv_bytes(), self._material)
            except (EOFError, OSError):
                self._replace(gone)
                return
            if message[0] != "alive":
                self._take(News(*message))

    def _take(self, news: News) -> None:
        with self._lock:
            job = self._running
            if job is None or job.number != news.number:
                return
            if news.kind in ("done", "failed"):
                self._running = None
                if job.stepped_aside:
                    self._queue.append(job)
                    job.state = "waiting"
                else:
                    job.state = news.kind
                self._begin_next()
            again = job.state == "waiting"
        if not again:
            self._hear(news)

    def _replace(self, why: str) -> None:
        with self._lock:
            lost, self._running = self._running, None
            if self._closed:
                return
            self._process.kill()
            self._process.join()
            self._begin_worker()
            self._begin_next()
        if lost is not None:
            self._hear(News(lost.number, "failed", why))


# ---- what goes between the processes


def _packed(message: Any, material: Any) -> bytes:
    """Return a message as bytes; the material, which both sides have, is only named in it."""

    class Packer(pickle.Pickler):
        def persistent_id(self, given: Any) -> str | None:
            return "material" if given is material and material is not None else None

    target = io.BytesIO()
    Packer(target, protocol=pickle.HIGHEST_PROTOCOL).dump(message)
    return target.getvalue()


def _unpacked(data: bytes, material: Any) -> Any:
    class Unpacker(pickle.Unpickler):
        def persistent_load(self, _: Any) -> Any:
            return material

    return Unpacker(io.BytesIO(data)).load()


# ---- in the worker's process


def _work(connection: Connection, stop: Any) -> None:
    """Do one job after the other, until the other side has gone."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the server, which ends this process
    sending, material = threading.Lock(), None

    def send(*message: Any) -> None:
        packed = _packed(message, material)
        with sending:
            connection.send_bytes(packed)

    threading.Thread(target=_show_life, args=(send,), daemon=True).start()
    while True:
        try:
            message = _unpacked(connection.recv_bytes(), material)
        except EOFError:
            return
        if message[0] == "material":
            material = message[1]
        else:
            _, number, work, arguments = message
            send(number, "running")
            send(number, *_outcome(work, arguments, Talk(number, send, stop)))


def _show_life(send: Callable[..., None]) -> None:
    while True:
        try:
            send("alive")
        except OSError:
            return
        time.sleep(HEARTBEAT)


def _outcome(work: Callable[..., Any], arguments: tuple[Any, ...], talk: Talk) -> tuple[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # steps keep their own
            return "done", work(talk, *arguments)
    except ValueError as problem:  # a sentence for people
        return "failed", str(problem)
    except Exception as problem:  # the worker survives whatever a job does
        traceback.print_exc()
        return "failed", f"{type(problem).__name__}: {problem}"


class Talk:
    """How a job speaks while it works: it tells how far it is, and hears whether it is to stop."""

    def __init__(self, number: int, send: Callable[..., None], stop: Any) -> None:
        self._number, self._send, self._stop = number, send, stop

    def tell(self, **seen: Any) -> None:
        """Tell how far the job is."""
        self._send(self._number, "progress", seen)

    @property
    def is_to_stop(self) -> bool:
        """Whether the job is to end with the best it has."""
        return bool(self._stop.value == self._number)
