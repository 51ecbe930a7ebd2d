"""A line that shows how far a fit is."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock, Timer, current_thread, main_thread
from typing import Any

from ._time_left import TimeLeft
from ._watching import Progress

# Seconds between two changes of the line.
BETWEEN = 0.1
# Seconds after which a line appears by itself.
APPEARS = 3.0


class ProgressBar(TimeLeft):
    """Shows how far a fit is: the start, the iteration, the stress, and the time left.

    Passed as ``callback`` to ``fit``, alone or in a list with others. The line is on the standard error, and goes when
    the fit is over. The time left is that of the present stage: *about* so much if the stress goes on falling as it
    does until it falls by less than `tol`, or *at most* so much, if all of `max_iter` iterations are needed, where the
    fall does not tell yet.

    Parameters
    ----------
    file : file, optional
        Where to write; the standard error by default.

    Examples
    --------
    >>> import io
    >>> from unmask import ConditionalMDS, ProgressBar
    >>> from unmask.datasets import load_kinship
    >>> shown = io.StringIO()
    >>> mds = ConditionalMDS(metric="precomputed", n_init=1, random_state=0)
    >>> mds = mds.fit(load_kinship().dissimilarities, callback=ProgressBar(shown))
    >>> "start 1 of 1, iteration 0, stress" in shown.getvalue()
    True
    """

    def __init__(self, file: Any = None) -> None:
        super().__init__()
        self._file, self._width, self._shown = file, 0, -BETWEEN

    def begin(self, stage: str, n_starts: int) -> None:
        """Show a stage without iterations."""
        super().begin(stage, n_starts)
        if not n_starts:
            self._show(stage)

    def hear(self, progress: Progress) -> None:
        """Show an iteration."""
        super().hear(progress)
        if time.monotonic() - self._shown >= BETWEEN:
            left = self.left(progress)
            self._show(", ".join(filter(None, [f"{left.done:4.0%}  {position_of(progress)}", str(left)])))

    def close(self) -> None:
        """Take the line away."""
        if self._width:
            self._show("")
            self._write("\r")

    def _show(self, text: str) -> None:
        self._write(f"\r{text.ljust(self._width)}")
        self._width, self._shown = len(text), time.monotonic()

    def _write(self, text: str) -> None:
        file = sys.stderr if self._file is None else self._file
        file.write(text)
        file.flush()


class LateBar(ProgressBar):
    """The line of a fit that nobody has asked to watch: it appears only if the fit takes some seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._begun, self._text, self._lock, self._closed = time.monotonic(), "fitting", RLock(), False
        # A stage without iterations may be long.
        self._timer = Timer(APPEARS, lambda: self._show(self._text))
        self._timer.daemon = True
        self._timer.start()

    def is_due(self) -> bool:
        """Without a line a small fit is not slowed down."""
        return time.monotonic() - self._begun >= APPEARS

    def close(self) -> None:
        """Take the line away."""
        self._timer.cancel()
        with self._lock:
            super().close()
            self._closed = True

    def _show(self, text: str) -> None:
        with self._lock:
            self._text = text
            if self.is_due() and not self._closed:
                super()._show(text)


def late_bars() -> list[LateBar]:
    """Return a bar if somebody can see it: on a terminal or in a notebook, and not from a thread of a larger whole."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    seen = getattr(sys.stderr, "isatty", bool)() or hasattr(shell, "kernel")
    return [LateBar()] if seen and _wanted.get() and current_thread() is main_thread() else []


_wanted: ContextVar[bool] = ContextVar("wanted", default=True)


@contextmanager
def without_late_bars() -> Iterator[None]:
    """Let no bar appear by itself: the caller shows progress, or the user wants none."""
    token = _wanted.set(False)
    try:
        yield
    finally:
        _wanted.reset(token)


def position_of(progress: Progress) -> str:
    """Return in words where a fit is."""
    stage = "" if progress.stage == "search" else f"{progress.stage}, "
    name = "chain" if progress.kind == "chain" else "start"
    start = f"{name} {progress.start} of {progress.n_starts}, " if progress.n_starts else ""
    stress = "" if math.isnan(progress.stress) else f", stress {progress.stress:.6g}"
    return f"{stage}{start}iteration {progress.iteration}{stress}"
