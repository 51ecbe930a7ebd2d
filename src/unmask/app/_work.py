"""What the worker does: calls of `discovery`, `inspection` and `reports`, watched and to be stopped."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..discovery import Discovery
from ..progress import Listener, Progress, TimeLeft, position_of
from ._worker import Talk

# A map on its way is shown at most this often (in seconds), and showing it may take this share of the time.
SHOW_EVERY = 0.1
SHARE_FOR_SHOWING = 0.05

# Pairs that a Shepard diagram shows.
SHOWN_PAIRS = 5000


class Watcher(Listener):
    """Shows a fit on the page as it goes, now and then, and ends it when the page says so."""

    def __init__(self, talk: Talk) -> None:
        self._talk, self._time, self._next = talk, TimeLeft(), 0.0

    def begin(self, stage: str, n_starts: int) -> bool:
        """Name a stage that has no iterations."""
        self._time.begin(stage, n_starts)
        if not n_starts:
            self._talk.tell(text=stage)
        return self._talk.is_to_stop

    def hear(self, progress: Progress) -> bool:
        """Show an iteration, with the map."""
        self._time.hear(progress)
        now = time.perf_counter()
        if now >= self._next:
            left = self._time.left(progress)
            text = ", ".join(filter(None, [position_of(progress), str(left)]))
            self._talk.tell(done=left.done, text=text, stress=progress.stress, **_points(progress))
            self._next = now + max(SHOW_EVERY, (time.perf_counter() - now) / SHARE_FOR_SHOWING)
        return self._talk.is_to_stop

    def end(self, progress: Progress, converged: bool) -> None:
        """Take note of the end of a start, for the time left."""
        self._time.end(progress, converged)


def _points(progress: Progress) -> dict[str, Any]:
    # Landmarks are only some of the objects.
    if not progress.can_be_kept or progress.stage == "landmarks":
        return {}
    return {"points": np.asarray(progress.embedding(), dtype=np.float32)}


def fit(talk: Talk, study: Discovery, options: dict[str, Any]) -> Discovery:
    """Fit the next map of a study."""
    study.fit(**options, callback=Watcher(talk))
    return study


def without(talk: Talk, study: Discovery, action: int) -> Discovery:
    """Repeat what was done after an action, without it."""
    study.without(action, callback=Watcher(talk))
    return study


def report(talk: Talk, study: Discovery, path: str) -> None:
    """Write the report of a study."""
    from ..reports import write_report

    def tell(what: str, number: int, total: int) -> None:
        talk.tell(done=number / total, text=what)

    write_report(study, path, progress=tell)
