"""The time left of a fit, and a bar that shows it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from threading import RLock, Timer, current_thread, main_thread
from typing import Any, NamedTuple

import numpy as np

from ._watching import Listener, Progress

# Iterations by which the fall of the stress is extrapolated, and the fewest that allow it. Measured on 96 fits of 10 to
# 273 iterations, after a third, half, two thirds and 85% of them: the estimate was right within a factor of 2 in 62,
# 63, 61 and 80% of the fits (20 iterations: 58, 55, 52, 55%; all: 69, 70, 58, 40%).
WINDOW, LEAST = 10, 6
LAST = 3  # small decreases in a row that end a start
BETWEEN = 0.1  # seconds between two changes of the bar
APPEARS = 3.0  # seconds after which a bar appears by itself


class Left(NamedTuple):
    """The share of a stage that is done, and the seconds left (NaN if unknown)."""

    done: float
    seconds: float

    def __str__(self) -> str:
        if math.isnan(self.seconds):
            return ""
        unit, seconds = ("s", 1) if self.seconds < 100 else ("min", 60) if self.seconds < 6000 else ("h", 3600)
        return f"about {self.seconds / seconds:.0f} {unit} left"


class TimeLeft(Listener):
    """Estimates the time left of the present stage.

    The decreases of the stress shrink by about the same factor from iteration to iteration: a line through their
    logarithms shows when they will be below `tol`. While this is not clear, no time is given. Starts to come are
    expected to take as many iterations as those that have ended.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._running: dict[int, list[tuple[float, int, float]]] = {}  # time, iteration and stress, by start
        self._ended: list[int] = []

    def begin(self, stage: str, n_starts: int) -> None:  # noqa: ARG002
        self._running.clear()
        self._ended.clear()

    def update(self, progress: Progress) -> None:
        last = self._running.get(progress.start, [])[-WINDOW:]
        self._running[progress.start] = [*last, (self._clock(), progress.iteration, progress.stress)]

    def end(self, progress: Progress, converged: bool) -> None:  # noqa: ARG002
        self._running.pop(progress.start, None)
        self._ended.append(progress.iteration)

    def left(self, progress: Progress) -> Left:
        """Return how much of the stage is done, and the time left."""
        times, iterations, path = zip(*self._running[progress.start], strict=True)
        most = progress.max_iter - progress.iteration
        # Without a tolerance every iteration is made.
        own = progress.ahead or (iterations_left(path, iterations, progress.tol) if progress.tol else most)
        if own is None or len(times) == 1:
            return Left(len(self._ended) / progress.n_starts, math.nan)
        own = min(own, most)
        each = float(np.mean(self._ended)) if self._ended else progress.iteration + own
        to_come = (progress.n_starts - len(self._ended) - len(self._running)) * each / len(self._running)
        share = progress.iteration / max(progress.iteration + own, 1)
        pace = (times[-1] - times[0]) / max(iterations[-1] - iterations[0], 1)
        return Left((len(self._ended) + share) / progress.n_starts, (own + to_come) * pace)


def iterations_left(path: Any, iterations: Any, tol: float) -> float | None:
    """Return the number of iterations until the stress falls by less than ``tol``; None if this is not clear."""
    steps = np.maximum(np.diff(iterations), 1)
    falls = -np.diff(path) / steps
    middle = (np.asarray(iterations[1:]) - (steps - 1) / 2 - iterations[-1])[falls > 0]
    if len(middle) < LEAST:
        return None
    slope, level = np.polyfit(middle, np.log(falls[falls > 0]), 1)
    return max((math.log(tol) - level) / slope, 0.0) + LAST if slope < 0 else None


class ProgressBar(TimeLeft):
    """A bar with the start, the iteration, the stress and the time left of a fit.

    Passed as ``callback`` to ``fit``, alone or in a list with others. It needs a terminal or a notebook, and disappears
    when the fit is over. The time left is an estimate for the present stage: it assumes that the stress goes on falling
    as it does now.

    Parameters
    ----------
    file : file, optional
        The terminal to write to; the standard error by default.

    Examples
    --------
    >>> from unmask import ConditionalMDS, ProgressBar
    >>> from unmask.datasets import load_kinship
    >>> mds = ConditionalMDS(metric="precomputed", n_init=1, random_state=0)
    >>> mds = mds.fit(load_kinship().dissimilarities, callback=ProgressBar())
    """

    def __init__(self, file: Any = None) -> None:
        super().__init__()
        self._file, self._last, self._lock = file, (0.0, "fitting"), RLock()
        self._hidden_until = self._due = 0.0
        self._line: Line | None = None
        self._timer: Timer | None = None

    def begin(self, stage: str, n_starts: int) -> None:
        super().begin(stage, n_starts)
        if not n_starts:
            self._show(0.0, stage)

    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def update(self, progress: Progress) -> None:
        super().update(progress)
        if self.is_due():
            left = self.left(progress)
            self._show(left.done, ", ".join(filter(None, [str(left), str(progress)])))
            self._due = time.monotonic() + BETWEEN

    def close(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._hidden_until = math.inf  # the timer may already be running
            if self._line is not None:
                self._line[1]()
                self._line = None

    def appear_after(self, seconds: float) -> None:
        """Hide the bar for some seconds; it then appears even in a stage without iterations."""
        self._hidden_until = self._due = time.monotonic() + seconds
        self._timer = Timer(seconds, lambda: self._show(*self._last))
        self._timer.daemon = True
        self._timer.start()

    def _show(self, done: float, text: str) -> None:
        with self._lock:
            self._last = done, text
            if time.monotonic() >= self._hidden_until:
                self._line = self._line or _make_line(self._file)
                self._line[0](done, text)


Line = tuple[Callable[[float, str], None], Callable[[], None]]  # functions that show a line and remove it


def _make_line(file: Any) -> Line:
    """Return a line below the cell of a notebook, or of a terminal; on other files nothing is shown."""
    if file is None and _in_notebook():
        from IPython.display import display

        handle: Any = display({"text/plain": ""}, raw=True, display_id=True)  # type: ignore[no-untyped-call]

        def show(done: float, text: str) -> None:
            handle.update({"text/plain": f"{done:4.0%}  {text}"}, raw=True)

        return show, lambda: handle.update({"text/plain": ""}, raw=True)

    from rich import progress as rich
    from rich.console import Console

    columns = rich.TaskProgressColumn(), rich.BarColumn(10), rich.TextColumn("{task.description}", markup=False)
    console = Console(file=file, stderr=True, force_jupyter=False)
    if not console.is_interactive:
        return lambda *_: None, lambda: None
    bar = rich.Progress(
        *columns, console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    )
    task = bar.add_task("", total=1.0)
    bar.start()
    return lambda done, text: bar.update(task, completed=done, description=text, refresh=True), bar.stop


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def late_bars() -> list[ProgressBar]:
    """Return a bar that appears after some seconds, if the main thread has a terminal or a notebook to show it."""
    seen = getattr(sys.stderr, "isatty", bool)() or _in_notebook()
    if not seen or current_thread() is not main_thread():
        return []
    bar = ProgressBar()
    bar.appear_after(APPEARS)
    return [bar]
