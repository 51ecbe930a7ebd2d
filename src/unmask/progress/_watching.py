"""How far a fit is: what a callback hears of it, and how it stops the fit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from .._typing import Array
from ._journal import Journal

if TYPE_CHECKING:
    CallbackSupportMixin: Any = object
else:
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:  # scikit-learn before 1.9

        class CallbackSupportMixin:
            """Stands for what this version of scikit-learn does not have: callbacks are passed to fit alone."""


@dataclass(frozen=True)
class Progress:
    """How far a fit is, as the ``callback`` of a fit hears it.

    A callback is called when a start begins, after each of its iterations, and at the beginning of a stage that has no
    iterations; never by two threads at once. The fit stops if it returns True: every start that has begun ends where it
    is, no other follows, and the best map so far is kept, with an `UnfinishedWarning`. Where there is no map yet,
    the fit stops as soon as there is one.

    Attributes
    ----------
    stage : str
        What is being done: ``"search"`` (from the starts), ``"curvilinear"`` (weights that follow the map),
        ``"errors"`` (values that move within their errors), ``"landmarks"`` and ``"stochastic"`` (of the solver for
        many objects: some of them, whose map alone there is, then all), ``"exaggeration"`` (the beginning of t-SNE),
        ``"posterior"`` (the draws of chains, each of which counts as a start; the stress is NaN),
        ``"graph"`` and ``"paths"`` (neighbours and shortest paths, without iterations), ``"unfolding"`` (spectral
        dissimilarities).
    iteration : int
        Number of the iteration; 0 where a start or a stage begins.
    stress : float
        What is being minimised: the normalised stress; of `GeneralMDS` and `ConditionalTSNE` the cost. NaN in a stage
        without iterations.
    start, n_starts : int
        Number of the start, from 1, and how many there are; both 0 in a stage without iterations. Starts may run side
        by side.
    kind : str
        What kind of start it is: ``"closed-form"``, ``"random"``, ``"given"``.
    max_iter : int
        Most iterations from this start.
    tol : float
        The start ends when the stress falls by less than this, some times in a row.
    ahead : int
        In the stage ``"stochastic"``: iterations until it is seen next whether the stress still falls, and never ends
        before; 0 in others.

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
    _keep: Callable[[], dict[str, Array]] | None = field(default=None, repr=False, compare=False)

    def embedding(self) -> Array:
        """Return the map as it is now, in principal axes, before any adjusting: computed when it is asked for."""
        if self._draw is None:
            raise ValueError(f"embedding(): there is no map in the stage {self.stage!r}; look at progress.stage first.")
        return self._draw()

    @property
    def can_be_kept(self) -> bool:
        """Whether there is a state to go on from: in the stages of a search."""
        return self._keep is not None

    def state(self) -> dict[str, Array]:
        """Return all that is needed to go on from here, as arrays; ``resume_from=`` of a fit takes it."""
        if self._keep is None:
            raise ValueError(f"state(): there is nothing to keep in the stage {self.stage!r}; look at progress.stage.")
        return self._keep()


class Listener:
    """Hears how far a fit is, and may ask it to stop by returning True."""

    silent: ClassVar[bool] = False  # if True it shows nothing, and a bar may appear by itself

    def begin(self, stage: str, n_starts: int) -> bool | None:
        """A stage begins; one without starts has no iterations."""

    def hear(self, progress: Progress) -> bool | None:
        """A start begins, or an iteration has come to its end."""

    def is_due(self) -> bool:
        """Whether it wants to hear of this iteration; who does not spares a small fit what it costs to tell."""
        return True

    def end(self, progress: Progress, converged: bool) -> bool | None:
        """A start has come to its end."""

    def close(self) -> None:
        """The fit has come to its end, or broken off."""


Hearing = Callable[[Progress], bool | None] | Listener
# One who hears of a fit, or several.
Callback = Hearing | Sequence[Hearing]


def listeners_of(callback: Callback | None) -> list[Listener]:
    """Return those who are to hear of a fit; raise if one of them cannot."""
    several: Any = callback if isinstance(callback, list | tuple) else [] if callback is None else [callback]
    for one in several:
        if not isinstance(one, Listener) and not callable(one):
            raise TypeError(
                f"callback={one!r} must be a function of one argument, an unmask.Progress, a list of such functions, "
                "or None."
            )
    return [one if isinstance(one, Listener) else _Caller(one) for one in several]


class _Caller(Listener):
    """Passes on to a user's function."""

    def __init__(self, callback: Callable[[Progress], bool | None]) -> None:
        self.callback = callback

    def begin(self, stage: str, n_starts: int) -> bool | None:
        return None if n_starts else self.callback(Progress(stage))

    def hear(self, progress: Progress) -> bool | None:
        return self.callback(progress)


