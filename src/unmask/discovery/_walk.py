"""A study as a path through a tree of actions, and moving about in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ..checking import require_integer
from ._actions import Action, Step
from ._material import Material
from ._tree import Known, Tree, known_after

if TYPE_CHECKING:
    import pandas as pd

    from ._save import Saved


class Walk:
    """What was done in a study and what is known by it; going back, on and aside.

    The material is never changed, and neither is an action: studies that were made of each other share them.
    """

    title: str
    _material: Material
    _tree: Tree
    _here: int
    _next: dict[int, int]  # by the action before it, the action that was on the path last
    _saved: Saved | None  # what of it is in which file

    @classmethod
    def _of(
        cls, material: Material, title: str, tree: Tree | None = None, here: int = 0, saved: Saved | None = None
    ) -> Self:
        """Return a study of material that has been checked."""
        study = cls.__new__(cls)
        study._begin(material, title, tree or Tree(), here, saved)
        return study

    def _begin(self, material: Material, title: str, tree: Tree, here: int, saved: Saved | None = None) -> None:
        self.title, self._material, self._tree, self._next, self._saved = title, material, tree, {}, saved
        self._move(here)

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process gets: which files there are is the matter of the one that writes them."""
        return {**self.__dict__, "_saved": None}

    def _move(self, here: int) -> None:
        self._here = here
        self._next |= {action.parent: action.id for action in self._tree.path(here)}

    def _add(self, action: Action) -> Any:
        """Do something: the action follows what was done last."""
        self._tree = self._tree.add(action, self._here)
        self._move(len(self._tree.actions))
        return self._tree.actions[-1]

    # ---- what was done

    @property
    def tree(self) -> tuple[Action, ...]:
        """Everything that was ever done, also what was taken back: each action with its `id` and its `parent`."""
        return self._tree.actions

    @property
    def here(self) -> int:
        """The id of the last action, after which the next will follow; 0 at the beginning."""
        return self._here

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done on the way to here, in order."""
        return self._tree.path(self._here)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The fits among the actions, in order."""
        return tuple(action for action in self.actions if isinstance(action, Step))

    @property
    def step(self) -> Step:
        """The last fit."""
        if not self.steps:
            raise ValueError("nothing has been fitted in this study; call fit first.")
        return self.steps[-1]

    # ---- what is known by it

    @property
    def known(self) -> pd.DataFrame:
        """What is known now, one row per object; a copy."""
        return self._known_at(self._here).table(self._material.objects)

    @property
    def known_types(self) -> dict[str, Any]:
        """The declared types of what is known now."""
        return self._known_at(self._here).kinds

    @property
    def features(self) -> pd.DataFrame:
        """Every feature that was ever known on the way to here, also those put aside; a copy.

        Where two had the same name, the later one.
        """
        import pandas as pd

        return pd.DataFrame(self._known_at(self._here).ever, index=self._material.objects, copy=True)

    @property
    def feature_types(self) -> dict[str, Any]:
        """The declared types of :attr:`features`, also of those put aside."""
        return self._known_at(self._here).ever_kinds

    def known_of(self, step: Step) -> pd.DataFrame | None:
        """Return the known features that a step was given; None if there were none."""
        return self._known_at(step.parent).table(self._material.objects) if step.known else None

    def _known_at(self, place: int) -> Known:
        return known_after(self._material, self._tree.path(place))

    # ---- moving about

    def go(self, id: int) -> str:  # noqa: A002
        """Go to an action, as if it had just been done, and say which it is; nothing is lost.

        Parameters
        ----------
        id : int
            Its id, as in :attr:`tree`; 0 is the beginning.

        Returns
        -------
        str
        """
        self._move(self._checked_id(id))
        return f"now after: {self.actions[-1].text}" if self._here else "now at the beginning"

    def _checked_id(self, given: Any) -> int:
        found = require_integer("id", given, 0)
        if found > len(self._tree.actions):
            raise ValueError(f"id={found} is no action of this study, which has {len(self._tree.actions)}.")
        return found

    def undo(self) -> str:
        """Take the last action back, and say which it was. It stays in the tree: :meth:`redo` does it again."""
        if not self._here:
            raise ValueError("there is nothing to undo; this is the beginning of the study.")
        last = self.actions[-1]
        self._move(last.parent)
        return f"undone: {last.text}"

    @property
    def ahead(self) -> Action | None:
        """What :meth:`redo` would do again: of several actions the one that was done or seen last; None if nothing."""
        children = self._tree.children(self._here)
        return self._tree.actions[self._next.get(self._here, children[-1]) - 1] if children else None

    def redo(self) -> str:
        """Do again what was taken back, and say what it is."""
        if self.ahead is None:
            raise ValueError("there is nothing to redo; this is the last action on this branch.")
        self._move(self.ahead.id)
        return f"redone: {self.actions[-1].text}"

    def branch(self, name: str | None = None) -> Self:
        """Return a study that begins as this one is now; what is done in it is not done in this one.

        Both share the material and what was done so far, none of which ever changes.

        Parameters
        ----------
        name : str, optional
            Title of the new study; by default that of this one and "(branch)".

        Returns
        -------
        Discovery
        """
        title = f"{self.title} (branch)".strip() if name is None else str(name)
        return self._of(self._material, title, self._tree, self._here, self._saved)

    def take_over(self, branch: Self, since: int) -> int:
        """Add to the tree what was done in a branch of this study, without going there.

        Parameters
        ----------
        branch : Discovery
            A branch, which may have been worked on by another process.
        since : int
            Number of actions in the tree when the branch was made.

        Returns
        -------
        int
            The id that the last action of the branch has here.
        """
        moved = len(self._tree.actions) - since

        def here(id: int) -> int:  # noqa: A002
            return id + moved if id > since else id

        for action in branch.tree[since:]:
            self._tree = self._tree.add(action, here(action.parent))
        return here(branch.here)
