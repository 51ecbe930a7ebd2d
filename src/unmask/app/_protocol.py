"""What page and server say to each other. The page's types (web/src/protocol.ts) are made of these by `make web`.

A request of the page is ``{id, do, revision?, …}``; each has exactly one answer, ``{id, ok: true, …}`` or ``{id, ok:
false, error, stale?}``, where ``error`` is a sentence for the user. Events go to every open page of the study.

- Objects are named by their place, from 0, never by label; steps and actions by their id in the tree.
- Arrays are sent as they are in memory, row by row; what is missing in them is NaN.
- ``revision`` counts the changes of the study. A request that changes it carries the revision that the page shows; if
  that is not the current one, nothing is done, and a ``state`` event follows, by which the page catches up. The page
  that asked learns of the new state before its answer.
- What may take long is a job: its request is answered at once by ``{job}``, and then come ``progress``, and ``done`` or
  ``failed``. There is one job at a time; a fit that is cancelled ends with the best map so far.
- The map of a step is turned onto the map before it; places that the page sends are on the map as it is shown.
"""

from __future__ import annotations

from typing import Any, Literal, NewType, NotRequired, TypedDict

Floats = NewType("Floats", object)  # an array of four bytes a number
Numbers = NewType("Numbers", object)  # or of eight
Scale = Literal["category", "ordered", "number", "cycle"]
Reading = Literal["suggest", "chance", "scree", "shepard", "stability", "leak", "rivals"]


class Values(TypedDict):
    """A column as it is drawn: numbers, or codes into levels, one per object."""

    scale: Scale
    levels: NotRequired[list[str]]
    period: NotRequired[float]
    values: Numbers


class Importance(TypedDict):
    """How much a known feature counts."""

    name: str
    standardized: float | None


class Fit(TypedDict):
    """A step: numbers are null where there are none."""

    number: int
    title: str
    n_components: int
    estimator: str
    stress: float | None
    shown_stress: float | None
    known_stress: float | None
    leak: float | None
    leak_reference: float | None
    leak_in_words: str
    free_leak: float | None
    adjusted: bool
    converged: bool
    finished: bool
    seconds: float
    known: list[str]
    warnings: list[str]
    importance: list[Importance]


class Action(TypedDict):
    """Something that was done."""

    id: int
    parent: int
    kind: Literal["fit", "adopt", "amend", "forget"]
    text: str
    why: str
    name: NotRequired[str]
    fit: NotRequired[Fit]


class Known(TypedDict):
    """A feature that was ever known; its type is written as on the command line."""

    name: str
    type: str
    missing: int
    used: bool
    origin: str
    key: str


class Column(TypedDict):
    """A column that the map can be coloured by; its key is such as ``known:gender`` or ``table:degree``."""

    key: str
    name: str
    scale: Scale
    known: bool


class Job(TypedDict):
    """Something that the worker does or will do."""

    job: int
    kind: str
    text: str
    done: float | None
    step: NotRequired[int]
    what: NotRequired[str]


class Camera(TypedDict):
    """The place in the middle of the window, and pixels per unit of the map."""

    x: float
    y: float
    zoom: float


class View(TypedDict):
    """What a page remembers about a step with the server."""

    camera: Camera | None
    axes: tuple[int, int]
    selection: list[int]
    colour: str | None
    shape: str | None


class Study(TypedDict):
    """All that the page shows, except what has the size of the objects; n is 0 if no study has begun."""

    study: int
    revision: int
    title: str
    n: int
    here: int
    step: int | None
    tree: list[Action]
    known: list[Known]
    columns: list[Column]
    undo: str | None
    redo: str | None
    jobs: list[Job]
    pictures: bool
    saved: str | None
    views: dict[str, View]


class MapAnswer(TypedDict):
    """The map of a step, and each object's part of the stress."""

    step: int
    axes: list[str]
    points: Floats
    stress: Floats


class Preview(Values):
    """A feature before it is adopted, and how much of it is known already."""

    name: NotRequired[str]
    type: str
    known: float | None
    warnings: list[str]


class ContrastRow(TypedDict):
    """How a group differs from the others in a column."""

    column: str
    key: str
    strength: float | None
    p_value: float | None
    text: str


class Suggestion(TypedDict):
    """Something that the map may show."""

    kind: str
    what: str
    strength: float | None
    p_value: float | None
    note: str
    name: str
    way: NotRequired[Any]


class FoundColumn(TypedDict):
    """A column of a file: some of its values, and its use: compare, known, colour or ignore."""

    name: str
    type: str
    missing: int
    values: list[str]
    use: str


class Part(TypedDict):
    """A file that was dropped; raters are columns of a list of pairs that may name who judged."""

    file: str
    name: str
    role: str
    rows: int
    columns: list[FoundColumn]
    objects: list[str]
    detected: str
    raters: list[str]


class Problem(TypedDict):
    """What is wrong with a file, perhaps at a row and a column, from 1."""

    file: str | None
    row: int | None
    column: int | None
    text: str


class Choices(TypedDict):
    """What may be chosen of what was found."""

    metrics: list[str]
    types: list[str]
    labels: list[str]


class Detected(TypedDict):
    """What was found in the files that were dropped."""

    title: str
    parts: list[Part]
    problems: list[Problem]
    choices: Choices


class Suggested(TypedDict):
    """Reading ``suggest``."""

    rows: list[Suggestion]


class Chance(TypedDict):
    """Reading ``chance``: the stress of a map of random data."""

    stress: float | None


class Scree(TypedDict):
    """Reading ``scree``: the stress of 0, 1, 2 … dimensions."""

    stress: list[float | None]
    elbow: int


class Shepard(TypedDict):
    """Reading ``shepard``: some of the pairs, and how many there are."""

    dissimilarity: Floats
    distance: Floats
    pairs: int
    correlation: float | None


class Interval(TypedDict):
    """Between which numbers the importance of a feature lies."""

    name: str
    low: float
    high: float


class Stable(TypedDict):
    """Reading ``stability``."""

    importance: list[Interval]
    resamples: int
    level: float


class LeakRow(TypedDict):
    """How far the map repeats a known feature."""

    name: str
    linear: float | None
    neighbours: float | None
    reference: float | None


class Leak(TypedDict):
    """Reading ``leak``; cure: whether adjusting would mend it."""

    rows: list[LeakRow]
    text: str
    cure: bool


class RivalRow(TypedDict):
    """Another method."""

    method: str
    text: str
    stress: float | None
    leak: float | None
    neighbours: float | None


class Rivals(TypedDict):
    """Reading ``rivals``."""

    rows: list[RivalRow]


class Readings(TypedDict):
    """What ``read`` answers, by what was asked for."""

    suggest: Suggested
    chance: Chance
    scree: Scree
    shepard: Shepard
    stability: Stable
    leak: Leak
    rivals: Rivals
