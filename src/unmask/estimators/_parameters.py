"""Checks of parameters, combinations that are refused, and starts and checkpoints that are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
from ._many import Solver

if TYPE_CHECKING:
    import pandas as pd

Parameters = Mapping[str, Any]
INITS = ("auto", "closed-form", "random")
# Parameters that do not matter to a checkpoint: more starts or iterations continue the same fit.
FREE = ("init", "max_iter", "n_init", "n_jobs", "random_state", "solver", "verbose")


# ---- each parameter by itself


def _require_adjust(adjust: Any) -> None:
    if not isinstance(adjust, bool | np.bool_) and not (isinstance(adjust, str) and adjust == "auto"):
        raise ValueError(f"adjust={adjust!r} is not one of False, True, 'auto'.")


def _require_or_auto(name: str, value: Any, require: Callable[..., object], least: float) -> None:
    if isinstance(value, str):
        require_choice(name, value, ("auto",))
    else:
        require(name, value, least)


def _require_weights(weights: Any) -> None:
    if hasattr(weights, "shape"):
        raise ValueError("weights is an array, which is data: pass it to fit(X, weights=…).")
    require_choice("weights", weights, tuple(SCHEMES))


def names_checkpoint(init: Any) -> bool:
    """Return whether ``init`` is the name of a file."""
    return isinstance(init, str | PathLike) and init not in INITS


def _require_init(init: Any) -> None:
    is_word = isinstance(init, str) and init in INITS
    if is_word or isinstance(init, tuple) or (names_checkpoint(init) and Path(init).is_file()):
        return
    listed = ", ".join(map(repr, INITS))
    raise ValueError(
        f"init={shown(init)} is not one of {listed}, nor a file of unmask.Checkpoint, nor a tuple (map, coefficients): "
        "arrays like embedding_ and like coef_ (or None)."
    )


CHECKS: dict[str, Callable[[Any], object]] = {
    "coef": require_coef,
    "n_jobs": require_jobs,
    "n_components": partial(require_integer, "n_components", least=0),
    "adjust": _require_adjust,
    "orthogonal": partial(require_flag, "orthogonal"),
    "verbose": partial(require_integer, "verbose", least=0),
    "max_iter": partial(require_integer, "max_iter", least=1),
    "tol": partial(require_number, "tol", least=0.0),
    "init": _require_init,
    "n_init": partial(_require_or_auto, "n_init", require=require_integer, least=1),
    "weights": _require_weights,
    "level": partial(require_choice, "level", choices=LEVELS),
    "ties": partial(require_choice, "ties", choices=TIES),
    "solver": partial(require_choice, "solver", choices=("auto", *(solver.value for solver in Solver))),
}


# ---- combinations


def _one_start(parameters: Parameters) -> bool:
    init = parameters.get("init", "auto")
    single = isinstance(init, tuple) or (isinstance(init, str) and init == "closed-form")
    return single and parameters["n_init"] not in ("auto", 1)


# A condition, and the sentence with the way out. Conditions may rely on parameters that have passed their checks.
REFUSED: tuple[tuple[Callable[[Parameters], bool], str], ...] = (
    (
        lambda p: bool(p["adjust"]) and p["adjust"] != "auto" and bool(p.get("orthogonal", False)),
        "adjust=True with orthogonal=True: both keep the map uncorrelated with what is known, adjust without cost of "
        "fit; set orthogonal=False.",
    ),
    (
        _one_start,
        "n_init={n_init!r} asks for several starts but init gives a single one; use init='auto' or n_init=1.",
    ),
)


def check_parameters(estimator: Any) -> int:
    """Raise if a parameter, or a combination of some, is not possible; return the number of dimensions."""
    parameters = estimator.get_params(deep=False)
    for name, value in parameters.items():
        if name in CHECKS:
            CHECKS[name](value)
    for refused, sentence in REFUSED:
        if refused(parameters):
            raise ValueError(sentence.format(**parameters))
    return int(parameters["n_components"])


# ---- a start that is given


def check_start(
    init: tuple[Any, ...], structure: Structure, known: KnownFeatures, labels: pd.Index | None
) -> tuple[Array, Array]:
    """Return the map and the coefficients to start from, in the order of the objects and the known features."""
    if len(init) != 2:
        raise ValueError(f"init has {len(init)} parts; pass a tuple (U0, B0), B0=None without known features.")
    q = len(known.names)
    U0 = np.asarray(align_rows(init[0], labels, "init"), dtype=np.float64)
    B0 = _check_coefficients(init[1], known)
    shape = (structure.n, structure.p)
    if U0.shape != shape or B0.shape != (q, q):
        raise ValueError(
            f"init has shapes {U0.shape} and {B0.shape} but must have {shape} for U0 and ({q}, {q}) for B0."
        )
    if not (np.isfinite(U0).all() and np.isfinite(B0).all()):
        raise ValueError("init holds NaN or infinite values; every coordinate and coefficient must be finite.")
    if np.any(np.ptp(U0, axis=0) == 0) or _has_zero_block(B0, known):
        raise ValueError(
            "init has a constant column of U0 or a row of zeros in B0; from there no descent ever leaves. "
            "Give them small values."
        )
    return U0, B0


def _check_coefficients(B0: Any, known: KnownFeatures) -> Array:
    """Return B0 with its rows and columns in the order of the known features; nothing outside the blocks."""
    names = list(known.names)
    if B0 is None:
        return np.eye(len(names))
    if is_pandas(B0) and B0.ndim == 2:
        rows, columns = (list(map(str, labels)) for labels in (B0.index, B0.columns))
        if sorted(rows) == sorted(columns) == sorted(names):
            B0 = B0.to_numpy()[np.ix_(*([labels.index(name) for name in names] for labels in (rows, columns)))]
    B0 = np.asarray(B0, dtype=np.float64)
    coefficients: Array = np.diag(B0) if B0.ndim == 1 else B0
    block = {known.kept[c]: number for number, group in enumerate(known.groups) for c in group}
    if coefficients.shape == (len(names), len(names)) and any(
        i in block and j in block and block[i] != block[j] for i, j in np.argwhere(coefficients)
    ):
        raise ValueError("init has coefficients B0 between known features that do not share a block; set them to 0.")
    return coefficients


def _has_zero_block(B0: Array, known: KnownFeatures) -> bool:
    """Return whether some coefficients are at zero, from where no gradient leads away.

    Where columns are steps or a basis of one function, or share one coefficient, one of them is enough to start from.
    """
    for group, kind in zip(known.groups, known.block_types, strict=True):
        moves = np.any(B0[[known.kept[c] for c in group]] != 0, axis=1)
        if not (moves.all() if kind.free else moves.any()):
            return True
    return False


# ---- a checkpoint that is continued


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
    about: dict[str, Any] = {
        "the estimator": type(estimator).__name__,
        "the number of objects": problem.n,
        "known": list(map(str, problem.known.names)),
        "random_state": int(seed) if isinstance(seed, Integral) else None,
    }
    for name, value in estimator.get_params(deep=False).items():
        if name not in FREE:
            about[name] = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))  # the same in another process
    if saved.about:
        saved.require_same(about, f"init={str(estimator.init)!r}")
    return replace(saved, about=about)
