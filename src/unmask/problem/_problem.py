"""The frozen problem: checked data and the options that define what is minimised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..checking import count
from ._known import KnownFeatures
from .linalg import orthonormal_basis


@dataclass(frozen=True)
class Problem:
    """What is minimised: pairs, what is known, how many unknown dimensions, and whether they are orthogonal to it."""

    pairs: Any  # Pairs or Edges, as the engine of the fit reads them
    known: KnownFeatures
    p: int
    orthogonal: bool = False
    error_price: float = 0.0  # of moving a measured cell by its standard error; 0: it does not move

    @property
    def n(self) -> int:
        return int(self.pairs.n)

    def require_room(self) -> None:
        """Raise if a map orthogonal to what is known would put all objects in one place."""
        if not (self.orthogonal and self.p > 0 and self.known.n_kept):
            return
        taken = orthonormal_basis(self.known.values).shape[1]
        if taken >= self.n - 1:
            raise ValueError(
                f"orthogonal=True: the known features fill all {taken} dimensions of the {self.n} objects: nothing is "
                "left for a map; pass fewer known features."
            )


def check_dimension(p: int, n: int, known: KnownFeatures) -> None:
    """Raise when the objects cannot fill the dimensions asked for, or when there is nothing to estimate."""
    most = n - 1 - known.n_dimensions
    if most < 0:
        raise ValueError(
            f"{_counted(known)} are too many for {n} objects; keep at most {n - 1} columns "
            "(a nominal feature has one for each level but one)."
        )
    if p > most:
        raise ValueError(
            f"n_components={p} is too many: {n} objects and {_counted(known)} leave at most n_components={most}."
        )
    if p == 0 and known.n_kept == 0:
        raise ValueError(
            "n_components=0 fits the coefficients of known features alone; pass known, or n_components >= 1."
        )


def _counted(known: KnownFeatures) -> str:
    """Say how many features are known, and how many columns these are where it is another number."""
    features, columns = len(known.features), known.n_dimensions
    return count(features, "known feature") + (f" ({count(columns, 'column')})" if columns != features else "")
