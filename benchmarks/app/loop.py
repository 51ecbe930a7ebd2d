"""A map by way of the workbench beside the bare fit, a gesture, and a fit that is watched beside one that is not.

Processor time is that of this process, which serves, and of the worker together.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from unmask import ConditionalMDS
from unmask.app import Session
from unmask.app._messages import decode, encode
from unmask.datasets import load_kinship
from unmask.discovery import Discovery

ROUNDS = 15  # of the small fits
LONG_ROUNDS = 7  # of those of a second
TICKS = 100  # of the clock that counts the worker's processor time, per second
WAIT = 600.0


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Ratio:
    """One way beside another: medians of rounds in which both ran one after the other, and the medians of both."""

    ours: Cost
    other: Cost
    wall: float
    cpu: float

    @classmethod
    def of(cls, rounds: list[tuple[Cost, Cost]]) -> Ratio:
        """Compare what was measured; the worker's processor time is counted in hundredths, so the sums are compared."""
        both = [
            Cost(median(c.wall for c in side), sum(c.cpu for c in side) / len(side))
            for side in zip(*rounds, strict=True)
        ]
        walls = median(ours.wall / other.wall for ours, other in rounds)
        return cls(both[0], both[1], walls, both[0].cpu / both[1].cpu)


class Bench:
    """A page that asks and waits, and the processor time that it takes."""

    def __init__(self, study: Discovery) -> None:
        self.session, self.events = Session(study), queue.Queue[dict[str, Any]]()
        self.session.listen(self.events.put)

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """Send a request as it goes over the wire, and return the answer."""
        sent = encode({"id": 1, "do": do, "revision": self.session.revision, **fields})
        answer = decode(encode(self.session.handle(decode(sent))))
        assert answer["ok"], answer
        return answer

    def fit(self, **fields: Any) -> int:
        """Fit a map and return how many maps came before it."""
        return self.until_done(self.ask("fit", **fields)["job"])

    def until_done(self, job: int) -> int:
        """Wait for a job, encoding what it says as it goes over the wire; return how many maps it showed."""
        maps = 0
        while True:
            event = self.events.get(timeout=WAIT)
            frame = decode(encode(event))
            maps += frame["event"] == "progress" and "points" in frame
            if frame["event"] in ("done", "failed") and frame["job"] == job:
                assert frame["event"] == "done", frame
                return maps

    def cpu(self) -> float:
        """Return the processor time of both processes so far."""
        fields = (
            Path(f"/proc/{self.session.jobs.process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
        return time.process_time() + (int(fields[11]) + int(fields[12])) / TICKS

    def cost(self, work: Callable[[], Any]) -> tuple[Cost, Any]:
        """Return what some work costs, and its result."""
        wall, cpu = time.perf_counter(), self.cpu()
        found = work()
        return Cost(time.perf_counter() - wall, self.cpu() - cpu), found


@contextmanager
def bench(study: Discovery) -> Iterator[Bench]:
    """Open a session that ends in the end."""
    opened = Bench(study)
    try:
        yield opened
    finally:
        opened.session.close()


def measure_map() -> Ratio:
    """Fit kinship by way of a warm worker, from the request to the map, and bare."""
    D = load_kinship().dissimilarities
    with bench(Discovery(D)) as page:

        def by_page() -> None:
            page.fit()
            page.ask("map", step=page.session.study.step.id)

        def bare() -> None:
            ConditionalMDS(metric="precomputed", adjust="auto", random_state=0).fit(D)

        for work in (by_page, bare) * 2:
            work()
        rounds = [(page.cost(by_page)[0], page.cost(bare)[0]) for _ in range(ROUNDS)]
    return Ratio.of(rounds)


@dataclass(frozen=True)
class Gesture:
    """What comes of an arrow: messages sent and heard until its values are there, and seconds."""

    asked: int
    heard: int
    cost: Cost


def measure_gesture() -> Gesture:
    """Draw an arrow on the map of kinship terms, given one feature, and take its values."""
    kin = load_kinship()
    with bench(Discovery(kin.dissimilarities, known=kin.known[["gender"]])) as page:
        page.fit()
        while not page.events.empty():
            page.events.get()

        def arrow() -> None:
            answer = page.ask("preview", way={"along": [[-1.0, 0.0], [1.0, 0.0]], "axes": [0, 1]})
            assert answer["values"].shape == (14,)

        costs = [page.cost(arrow)[0] for _ in range(5 * ROUNDS)]
        events = page.events.qsize() / len(costs)
    cost = Cost(median(cost.wall for cost in costs), sum(cost.cpu for cost in costs) / len(costs))
    return Gesture(1, 1 + round(events), cost)


@dataclass(frozen=True)
class Preview:
    """A fit of a second or more: how many maps it showed at least, and what it cost beside one that nobody watches."""

    maps: int
    ratio: Ratio


def fit_unwatched(_: Any, study: Discovery, options: dict[str, Any]) -> Discovery:
    """Fit the next map of a study in the worker, without a word."""
    study.fit(**options)
    return study


def measure_preview() -> Preview:
    """Fit 700 objects, watched and unwatched, in the same worker."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(700, 6)))
    options = {"n_components": 2, "estimator": "mds", "n_init": 12}
    maps: list[int] = []
    with bench(Discovery(X, metric="euclidean")) as page:

        def watched() -> None:
            shown = page.fit(n_components=2, estimator="mds", params={"n_init": 12})
            maps.append(shown)

        def unwatched() -> None:
            study = page.session.study
            take = lambda branch: {"action": study.take_over(branch, len(study.tree))}  # noqa: E731
            page.until_done(page.session.start("fit", "", take, fit_unwatched, study.branch(""), options)["job"])

        for work in (watched, unwatched):
            work()
        maps.clear()
        rounds = [(page.cost(watched)[0], page.cost(unwatched)[0]) for _ in range(LONG_ROUNDS)]
    return Preview(min(maps), Ratio.of(rounds))
