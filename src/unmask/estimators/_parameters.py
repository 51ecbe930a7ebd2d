"""Checks of parameters, combinations that are refused, and starts and checkpoints that are given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array
from ..checking import (
    align_rows,
    is_pandas,
    require_choice,
    require_coef,
    require_flag,
    require_integer,
    require_jobs,
    require_number,
    shown,
)
from ..problem import LEVELS, SCHEMES, TIES, KnownFeatures, Problem, Structure
from ..progress import SavedFit
from ._reading import Solver

if TYPE_CHECKING:
    import pandas as pd

INITS = ("auto", "closed-form", "random")
# Parameters that do not matter to a checkpoint: more starts or iterations continue the same fit.
FREE = ("init", "max_iter", "n_init", "n_jobs", "random_state", "solver", "verbose")


def names_checkpoint(init: Any) -> bool:
    """Return whether ``init`` is the name of a file."""
    return isinstance(init, str | PathLike) and init not in INITS


CHECKS: dict[str, Callable[[Any], object]] = {
    "coef": require_coef,
    "n_jobs": require_jobs,
    "n_components": partial(require_integer, "n_components", least=0),
    "orthogonal": partial(require_flag, "orthogonal"),
    "verbose": partial(require_integer, "verbose", least=0),
    "max_iter": partial(require_integer, "max_iter", least=1),
    "tol": partial(require_number, "tol", least=0.0),
    "level": partial(require_choice, "level", choices=LEVELS),
    "ties": partial(require_choice, "ties", choices=TIES),
    "solver": partial(require_choice, "solver", choices=("auto", *map(str, Solver))),
}


# Combinations that are refused: a condition on parameters that are possible each by itself, and the way out.
REFUSED: tuple[tuple[Callable[[dict[str, Any]], bool], str], ...] = (
    (
        lambda p: not isinstance(p["adjust"], str) and bool(p["adjust"]) and p.get("orthogonal", False),
        "adjust=True with orthogonal=True: both keep the map uncorrelated with the known features, adjust without cost "
        "of fit; set orthogonal=False.",
    ),
    (
        lambda p: (
            (isinstance(p.get("init"), tuple) or p.get("init") == "closed-form") and p["n_init"] not in ("auto", 1)
        ),
        "n_init={n_init!r} asks for several starts but init gives a single one; use init='auto' or n_init=1.",
    ),
)


def check_parameters(estimator: Any) -> int:
    """Raise if a parameter, or a combination of some, is not possible; return the number of dimensions."""
    given = estimator.get_params(deep=False)
    for name, value in given.items():
        if name in CHECKS:
            CHECKS[name](value)
    adjust, init, n_init = given["adjust"], given.get("init", "auto"), given.get("n_init", "auto")
    if not isinstance(adjust, bool | np.bool_) and not (isinstance(adjust, str) and adjust == "auto"):
        raise ValueError(f"adjust={adjust!r} is not one of False, True, 'auto'.")
    if isinstance(n_init, str):
        require_choice("n_init", n_init, ("auto",))
    else:
        require_integer("n_init", n_init, 1)
    if hasattr(given.get("weights"), "shape"):
        raise ValueError("weights is an array, which is data: pass it to fit(X, weights=…).")
    require_choice("weights", given.get("weights"), tuple(SCHEMES))
    is_file = names_checkpoint(init) and Path(init).is_file()
    if not is_file and not isinstance(init, tuple) and not (isinstance(init, str) and init in INITS):
        raise ValueError(
            f"init={shown(init)} is not one of {', '.join(map(repr, INITS))}, nor a file of unmask.Checkpoint, nor a "
            "tuple (map, coefficients): arrays like embedding_ and like coef_ (or None)."
        )
    for refused, sentence in REFUSED:
        if refused(given):
            raise ValueError(sentence.format(**given))
    return int(given["n_components"])


# ---- a start that is given


def check_start(
    init: tuple[Any, ...], structure: Structure, known: KnownFeatures, labels: pd.Index | None
) -> tuple[Array, Array]:
    """Return the map and the coefficients to start from, in the order of the objects and the known features."""
    if len(init) != 2:
        raise ValueError(f"init has {len(init)} parts; pass a tuple (U0, B0), B0=None without known features.")
    q, shape = len(known.names), (structure.n, structure.p)
    U0 = np.asarray(align_rows(init[0], labels, "init"), dtype=np.float64)
    B0 = _coefficients_in_order(init[1], list(known.names))
    if U0.shape != shape or B0.shape != (q, q):
        raise ValueError(
            f"init has shapes {U0.shape} and {B0.shape} but must have {shape} for U0 and ({q}, {q}) for B0."
        )
    if not (np.isfinite(U0).all() and np.isfinite(B0).all()):
        raise ValueError("init holds NaN or infinite values; every coordinate and coefficient must be finite.")
    between, stuck = B0 != 0, bool(np.any(np.ptp(U0, axis=0) == 0))
    for group, kind in zip(known.groups, known.block_types, strict=True):
        columns = np.array(known.kept)[list(group)]
        moves = between[columns].any(axis=1)
        # Where columns are steps or a basis of one function, or share one coefficient, one of them is enough.
        stuck |= not (moves.all() if kind.free else moves.any())
        between[np.ix_(columns, columns)] = False
    kept = np.ix_(known.kept, known.kept)
    if between[kept].any():
        raise ValueError("init has coefficients B0 between known features that do not share a block; set them to 0.")
    if stuck:
        raise ValueError(
            "init has a constant column of U0 or a row of zeros in B0; from there no descent ever leaves. "
            "Give them small values."
        )
    return U0, B0


def _coefficients_in_order(B0: Any, names: list[str]) -> Array:
    """Return coefficients as a square array in the order of the known features' names."""
    if B0 is None:
        return np.eye(len(names))
    if is_pandas(B0) and B0.ndim == 2:
        named = B0.rename(index=str, columns=str)
        if sorted(named.index) == sorted(named.columns) == sorted(names):
            B0 = named.loc[names, names]
    B0 = np.asarray(B0, dtype=np.float64)
    return np.diag(B0) if B0.ndim == 1 else B0


# ---- a checkpoint that is continued


def open_fit(init: Any, random_state: Any) -> tuple[SavedFit, Any]:
    """Return the fit in the file that ``init`` names, or a new one; and the random state that makes its starts."""
    saved = SavedFit.read(init) if names_checkpoint(init) else SavedFit("given" if isinstance(init, tuple) else init)
    if random_state is None:
        drawn = int(check_random_state(None).randint(np.iinfo(np.int32).max))
        random_state = saved.about.get("random_state", drawn)
    return saved, random_state


def described(saved: SavedFit, estimator: Any, problem: Problem, random_state: Any) -> SavedFit:
    """Return a fit with its description; raise if it has been read from a checkpoint of another fit."""
    about: dict[str, Any] = {
        "the estimator": type(estimator).__name__,
        "the number of objects": problem.n,
        "known": list(map(str, problem.known.names)),
        "random_state": int(random_state) if isinstance(random_state, Integral) else None,
    }
    for name, value in estimator.get_params(deep=False).items():
        if name not in FREE:
            about[name] = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))  # the same in another process
    if saved.about:
        saved.require_same(about, f"init={str(estimator.init)!r}")
    return replace(saved, about=about)
