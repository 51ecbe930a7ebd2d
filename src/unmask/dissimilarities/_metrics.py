"""The table of metrics: how each changes the coordinates of the objects, and the distance between these.

To add a metric, add an entry to ``METRICS``. ``read`` returns the checked data of :class:`Rows`; ``learn`` returns what
depends on all fitted objects (ranges, variances) and on ``metric_params``; ``change`` returns coordinates, one entry or
row for each object; ``distance`` compares the coordinates of some objects with those of others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import haversine_distances
from sklearn.preprocessing import normalize

from .._typing import Array
from ..checking import quote, require_number
from ._gower import code_columns, gower, learn_columns, read_columns
from ._rows import Rows
from ._sequences import histograms, read_order, read_sequences, read_warping, samples, series, warping, wasserstein

# From this many columns on, Euclidean distances come from products of rows. A square below this share of the sizes of
# the two rows has lost digits and is computed again.
WIDE, CANCELLED = 100, 1e-2
# Objects on which a function of two rows is checked.
CHECKED = 20

Params = dict[str, Any]


# ---- reading and parameters


def _numbers(rows: Rows) -> Any:
    return rows.table()


def _numbers_or_sparse(rows: Rows) -> Any:
    values = rows.table(accept_sparse="csr")
    if not issparse(values):
        return values
    if rows.estimator.metric_params:
        raise ValueError(
            f"metric_params={rows.estimator.metric_params!r} cannot be used with a sparse X; leave it out, or pass "
            "X.toarray()."
        )
    if values.indices.dtype != np.int32 and max(values.nnz, *values.shape) <= np.iinfo(np.int32).max:
        # Some distances of scikit-learn take 32-bit indices only.
        indices, starts = (array.astype(np.int32) for array in (values.indices, values.indptr))
        values = type(values)((values.data, indices, starts), shape=values.shape)
    return values


def _numbers_or_missing(rows: Rows) -> Any:
    return rows.table(ensure_all_finite="allow-nan", dtype=np.float64)


def _options(rows: Rows, values: Any, params: Params) -> Params:
    """Return the options of a distance of scipy: a power and weights of the columns."""
    p = params.get("p", 2)
    if isinstance(p, bool) or not isinstance(p, Real) or not float(p) > 0:
        raise ValueError(f"metric_params['p']={p!r} must be a number above 0.")
    return params | {"w": rows.per_column("w", params["w"], values.shape[1])} if "w" in params else params


# ---- changes of coordinates


def _same(_rows: Rows, values: Any, _learnt: Any) -> Any:
    return values


def _presence(rows: Rows, values: Array, _learnt: Any) -> Array:
    rows.refuse_cells(
        values,
        (values != 0) & (values != 1),
        f"but metric={rows.estimator.metric!r} compares 1 (present) with 0 (absent); pass X > 0 if that is meant, or "
        "metric='braycurtis' to compare amounts.",
    )
    return values.astype(bool)


def _amounts(rows: Rows, values: Array, _learnt: Any) -> Array:
    return rows.amounts(values)


def _scaled_shares(rows: Rows, values: Array, _learnt: Any) -> Array:
    """Return amounts whose sums cannot overflow; scipy divides by the sums."""
    values = rows.shares(values)
    return np.asarray(values / values.max(axis=1, keepdims=True))


def _root_shares(rows: Rows, values: Array, _learnt: Any) -> Array:
    """Return coordinates whose Euclidean distances are Hellinger's: roots of the shares, over the root of 2."""
    values = _scaled_shares(rows, values, None)
    return np.asarray(np.sqrt(values / values.sum(axis=1, keepdims=True) / 2))


def _varying(rows: Rows, values: Array, _learnt: Any) -> Array:
    rows.require_rows(np.ptp(values, axis=1) > 0, "is constant and correlates with nothing")
    return values


