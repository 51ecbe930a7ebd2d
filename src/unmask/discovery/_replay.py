"""Repeating a study and comparing the maps."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..progress import Callback
from ._actions import Action, Adoption, Amendment, Forgetting, Step
from ._fitting import check_params

if TYPE_CHECKING:
    import pandas as pd

    from ._study import Discovery


def replay(again: Discovery, actions: tuple[Action, ...], tol: float) -> pd.DataFrame:
    """Fit every step again in a study that has just begun, and return a table that compares the maps."""
    import pandas as pd

    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps have theirs
        for action in actions:
            repeat(again, action)
            if isinstance(action, Step):
                rows.append(_compared(action, again.step, tol))
    columns = ["step", "stress", "replayed", "difference", "same", "note"]
    return pd.DataFrame(rows, columns=columns).set_index("step")


def repeat(again: Discovery, action: Action, callback: Callback | None = None) -> None:
    """Do in a study what was done in another one."""
    if isinstance(action, Step):
        # A study of an earlier version says nothing about adjusting.
        params = check_params(action.estimator, action.n_components, {"adjust": False, **action.params})
        again._fit(action.estimator, params, callback, n_free=action.n_free)
    elif isinstance(action, Adoption):
        (_, detail), *_ = action.source.items()
        source = action.source if not isinstance(detail, str) or detail != "given" else {"values": action.values}
        again.adopt(action.name, kind=action.kind, why=action.why, **source)
    elif isinstance(action, Amendment):
        cells = {label: action.values[label] for label in action.cells} or None
        again.amend(action.name, values=cells, kind=action.kind, rename=action.rename, why=action.why)
    else:
        again.forget(action.name, why=action.why)


def repeat_without(
    again: Discovery, actions: tuple[Action, ...], dropped: Action, callback: Callback | None
) -> list[Action]:
    """Do in a study what followed an action in another one, and return what was left out.

    That is the action itself and, if it made a feature known, whatever was done to that feature.
    """
    left_out = [dropped]
    lost = dropped.name if isinstance(dropped, Adoption) else None
    for action in actions[actions.index(dropped) + 1 :]:
        if lost is not None and isinstance(action, Amendment | Forgetting) and action.name == lost:
            left_out.append(action)
            lost = None if isinstance(action, Forgetting) else action.called
        else:
            repeat(again, action, callback)
    return left_out


def _compared(old: Step, new: Step, tol: float) -> tuple[Any, ...]:
    before, after = old.embedding.to_numpy(), new.embedding.to_numpy()
    size = float(np.abs(before).max(initial=0.0)) or 1.0
    difference = float(np.abs(before - after).max(initial=0.0)) / size
    same = difference <= tol and abs(old.stress - new.stress) <= tol and old.finished
    note = "" if old.finished else "was interrupted"
    return old.number, old.stress, new.stress, difference, same, note
