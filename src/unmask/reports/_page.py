"""The parts of a report as data; `templates/report.html` says how each looks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# A text, or a part below.
Part = Any


@dataclass(frozen=True)
class Note:
    """A paragraph that is set apart."""

    kind: ClassVar[str] = "note"
    text: object


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    lines: Sequence[tuple[str, object]]


@dataclass(frozen=True)
class Table:
    """A table: cells by heading. The first column names the rows; `numbers` are the headings of numbers."""

    kind: ClassVar[str] = "table"
    identity: str
    caption: str
    columns: Mapping[str, Sequence[object]]
    numbers: Collection[str] = ()
    hidden: str = ""

    @property
    def rows(self) -> list[tuple[object, ...]]:
        return list(zip(*self.columns.values(), strict=True))


@dataclass(frozen=True)
class Figure:
    """A picture as data URL, a second one for narrow screens, and the element of a map to explore if there is one."""

    kind: ClassVar[str] = "figure"
    pictures: Sequence[str]
    alt: str
    caption: object
    live: str | None = None


@dataclass(frozen=True)
class Beside:
    """A picture with other parts next to it, or below it where there is no room."""

    kind: ClassVar[str] = "beside"
    picture: Part
    others: Sequence[Part]


@dataclass(frozen=True)
class Cards:
    """Lists of parts in as many columns as there is room for."""

    kind: ClassVar[str] = "cards"
    each: Sequence[Sequence[Part]]


@dataclass(frozen=True)
class Folded:
    """Parts that are shown when their title is opened."""

    kind: ClassVar[str] = "folded"
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Items:
    """A list, numbered from `start` if that is given."""

    kind: ClassVar[str] = "items"
    lines: Sequence[object]
    look: str = ""
    start: int | None = None


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: object


@dataclass(frozen=True)
class Code:
    """Lines of a program."""

    kind: ClassVar[str] = "code"
    label: str
    text: str


@dataclass(frozen=True)
class Section:
    """A section of the page, with its identity for links."""

    identity: str
    title: str
    parts: Sequence[Part]


def render(**page: Any) -> str:
    """Return the page; every text that is not `Markup` is escaped."""
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, _, _ = environment.loader.get_source(environment, "report.css")  # type: ignore[union-attr]
    return environment.get_template("report.html").render(own_style=Markup(style), **page).strip() + "\n"
