"""What the worker does: calls of `discovery`, `inspection` and `reports`, watched and to be stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.stats import chi2

from ..discovery import Discovery, LeftOut, Stopped
from ..estimators import random_fits
from ..progress import Callback, Listener, Progress, TimeLeft
from ._worker import Talk

# A map on its way is shown at most this often (in seconds), and showing it may take this share of the time.
SHOW_EVERY = 0.1
SHARE_FOR_SHOWING = 0.05

# Above this number of objects a map is not compared with maps of random data: it is fitted again for that.
MOST_FOR_CHANCE = 3000

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

    def is_due(self) -> bool:
        """Hear of as many iterations as are shown."""
        return time.perf_counter() >= self._next or self._talk.is_to_stop

    def update(self, progress: Progress) -> bool:
        """Show an iteration, with the map."""
        self._time.update(progress)
        now = time.perf_counter()
        if now >= self._next:
            left = self._time.left(progress)
            text = ", ".join(filter(None, [str(progress), str(left)]))
            self._talk.tell(done=left.done, text=text, stress=progress.stress, **_points(progress))
            self._next = now + max(SHOW_EVERY, (time.perf_counter() - now) / SHARE_FOR_SHOWING)
        return self._talk.is_to_stop

    def end(self, progress: Progress, converged: bool) -> None:
        """Take note of the end of a start, for the time left."""
        self._time.end(progress, converged)


def _points(progress: Progress) -> dict[str, Any]:
    # Landmarks are only some of the objects.
    if not progress.has_map or progress.stage == "landmarks":
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


def report(talk: Talk, study: Discovery, path: str, saved_as: str) -> None:
    """Write the report of a study."""
    from ..reports import write_report

    with _in_words():
        write_report(study, path, saved_as=saved_as, callback=PartsWatcher(talk))


@contextmanager
def _in_words() -> Iterator[None]:
    """Say why there is no result, as a sentence for people."""
    try:
        yield
    except (LeftOut, Stopped) as why:
        raise ValueError(str(why)) from None


# ---- reading a map


class PartsWatcher(Listener):
    """Shows how many of the fits of a series are done, and ends the series when the page says so."""

    def __init__(self, talk: Talk) -> None:
        self._talk, self._next = talk, 0.0

    def update(self, progress: Progress) -> bool:
        """Show that a part begins, not too often; of the iterations of each fit nothing is said."""
        now = time.perf_counter()
        if math.isnan(progress.stress) and now >= self._next:
            self._next = now + SHOW_EVERY
            text = f"{progress.stage}, {progress.iteration} of {progress.max_iter}"
            self._talk.tell(done=progress.iteration / max(progress.max_iter, 1), text=text)
        return self._talk.is_to_stop


def read(talk: Talk, study: Discovery, step: int, what: str) -> dict[str, Any]:
    """Read the map of a step in one of several ways."""
    study.go(step)
    with _in_words():
        return READERS[what](study, PartsWatcher(talk))


def _suggest(study: Discovery, callback: Callback) -> dict[str, Any]:
    found = study.suggest(callback=callback)
    rows = found[["kind", "what", "strength", "p_value", "note"]].to_dict("records")
    for row, arguments in zip(rows, found["arguments"], strict=True):
        if arguments:
            way = {key: given for key, given in arguments.items() if key not in ("name", "why")}
            row |= {"name": arguments["name"], "way": _way(way, study.material.objects)}
    return {"rows": rows}


def _way(way: dict[str, Any], labels: Any) -> dict[str, Any]:
    """Return a way to a feature with objects by their place, as the page has them."""
    if isinstance(way.get("groups"), dict):
        places = {name: labels.get_indexer_for(members).tolist() for name, members in way["groups"].items()}
        return {**way, "groups": places}
    return way


def _scree(study: Discovery, callback: Callback) -> dict[str, Any]:
    found = study.reading().scree(callback=callback)
    return {"stress": found["stress"].tolist(), "elbow": found.attrs["elbow"]}


def _chance(study: Discovery, _: Callback) -> dict[str, Any]:
    """Return the stress of maps of the same dissimilarities in random order."""
    reading = study.reading()
    if reading.n > MOST_FOR_CHANCE:
        return {"stress": math.nan}
    estimator = reading.estimator
    few = {"n_init": 1, "max_iter": 1, "verbose": 0, "adjust": False}
    estimator.set_params(**{name: value for name, value in few.items() if name in estimator.get_params()})
    estimator.fit(reading.data, known=reading.known, **reading.weights)
    found = random_fits(estimator)
    return {"stress": math.nan if found.why_none else found.median}


def _shepard(study: Discovery, _: Callback) -> dict[str, Any]:
    pairs = study.reading().shepard()
    shown = pairs.sample(min(len(pairs), SHOWN_PAIRS), random_state=0)
    correlation = float(pairs["dissimilarity"].corr(pairs["distance"]))
    columns = {name: shown[name].to_numpy("f4") for name in ("dissimilarity", "distance")}
    return {**columns, "pairs": len(pairs), "correlation": correlation}


def _stability(study: Discovery, callback: Callback) -> dict[str, Any]:
    found = study.reading().bootstrap(callback=callback)
    rows = [{"name": str(row.Index), "low": row.low, "high": row.high} for row in found.importance.itertuples()]
    return {"importance": rows, "resamples": found.n_resamples, "level": found.level}


def _ellipses(study: Discovery, callback: Callback) -> dict[str, Any]:
    """Return half axes of each object's confidence ellipse, one a row, the longest first."""
    found = study.reading().bootstrap(callback=callback)
    squares, turns = np.linalg.eigh(found.covariances)
    radius = math.sqrt(chi2.ppf(found.level, found.covariances.shape[1]))
    axes = radius * np.sqrt(np.maximum(squares, 0.0))[:, :, None] * turns.transpose(0, 2, 1)
    return {"axes": np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)}


def _leak(study: Discovery, _: Callback) -> dict[str, Any]:
    found, step = study.reading().leaks(), study.step
    shown = found[["linear", "neighbours", "linear_reference"]].rename(columns={"linear_reference": "reference"})
    rows = [{"name": str(name), **row} for name, row in shown.to_dict("index").items()]
    cure = not step.adjusted and step.leak > step.leak_reference
    return {"rows": rows, "text": " ".join(f"{name}: {text}." for name, text in found["verdict"].items()), "cure": cure}


def _rivals(study: Discovery, callback: Callback) -> dict[str, Any]:
    found = study.reading().rivals(callback=callback).reset_index()
    shown = found.rename(columns={"note": "text", "knn_leak": "neighbours"})
    return {"rows": shown[["method", "text", "stress", "leak", "neighbours"]].to_dict("records")}


READERS: dict[str, Callable[[Discovery, Callback], dict[str, Any]]] = {
    "suggest": _suggest,
    "scree": _scree,
    "chance": _chance,
    "shepard": _shepard,
    "stability": _stability,
    "ellipses": _ellipses,
    "leak": _leak,
    "rivals": _rivals,
}