def _directions(rows: Rows, values: Any, options: Params) -> Any:
    """Return rows whose squared distances are ``1 - cos``, also where one less a product of rows would cancel."""
    some = np.asarray(abs(values).sum(axis=1)).ravel() > 0 if issparse(values) else values.any(axis=1)
    rows.require_rows(some, "is all zeros, which have no direction")
    if issparse(values):
        return normalize(values.astype(np.float64)) / np.sqrt(2.0)
    values = values.astype(np.float64) * np.sqrt(options.get("w", 1.0))
    return values / (np.sqrt(2.0) * np.linalg.norm(values, axis=1, keepdims=True))


def _places(rows: Rows, values: Array, _learnt: Any) -> Array:
    takes = "but metric='haversine' takes two, latitude and longitude in radians"
    if values.shape[1] != 2:
        raise ValueError(f"X has {values.shape[1]} columns, {takes}.")
    beyond = np.abs(values) > np.array([np.pi / 2, 2 * np.pi]) * (1 + 1e-6)
    rows.refuse_cells(values, beyond, f"{takes}; pass numpy.radians(X) if these are degrees.")
    return values


def _log_ratios(rows: Rows, values: Array, params: Params) -> Array:
    """Return the logarithms of the parts less their mean in each object (Aitchison 1986)."""
    pseudocount = require_number("metric_params['pseudocount']", params.get("pseudocount", 0.0), 0.0)
    parts = rows.amounts(values) + np.float64(pseudocount)
    why = (
        "which has no logarithm; replace zeros, pass metric_params={'pseudocount': 0.5} to add so much to every cell, "
        "or use metric='robust_aitchison'."
    )
    rows.refuse_cells(parts, parts == 0, why)
    logarithms = np.log(parts)
    return np.asarray(logarithms - logarithms.mean(axis=1, keepdims=True))


def _robust_log_ratios(rows: Rows, values: Array, _params: Params) -> Array:
    """Return the logarithms of the parts above 0 less their mean, and 0 for the other parts."""
    parts = rows.shares(values)
    there = parts > 0
    logarithms = np.log(parts, out=np.zeros_like(parts), where=there)
    mean = logarithms.sum(axis=1, keepdims=True) / there.sum(axis=1, keepdims=True)
    return np.where(there, logarithms - mean, 0.0)


# ---- linear changes that are learnt from all fitted objects


def _deviations(rows: Rows, values: Array, params: Params) -> tuple[Array, Array]:
    """Return the means and the inverses of the standard deviations of the columns."""
    centre = values.mean(axis=0, dtype=np.float64)
    if params.get("V") is not None:
        variance = rows.per_column("V", params["V"], values.shape[1])
        constant = variance == 0
    else:
        variance = (values - centre).var(axis=0, ddof=1)  # shifted first: a large mean costs digits
        constant = np.ptp(values, axis=0) == 0  # rounding can give a constant column a variance above 0
    if constant.any():
        raise ValueError(
            f"{rows.column(int(np.argmax(constant)))} of X has the variance 0, by which metric='seuclidean' cannot "
            "divide; leave it out, or pass all variances as metric_params={'V': …}."
        )
    return centre, 1.0 / np.sqrt(variance)


