"""How long a fit still takes, and what this is known by."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ._watching import Listener, Progress

# The fall of the stress over so many iterations says how it will go on; over fewer than the least, nothing. Measured on
# 96 fits of 10 to 273 iterations, after a third, half, two thirds and 85% of them: what was left was guessed within a
# factor of 2 in 62, 63, 61 and 80% of the fits (20 iterations: 58, 55, 52, 55%; all: 69, 70, 58, 40%).
WINDOW, LEAST = 10, 6
# A start ends after this many small decreases in a row.
LAST = 3


class Left(NamedTuple):
    """How much is left of a stage: the share that is done, the seconds left, and what these are, in words."""

    done: float
    seconds: float
    words: str

    def __str__(self) -> str:
        if math.isnan(self.seconds):
            return ""
        return self.words.format(f"{self.seconds:.0f} s" if self.seconds < 100 else f"{self.seconds / 60:.0f} min")


ABOUT, AT_MOST = "about {} left, as it falls", "at most {} left, if it takes max_iter"
AT_LEAST = "at least {} left, then it is seen whether it still falls"


@dataclass
class _Running:
    """A start that is under way: when it was heard of first, at which iteration, its last stresses, and where."""

    begun: float
    first: int
    path: list[float] = field(default_factory=list)
    at: list[int] = field(default_factory=list)


class TimeLeft(Listener):
    """Estimates how long the present stage of a fit still takes.

    The decreases of a start fall by about the same factor from iteration to iteration; when they will be below `tol` is
    read off a line through their logarithms. Where there are too few, or they do not fall, all that is sure is
    `max_iter`; of the stochastic solver, the iterations until it looks whether to go on. Starts that have not begun are
    expected to take as many iterations as those that have ended. Further stages, if any, are not counted.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._running: dict[int, _Running] = {}
        self._ended: list[int] = []

    def begin(self, stage: str, n_starts: int) -> None:  # noqa: ARG002
        """Forget an earlier stage."""
        self._running.clear()
        self._ended.clear()

    def hear(self, progress: Progress) -> None:
        """Take note of an iteration."""
        running = self._running.setdefault(progress.start, _Running(self._clock(), progress.iteration))
        running.path = [*running.path[-WINDOW:], progress.stress]
        running.at = [*running.at[-WINDOW:], progress.iteration]

    def end(self, progress: Progress, converged: bool) -> None:  # noqa: ARG002
        """Take note of the end of a start."""
        self._running.pop(progress.start, None)
        self._ended.append(progress.iteration)

    def left(self, progress: Progress) -> Left:
        """Return what is left of the stage, seen from an iteration of it."""
        running = self._running.get(progress.start)
        if running is None or not progress.n_starts:
            return Left(0.0, math.nan, "")
        here = progress.ahead or iterations_left(running.path, progress.tol, running.at)
        words = AT_LEAST if progress.ahead else AT_MOST if here is None else ABOUT
        most = progress.max_iter - progress.iteration
        own = most if here is None else min(here, most)
        ahead = progress.n_starts - len(self._ended) - len(self._running)
        each = float(np.mean(self._ended)) if self._ended else progress.iteration + own
        total = own + ahead * each / len(self._running)
        made = progress.iteration - running.first
        seconds = total * (self._clock() - running.begun) / made if made else math.nan
        share = progress.iteration / max(progress.iteration + own, 1)
        return Left((len(self._ended) + share) / progress.n_starts, seconds, words)


def iterations_left(path: list[float], tol: float, at: list[int] | None = None) -> float | None:
    """Return after how many further iterations the decreases will be below ``tol``; None if they do not tell.

    ``at`` are the iterations of which the stresses of the path are, where not all were heard of.
    """
    where = np.arange(float(len(path))) if at is None else np.asarray(at, dtype=np.float64)
    steps = np.maximum(np.diff(where), 1.0)
    falls = -np.diff(path) / steps
    middle = (where[1:] - (steps - 1.0) / 2 - where[-1])[falls > 0]
    falls = falls[falls > 0]
    if tol <= 0 or len(falls) < LEAST:
        return None
    slope, level = np.polyfit(middle, np.log(falls), 1)
    if slope >= 0:
        return None
    return float(max((math.log(tol) - level) / slope, 0.0)) + LAST
