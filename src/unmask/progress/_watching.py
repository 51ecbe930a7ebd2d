"""Callbacks of a fit: what they receive, and how they stop it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from .._typing import Array

if TYPE_CHECKING:
    from ._checkpoint import SavedFit


@dataclass(frozen=True)
class Progress:
    """The state of a fit, as its ``callback`` receives it.

    A callback is called when a start begins, after each iteration, and when a stage without iterations begins; never
    by two threads at once. If it returns True the fit stops and keeps the best map so far, with an `UnfinishedWarning`.

    Attributes
    ----------
    stage : str
        ``"search"`` (from the starts), ``"curvilinear"``, ``"errors"``, ``"landmarks"``, ``"stochastic"``,
        ``"neighbours"``, ``"posterior"``, ``"unfolding"``; ``"graph"`` and ``"paths"`` have no iterations.
    iteration : int
        Number of the iteration; 0 at the beginning of a start or a stage.
    stress : float
        The normalised stress, or the cost of `GeneralMDS`; NaN where there is none.
    start, n_starts : int
        Number of the start, from 1, and how many there are.
    kind : str
        Of the start: ``"closed-form"``, ``"random"``, ``"given"``, ``"landmarks"``. With ``"part"``,
        ``iteration`` of ``max_iter`` fits of a series are done, and ``stage`` names the series.
    max_iter, tol
        The start ends after so many iterations, or when the stress falls by less than `tol` several times in a row.
    ahead : int
        In the stage ``"stochastic"``: iterations until the solver checks next whether to stop.

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> kin, path = load_kinship(), []
    >>> mds = ConditionalMDS(metric="precomputed", n_init=1, random_state=0)
    >>> mds = mds.fit(kin.dissimilarities, callback=lambda progress: path.append(progress.stress))
    >>> path == mds.stress_path_.tolist()
    True
    """

    stage: str
    iteration: int = 0
    stress: float = float("nan")
    start: int = 0
    n_starts: int = 0
    kind: str = ""
    max_iter: int = 0
    tol: float = 0.0
    ahead: int = 0
    _draw: Callable[[], Array] | None = field(default=None, repr=False, compare=False)
    _save: Callable[[], SavedFit] | None = field(default=None, repr=False, compare=False)

    @property
    def has_map(self) -> bool:
        """Whether there is a map in this stage."""
        return self._draw is not None

    def __str__(self) -> str:
        if self.kind == "part":
            return f"{self.stage}, {self.iteration} of {self.max_iter}"
        stage = "" if self.stage == "search" else f"{self.stage}, "
        start = f"start {self.start} of {self.n_starts}, " if self.start else ""
        stress = "" if math.isnan(self.stress) else f", stress {self.stress:.6g}"
        return f"{stage}{start}iteration {self.iteration}{stress}"

    def embedding(self) -> Array:
        """Return the present map in principal axes, before any adjustment. It is computed when asked for."""
        if self._draw is None:
            raise ValueError(f"embedding(): there is no map in the stage {self.stage!r}; look at progress.stage first.")
        return self._draw()


class Listener:
    """A callback with more detail. `begin`, `update` and `end` may return True to stop the fit."""

    silent: ClassVar[bool] = False  # True if it shows nothing, so that a bar may appear
    outermost: ClassVar[bool] = False  # True if it receives the parts of a series, but not the fits within them

    def begin(self, stage: str, n_starts: int) -> bool | None:
        """Receive the beginning of a stage; without starts it has no iterations."""

    def update(self, progress: Progress) -> bool | None:
        """Receive the beginning of a start, or the end of an iteration."""

    def is_due(self) -> bool:
        """Return whether it needs the present iteration, since reports slow down a small fit."""
        return True

    def end(self, progress: Progress, converged: bool) -> bool | None:
        """Receive the end of a start."""

    def close(self) -> None:
        """Receive the end of the fit, or an error in it."""


Callback = Callable[[Progress], bool | None] | Listener | Sequence[Callable[[Progress], bool | None] | Listener]


class _Function(Listener):
    """A user's function as a listener."""

    def __init__(self, function: Any) -> None:
        self.update = function  # type: ignore[method-assign]

    def begin(self, stage: str, n_starts: int) -> bool | None:
        return None if n_starts else self.update(Progress(stage))


