"""Everything that was done in a study: records that follow each other, of which the study as it is now is one path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import pandas as pd

from ..checking import require_integer
from ._material import Material
from ._records import Action, Adoption, Amendment, Forgetting, Step

Done = TypeVar("Done", bound=Action)


@dataclass
class History:
    """Records, and where in them the study is; the id of a record is its place, from 1, and 0 is the beginning.

    Records are only added. Histories that were copied from each other share them.
    """

    actions: tuple[Action, ...] = ()
    here: int = 0
    next: dict[int, int] = field(default_factory=dict)  # by the id before it, the action that was seen last

    def copy(self) -> History:
        """Return a history that goes on by itself."""
        return History(self.actions, self.here, dict(self.next))

    def path(self, end: int | None = None) -> tuple[Action, ...]:
        """Return what was done from the beginning up to an action, in order."""
        path: list[Action] = []
        at = self.here if end is None else end
        while at:
            path.append(self.actions[at - 1])
            at = path[-1].parent
        return tuple(reversed(path))

    def add(self, action: Done, parent: int) -> Done:
        """Add an action after another one, and return it with its id."""
        added = cast("Done", action.model_copy(update={"id": len(self.actions) + 1, "parent": parent}))
        self.actions = (*self.actions, added)
        return added

    def go(self, end: int) -> None:
        """Go to an action."""
        self.here = end
        self.next |= {action.parent: action.id for action in self.path()}

    def checked_id(self, given: Any) -> int:
        """Return the id of an action, or 0; raise on anything else."""
        found = require_integer("id", given, 0)
        if found > len(self.actions):
            raise ValueError(f"id={found} is not an action of this study, which has {len(self.actions)}.")
        return found

    @property
    def ahead(self) -> Action | None:
        """What was done after this place and seen last, or done last; None if nothing was."""
        children = [action.id for action in self.actions if action.parent == self.here]
        return self.actions[self.next.get(self.here, children[-1]) - 1] if children else None


class Known:
    """The features that are known after some actions, in the order in which they became known.

    Attributes
    ----------
    columns, kinds : dict
        What is known now, and its declared types.
    ever, ever_kinds : dict
        What was known at any time, the last feature of each name.
    """

    def __init__(self, material: Material, actions: Iterable[Action]) -> None:
        self.columns: dict[str, Any] = {str(name): column for name, column in material.known.items()}
        self.kinds: dict[str, Any] = dict(material.known_types)
        self.ever, self.ever_kinds = dict(self.columns), dict(self.kinds)
        for action in actions:
            if not isinstance(action, Step):
                self._take(action)

    def _take(self, action: Adoption | Amendment | Forgetting) -> None:
        taken = action.name if isinstance(action, Adoption) else getattr(action, "rename", None)
        if taken in self.columns:
            raise ValueError(f"{taken!r} was known already when it was {action.verb}")
        if not isinstance(action, Adoption) and action.name not in self.columns:
            raise ValueError(f"{action.name!r} was not known when it was {action.verb}")
        self.kinds.pop(action.name, None)
        if isinstance(action, Forgetting):
            del self.columns[action.name]
            return
        name, kind = action.called, {} if action.kind is None else {action.called: action.kind}
        renamed = {name if own == action.name else own: column for own, column in self.columns.items()}
        self.columns = renamed | {name: action.values.rename(name)}
        self.kinds |= kind
        self.ever[name] = self.columns[name]
        self.ever_kinds = {own: given for own, given in self.ever_kinds.items() if own != name} | kind


def table_of(columns: dict[str, Any], objects: pd.Index) -> pd.DataFrame:
    """Return features as a table of its own."""
    return pd.DataFrame(columns, index=objects, copy=True)


def saved_columns(actions: Iterable[Action]) -> dict[int, str]:
    """Return the name of each adoption's and correction's column in the table of adopted features, by id.

    It is the name of the feature; where an earlier action of the study has it, the id is added.
    """
    names: dict[int, str] = {}
    for action in actions:
        if isinstance(action, Adoption | Amendment):
            name = action.called
            while name in names.values():
                name = f"{name} ({action.id})"
            names[action.id] = name
    return names
