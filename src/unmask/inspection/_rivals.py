"""Simple ways to remove known features from a map, with which conditional scaling is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from sklearn.utils import Bunch, check_random_state

from .._typing import Array
from ..checking import Dissimilarities, require_integer
from ..estimators import ConditionalMDS
from ..problem import KnownFeatures, check_dimension, known_table
from ..problem.chance import as_large
from ..problem.linalg import orthonormal_basis
from ..solvers import canonical_map
from ._inputs import align, axis_names, code_known, read_dissimilarities

if TYPE_CHECKING:
    import pandas as pd

REDUNDANCY = "redundancy analysis"


def read_with_known(
    dissimilarities: Any, metric: Any, known: Any, n_components: Any, types: Any, complete_for: str | None = None
) -> tuple[Dissimilarities, KnownFeatures]:
    """Return checked dissimilarities and known features that leave room for a map of so many dimensions."""
    checked = read_dissimilarities(dissimilarities, metric, complete_for=complete_for)
    coded = code_known(known, checked.n, checked.labels, types, "dissimilarities")
    check_dimension(require_integer("n_components", n_components, 1), checked.n, coded)
    return checked, coded


def mds_then_regress(
    dissimilarities: Any,
    known: Any = None,
    *,
    n_components: int = 2,
    known_types: dict[Any, Any] | None = None,
    random_state: Any = None,
    metric: Any = "precomputed",
) -> pd.DataFrame:
    """Map objects by metric scaling and regress the known features out of the map.

    The map has `n_components` dimensions and one for each known column; the result are the leading principal axes of
    the residuals of its regression on the known features.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    known : array-like of shape (n_objects, n_known), optional
        Known features, none missing.
    n_components : int, default=2
        Dimensions of the result.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`.
    random_state : int, RandomState or None, default=None
        Seed of the random starts.
    metric : str, callable or transformer, default="precomputed"
        Computes dissimilarities from features, if these are given instead; as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    DataFrame of shape (n_objects, n_components)
        Centred, in principal axes, uncorrelated with the known features.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import leak, mds_then_regress
    >>> kin = load_kinship()
    >>> U = mds_then_regress(kin.dissimilarities, kin.known[["gender"]], random_state=0)
    >>> U.shape, round(leak(U, kin.known[["gender"]]), 6)
    ((14, 2), 0.0)
    """
    import pandas as pd

    checked, coded = read_with_known(dissimilarities, metric, known, n_components, known_types)
    mds = ConditionalMDS(n_components + coded.n_kept, metric="precomputed", random_state=random_state)
    Z = mds.fit(checked.array_for("mds_then_regress")).embedding_.astype(np.float64)
    basis, centred = orthonormal_basis(coded.values), Z - Z.mean(axis=0)
    U = canonical_map(centred - basis @ (basis.T @ centred))[:, :n_components]
    return pd.DataFrame(U, index=checked.labels, columns=axis_names(n_components))


# ---- distance-based redundancy analysis


def partial_dbrda(
    dissimilarities: Any,
    known: Any = None,
    *,
    n_components: int = 2,
    known_types: dict[Any, Any] | None = None,
    metric: Any = "precomputed",
) -> Bunch:
    """Map the part of the dissimilarities that the known features do not explain, by partial db-RDA.

    It decomposes ``(I - H) G (I - H)``, where ``G`` is minus half the squared dissimilarities, double-centred, and
    ``H`` the projection onto the known features. Without these it is classical scaling. The time grows with N cubed.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes, none missing.
    known, n_components, known_types, metric
        As in :func:`mds_then_regress`.

    Returns
    -------
    Bunch
        ``embedding``, the map, in the units of the dissimilarities (an axis is 0 if its eigenvalue is negative);
        ``eigenvalues`` that are not 0 up to rounding, divided by the number of objects less 1, some negative if the
        dissimilarities are not Euclidean; ``inertia``: ``total``, ``known`` (removed) and ``unknown`` (left).

    References
    ----------
    B. H. McArdle and M. J. Anderson, "Fitting multivariate models to community data", Ecology 82, 2001.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import partial_dbrda
    >>> kin = load_kinship()
    >>> result = partial_dbrda(kin.dissimilarities, kin.known[["gender"]])
    >>> result.eigenvalues[:3].round(4).tolist()
    [555.4683, 491.5077, 265.5097]
    """
    import pandas as pd

    checked, coded = read_with_known(dissimilarities, metric, known, n_components, known_types, REDUNDANCY)
    G = _gower(checked)
    rest = _without(orthonormal_basis(coded.values), G)
    values, vectors = scipy.linalg.eigh((rest + rest.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    U = vectors[:, :n_components] * np.sqrt(np.maximum(values[:n_components], 0.0))
    kept = values[np.abs(values) > 1e-9 * np.abs(values).max()] / (checked.n - 1)
    total, left = (float(np.trace(M)) / (checked.n - 1) for M in (G, rest))
    return Bunch(
        embedding=pd.DataFrame(canonical_map(U), index=checked.labels, columns=axis_names(n_components)),
        eigenvalues=pd.Series(kept, index=axis_names(len(kept)), name="eigenvalue"),
        inertia=pd.Series({"total": total, "known": total - left, "unknown": left}, name="inertia"),
    )


def _gower(checked: Dissimilarities) -> Array:
    """Return minus half the squared dissimilarities, double-centred: inner products if they are Euclidean."""
    squares = -0.5 * checked.array_for("db-RDA").astype(np.float64) ** 2
    squares = squares - squares.mean(axis=0)
    return np.asarray(squares - squares.mean(axis=1)[:, None])


def _without(basis: Array, G: Array) -> Array:
    """Return (I - H) G (I - H) for the projection H onto an orthonormal basis."""
    half = G - basis @ (basis.T @ G)
    return np.asarray(half - (half @ basis) @ basis.T)


def _explained(basis: Array, G: Array) -> float:
    """Return the trace of H G for the projection H onto an orthonormal basis."""
    return float(np.sum(basis * (G @ basis)))


def dbrda_test(
    dissimilarities: Any,
    known: Any,
    *,
    known_types: dict[Any, Any] | None = None,
    n_permutations: int = 999,
    random_state: Any = 0,
    metric: Any = "precomputed",
) -> pd.DataFrame:
    """Test what each known feature explains of the dissimilarities beyond the others, by db-RDA.

    The statistics are marginal F; p-values come from permuting the residuals of the model without the feature.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes, none missing.
    known : array-like of shape (n_objects, n_known)
        Known features, none missing.
    n_permutations : int, default=999
        Number of permutations; 0 for none, and p-values of NaN.
    random_state : int, RandomState or None, default=0
        Seed of the permutations.
    known_types, metric
        As in :func:`mds_then_regress`.

    Returns
    -------
    DataFrame
        One row per feature and a last row ``(residual)``: ``df``, ``sum_of_squares`` (of the matrix of inner products),
        ``r_squared`` (its share of the total, as in vegan's ``adonis2(by = "margin")``; the shares that correlated
        features have in common are in no row), ``F``, ``p_value``. A feature that the others determine has no degrees
        of freedom.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import dbrda_test
    >>> kin = load_kinship()
    >>> table = dbrda_test(kin.dissimilarities, kin.known[["gender", "degree"]], random_state=0)
    >>> print(table[["df", "F", "p_value"]].round(4))
                df        F  p_value
    gender       1  11.1377    0.002
    degree       1   8.2734    0.002
    (residual)  11      NaN      NaN
    """
    import pandas as pd

    require_integer("n_permutations", n_permutations, 0)
    checked, coded = read_with_known(dissimilarities, metric, known, 1, known_types, REDUNDANCY)
    if not coded.n_kept:
        raise ValueError("known has no feature that varies; pass at least one to test.")
    G = _gower(checked)
    # Each feature has all its coded columns here, also redundant ones.
    cells = known_table(align(known, checked.labels, "known", "dissimilarities"), checked.n, None)
    parts = [feature.encode(column.cells) for feature, column in zip(coded.features, cells, strict=True)]
    everything = orthonormal_basis(np.column_stack(parts))
    left = checked.n - 1 - everything.shape[1]
    if left < 1:
        raise ValueError(
            f"known takes {everything.shape[1]} columns, which leaves nothing to compare with among {checked.n} "
            "objects; leave some features out, or join levels."
        )
    total, rng, rows = float(np.trace(G)), check_random_state(random_state), []
    for f in range(len(parts)):
        others = orthonormal_basis(np.column_stack([np.empty((checked.n, 0)), *parts[:f], *parts[f + 1 :]]))
        rows.append(_marginal(G, others, everything, left, n_permutations, rng))
    rows.append((left, total - _explained(everything, G), np.nan, np.nan))
    index = [*coded.feature_names, "(residual)"]
    table = pd.DataFrame(rows, index=index, columns=["df", "sum_of_squares", "F", "p_value"])
    table.insert(2, "r_squared", table["sum_of_squares"] / total)
    return table


def _marginal(
    G: Array, reduced: Array, everything: Array, left: int, n_permutations: int, rng: Any
) -> tuple[int, float, float, float]:
    """Return degrees of freedom, sum of squares, F and p-value of what the whole model has beyond a reduced one."""
    df = everything.shape[1] - reduced.shape[1]
    if df == 0:
        return 0, 0.0, np.nan, np.nan
    rest = _without(reduced, G)
    total, squares = float(np.trace(rest)), _explained(everything, rest)

    def f_statistic(E: Array) -> float:
        # Permuted residuals are no longer at right angles to the reduced model.
        explained, before = _explained(everything, E), _explained(reduced, E)
        return float((explained - before) / df / ((total - explained) / left))

    observed = f_statistic(rest)
    if n_permutations == 0:
        return df, squares, observed, np.nan
    orders = (rng.permutation(len(G)) for _ in range(n_permutations))
    permuted = [f_statistic(rest[np.ix_(order, order)]) for order in orders]
    return df, squares, observed, float(np.sum(as_large(permuted, observed)) + 1) / (n_permutations + 1)