def _decorrelation(_rows: Rows, values: Array, params: Params) -> tuple[Array, Array]:
    """Return the means, and a factor F of the inverse covariances.

    ``(x - y)' VI (x - y) = |F'(x - y)|²`` for any F with ``VI = FF'``. One change of coordinates per object is twenty
    times as fast, for thirty columns, as one product per pair.
    """
    centre, n = values.mean(axis=0, dtype=np.float64), values.shape[1]
    if params.get("VI") is None:
        return centre, _learnt_factor(values, centre)
    inverse = np.asarray(params["VI"], dtype=np.float64)
    if inverse.shape != (n, n) or not np.isfinite(inverse).all():
        raise ValueError(
            f"metric_params['VI'] has shape {inverse.shape} or infinite cells; X has {n} columns: pass the inverse of "
            f"their covariances, ({n}, {n})."
        )
    eigenvalues, vectors = np.linalg.eigh((inverse + inverse.T) / 2)  # the other part cancels in x' VI x
    if eigenvalues[0] < -1e-10 * max(eigenvalues[-1], 0.0):
        raise ValueError(f"metric_params['VI'] has the negative eigenvalue {eigenvalues[0]:g}; it must have none.")
    return centre, vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def _learnt_factor(values: Array, centre: Array) -> Array:
    """Return the factor from the correlations, whose smallest eigenvalue shows whether there is an inverse."""
    shifted = values - centre  # a large mean costs digits of the variances,
    shifted -= shifted.mean(axis=0)  # and is itself only as exact as its type allows
    deviation = np.where(np.ptp(values, axis=0) > 0, shifted.std(axis=0, ddof=1), 0.0)
    standard = shifted / np.where(deviation > 0, deviation, 1.0)
    eigenvalues, vectors = np.linalg.eigh(standard.T @ standard / (len(values) - 1))
    if eigenvalues[0] <= 1e-12 * eigenvalues[-1]:
        raise ValueError(
            f"the {values.shape[1]} columns of {len(values)} objects have covariances without an inverse (dependent "
            "columns, or too few objects), which metric='mahalanobis' needs; leave columns out, or pass "
            "metric_params={'VI': numpy.linalg.pinv(numpy.cov(X.T))}."
        )
    return np.asarray(vectors / np.sqrt(eigenvalues) / deviation[:, None])


def _rescaled(_rows: Rows, values: Array, learnt: tuple[Array, Array]) -> Array:
    """Return the centred rows times a factor for each column, or times a matrix."""
    centre, factor = learnt
    return np.asarray((values - centre) * factor if factor.ndim == 1 else (values - centre) @ factor)


# ---- distances


def _scipy(name: str, x: Any, y: Any, options: Params) -> Array:
    """Return distances of scipy, or of scikit-learn for sparse tables.

    Those of scikit-learn come from products of rows, which leaves equal objects 1e-8 apart.
    """
    if issparse(x) or issparse(y):
        return np.asarray(pairwise_distances(x, y, metric=name, n_jobs=1), dtype=np.float64)
    if name == "euclidean" and not options and x.shape[1] >= WIDE:
        return _wide_distances(x, y)
    return np.asarray(cdist(x, y, name, **options))


