"""The worker's program: does one job after the other, says how far it is, and hears when to stop."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from ._pipe import Pipe

# Seconds between two signs of life.
HEARTBEAT = 1.0


class Talk:
    """How a job speaks while it works: it tells how far it is, and hears whether it is to stop."""

    def __init__(self, number: int, worker: Worker) -> None:
        self._number, self._worker, self._has_heard = number, worker, False

    def tell(self, **seen: Any) -> None:
        """Tell how far the job is."""
        self._worker.send((self._number, "progress", seen))

    @property
    def is_to_stop(self) -> bool:
        """Whether the job is to end with the best it has."""
        stops = self._worker.stopped == self._number
        if stops and not self._has_heard:
            self._has_heard = True
            self._worker.send((self._number, "stopping"))
        return stops


class Worker:
    """Does what comes through a pipe, until the other side has gone."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe, self._material = pipe, None
        self._jobs: queue.Queue[Any] = queue.Queue()
        self.stopped = 0

    def send(self, message: Any) -> None:
        """Tell the other side something."""
        self._pipe.send(message, self._material)

    def run(self) -> None:
        """Do one job after the other."""
        for work in (self._listen, self._show_life):
            threading.Thread(target=work, daemon=True).start()
        from .. import estimators  # noqa: F401 - to be warm when the first job comes

        while True:
            number, work, arguments = self._jobs.get()
            self.send((number, "running"))
            self._send_outcome(number, _outcome(work, Talk(number, self), arguments))

    def _send_outcome(self, number: int, outcome: tuple[str, Any]) -> None:
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
        except BaseException:  # a worker that is deaf would never be replaced
            traceback.print_exc()
            os._exit(1)

    def _show_life(self) -> None:
        while True:
            self.send("alive")
            time.sleep(HEARTBEAT)


def _outcome(work: Callable[..., Any], talk: Talk, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # steps keep their own
            return "done", work(talk, *arguments)
    except ValueError as problem:  # a sentence for people
        return "failed", str(problem)
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
