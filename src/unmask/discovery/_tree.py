"""Everything that was done in a study: a tree of actions, of which the study as it is now is one path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ._actions import Action, Adoption, Amendment, Forgetting, Step
from ._material import Material

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Tree:
    """Actions that follow each other; the id of each is its place, from 1, and 0 is the beginning.

    Nothing is ever taken out: a tree to which an action is added is a new one, and both share all records.
    """

    actions: tuple[Action, ...] = ()

    def add(self, action: Action, parent: int) -> Tree:
        """Return the tree with one action more."""
        return Tree((*self.actions, replace(action, id=len(self.actions) + 1, parent=parent)))

    def path(self, end: int) -> tuple[Action, ...]:
        """Return what was done from the beginning up to an action, in order."""
        path = []
        while end:
            path.append(self.actions[end - 1])
            end = path[-1].parent
        return tuple(reversed(path))

    def children(self, parent: int) -> list[int]:
        """Return the ids of what was done next after an action, the first first."""
        return [action.id for action in self.actions if action.parent == parent]


@dataclass
class Known:
    """What is known after some actions: features with their declared types, in the order in which they became known.

    ``ever`` holds what was known at any time, also what was put aside: the last feature of each name. ``ever_kinds``
    are the declared types of these.
    """

    columns: dict[str, pd.Series[Any]]
    kinds: dict[str, Any]
    ever: dict[str, pd.Series[Any]] = field(default_factory=dict)
    ever_kinds: dict[str, Any] = field(default_factory=dict)

    def take(self, action: Action) -> None:
        """Go on by one action."""
        if isinstance(action, Step):
            return
        if isinstance(action, Forgetting):
            del self.columns[action.name]
            self.kinds.pop(action.name, None)
            return
        name = action.called
        renamed = {name if own == action.name else own: column for own, column in self.columns.items()}
        self.columns = renamed | {name: action.values.rename(name)}
        self.kinds.pop(action.name, None)
        self.kinds |= {} if action.kind is None else {name: action.kind}
        self.ever[name] = self.columns[name]
        self.ever_kinds.pop(name, None)
        self.ever_kinds |= {} if action.kind is None else {name: action.kind}

    def table(self, objects: pd.Index) -> pd.DataFrame:
        """Return the features as a table of its own."""
        import pandas as pd

        return pd.DataFrame(self.columns, index=objects, copy=True)


def known_after(material: Material, actions: Iterable[Action]) -> Known:
    """Return what is known after some actions."""
    columns = {str(name): column for name, column in material.known.items()}
    kinds = material.known_types
    known = Known(columns, dict(kinds), dict(columns), dict(kinds))
    for action in actions:
        known.take(action)
    return known


def adopted_columns(actions: Iterable[Action]) -> dict[int, str]:
    """Return under which name the values of each adoption and correction are in the table of adopted features.

    That of the feature; where an earlier action of the tree has it, the id is added.
    """
    names: dict[int, str] = {}
    for action in actions:
        if isinstance(action, Adoption | Amendment):
            name = action.called
            while name in names.values():
                name = f"{name} ({action.id})"
            names[action.id] = name
    return names
