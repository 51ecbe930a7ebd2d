"""What was known after some actions of a study."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ._material import Material
from ._records import Action, Adoption, Forgetting, Step


def path_to(actions: tuple[Action, ...], end: int) -> tuple[Action, ...]:
    """Return what was done from the beginning up to an action, in order; the id of an action is its place, from 1."""
    path: list[Action] = []
    while end:
        path.append(actions[end - 1])
        end = path[-1].parent
    return tuple(reversed(path))


class Known:
    """The features that are known after some actions, in the order in which they became known.

    Attributes
    ----------
    columns, kinds : dict
        The known features, and their declared types.
    ever, ever_kinds : dict
        The features that were known at any time, the last of each name, and their declared types.
    """

    def __init__(self, material: Material, actions: Iterable[Action]) -> None:
        self.columns: dict[str, Any] = {str(name): column for name, column in material.known.items()}
        self.kinds: dict[str, Any] = dict(material.known_types)
        self.ever, self.ever_kinds = dict(self.columns), dict(self.kinds)
        for action in actions:
            if not isinstance(action, Step):
                self._change(action)

    def _change(self, action: Any) -> None:
        new = action.name if isinstance(action, Adoption) else getattr(action, "rename", None)
        if new in self.columns:
            raise ValueError(f"{new!r} was known already when it was {action.verb}")
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