class Watch:
    """Tells the listeners of a fit how far it is, one thread at a time, and knows whether it is to stop."""

    def __init__(self, *listeners: Listener, journal: Journal | None = None) -> None:
        self.listeners = listeners
        self.watched = len(listeners) > 0  # by more than a bar that appears by itself
        self.journal = journal or Journal()
        self.stopped = threading.Event()
        self._lock = threading.RLock()

    def begin(self, stage: str, n_starts: int = 0) -> bool:
        self.journal.turn()
        return self._ask(lambda listener: listener.begin(stage, n_starts))

    def tell(self, progress: Progress) -> bool:
        return self._ask(lambda listener: listener.hear(progress))

    def is_due(self) -> bool:
        """Return whether anybody is to hear of an iteration, or the fit is to stop."""
        return self.stopped.is_set() or any(listener.is_due() for listener in self.listeners)

    def step(self, stage: str, iteration: int, value: float, max_iter: int) -> bool:
        """Tell of an iteration of a stage that has but one start."""
        return self.tell(Progress(stage, iteration, float(value), 1, 1, max_iter=max_iter))

    def end(self, progress: Progress, converged: bool) -> bool:
        return self._ask(lambda listener: listener.end(progress, converged))

    def _ask(self, ask: Callable[[Listener], bool | None]) -> bool:
        """Return whether the fit is to stop. What a listener fits is a fit of its own."""
        if self.listeners:
            with self._lock, _as_current(None):
                for listener in self.listeners:
                    if ask(listener):
                        self.stopped.set()
        return self.stopped.is_set()


_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def _as_current(watch: Watch | None) -> Iterator[None]:
    token = _current.set(watch)
    try:
        yield
    finally:
        _current.reset(token)


def current_watch() -> Watch:
    """Return the watch of the fit that is running."""
    return _current.get() or Watch()


@contextmanager
def watching(
    estimator: Any,
    callback: Callback | None,
    *others: Listener,
    quantity: str = "stress",
    journal: Journal | None = None,
    **data: Any,
) -> Iterator[Watch]:
    """Let a fit of ``data`` (X, y, metadata) be watched by its callback, by those of scikit-learn, and by others.

    A fit that is a part of another one, such as the graph of an Isomap, is watched by those who watch the whole. Where
    nobody else shows how far it is, a bar appears after some seconds.
    ``quantity`` names what is minimised, as the fitted attribute does; ``journal`` is of a fit that is taken up again.
    """
    from ._bar import late_bars

    listeners = [*others, *listeners_of(callback)]
    with _sklearn_tasks(estimator, data, quantity) as tasks:
        whole = _current.get()
        own = listeners or tasks or journal is not None
        watch = Watch(*listeners, *tasks, journal=journal) if own or whole is None else whole
        shown = whole is not None or tasks or not all(listener.silent for listener in listeners)
        bars = [] if shown else late_bars()
        watch.listeners += tuple(bars)
        with _as_current(watch):
            try:
                yield watch
            finally:
                for listener in [*listeners, *bars]:
                    listener.close()


@contextmanager
def _sklearn_tasks(estimator: Any, data: dict[str, Any], quantity: str) -> Iterator[list[Listener]]:
    """Set up the callbacks of scikit-learn, if the estimator has any, and tear them down whatever happens."""
    if not getattr(estimator, "_skl_callbacks", None):
        yield []
        return
    from sklearn.callback import with_callbacks

    try:
        tasks = _Tasks(estimator, data, quantity)
        yield [tasks]
        tasks.close()
    finally:
        with_callbacks(lambda _: None)(estimator)  # tears down what this estimator has set up


class _Tasks(Listener):
    """Shows a fit to the callbacks of scikit-learn as a tree of tasks: stages, starts, iterations."""

    def __init__(self, estimator: Any, data: dict[str, Any], quantity: str) -> None:
        self.quantity, self.hook = quantity, {"estimator": estimator, **data}
        self.root = self._begun(estimator._init_callback_context(max_subtasks=None))
        self.stage: list[Any] = []
        self.starts: dict[int, Any] = {}

    def begin(self, stage: str, n_starts: int) -> bool:
        stop = self._end_stage()
        task = self.root.subcontext(stage, max_subtasks=n_starts or None, sequential_subtasks=False)
        self.stage = [self._begun(task)]
        return stop

    def hear(self, progress: Progress) -> bool:
        if progress.start not in self.starts:
            task = self.stage[0].subcontext("start", task_id=progress.start - 1, max_subtasks=progress.max_iter)
            self.starts[progress.start] = self._begun(task)
        if not progress.iteration:
            return False
        return self._end(self._begun(self.starts[progress.start].subcontext("iteration")), progress)

    def end(self, progress: Progress, converged: bool) -> bool:  # noqa: ARG002
        return self._end(self.starts.pop(progress.start), progress)

    def close(self) -> None:
        self._end_stage()
        self.root.call_on_fit_task_end(**self.hook, reconstruction_attributes=lambda: vars(self.hook["estimator"]))

    def _end_stage(self) -> bool:
        tasks = [*self.starts.values(), *self.stage]
        self.starts.clear()
        return sum(self._end(task) for task in tasks) > 0  # every one of them is ended

    def _begun(self, task: Any) -> Any:
        return task.call_on_fit_task_begin(**self.hook)

    def _end(self, task: Any, progress: Progress | None = None) -> bool:
        def seen() -> dict[str, Any] | None:
            if progress is None or progress._draw is None:
                return None
            value = {f"{self.quantity}_": progress.stress}
            return {"embedding_": progress.embedding(), "n_iter_": progress.iteration, **value}

        return bool(task.call_on_fit_task_end(**self.hook, reconstruction_attributes=seen))