def listeners_of(callback: Callback | None) -> list[Listener]:
    """Return the listeners of a ``callback`` argument; raise if it is not one."""
    several = [] if callback is None else callback if isinstance(callback, list | tuple) else [callback]
    for one in several:
        if not isinstance(one, Listener) and not callable(one):
            raise TypeError(
                f"callback={one!r} must be a function of one argument, an unmask.Progress, a list of such functions, "
                "or None."
            )
    return [one if isinstance(one, Listener) else _Function(one) for one in several]


class Watch:
    """Reports a fit to its listeners, one thread at a time; each report returns whether the fit is to stop."""

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = listeners
        self.watched = len(listeners) > 0  # by more than a bar that appears by itself
        self.stopped = threading.Event()  # by a listener or by Ctrl-C
        self._lock = threading.RLock()

    def begin(self, stage: str, n_starts: int = 0) -> bool:
        return self._call("begin", stage, n_starts)

    def update(self, progress: Progress) -> bool:
        return self._call("update", progress)

    def step(self, stage: str, iteration: int, value: float, max_iter: int) -> bool:
        """Report an iteration of a stage with a single start."""
        return self.update(Progress(stage, iteration, float(value), 1, 1, max_iter=max_iter))

    def end(self, progress: Progress, converged: bool) -> bool:
        return self._call("end", progress, converged)

    def is_due(self) -> bool:
        """Return whether a listener needs the present iteration."""
        return any(listener.is_due() for listener in self.listeners)

    def _call(self, method: str, *arguments: Any) -> bool:
        with self._lock, _reporting_to(Watch()):  # a fit within a listener is not part of this one
            for listener in self.listeners:
                if getattr(listener, method)(*arguments):
                    self.stopped.set()
        return self.stopped.is_set()


_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def _reporting_to(watch: Watch) -> Iterator[None]:
    token = _current.set(watch)
    try:
        yield
    finally:
        _current.reset(token)


def without_late_bars() -> AbstractContextManager[None]:
    """Let no bar appear by itself, for callers that show the progress themselves, and users who want none."""
    return _reporting_to(Watch())


def current_watch() -> Watch:
    """Return the watch of the fit that is running."""
    return _current.get() or Watch()


@contextmanager
def watching(callback: Callback | None, *others: Listener) -> Iterator[Watch]:
    """Report a fit to its callback and to other listeners.

    A fit within another one, such as the graph of an Isomap, reports to the listeners of the whole. A bar appears after
    some seconds if nothing else shows the progress.
    """
    from ._bar import late_bars

    listeners, whole = [*others, *listeners_of(callback)], _current.get()
    watch = Watch(*listeners) if listeners or whole is None else whole
    if whole is None and all(one.silent for one in listeners):
        watch.listeners = *listeners, *late_bars()
    with _reporting_to(watch):
        try:
            yield watch
        finally:
            for listener in watch.listeners if watch is not whole else ():
                listener.close()


Tell = Callable[[str, int, int], None]  # called with the name of a series and the numbers of fits: done, in all


class Stopped(KeyboardInterrupt):
    """A callback or Ctrl-C has stopped a series of fits, which has no result before its end."""


@contextmanager
def series(callback: Callback | None = None) -> Iterator[Tell]:
    """Report a series of fits to a callback, which may stop it by returning True; then `Stopped` is raised.

    Yields a function to call before each fit. Without a callback the listeners of a fit or series around this one
    receive the reports, and if there is none a bar appears after some seconds.
    """
    with watching(callback) as watch:
        within = copy(watch)  # what the fits report to

        def report(name: str, done: int, total: int) -> None:
            within.listeners = tuple(listener for listener in watch.listeners if not listener.outermost)
            if watch.update(Progress(name, done, start=1, n_starts=1, kind="part", max_iter=total)):
                raise Stopped("stopped by its callback; there is no result.")

        with _reporting_to(within):
            yield report
