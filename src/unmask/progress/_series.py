"""Series of fits that someone hears of, and can stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from ._watching import Callback, Listener, Progress, Watch, current_watch, listeners_of, watching

# Says which part of a series comes next, how many are done, and how many there are at most.
Tell = Callable[[str, int, int], None]


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """A callback has stopped something that has no result before its end."""


@contextmanager
def series(callback: Callback | None) -> Iterator[Tell]:
    """Let a callback hear of a series of fits, and of every iteration of each; returning True it stops the series.

    Yields a function that is to be called before each part. Its name is the ``stage`` that the callback hears, the
    number of parts that are done the ``iteration``, and the number of all of them ``max_iter``. What is stopped raises
    `Stopped`. Without a callback those hear who hear of the whole that the series is a part of.
    """
    if callback is None:
        yield partial(_tell, current_watch())
        return
    heard = _Heard(callback)
    with watching(None, None, heard) as watch:
        try:
            yield partial(_tell, watch)
        except KeyboardInterrupt:
            if not heard.stopped:
                raise
            raise Stopped("stopped by its callback; there is no result.") from None


def _tell(watch: Watch, stage: str, done: int, total: int) -> None:
    # Ctrl-C ends a series too, and nothing between takes it for an error.
    if watch.step(stage, done, float("nan"), total):
        raise KeyboardInterrupt


class _Heard(Listener):
    """Passes on to others, and remembers whether one of them has stopped the series: it may have been Ctrl-C."""

    def __init__(self, callback: Callback) -> None:
        self.listeners, self.stopped = listeners_of(callback), False

    def begin(self, stage: str, n_starts: int) -> bool:
        return self._ask(lambda one: one.begin(stage, n_starts))

    def hear(self, progress: Progress) -> bool:
        return self._ask(lambda one: one.hear(progress))

    def end(self, progress: Progress, converged: bool) -> bool:
        return self._ask(lambda one: one.end(progress, converged))

    def close(self) -> None:
        for one in self.listeners:
            one.close()

    def _ask(self, ask: Callable[[Listener], bool | None]) -> bool:
        answers = [bool(ask(one)) for one in self.listeners]  # every one of them hears it
        self.stopped = self.stopped or any(answers)
        return self.stopped