def _wide_distances(x: Array, y: Array) -> Array:
    """Return Euclidean distances from products of rows, and from differences where products cancel.

    For 200 columns three times as fast as differences throughout, for 800 six times.
    """
    x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
    sizes = np.add.outer(np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", y, y))
    squares = sizes - 2.0 * (x @ y.T)
    i, j = np.nonzero(~(squares > CANCELLED * sizes))  # also where the sizes overflow
    if len(i) > squares.size // 20:
        return np.asarray(cdist(x, y))
    for part in np.array_split(np.arange(len(i)), len(i) // 1024 + 1):
        squares[i[part], j[part]] = np.sum((x[i[part]] - y[j[part]]) ** 2, axis=1)
    return np.asarray(np.sqrt(squares))


def _euclidean(x: Array, y: Array, _learnt: Any) -> Array:
    return np.asarray(cdist(x, y))


def _cosine(x: Any, y: Any, _learnt: Any) -> Array:
    return _scipy("cosine" if issparse(x) or issparse(y) else "sqeuclidean", x, y, {})


def _jensen_shannon(x: Array, y: Array, _learnt: Any) -> Array:
    # NaN is the root of a rounding error below 0, for nearly equal rows.
    return np.asarray(np.nan_to_num(cdist(x, y, "jensenshannon"), nan=0.0))


def _haversine(x: Array, y: Array, _learnt: Any) -> Array:
    return np.asarray(haversine_distances(x, y))


def _nan_euclidean(x: Array, y: Array, _learnt: Any) -> Array:
    """Return Euclidean distances on the shared columns, scaled up to all columns; NaN where none is shared."""
    total = np.zeros((len(x), len(y)))
    shared = np.zeros_like(total)
    for k in range(x.shape[1]):
        difference = x[:, k, None] - y[None, :, k]
        present = ~np.isnan(difference)
        np.add(total, difference**2, out=total, where=present)
        shared += present
    return np.asarray(np.sqrt(total * (x.shape[1] / shared)))


# ---- functions of two rows


def _called(function: Callable[..., float], x: Array, y: Array, params: Params) -> Array:
    return np.asarray(cdist(x.astype(np.float64), y.astype(np.float64), function, **params))


def _require_metric(function: Callable[..., float], rows: Rows, values: Array, params: Params) -> Params:
    """Check on the first objects that a function is symmetric and 0 for equal rows."""
    gives, D = f"metric={_name(function)!r} gives", _called(function, values[:CHECKED], values[:CHECKED], params)
    for i, j in np.argwhere(~np.isclose(D, D.T, rtol=1e-10, atol=0.0, equal_nan=True))[:1]:
        raise ValueError(
            f"{gives} {D[i, j]:g} for {rows.object(i)} and {rows.object(j)} but {D[j, i]:g} the other way round; make "
            "it symmetric, for example by the mean of the two."
        )
    i = int(np.argmax(np.abs(np.diagonal(D))))
    if abs(D[i, i]) > 1e-6 * np.abs(D).max():
        raise ValueError(f"{gives} {D[i, i]:g} for {rows.object(i)} and itself; it must be 0. Is it a similarity?")
    return params


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


# ---- the table


@dataclass(frozen=True)
class Entry:
    """One metric."""

    distance: Callable[..., Array]
    change: Callable[[Rows, Any, Any], Any] = _same
    learn: Callable[[Rows, Any, Params], Any] = _options
    read: Callable[[Rows], Any] = _numbers
    parameters: tuple[str, ...] | None = ()  # None: any
    compiled: str | None = None  # formula of compiled code that does the same as `distance` without weights
    parallel: bool = True  # whether several threads can compare at once
    may_miss: bool = False  # whether NaN means that two objects have nothing to compare, rather than an error
    allow_nan: bool = False
    positive: bool = False
    text: bool = False

    @property
    def sparse(self) -> bool:
        """Whether the metric takes sparse tables."""
        return self.read is _numbers_or_sparse

    @property
    def tile(self) -> int:
        """The largest number of rows and columns compared at once.

        512 x 512 numbers take 2 MB, which stay in the cache while they are mirrored. On the diagonal half of the pairs
        of a tile are compared in vain, so the tiles of slow metrics are small.
        """
        return 512 if self.parallel else 64


def _of_scipy(name: str, change: Any = _same, parameters: tuple[str, ...] = ("w",), **options: Any) -> Entry:
    return Entry(partial(_scipy, name), change, parameters=parameters, **options)


_PRESENCE = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
METRICS: dict[str, Entry] = {
    **{name: _of_scipy(name) for name in ("canberra", "chebyshev", "hamming")},
    **{name: _of_scipy(name, _presence) for name in _PRESENCE},
    "aitchison": Entry(_euclidean, _log_ratios, parameters=("pseudocount",), compiled="euclidean", positive=True),
    "braycurtis": _of_scipy("braycurtis", _amounts, positive=True),
    "cityblock": _of_scipy("cityblock", read=_numbers_or_sparse, compiled="cityblock"),
    "correlation": _of_scipy("correlation", _varying),
    "cosine": Entry(_cosine, _directions, read=_numbers_or_sparse, parameters=("w",), compiled="sqeuclidean"),
    "dtw": Entry(warping, series, read_warping, read_sequences, ("penalty", "window"), parallel=False),
    "euclidean": _of_scipy("euclidean", read=_numbers_or_sparse, compiled="euclidean"),
    "gower": Entry(
        gower, code_columns, learn_columns, read_columns,
        parameters=("asymmetric", "weights"), may_miss=True, allow_nan=True, text=True,
    ),
    "haversine": Entry(_haversine, _places),
    "hellinger": Entry(_euclidean, _root_shares, compiled="euclidean", positive=True),
    # scipy takes the base of the logarithm, which is a factor only, for two vectors but not for tables.
    "jensenshannon": Entry(_jensen_shannon, _scaled_shares, positive=True),
    "mahalanobis": Entry(_euclidean, _rescaled, _decorrelation, parameters=("VI",), compiled="euclidean"),
    "minkowski": _of_scipy("minkowski", parameters=("p", "w")),
    "nan_euclidean": Entry(_nan_euclidean, read=_numbers_or_missing, may_miss=True, allow_nan=True),
    "robust_aitchison": Entry(_euclidean, _robust_log_ratios, compiled="euclidean", positive=True),
    "seuclidean": Entry(_euclidean, _rescaled, _deviations, parameters=("V",), compiled="euclidean"),
    "sqeuclidean": _of_scipy("sqeuclidean", compiled="sqeuclidean"),
    "wasserstein": Entry(wasserstein, samples, read_order, read_sequences, ("order",), allow_nan=True),
    "wasserstein_histogram": Entry(
        wasserstein, histograms, read_order, parameters=("order", "positions"), positive=True
    ),
}  # fmt: skip
# Other names, of scikit-learn or of earlier versions of scipy.
OTHER_NAMES = {
    "infinity": "chebyshev",
    "l1": "cityblock",
    "l2": "euclidean",
    "manhattan": "cityblock",
    "matching": "hamming",
    "p": "minkowski",
    "sokalmichener": "rogerstanimoto",
}
METRICS |= {other: METRICS[name] for other, name in OTHER_NAMES.items()}
NAMES = tuple(sorted(METRICS))


# ---- a metric with its parameters


@dataclass
class Comparison:
    """A metric with its parameters and what it has learnt from the fitted objects."""

    name: str
    entry: Entry
    params: Params
    learnt: Any = field(default=None, init=False)

    @property
    def formula(self) -> str | None:
        """The formula of compiled code that compares the coordinates, if there is one."""
        return None if "w" in self.params else self.entry.compiled

    def fit(self, rows: Rows) -> Any:
        """Learn from the fitted objects, and return their coordinates."""
        values = self.entry.read(rows)
        self.learnt = self.entry.learn(rows, values, self.params)
        return self.entry.change(rows, values, self.learnt)

    def coordinates(self, rows: Rows) -> Any:
        """Return the coordinates of new objects."""
        return self.entry.change(rows, self.entry.read(rows), self.learnt)

    def between(self, x: Any, y: Any, dtype: Any) -> Array:
        """Return the dissimilarities of some objects to others."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # count_missing looks at the results
            return self.entry.distance(x, y, self.learnt).astype(dtype, copy=False)


def make_comparison(metric: Any, metric_params: Any) -> Comparison:
    """Return a metric, given by name or as a function, that has learnt nothing yet."""
    if metric_params is not None and not isinstance(metric_params, dict):
        raise ValueError(f"metric_params={metric_params!r} must be a dict, for example {{'p': 3}}, or None.")
    params = dict(metric_params or {})
    if callable(metric):
        checked = partial(_require_metric, metric)
        entry = Entry(partial(_called, metric), learn=checked, parameters=None, parallel=False)
        return Comparison(_name(metric), entry, params)
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(
            "metric='precomputed' leaves nothing to compute: X holds dissimilarities already; pass it to an estimator "
            "such as ConditionalMDS(metric='precomputed')."
        )
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(f"metric={metric!r} is not known; {_suggestion(metric)}")
    known = METRICS[metric].parameters or ()
    unknown = [key for key in params if key not in known]
    if unknown:
        takes = f"it takes {quote(known)}" if known else "it takes none"
        raise ValueError(f"metric_params has {quote(unknown)}, which metric={metric!r} does not take; {takes}.")
    return Comparison(metric, METRICS[metric], params)


def _suggestion(metric: Any) -> str:
    plain = "".join(letter for letter in str(metric).lower() if letter.isalnum() or letter == "_")
    if plain in ("geodesic", "isomap"):
        return "shortest paths among neighbours are made by a transformer, metric=Geodesic() of unmask.dissimilarities."
    near = get_close_matches(plain, [*NAMES, "precomputed"], n=3) if isinstance(metric, str) else ()
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"give one of {', '.join(NAMES)}, or a function of two rows."
