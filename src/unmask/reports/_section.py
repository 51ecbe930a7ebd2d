"""A section of the page, and the phrases that several sections use."""

from __future__ import annotations

from dataclasses import dataclass

from ..discovery import Adoption, Forgetting, Step
from ._html import Html, count, element, join, name_of, names_of, note

METHODS = {"mds": "conditional scaling", "isomap": "conditional Isomap", "classical": "conditional classical scaling"}
# Reasons are whole sentences, sometimes several.
LONGEST_REASON = 2000


@dataclass(frozen=True)
class Section:
    """A section: where it can be linked to, its heading, and what it says."""

    identity: str
    title: str
    body: Html

    @property
    def html(self) -> Html:
        """The section as markup."""
        heading = element("h2", self.title, id=f"{self.identity}-title")
        return element("section", heading, self.body, id=self.identity, aria_labelledby=f"{self.identity}-title")


def beside(picture: Html, *words: object) -> Html:
    """Return a picture with words next to it, or below it where there is no room."""
    return element("div", picture, element("div", *words), class_="pair")


def given(step: Step) -> Html:
    """Say what a step was given."""
    return join(["given ", names_of(step.known), ", adjusted" * step.adjusted]) if step.known else Html("nothing known")


def more(total: int, shown: int, what: str) -> Html:
    """Say how many there are that a table or list does not show."""
    hidden = total - shown
    return (
        note(f"{count(hidden, f'more {what}')} {'is' if hidden == 1 else 'are'} not shown.") if hidden > 0 else Html("")
    )


def told(action: Adoption | Forgetting) -> Html:
    """Say what was adopted or put aside, where it came from, and why."""
    name = element("b", name_of(action.name))
    where = join([" (", name_of(action.origin, 200), ")"]) if isinstance(action, Adoption) else ""
    verb = "Adopted " if isinstance(action, Adoption) else "Put aside "
    return join([verb, name, where, join([": ", name_of(action.why, LONGEST_REASON)]) if action.why else "."])
