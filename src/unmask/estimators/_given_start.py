"""Checking a start that the user gives."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import align_rows, is_pandas, shown
from ..problem import KnownFeatures, Structure

if TYPE_CHECKING:
    import pandas as pd


INITS = ("auto", "closed-form", "random")


def names_checkpoint(init: Any) -> bool:
    """Return whether ``init`` is the name of a file."""
    return isinstance(init, str | PathLike) and init not in INITS


def require_init(init: Any) -> None:
    """Raise unless ``init`` is one of the words, a tuple, or the name of an existing file."""
    is_word = isinstance(init, str) and init in INITS
    if is_word or isinstance(init, tuple) or (names_checkpoint(init) and Path(init).is_file()):
        return
    listed = ", ".join(map(repr, INITS))
    raise ValueError(
        f"init={shown(init)} is not one of {listed}, nor a file of unmask.Checkpoint, nor a tuple (map, coefficients): "
        "arrays like embedding_ and like coef_ (or None)."
    )


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
    """Tell whether some coefficients are at zero, from where no gradient leads away.

    Where columns are steps or a basis of one function, or share one coefficient, one of them is enough to start from.
    """
    for group, kind in zip(known.groups, known.block_types, strict=True):
        moves = np.any(B0[[known.kept[c] for c in group]] != 0, axis=1)
        if not (moves.all() if kind.free else moves.any()):
            return True
    return False
