"""Repeating a study and comparing the maps."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ._actions import Action, Adoption, Step
from ._material import Material

if TYPE_CHECKING:
    import pandas as pd

    from ._study import Discovery


def replay(material: Material, actions: tuple[Action, ...], tol: float) -> pd.DataFrame:
    """Fit every step again, and return a table that compares the maps."""
    import pandas as pd

    from ._study import Discovery

    again = Discovery._of(material, (), "")
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps have theirs
        for action in actions:
            _repeat(again, action)
            if isinstance(action, Step):
                rows.append(_compared(action, again.step, tol))
    columns = ["step", "stress", "replayed", "difference", "same", "note"]
    return pd.DataFrame(rows, columns=columns).set_index("step")


def _repeat(again: Discovery, action: Action) -> None:
    if isinstance(action, Step):
        params: dict[str, Any] = {"adjust": False, **action.params}  # a study of an earlier version has no word of it
        again.fit(params.pop("n_components"), estimator=action.estimator, **params)
    elif isinstance(action, Adoption):
        (way, detail), *_ = action.source.items()
        source = {way: detail} if detail != "given" else {"values": action.values}
        again.adopt(action.name, kind=action.kind, **source)
    else:
        again.forget(action.name)


def _compared(old: Step, new: Step, tol: float) -> tuple[Any, ...]:
    before, after = old.embedding.to_numpy(), new.embedding.to_numpy()
    size = float(np.abs(before).max(initial=0.0)) or 1.0
    difference = float(np.abs(before - after).max(initial=0.0)) / size
    same = difference <= tol and abs(old.stress - new.stress) <= tol and old.finished
    note = "" if old.finished else "was interrupted"
    return old.number, old.stress, new.stress, difference, same, note
