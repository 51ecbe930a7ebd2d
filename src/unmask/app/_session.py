"""One study under discussion: messages of pages in, answers and events out. Knows no transport and no mathematics."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..discovery import Discovery
from . import _beginning, _looking, _loop, _reading, _recognising, _taking  # noqa: F401 - each registers its requests
from ._describe import describe_columns, describe_known, describe_tree, text_of
from ._files import Files
from ._jobs import Jobs, News
from ._requests import REQUESTS, Message, Request, Stale

PROTOCOL = 1

# Seconds after a change until the study is saved, so that a run of changes is saved once.
SAVE_AFTER = 0.5

Hear = Callable[[Message], None]
Then = Callable[[Any], Message]


@dataclass
class Task:
    """A job as the page knows it, and what is to be done with what it finds."""

    job: int
    kind: str
    text: str
    then: Then
    about: Message  # which step is read, and for what
    done: float | None = None
    cancelled: bool = False

    @property
    def told(self) -> Message:
        """What the page is told of it."""
        return {"job": self.job, "kind": self.kind, "text": self.text, "done": self.done, **self.about}


class Session:
    """A study, the pages that look at it, and the worker that fits its maps.

    Parameters
    ----------
    study : Discovery, optional
        What to begin with; without it the page asks for data.
    path : path, optional
        Where the study is saved after every change.
    by_http : bool, default=True
        Whether files are fetched by their address; otherwise they are sent in messages.
    """

    def __init__(self, study: Discovery | None = None, *, path: Path | None = None, by_http: bool = True) -> None:
        self.files = Files()
        self.by_http = by_http
        self.views: dict[str, Any] = {}
        self.readings: dict[tuple[int, str], Message] = {}
        self.turns: dict[int, np.ndarray[Any, Any]] = {}  # how the map of each step is turned onto the one before it
        self.pictures: dict[Any, bytes] | None = None  # as they are shown, by label; None: not drawn yet
        self.example_maps: Message | None = None
        self.revision = 0
        self._number = 0  # of the study
        self._study: Discovery | None = None
        self._path = path
        self.lock = threading.RLock()
        self._aside = ThreadPoolExecutor(4, "unmask-aside")  # for slow requests
        self._hearing: list[Hear] = []
        self._tasks: dict[int, Task] = {}
        self._saving: threading.Timer | None = None
        self._unsaved: tuple[Discovery, Path] | None = None
        self.failure: str | None = None  # why the last save failed
        self._writing = threading.Lock()  # taken before the other lock, never while holding it
        self.jobs = Jobs(self._hear_news)
        if study is not None:
            self.begin(study)

    # ---- pages

    def listen(self, hear: Hear) -> None:
        """Let a page hear what happens."""
        with self.lock:
            self._hearing.append(hear)

    def leave(self, hear: Hear) -> None:
        """Let a page go."""
        with self.lock:
            self._hearing.remove(hear)

    def receive(self, message: Message, hear: Hear) -> None:
        """Have a page hear the answer to what it asks for: at once, or, of a slow request, later, as others go on."""
        name = message.get("do")
        if isinstance(name, str) and name in REQUESTS and REQUESTS[name].slow:
            self._aside.submit(lambda: hear(self.handle(message)))
        else:
            hear(self.handle(message))

    def handle(self, message: Message) -> Message:
        """Do what a page asks for and return the answer; every page hears of changes before."""
        name, number = message.get("do"), message.get("id")
        known = REQUESTS.get(name) if isinstance(name, str) else None
        if known is None:
            return {"id": number, "ok": False, "error": f"the page asked for {name!r}, which is unknown; reload it."}
        try:
            answer = self._answer(known, message)
        except Stale as problem:
            return {"id": number, "ok": False, "stale": True, "error": str(problem)}
        except ValueError as problem:  # a sentence for people
            return {"id": number, "ok": False, "error": str(problem)}
        except Exception as problem:  # a mistake of ours, or a page that sends nonsense: the study goes on
            traceback.print_exc()
            return {"id": number, "ok": False, "error": f"this went wrong: {type(problem).__name__}: {problem}"}
        return {"id": number, "ok": True, **(answer or {})}

    def _answer(self, known: Request, message: Message) -> Message | None:
        with self.up_to_date(message) if known.changes else self.lock:
            if not known.slow:
                return known.answer(self, message)
        return known.answer(self, message)

    @contextmanager
    def up_to_date(self, message: Message) -> Iterator[None]:
        """Hold the study as the page that sent a message knows it; if it is not so any more, the page catches up."""
        with self.lock:
            if message.get("revision") != self.revision:
                self.tell(self.state())
                raise Stale("the study has changed meanwhile; look again, and repeat this if you still want it.")
            yield

    def tell(self, event: Message) -> None:
        """Let all pages hear something."""
        with self.lock:
            for hear in tuple(self._hearing):
                try:
                    hear(event)
                except Exception:  # a page that has just gone; the others are to hear it
                    traceback.print_exc()

    # ---- the study

    @property
    def study(self) -> Discovery:
        """The study; an error where none has begun."""
        if self._study is None:
            raise ValueError("no study has begun; drop a file, or choose an example.")
        return self._study

    def begin(self, study: Discovery) -> None:
        """Go on with another study, which is not saved in the place of the one before."""
        self._described(study)  # a study that cannot be shown is refused, and the one before stays
        self.jobs.use(study.material)
        for number in tuple(self._tasks):
            self.jobs.cancel(number)
        self._tasks.clear()  # what they find is of the study before
        if self._study is not None:
            self._path = None
        self._study, self.views, self.readings, self.turns, self.pictures = study, {}, {}, {}, None
        self._number += 1
        self.changed()

    @property
    def saved_in(self) -> Path | None:
        """Where the study is saved; None if it is not."""
        return None if self.failure is not None else self._path

    def changed(self) -> None:
        """Say that the study is not what it was, and save it soon."""
        self.revision += 1
        self.tell(self.state())
        if self._path is not None and self._study is not None:
            self._unsaved = self._study, self._path
        if self._unsaved is not None and self._saving is None:
            self._saving = threading.Timer(SAVE_AFTER, self.save)
            self._saving.daemon = True
            self._saving.start()

    def save(self) -> None:
        """Save what is unsaved where it belongs, while pages go on; a problem is told to them, and it stays unsaved."""
        with self._writing:
            with self.lock:
                unsaved, self._saving = self._unsaved, None
                if unsaved is None:
                    return
                study, path = unsaved
                now = study.branch(study.title)
            failure = None
            try:
                now.save(path)
            except (OSError, ValueError) as problem:
                failure = f"The study could not be saved: {problem}"
            with self.lock:
                failed_before, self.failure = self.failure, failure
                if failure is not None:
                    self.tell({"event": "notice", "level": "warning", "text": failure})
                else:
                    study.revisions = now.revisions
                    if self._unsaved is unsaved:  # no change since
                        self._unsaved = None
                if failure != failed_before:
                    self.tell(self.state())

    def state(self) -> Message:
        """Return the event that tells a page everything but what has the size of the objects."""
        state: Message = {
            "revision": self.revision,
            "title": "",
            "n": 0,
            "here": 0,
            "step": None,
            "tree": [],
            "known": [],
        }
        state |= {"columns": [], "undo": None, "redo": None, "pictures": False, "saved": None, "views": self.views}
        state |= {"study": self._number, "jobs": [task.told for task in self._tasks.values()]}
        if self._study is not None:
            state |= self._described(self._study)
        return {"event": "state", "state": state}

    def _described(self, study: Discovery) -> Message:
        return {
            "title": study.title,
            "n": len(study.material.objects),
            "here": study.here,
            "step": study.step.id if study.steps else None,
            "tree": describe_tree(study),
            "known": describe_known(study),
            "columns": describe_columns(study),
            "undo": text_of(study.actions[-1]) if study.actions else None,
            "redo": None if study.ahead is None else text_of(study.ahead),
            "pictures": bool(study.material.pictures),
            "saved": None if self.saved_in is None else self.saved_in.name,
        }

    # ---- long work

    def start(
        self, kind: str, text: str, then: Then, work: Any, *arguments: Any, urgent: bool = True, **about: Any
    ) -> Message:
        """Begin a job; ``then`` gets what it finds and returns what the pages hear of it."""
        number = self.jobs.start(work, *arguments, urgent=urgent)
        self._tasks[number] = Task(number, kind, text, then, about)
        self.tell(self.state())
        return {"job": number}

    def task(self, kind: str, **about: Any) -> int | None:
        """Return the job that is under way for something, if there is one that nobody has ended."""
        same = (task for task in self._tasks.values() if (task.kind, task.about) == (kind, about))
        return next((task.job for task in same if not task.cancelled), None)

    def cancel(self, number: int) -> None:
        """End a job; a fit ends with the best map so far."""
        if number in self._tasks:
            self._tasks[number].cancelled = True
        self.jobs.cancel(number)

    def cancel_fits(self) -> None:
        """End all fits that are under way."""
        for task in [task for task in self._tasks.values() if task.kind in ("fit", "without")]:
            self.cancel(task.job)

    def _hear_news(self, news: News) -> None:
        with self.lock:
            task = self._tasks.get(news.number)
            if task is None:
                return
            told = {"job": task.job, "kind": task.kind}
            if news.kind == "progress":
                self._tell_progress(task, news.content)
                return
            del self._tasks[news.number]
            if news.kind == "done":
                try:
                    self.tell({"event": "done", **told, "text": task.text, **task.then(news.content)})
                    return
                except (ValueError, OSError) as problem:
                    news = News(news.number, "failed", str(problem))
                except Exception as problem:  # a mistake of ours: the page is to know that nothing comes of it
                    traceback.print_exc()
                    news = News(news.number, "failed", f"this went wrong: {type(problem).__name__}: {problem}")
            error = news.content or "stopped before it began"
            self.tell({"event": "failed", **told, "error": error, "cancelled": task.cancelled})
            self.tell(self.state())

    def _tell_progress(self, task: Task, seen: dict[str, Any]) -> None:
        task.done = seen.get("done")
        event = {"event": "progress", "job": task.job, "done": task.done, "text": seen.get("text", task.text)}
        if "points" in seen:
            event |= {"stress": seen.get("stress"), "points": self._turned(seen["points"])}
        self.tell(event)

    def _turned(self, points: Any) -> Any:
        """Return the points of a map that is being fitted, turned onto the map that is shown."""
        steps = self.study.steps
        if not steps or points.shape != steps[-1].embedding.shape:
            return points
        shown = steps[-1].embedding.to_numpy() @ _looking.turn_of(self, steps[-1])
        return (points @ _looking.turn_onto(points, shown)).astype(np.float32)

    def close(self) -> None:
        """Save what is unsaved, and end the worker; what cannot be saved is said in the terminal."""
        if self._saving is not None:
            self._saving.cancel()
        self.save()  # also waits for a save that is under way
        if self.failure is not None:
            print(self.failure, file=sys.stderr)
        self.jobs.close()
        self._aside.shutdown(cancel_futures=True)
        self.files.close()
