"""Missing cells of the known table: their estimates, intervals, and remarks on doubtful ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import t as student

from .._typing import Array
from ..checking import KnownFeatureWarning, warn_user
from ..engines import Engine
from ..problem import Feature, KnownFeatures
from ._tables import level_places

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = ("certainty", "lower", "upper")
LEVEL = 0.95
# Counts as 0: a coefficient in dissimilarities of the order of one, a difference in standard deviations.
ROUNDING = 1e-6
# Objects whose dissimilarities are read at once: each takes two columns as long as there are objects.
TOGETHER = 256
NOT_DETERMINED = "not determined by the dissimilarities"
OUTSIDE = "outside the range of the data"
MOST_NAMED = 3

# Half the width of an interval, in standard units, by object and kept column.
Widths = Mapping[tuple[int, int], float]


def imputed_table(
    known: KnownFeatures, values: Array, labels: pd.Index | None, roots: Array, widths: Widths | None = None
) -> pd.DataFrame:
    """Return the missing cells as they were estimated, of values in standard units (kept columns).

    ``certainty`` is 1 for a level or angle that fits by itself; a number has an interval instead, if ``widths`` are
    given. ``remark`` names the reason to doubt an estimate.
    """
    rows = []
    for feature, row, at in missing_cells(known):
        label = row if labels is None else labels[row]
        if feature.coding.is_number:
            width = None if widths is None else widths.get((row, at[0]), np.inf)
            weak = width is None and bool(np.linalg.norm(roots[at[0]]) < ROUNDING)
            estimate = _number(known, feature, values[:, at[0]], row, width, weak)
        else:
            estimate = (*level_of(known, feature, values[row, at], roots), np.nan, np.nan, "")
        rows.append((label, feature.name, *estimate))
    return imputed_frame(rows)


def imputed_frame(cells: Sequence[tuple[Any, ...]] = ()) -> pd.DataFrame:
    """Return a table of estimated cells, one a row."""
    import pandas as pd

    table = pd.DataFrame(cells, columns=["object", "feature", "value", *NUMBERS, "remark"], dtype=object)
    for name in ("value", *NUMBERS):
        if name != "value" or all(isinstance(value, float) for value in table["value"]):
            table[name] = table[name].astype(float)
    return table


def missing_cells(known: KnownFeatures) -> Iterator[tuple[Feature, int, list[int]]]:
    """Yield every cell that is estimated: its feature, its row, and the feature's kept columns."""
    for feature in known.features:
        at = known.columns_of(feature)
        if len(at) == len(feature.columns):
            for row in feature.missing:
                yield feature, int(row), at


def level_of(known: KnownFeatures, feature: Feature, cell: Array, roots: Array) -> tuple[Any, float]:
    """Return the level or angle of an estimated cell (its kept columns, standard units) and how sure it is."""
    at = known.columns_of(feature)
    coded = np.array([known.restore(x, c) for x, c in zip(cell, at, strict=True)])
    places = level_places(known, feature, roots) if feature.coding.levels else np.empty((0, len(roots)))
    value, share = feature.coding.decode(coded, cell @ roots[at], places)
    return value, min(share, 1.0)  # but for rounding


# ---- numbers


