"""What a page may ask for, by name: each request is one small function in the file of its subject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._session import Session

Message = dict[str, Any]
Answer = Callable[["Session", Message], Message | None]


@dataclass(frozen=True)
class Request:
    """How a request is answered, and what else is to be known of it.

    Attributes
    ----------
    answer : callable
        Called with the session and the message.
    changes : bool
        Whether it changes the study, so that the page must know how it is now.
    slow : bool
        Whether it may take long, reading or writing files: others are answered meanwhile, so it takes the session's
        lock itself where it looks at the study, and `Session.up_to_date` where it changes it.
    """

    answer: Answer
    changes: bool
    slow: bool


class Stale(ValueError):  # noqa: N818 - what a user meets
    """The page that asks for a change does not know how the study is now."""


REQUESTS: dict[str, Request] = {}


def request(name: str, *, changes: bool = False, slow: bool = False) -> Callable[[Answer], Answer]:
    """Make a function of the session and the message the answer to a request."""

    def register(answer: Answer) -> Answer:
        REQUESTS[name] = Request(answer, changes, slow)
        return answer

    return register


def field(message: Message, name: str, kind: type | tuple[type, ...]) -> Any:
    """Return a field of a message; a ValueError if it is not there, or not what it must be."""
    value = message.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise ValueError(f"the page sent {name}={value!r} with {message.get('do')!r}; reload it and try again.")
    return value
