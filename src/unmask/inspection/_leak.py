"""How much a map repeats of each known feature, by two measures, compared with chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import require_integer
from ..problem import KnownFeatures, known_table
from ..problem.leak import LinearLeak, Trait, linear_leak, predicted_by_neighbours, traits_of
from ..problem.linalg import canonical_correlations
from ._inputs import align, code_known, read_table

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
# Above this number of objects, neighbours are checked for a random sample.
MOST_NEAR = 5000
# Below this correlation, which chance does not make, the known features were removed from the map.
UNCORRELATED = 1e-5
ON_THE_MAP = "on the map"  # how a verdict begins that something is above chance
COLUMNS = [
    "type",
    *("linear", "linear_reference", "linear_p"),
    *("neighbours", "neighbours_baseline", "neighbours_reference", "neighbours_p"),
    "verdict",
]


def leak_report(
    embedding: Any,
    known: Any,
    *,
    known_types: dict[Any, Any] | None = None,
    n_permutations: int = 99,
    random_state: int | None = 0,
) -> pd.DataFrame:
    """Return how much a map repeats of each known feature, by two measures, each compared with chance.

    ``linear`` is the average canonical correlation with the feature; if the feature was removed from the map, it is 0
    by construction and has no reference (NaN). ``neighbours``, which also detects rings and clusters, is how well
    neighbours on the map predict the feature: the share of objects whose level is the most common one among their
    neighbours, or the correlation of a number with the neighbours' mean.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map. If it is uncorrelated with `known` (``adjust=True``, ``orthogonal=True``), it is compared with permuted
        maps that are hardly correlated with it either; ``attrs["adjusted"]`` says so.
    known : array-like of shape (n_objects, n_known)
        Known features of any type, none missing.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`.
    n_permutations : int, default=99
        Number of permuted maps, at least 19.
    random_state : int or None, default=0
        Seed of the permutations. Above 5,000 objects, neighbours are checked for a random sample of 5,000.

    Returns
    -------
    DataFrame
        One row per feature and, if there are several, one for all together. ``…_baseline`` is the mean and
        ``…_reference`` the 95% point of chance, ``…_p`` the p-value. ``verdict`` says which measure is above chance at
        level .05; chance alone does that for at most one feature in ten.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from unmask.inspection import leak_report
    >>> angle, age = np.arange(60) * 2.4, np.tile([1.0, 2.0, 3.0], 20)
    >>> ring = age[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> report = leak_report(ring, pd.DataFrame({"age": age}))
    >>> shown = ["linear", "linear_reference", "neighbours", "neighbours_reference", "verdict"]
    >>> print(report[shown].round(1).to_string(index_names=False))
         linear  linear_reference  neighbours  neighbours_reference                    verdict
    age     0.0               0.3         1.0                   0.2  on the map, along no line
    """
    import pandas as pd

    require_integer("n_permutations", n_permutations, 19)
    axes = read_table(embedding, "embedding")
    U, n = axes.values, len(axes.values)
    coded = code_known(known, n, axes.labels, known_types, "embedding")
    # With the cells, also features that the others determine are traits.
    cells = known_table(align(known, axes.labels, "known", "embedding"), n, None) if coded.features else []
    traits = traits_of(coded, cells)
    if len(traits) > 1:
        traits.append(Trait("(all)", "", None, coded.values))
    removed = taken_out(U, coded)
    rng = np.random.default_rng(random_state)
    at = rng.permutation(n)[:MOST_NEAR]  # in random order, by which ties between neighbours are broken
    taken = None if removed is None else removed[at]
    near = predicted_by_neighbours(U[at], [t.of(at) for t in traits], rng, taken, n_permutations=n_permutations)
    rows = []
    for trait, by_neighbours in zip(traits, near, strict=True):
        linear = linear_leak(U, trait.columns)
        leak, reference = leak_beside_chance(linear).values()
        p_value = np.nan if np.isnan(reference) else linear.p_value
        verdict = _verdict(trait, p_value, by_neighbours.p_value)
        rows.append((trait.kind, leak, reference, p_value, *by_neighbours, verdict))
    report = pd.DataFrame(rows, index=pd.Index([t.name for t in traits], name="feature"), columns=COLUMNS)
    report.attrs["adjusted"] = removed is not None
    return report


def leak_beside_chance(linear: LinearLeak) -> dict[str, float]:
    """Return a leak and its reference, which is NaN if the leak is 0 by construction."""
    by_construction = linear.reference > 0 and linear.correlations.max(initial=0.0) < UNCORRELATED
    return {"leak": linear.leak, "leak_reference": np.nan if by_construction else linear.reference}


def taken_out(U: Array, known: KnownFeatures) -> Array | None:
    """Return the known columns that were removed from a map; None if there are none."""
    correlations = [canonical_correlations(U, column[:, None]).max(initial=0.0) for column in known.values.T]
    out = np.flatnonzero(np.array(correlations) < UNCORRELATED)
    return known.values[:, out] if len(out) and U.shape[1] else None


def _verdict(trait: Trait, linear_p: float, neighbours_p: float) -> str:
    if np.ptp(trait.columns, axis=0).max(initial=0.0) == 0:
        return "the same for all objects"
    if linear_p <= LEVEL:
        return f"{ON_THE_MAP}, along a line"
    return f"{ON_THE_MAP}, along no line" if neighbours_p <= LEVEL else "no more than chance"