def _number(
    known: KnownFeatures, feature: Feature, column: Array, row: int, width: float | None, weak: bool
) -> tuple[float, float, float, float, str]:
    """Return a number in its own units, no certainty, the ends of its interval, and what is to be said about it.

    ``column`` has all values of the feature in standard units; ``weak`` says that its coefficient is 0.
    """
    at, coding = known.columns_of(feature)[0], feature.coding

    def own(standard: Any) -> float:
        return float(np.clip(coding.restore(known.restore(standard, at)), coding.lower, coding.upper))

    here, observed = column[row], np.delete(column, feature.missing)
    low, high = observed.min(), observed.max()
    value, remark = own(here), ""
    for side, bound, edge in zip(("lower", "upper"), (coding.lower, coding.upper), coding.bounds, strict=True):
        if abs(known.restore(here, at) - edge) <= ROUNDING * known.scale[known.kept[at]]:
            value, remark = bound, f"at its {side} bound"
    if not remark and not low - ROUNDING <= here <= high + ROUNDING:
        remark = f"{OUTSIDE}: {own(low):.6g} to {own(high):.6g}"
    # An interval that holds all of the data adds nothing to the data.
    if weak or (width is not None and _holds(here, width, observed)):
        remark = f"{NOT_DETERMINED}; {remark}" if remark else NOT_DETERMINED
    if width is None or not np.isfinite(width):
        return value, np.nan, np.nan, np.nan, remark
    return value, np.nan, own(here - width), own(here + width), remark


def cell_widths(known: KnownFeatures, U: Array, VB: Array, roots: Array, engine: Engine) -> Widths | None:
    """Return half the width of a 95% interval of every estimated number; None if there is none.

    The object's own parameters, its place on the map and its missing cells, are taken as a regression of its
    dissimilarities, linear at the solution. A cell's interval is that of the part of it which the object's place cannot
    make up for (a Schur complement of the Gauss-Newton matrix). The residuals enter as they are, each divided by one
    less its leverage (HC3), so that neither equal variances nor weights that are reciprocals of them are assumed. The
    other objects are estimated too, which counts twice: a pair's residual was made small at its other end as well, and
    the known cells that say what a place means have errors of the same size, as in a calibration. Without these two,
    92.4% of 900 simulated truths were within a nominal 95%.
    """
    own: dict[int, list[int]] = {}
    for _, row, at in missing_cells(known):
        own.setdefault(row, []).extend(at)
    if not own:
        return None
    places, p = np.column_stack([U, VB]), U.shape[1]
    calibration = np.sqrt(1.0 + 1.0 / len(places) + _leverage(places - places.mean(axis=0)))
    widths: dict[tuple[int, int], float] = {}
    for begin in range(0, len(own), TOGETHER):
        rows = np.array(list(own)[begin : begin + TOGETHER])
        partners, weights, delta = engine.graph.pairs_of(rows)
        for row, w, aims in zip(rows.tolist(), weights, delta, strict=True):
            directions = np.zeros((p + len(own[row]), places.shape[1]))
            directions[:p, :p] = np.eye(p)
            directions[p:, p:] = roots[own[row]]
            errors = calibration[row] * _own_errors(places[row] - places[partners], w, aims, directions, p)
            widths |= {(row, column): error for column, error in zip(own[row], errors[p:], strict=True)}
    return widths


def _own_errors(difference: Array, weights: Array, aims: Array, directions: Array, p: int) -> Array:
    """Return half the width of the interval of each of an object's own parameters, which move it along directions.

    ``difference`` is between its place and those of its partners; ``p`` is how many parameters each of these has. A
    parameter that the others can make up for has no finite interval.
    """
    d = np.sqrt(np.einsum("ij,ij->i", difference, difference))
    counts = (weights > 0) & (d > 0)  # not with itself
    free, size = int(counts.sum()) - len(directions), len(directions)
    if free < 1:
        return np.full(size, np.inf)
    root = np.sqrt(weights[counts])
    J = (root / d[counts])[:, None] * difference[counts] @ directions.T
    residuals = root * (aims - d)[counts] / np.maximum(1.0 - _leverage(J) - p / counts.sum(), 1e-6)
    lengths = np.linalg.norm(J, axis=0)
    J = np.divide(J, lengths, out=np.zeros_like(J), where=lengths > 0)
    inverse = np.linalg.pinv(J, rcond=1e-6)
    determined = np.einsum("ij,ji->i", inverse, J) > 1.0 - 1e-6
    errors = np.linalg.norm(inverse * residuals, axis=1)
    times = float(student.ppf((1 + LEVEL) / 2, free))
    return np.asarray(np.divide(times * errors, lengths, out=np.full(size, np.inf), where=determined))


