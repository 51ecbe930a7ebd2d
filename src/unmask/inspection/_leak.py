"""How much a map repeats of each known feature, by three measures, compared with chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from .._typing import Array
from ..checking import require_integer
from ..problem import KnownFeatures, known_table
from ..problem.leak import PermutedMaps, Trait, beside_chance, linear_leak, told_by_neighbours, traits_of
from ..problem.linalg import canonical_correlations
from ._inputs import align, code_known, read_table

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
# Neighbours are asked of at most so many objects, and distances compared of so many, picked at random.
MOST_NEAR, MOST_FAR = 5000, 500
# Chance does not make so small a correlation: what is known was taken out of such a map.
UNCORRELATED = 1e-5
ALL = "(all)"
ON_THE_MAP = "on the map"  # how a verdict begins that something is above chance
MEASURES = ("linear", "neighbours", "distance")
COLUMNS = [
    "type",
    *("linear", "linear_reference", "linear_p"),
    *(f"{measure}{of}" for measure in MEASURES[1:] for of in ("", "_baseline", "_reference", "_p")),
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
    """Return how much a map repeats of each known feature, by three measures, each compared with chance.

    ``linear`` is the average canonical correlation with the feature, as in :func:`leak`; of a map from which what is
    known was taken out it is 0 by construction and no evidence. ``neighbours`` says how well an object's neighbours on
    the map tell its value: the share of objects whose level is the most common one among their neighbours, or the
    correlation of a number with their mean. ``distance`` is the distance correlation, which is 0 only of independent
    tables. Both see what lies on a ring or in clusters, which no straight line shows.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map. If it is not correlated with `known` at all (``adjust=True``, ``orthogonal=True``,
        :func:`mds_then_regress`, :func:`partial_dbrda`), chance is what permuted maps give that are hardly correlated
        with it either; ``attrs["adjusted"]`` says so.
    known : array-like of shape (n_objects, n_known)
        Known features of any type, none missing.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`.
    n_permutations : int, default=99
        Number of permuted maps, at least 19.
    random_state : int or None, default=0
        Seed of the permutations, and of the sample where there are many objects: neighbours are asked of at most 5,000,
        distances compared of at most 500.

    Returns
    -------
    DataFrame
        One row per feature and, of several, one for all together, where ``neighbours`` is the correlation pooled over
        their columns. ``…_baseline`` is the mean and ``…_reference`` the 95% point of chance, ``…_p`` the p-value:
        by permutation, and of ``linear`` that of as many random maps. ``verdict`` says in words what is above chance at
        level .05 by any of the three; as they mostly agree, that happens by chance to about one feature in ten.

    References
    ----------
    G. J. Székely, M. L. Rizzo and N. K. Bakirov, "Measuring and testing dependence by correlation of distances",
    Annals of Statistics 35, 2007.

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
    traits = _traits(coded, align(known, axes.labels, "known", "embedding"))
    V = taken_out(U, coded)
    rng = np.random.default_rng(random_state)
    # In random order, by which neighbours are picked among those equally far away.
    order = rng.permutation(n)
    near, far = (
        measure(PermutedMaps(U[at], None if V is None else V[at], rng, n_permutations), [t.of(at) for t in traits])
        for measure, at in ((told_by_neighbours, order[:MOST_NEAR]), (told_by_distances, order[:MOST_FAR]))
    )
    rows = [_row(U, *of_one) for of_one in zip(traits, near, far, strict=True)]
    report = pd.DataFrame(rows, index=pd.Index([t.name for t in traits], name="feature"), columns=COLUMNS)
    report.attrs["adjusted"] = V is not None
    return report


def _traits(coded: KnownFeatures, known: Any) -> list[Trait]:
    """Return each feature, even if others determine it, and all of them together if there are several."""
    if not coded.features:
        return []
    traits = traits_of(coded, known_table(known, len(coded.values), None))
    return traits if len(traits) == 1 else [*traits, Trait(ALL, "", None, coded.values)]


def taken_out(U: Array, known: KnownFeatures) -> Array | None:
    """Return the known columns that were removed from a map, so that their correlation is 0; None if there are none."""
    correlations = [canonical_correlations(U, column[:, None]).max(initial=0.0) for column in known.values.T]
    out = np.flatnonzero(np.array(correlations) < UNCORRELATED)
    return known.values[:, out] if len(out) and U.shape[1] else None


def _row(U: Array, trait: Trait, near: Sequence[float], far: Sequence[float]) -> tuple[Any, ...]:
    linear = linear_leak(U, trait.columns)
    tests = (linear.p_value, near[-1], far[-1])
    return (trait.kind, linear.leak, linear.reference, linear.p_value, *near, *far, _verdict(trait, tests))


def _verdict(trait: Trait, p_values: Sequence[float]) -> str:
    if np.ptp(trait.columns, axis=0).max(initial=0.0) == 0:
        return "the same for all objects"
    linear, *others = (p <= LEVEL for p in p_values)
    if linear:
        return f"{ON_THE_MAP}, along a line"
    return f"{ON_THE_MAP}, along no line" if any(others) else "no more than chance"


# ---- distance correlation


def told_by_distances(chance: PermutedMaps, traits: Sequence[Trait]) -> list[tuple[float, float, float, float]]:
    """Return the distance correlation of a map with each trait, the mean and 95% point of chance, and the p-value."""
    if not traits:
        return []
    U = chance.map
    mine, theirs = double_centred(_apart(U)), np.array([double_centred(_apart_by(trait)).ravel() for trait in traits])
    scores = _distance_correlations(theirs, mine)
    with threadpool_limits(1):  # threads that wait for each other take longer than one takes for a short sum
        by_order = (mine[np.ix_(order, order)] for order in chance.orders())  # one at a time: N² numbers each
        permuted = np.array([_distance_correlations(theirs, by) for by in by_order])
    return [beside_chance(float(score), by) for score, by in zip(scores, permuted.T, strict=True)]


def _distance_correlations(theirs: Array, mine: Array) -> Array:
    """Return the roots of the cosines between tables of centred distances; 0 for a negative one, which is chance."""
    return np.asarray(np.sqrt(np.maximum(theirs @ mine.ravel(), 0.0)))


def double_centred(distances: Array) -> Array:
    """Return distances with rows and columns centred and total length 1; 0 if all objects coincide."""
    centred = distances - distances.mean(axis=0) - distances.mean(axis=1, keepdims=True) + distances.mean()
    return np.asarray(centred / (np.linalg.norm(centred) or 1.0))


def _apart(table: Array) -> Array:
    """Return Euclidean distances; 0 for tables without columns, which SciPy refuses."""
    return np.asarray(cdist(table, table)) if table.shape[1] else np.zeros((len(table), len(table)))


def _apart_by(trait: Trait) -> Array:
    """Return the distances by one trait: of its columns, in steps of ordered levels, or 1 for different levels."""
    if trait.levels is None:
        return _apart(trait.columns)
    steps = np.abs(np.subtract.outer(trait.levels, trait.levels))
    return np.asarray(steps if trait.ordered else steps > 0, dtype=np.float64)
