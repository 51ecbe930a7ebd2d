"""The worker's program: it does one job after the other, reports progress, and stops when it is asked to."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from ._pipe import Pipe


class Talk:
    """How a job reports its progress, and learns whether it is to stop."""

    def __init__(self, number: int, worker: Worker) -> None:
        self._number, self._worker = number, worker

    def tell(self, **progress: Any) -> None:
        """Report the progress of the job."""
        self._worker.send((self._number, "progress", progress))

    @property
    def is_to_stop(self) -> bool:
        """Whether the job is to end with the best it has."""
        return self._worker.stopped == self._number


class Worker:
    """Does what comes through a pipe, until the other side has gone."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe, self._material = pipe, None
        self._jobs: queue.Queue[Any] = queue.Queue()
        self.stopped = 0

    def send(self, message: Any) -> None:
        """Send an object to the other side."""
        self._pipe.send(message, self._material)

    def run(self) -> None:
        """Do one job after the other."""
        threading.Thread(target=self._listen, daemon=True).start()
        from .. import discovery  # noqa: F401 - to be warm when the first job comes

        while True:
            number, work, arguments = self._jobs.get()
            outcome = _outcome(work, Talk(number, self), arguments)
            try:
                self.send((number, *outcome))
            except OSError:  # nobody waits for it
                raise
            except Exception as problem:  # it cannot be sent
                traceback.print_exc()
                self.send((number, "failed", f"{type(problem).__name__}: {problem}"))

    def _listen(self) -> None:
        try:
            while True:
                kind, *content = self._pipe.receive(self._material)
                if kind == "job":
                    self.stopped = 0  # a job that stepped aside keeps its number when it comes again
                    self._jobs.put(content)
                elif kind == "stop":
                    self.stopped = content[0]
                else:
                    self._material = content[0]
        except EOFError:
            os._exit(0)  # nobody waits for what is being done
        except BaseException:  # a worker that hears nothing must be replaced
            traceback.print_exc()
            os._exit(1)


def _outcome(work: Callable[..., Any], talk: Talk, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # steps keep their own
            return "done", work(talk, *arguments)
    except ValueError as problem:  # a sentence for people
        return "failed", str(problem)
    except MemoryError:
        return "failed", "there is not enough memory for this; take fewer objects, or do it in Python"
    except Exception as problem:  # the worker survives whatever a job does
        traceback.print_exc()
        return "failed", f"{type(problem).__name__}: {problem}"


def main() -> None:
    """Work for the program at the other end of the standard streams; what jobs print goes to the standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the server, which ends this process
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Worker(Pipe(sys.stdin.buffer, target)).run()


if __name__ == "__main__":
    main()
