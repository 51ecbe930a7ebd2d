"""A feature before it is adopted: its values, its type, and how much of it is known already."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..checking import KnownFeatureWarning, count
from ..problem import KnownFeatures, check_known
from ..problem.linalg import orthonormal_basis

# From this share on a feature is as good as known already.
NEARLY_KNOWN = 0.9


@dataclass(frozen=True)
class Preview:
    """What would be adopted.

    Attributes
    ----------
    values : Series
        One per object.
    type : str
        Its type: the declared one, or the one its values have.
    kind : str or feature type, optional
        Its type as it would be declared; None to go by the values.
    r2 : float
        How far it is already known: the share of its variance that a linear regression on what is known accounts for.
    r2_by_chance : float
        What that is on average for a feature that has nothing to do with what is known.
    warnings : tuple of str
        What to think about before it is adopted.
    """

    values: pd.Series[Any] = field(repr=False)
    type: str
    kind: Any
    r2: float
    r2_by_chance: float
    warnings: tuple[str, ...] = ()


def preview(feature: pd.Series[Any], kind: Any, known: pd.DataFrame, types: Mapping[str, Any]) -> Preview:
    """Return what is to be said about a feature before it is adopted."""
    own = _coded(feature.to_frame(), {} if kind is None else {str(feature.name): kind})
    given = _coded(known, types)
    present = np.ones(len(feature), dtype=bool)
    for described in (*own.features, *given.features):
        present[described.missing] = False
    Y = own.values[present] - own.values[present].mean(axis=0)
    basis = orthonormal_basis(given.values[present])
    r2 = float(np.sum((basis.T @ Y) ** 2) / np.sum(Y**2)) if np.any(Y) else float("nan")
    by_chance = basis.shape[1] / max(len(Y) - 1, 1)
    said = tuple(_warnings(feature, r2, basis.shape[1], len(Y)))
    return Preview(feature, own.features[0].coding.kind, kind, r2, by_chance, said)


def _coded(table: pd.DataFrame, types: Mapping[str, Any]) -> KnownFeatures:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KnownFeatureWarning)
        return check_known(table if table.shape[1] else None, len(table), table.index, "auto", types=types or None)


def _warnings(feature: pd.Series[Any], r2: float, n_known: int, n: int) -> list[str]:
    said = []
    if n_known >= n - 1:
        said.append(f"what is known has {count(n_known, 'column')}, which tell any feature of {n} objects apart.")
    elif r2 >= NEARLY_KNOWN:
        said.append(f"it is known already: the known features account for {r2:.0%} of it.")
    gaps = int(feature.isna().sum())
    if gaps:
        said.append(f"{count(gaps, 'object')} without a value: every fit will estimate it.")
    if feature.nunique() == 2 and feature.value_counts().min() == 1:
        said.append("it sets a single object apart from all others.")
    return said