def _leverage(X: Array) -> Array:
    """Return how much of each row a regression on the columns can fit: the diagonal of the hat matrix."""
    left, singular, _ = np.linalg.svd(X, full_matrices=False)
    left = left[:, singular > singular.max(initial=0.0) * 1e-10]
    return np.asarray(np.einsum("ij,ij->i", left, left))


# ---- numbers that the map predicts


def cells_off_the_map(
    U: Array, V: Array, known: KnownFeatures, widths: Widths | None
) -> tuple[Array, Widths | None, list[tuple[str, int]]]:
    """Return known values with missing numbers as the map predicts them, where that is surer; the widths; what is left.

    Left are the cells that nothing determines, by feature and row: numbers whose interval holds all of the data, or,
    where there are no intervals (`widths` is None), that lie outside the data; and all missing levels and angles: the
    fit knows them by what acts across the map only, and a wrong level would be taken off as surely as a right one.
    """
    V, updated = V.copy(), None if widths is None else dict(widths)
    left = []
    for feature, row, (at, *_) in missing_cells(known):
        if not feature.coding.is_number:
            left.append((feature.name, row))
            continue
        observed = np.delete(V[:, at], feature.missing)
        value, width = _predicted(U, observed, feature, row)
        own = 0.0 if observed.min() <= V[row, at] <= observed.max() else np.inf
        if updated is not None:
            own = updated.get((row, at), np.inf)
        if width < own:
            V[row, at] = np.clip(value, *known.bounds_of(feature))
            if updated is not None:
                updated[row, at] = width
        elif not np.isfinite(own) or _holds(V[row, at], own, observed):
            left.append((feature.name, row))
    return V, updated, left


def _holds(value: float, width: float, observed: Array) -> bool:
    """Return whether an interval holds all that was observed."""
    return bool(value - width <= observed.min() and value + width >= observed.max())


def _predicted(U: Array, observed: Array, feature: Feature, row: int) -> tuple[float, float]:
    """Return the prediction of a missing value by a regression of the observed ones on the map, and half its interval.

    The interval is infinite where the map does not predict the feature beyond chance, by the F test of the regression.
    """
    X = np.column_stack([np.ones(len(U)), U - U[row]])  # the intercept is the prediction
    design = np.delete(X, feature.missing, axis=0)
    rank = int(np.linalg.matrix_rank(design))
    free = len(design) - rank
    if free < 1 or rank < 2:
        return 0.0, np.inf
    coef = np.linalg.lstsq(design, observed, rcond=None)[0]
    left = float(np.sum((observed - design @ coef) ** 2))
    told = float(np.sum((observed - observed.mean()) ** 2)) - left
    variance = left / free
    if f_distribution.sf(told / (rank - 1) / max(variance, 1e-300), rank - 1, free) > 1 - LEVEL:
        return 0.0, np.inf
    inflation = 1.0 + float(np.linalg.pinv(design.T @ design)[0, 0])
    return float(coef[0]), float(student.ppf((1 + LEVEL) / 2, free) * np.sqrt(variance * inflation))


# ---- warning


def warn_of_imputed(table: pd.DataFrame) -> None:
    """Warn of doubtful numbers."""
    doubtful = table[table["remark"].str.contains(f"{NOT_DETERMINED}|{OUTSIDE}")] if len(table) else table
    if not len(doubtful):
        return
    named = [f"{cell.feature!r} of {cell.object} is {cell.value:.4g}, {cell.remark}" for cell in doubtful.itertuples()]
    rest = f"; and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    warn_user(
        "missing numbers of known were estimated outside the range of the data, or are not determined by the "
        f"dissimilarities (see known_imputed_): {'; '.join(named[:MOST_NAMED])}{rest}. Declare in known_types what is "
        "possible, by Numeric(lower=…) or Numeric(log=True), fill the cell, or leave the object or the feature out.",
        KnownFeatureWarning,
    )
