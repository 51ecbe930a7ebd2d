"""A section of the page, and the phrases that several sections use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from ..discovery import Change, Step
from ._html import Html, count, element, join, name_of, names_of, note
from ._subject import Subject

METHODS = {"mds": "conditional scaling", "isomap": "conditional Isomap", "classical": "conditional classical scaling"}
# Reasons are whole sentences, sometimes several.
LONGEST_REASON = 2000


@dataclass(frozen=True)
class Section:
    """A section of the page: its identity, for links to it, its heading, and its content."""

    identity: str
    title: str
    body: Html

    @property
    def html(self) -> Html:
        """The section as markup."""
        heading = element("h2", self.title, id=f"{self.identity}-title")
        return element("section", heading, self.body, id=self.identity, aria_labelledby=f"{self.identity}-title")


def section(identity: str, title: str) -> Callable[[Callable[[Subject], Html]], Callable[[Subject], Section]]:
    """Turn a function that returns the body of a section into one that returns the section, whatever goes wrong."""

    def decorate(body: Callable[[Subject], Html]) -> Callable[[Subject], Section]:
        @wraps(body)
        def build(subject: Subject) -> Section:
            return Section(identity, title, subject.attempt(lambda: body(subject)))

        return build

    return decorate


def beside(picture: Html, *words: object) -> Html:
    """Return a picture with words next to it, or below it where there is no room."""
    return element("div", picture, element("div", *words), class_="pair")


def given(step: Step) -> Html:
    """Return which known features a step was given, in words."""
    return join(["given ", names_of(step.known), ", adjusted" * step.adjusted]) if step.known else Html("nothing known")


def more(total: int, shown: int, what: str) -> Html:
    """Return a note about how many rows or items are not shown."""
    hidden = total - shown
    verb = "is" if hidden == 1 else "are"
    return note(f"{count(hidden, f'more {what}')} {verb} not shown.") if hidden > 0 else Html("")


def told(action: Change) -> Html:
    """Return in words which feature was adopted, corrected or put aside, where it came from, and why."""
    name = element("b", name_of(action.name))
    where = join([" (", name_of(action.origin, 200), ")"]) if action.origin else ""
    why = join([": ", name_of(action.why, LONGEST_REASON)]) if action.why else "."
    return join([f"{action.verb.capitalize()} ", name, where, why])
