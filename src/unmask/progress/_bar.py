"""The time left of a fit, and a bar that shows it."""

from __future__ import annotations

import math
import multiprocessing
import sys
import time
from collections.abc import Callable
from threading import RLock, Timer, current_thread, main_thread
from typing import Any, ClassVar, NamedTuple

from ._watching import Listener, Progress

BETWEEN = 0.1  # seconds between two changes of the bar
APPEARS = 3.0  # seconds after which a bar appears by itself
LEAST = 0.02  # share of a stage from which the time left is estimated


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

    The falls of the stress shrink by about the same factor from iteration to iteration, so that the logarithm of the
    smallest one shows how much of the way to `tol` is done. Starts to come are expected to take as long as those that
    have ended. In 48 fits the estimate was right within a factor of 2 in 77% after a third of the iterations, and in
    63% after two thirds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.begin("", 0)

    def begin(self, stage: str, n_starts: int) -> None:  # noqa: ARG002
        self._begun = self._clock()
        # By the number of the start: its last iteration, the largest and smallest fall so far, and the share done.
        self._last: dict[int, tuple[Progress, float, float]] = {}
        self._done: dict[int, float] = {}

    def update(self, progress: Progress) -> None:
        if progress.kind == "part" and not progress.iteration:
            self.begin(progress.stage, 1)
        last, largest, smallest = self._last.get(progress.start, (progress, 0.0, math.inf))
        if last.stress > progress.stress:
            fall = (last.stress - progress.stress) / (progress.iteration - last.iteration)
            largest, smallest = max(largest, fall), min(smallest, fall)
        ahead = progress.ahead or progress.max_iter - progress.iteration
        done = progress.iteration / max(progress.iteration + ahead, 1)
        if progress.tol and largest and not progress.ahead:
            way = math.log(largest / smallest) / max(math.log(largest / progress.tol), 1e-9)
            done = max(done, min(way, 0.99))
        self._last[progress.start], self._done[progress.start] = (progress, largest, smallest), done

    def end(self, progress: Progress, converged: bool) -> None:  # noqa: ARG002
        self._done[progress.start] = 1.0

    def left(self, progress: Progress) -> Left:
        """Return how much of the stage is done, and the time left."""
        done = sum(self._done.values()) / max(progress.n_starts, 1)
        return Left(done, (self._clock() - self._begun) * (1 - done) / done if done > LEAST else math.nan)


class ProgressBar(TimeLeft):
    """A bar with the start, the iteration, the stress and the time left of a fit.

    Passed as ``callback`` to ``fit``, alone or in a list with others. It needs a terminal or a notebook, and disappears
    when the fit is over. The time left is an estimate for the present stage, which assumes that the stress goes on
    falling as it does now. Of a series of fits, such as a permutation test, the bar shows how many are done.

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

    outermost: ClassVar[bool] = True

    def __init__(self, file: Any = None) -> None:
        super().__init__()
        self._file, self._text, self._lock = file, (0.0, "fitting"), RLock()
        self._hidden_until = self._due = 0.0
        self._line: Line | None = None
        self._timer: Timer | None = None

    def begin(self, stage: str, n_starts: int) -> None:
        super().begin(stage, n_starts)
        if stage and not n_starts:
            self._show(0.0, stage)

    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def update(self, progress: Progress) -> None:
        super().update(progress)
        if self.is_due() or progress.kind == "part":  # a part may take long
            left = self.left(progress)
            self._show(left.done, ", ".join(filter(None, [str(left), str(progress)])))
            self._due = max(self._due, time.monotonic() + BETWEEN)

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
        self._timer = Timer(seconds, lambda: self._show(*self._text))
        self._timer.daemon = True
        self._timer.start()

    def _show(self, done: float, text: str) -> None:
        with self._lock:
            self._text = done, text
            if time.monotonic() >= self._hidden_until:
                self._line = self._line or _make_line(self._file)
                self._line[0](done, text)


Line = tuple[Callable[[float, str], None], Callable[[], None]]  # functions that show a line and remove it


def _make_line(file: Any) -> Line:
    """Return a line below the cell of a notebook, or of a terminal; on other files nothing is shown."""
    if file is None and _in_notebook():  # where rich would need a further package, ipywidgets
        from IPython.display import display

        handle: Any = display({"text/plain": ""}, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        write: Any = lambda text: handle.update({"text/plain": text}, raw=True)  # noqa: E731
        return lambda done, text: write(f"{done:4.0%}  {text}"), lambda: write("")

    from rich import progress as rich
    from rich.console import Console

    columns = rich.TaskProgressColumn(), rich.BarColumn(10), rich.TextColumn("{task.description}", markup=False)
    console = Console(file=file, stderr=True, force_jupyter=False)
    if not console.is_interactive:
        return lambda *_: None, lambda: None
    options: Any = dict.fromkeys(("auto_refresh", "redirect_stdout", "redirect_stderr"), False)
    bar = rich.Progress(*columns, console=console, transient=True, **options)
    task = bar.add_task("", total=1.0)
    bar.start()
    return lambda done, text: bar.update(task, completed=done, description=text, refresh=True), bar.stop


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def late_bars() -> list[ProgressBar]:
    """Return a bar that appears after some seconds, if the main thread has a terminal or a notebook to show it."""
    seen = getattr(sys.stderr, "isatty", bool)() or _in_notebook()
    if not seen or current_thread() is not main_thread() or multiprocessing.parent_process() is not None:
        return []
    bar = ProgressBar()
    bar.appear_after(APPEARS)
    return [bar]
