"""Fits that continue a checkpoint: which file, which seed, and whether it is the same fit."""

from __future__ import annotations

import re
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..problem import Problem
from ..progress import SavedFit
from ._given_start import names_checkpoint

# Options that do not matter: more starts or iterations continue the same fit.
FREE = ("init", "max_iter", "n_init", "n_jobs", "random_state", "solver", "verbose")


def open_fit(init: Any) -> SavedFit:
    """Return the fit in the file that ``init`` names, or a new one."""
    if names_checkpoint(init):
        return SavedFit.read(init)
    return SavedFit("given" if isinstance(init, tuple) else init)


def fixed_random_state(random_state: Any, saved: SavedFit) -> Any:
    """Return a random state from which a continued fit makes the same starts."""
    if random_state is not None:
        return random_state
    drawn = int(check_random_state(None).randint(np.iinfo(np.int32).max))
    return saved.about.get("random_state", drawn)


def described(saved: SavedFit, estimator: Any, problem: Problem, seed: Any) -> SavedFit:
    """Return a fit with its description; raise if it has been read from a checkpoint of another fit."""
    parameters = estimator.get_params(deep=False)
    about: dict[str, Any] = {
        "the estimator": type(estimator).__name__,
        "the number of objects": problem.n,
        "known": list(map(str, problem.known.names)),
        "random_state": int(seed) if isinstance(seed, Integral) else None,
    }
    about |= {name: _as_text(value) for name, value in parameters.items() if name not in FREE}
    if saved.about:
        saved.require_same(about, f"init={str(estimator.init)!r}")
    return replace(saved, about=about)


def _as_text(value: Any) -> str:
    """Return a parameter as text that is the same in another process."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))
