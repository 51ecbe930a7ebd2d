"""The metrics that scipy and scikit-learn know by name, and functions of two rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import haversine_distances

from ..._typing import Array
from ._family import Family, Reader

# A check of the values of a table, which returns them in the type the metric works on.
Check = Callable[[Any, Reader, str], Any]


def require_presence(values: Array, reader: Reader, metric: str) -> Any:
    """Require zeros and ones: libraries differ in how they compare other values."""
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise ValueError(
            f"X holds {reader.first_cell(values, wrong)}, but metric={metric!r} compares presence with absence, "
            "1 with 0; pass X > 0 if that is meant, or metric='braycurtis' to compare amounts."
        )
    return values.astype(bool)


def require_non_negative(values: Array, reader: Reader, metric: str) -> Array:
    """Require non-negative values."""
    if (values < 0).any():
        raise ValueError(
            f"Negative values in data: X holds {reader.first_cell(values, values < 0)}, but metric={metric!r} compares "
            "amounts, which are at least 0; use metric='euclidean' for values of both signs."
        )
    return values


def require_shares(values: Array, reader: Reader, metric: str) -> Array:
    """Require non-negative values, of which each row has some above 0."""
    require_non_negative(values, reader, metric)
    _require_rows(values.any(axis=1), reader, metric, "is all zeros, which are no shares of anything")
    return values


def require_direction(values: Any, reader: Reader, metric: str) -> Any:
    """Require a value other than 0 in each row."""
    pointing = np.asarray(abs(values).sum(axis=1)).ravel() > 0 if issparse(values) else values.any(axis=1)
    _require_rows(pointing, reader, metric, "is all zeros, which point in no direction")
    return values


def require_variation(values: Array, reader: Reader, metric: str) -> Array:
    """Require rows that are not constant: their correlation would be one of rounding errors."""
    _require_rows(np.ptp(values, axis=1) > 0, reader, metric, "is constant and correlates with nothing")
    return values


def _require_rows(sound: Any, reader: Reader, metric: str, what: str) -> None:
    if not np.all(sound):
        row = reader.object(int(np.argmin(sound)))
        raise ValueError(
            f"metric={metric!r} is not defined for {row} of X: it {what} ({int(np.sum(~sound))} such in all); "
            "leave it out, or use metric='euclidean'."
        )


@dataclass(frozen=True)
class ScipyMetric:
    """The values and parameters that a metric of scipy takes."""

    check: Check | None = None  # None: any numbers
    parameters: tuple[str, ...] = ("w",)
    way_out: str = Family.way_out


_NOTHING_PRESENT = (
    "two objects of zeros have nothing to compare: leave them out, or give every object a small equal amount of "
    "something (one more column)"
)
PRESENCE = ScipyMetric(require_presence, way_out=_NOTHING_PRESENT)
SCIPY: dict[str, ScipyMetric] = {
    "braycurtis": ScipyMetric(require_non_negative, way_out=_NOTHING_PRESENT),
    "canberra": ScipyMetric(),
    "chebyshev": ScipyMetric(),
    "cityblock": ScipyMetric(),
    "correlation": ScipyMetric(require_variation),
    "cosine": ScipyMetric(require_direction),
    "dice": PRESENCE,
    "euclidean": ScipyMetric(),
    "hamming": ScipyMetric(),
    "jaccard": PRESENCE,
    "jensenshannon": ScipyMetric(require_shares, ()),  # scipy has its base (a factor) for two vectors only
    "minkowski": ScipyMetric(parameters=("p", "w")),
    "rogerstanimoto": PRESENCE,
    "russellrao": PRESENCE,
    "sokalsneath": PRESENCE,
    "sqeuclidean": ScipyMetric(),
    "yule": PRESENCE,
}
# Other names that scikit-learn, or scipy in its earlier versions, has for them.
ALIASES = {
    "infinity": "chebyshev",
    "l1": "cityblock",
    "l2": "euclidean",
    "manhattan": "cityblock",
    "matching": "hamming",
    "p": "minkowski",
    "sokalmichener": "rogerstanimoto",
}
SPARSE = ("cityblock", "cosine", "euclidean")
# From so many columns on, products of rows are used; a square below this share of the rows' own has lost digits.
WIDE, CANCELLED = 100, 1e-2


class Named(Family):
    """A metric of scipy, pair by pair.

    scikit-learn's Euclidean distances come from products of rows, which leaves two equal objects 1e-8 apart; scipy's
    are exact. Sparse tables have only the former; of hundreds of columns products are used where nothing cancels.
    """

    def __init__(self, name: str, params: Mapping[str, Any]) -> None:
        self.scipy_name = ALIASES.get(name, name)
        self.entry = SCIPY[self.scipy_name]
        self.parameters = self.entry.parameters
        self.way_out = self.entry.way_out
        self.sparse = self.scipy_name in SPARSE
        self.positive_only = self.entry.check in (require_non_negative, require_shares)
        super().__init__(name, params)

    def check_params(self) -> None:
        """Raise if the metric does not take a parameter, or not with this value."""
        super().check_params()
        p = self.params.get("p", 2)
        if isinstance(p, bool) or not isinstance(p, Real) or not float(p) > 0:
            raise ValueError(f"metric_params['p']={p!r} must be a number above 0.")

    def read(self, reader: Reader) -> Any:
        """Return the table."""
        values = reader.table(accept_sparse="csr" if self.sparse else False)
        if issparse(values) and self.params:
            raise ValueError(
                f"metric_params={self.params!r} cannot be used with a sparse X; leave it out, or pass X.toarray()."
            )
        if issparse(values):
            values = _narrow(values)
        self.largest = max(self.largest, float(abs(values).max()))
        if "w" in self.params:
            self.params["w"] = self.vector("w", values.shape[1], 0.0, reader)
        return values if self.entry.check is None else self.entry.check(values, reader, self.name)

    def between(self, rows: Any, columns: Any) -> Array:
        """Return scipy's dissimilarities, or scikit-learn's of sparse tables."""
        if issparse(rows) or issparse(columns):
            return np.asarray(pairwise_distances(rows, columns, metric=self.scipy_name, n_jobs=1), dtype=np.float64)
        if self.scipy_name == "euclidean" and not self.params and rows.shape[1] >= WIDE:
            return _wide_distances(rows, columns)
        if self.scipy_name == "cosine":
            root = np.sqrt(self.params.get("w", 1.0))
            return np.asarray(cdist(_directions(rows * root), _directions(columns * root), "sqeuclidean"))
        return np.asarray(cdist(rows, columns, self.scipy_name, **self.params))

    def coordinates(self, objects: Any) -> tuple[str, Array] | None:
        """Return the table itself; of cosines, directions."""
        if self.params or issparse(objects):
            return None
        if self.scipy_name == "cosine":
            return "sqeuclidean", _directions(objects)
        return (self.scipy_name, objects) if self.scipy_name in ("cityblock", "euclidean", "sqeuclidean") else None


class JensenShannon(Named):
    """Root of the Jensen-Shannon divergence of the shares in each row (natural logarithms)."""

    def read(self, reader: Reader) -> Any:
        """Return amounts whose sums cannot overflow; scipy divides by them."""
        values = np.asarray(super().read(reader), dtype=np.float64)
        return values / values.max(axis=1, keepdims=True)

    def between(self, rows: Any, columns: Any) -> Array:
        """Return scipy's distances; of nearly equal rows it takes the root of a rounding error, perhaps one below 0."""
        distances = super().between(rows, columns)
        distances[np.isnan(distances)] = 0.0
        return distances


def _directions(rows: Array) -> Array:
    """Return rows whose squared distances are ``1 - cos``.

    From these nearly parallel rows have no rounding error of the size of 1, as one less a product of rows has.
    """
    rows = rows.astype(np.float64)
    return np.asarray(rows / (np.sqrt(2.0) * np.linalg.norm(rows, axis=1, keepdims=True)))


def _wide_distances(rows: Array, columns: Array) -> Array:
    """Return Euclidean distances from products of rows, and from differences where these cancel.

    For 200 columns three times as fast as differences throughout, for 800 six times.
    """
    rows, columns = rows.astype(np.float64, copy=False), columns.astype(np.float64, copy=False)
    sizes = np.add.outer(np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", columns, columns))
    squares = sizes - 2.0 * (rows @ columns.T)
    i, j = np.nonzero(~(squares > CANCELLED * sizes))  # also where the sizes are no numbers
    if len(i) > squares.size // 20:
        return np.asarray(cdist(rows, columns))
    for part in np.array_split(np.arange(len(i)), len(i) // 1024 + 1):
        squares[i[part], j[part]] = np.sum((rows[i[part]] - columns[j[part]]) ** 2, axis=1)
    return np.asarray(np.sqrt(squares))


def _narrow(values: Any) -> Any:
    """Return a sparse table with 32-bit indices, if they suffice; some of scikit-learn's metrics know no others."""
    if values.indices.dtype == np.int32 or max(values.nnz, *values.shape) > np.iinfo(np.int32).max:
        return values
    indices, starts = (array.astype(np.int32) for array in (values.indices, values.indptr))
    return type(values)((values.data, indices, starts), shape=values.shape)


class EuclideanCoordinates(Family):
    """A metric that is the Euclidean distance between coordinates, which ``read`` returns."""

    def between(self, rows: Array, columns: Array) -> Array:
        """Return Euclidean distances."""
        return np.asarray(cdist(rows, columns))

    def coordinates(self, objects: Array) -> tuple[str, Array]:
        """Return the coordinates."""
        return "euclidean", objects


class StandardizedEuclidean(EuclideanCoordinates):
    """Euclidean distances after dividing each column by its standard deviation among the fitted objects."""

    parameters = ("V",)

    def fit(self, reader: Reader) -> Array:
        """Learn the variances."""
        values = reader.table()
        self.centre = values.mean(axis=0, dtype=np.float64)
        given = self.params.get("V") is not None
        if given:
            variance = self.vector("V", values.shape[1], 0.0, reader)
        else:
            variance = (values - self.centre).var(axis=0, ddof=1)  # shifted first: a large mean costs digits
        # Rounding errors can give a constant column a variance above 0.
        constant = (variance == 0) if given else np.ptp(values, axis=0) == 0
        if constant.any():
            column = reader.column(int(np.argmax(constant)))
            raise ValueError(
                f"{column} of X has the variance 0, by which metric={self.name!r} cannot divide; leave it out, "
                "or pass all variances as metric_params={'V': …}."
            )
        self.deviation = np.sqrt(variance)
        return self._standardise(values)

    def read(self, reader: Reader) -> Array:
        """Return the standardised table."""
        return self._standardise(reader.table())

    def _standardise(self, values: Array) -> Array:
        return np.asarray((values - self.centre) / self.deviation)


class Mahalanobis(EuclideanCoordinates):
    """Euclidean distances after a linear change of coordinates that makes the fitted columns uncorrelated.

    ``(x - y)' VI (x - y) = |F'(x - y)|²`` for any F with ``VI = FF'``: the change is made once for each object instead
    of once for each pair, which is twenty times faster for thirty columns.
    """

    parameters = ("VI",)

    def fit(self, reader: Reader) -> Array:
        """Learn the covariances."""
        values = reader.table()
        self.centre = values.mean(axis=0, dtype=np.float64)
        given = self.params.get("VI") is not None
        self.factor = self._given_factor(values.shape[1]) if given else self._learnt_factor(values)
        return self._change(values)

    def read(self, reader: Reader) -> Array:
        """Return the table in the changed coordinates."""
        return self._change(reader.table())

    def _change(self, values: Array) -> Array:
        return np.asarray((values - self.centre) @ self.factor)

    def _learnt_factor(self, values: Array) -> Array:
        """Return F from the correlations, whose smallest eigenvalue shows whether there is an inverse."""
        shifted = values - self.centre  # a large mean costs digits of the variances,
        shifted -= shifted.mean(axis=0)  # and is itself only as exact as its type allows
        deviation = np.where(np.ptp(values, axis=0) > 0, shifted.std(axis=0, ddof=1), 0.0)
        standard = shifted / np.where(deviation > 0, deviation, 1.0)
        eigenvalues, vectors = np.linalg.eigh(standard.T @ standard / (len(values) - 1))
        if eigenvalues[0] <= 1e-12 * eigenvalues[-1]:
            raise ValueError(
                f"the {values.shape[1]} columns of {len(values)} objects have covariances without an inverse (a column "
                f"is constant or follows from others, or there are too few objects), which metric={self.name!r} needs; "
                "leave columns out, or pass metric_params={'VI': numpy.linalg.pinv(numpy.cov(X.T))}."
            )
        return np.asarray(vectors / np.sqrt(eigenvalues) / deviation[:, None])

    def _given_factor(self, columns: int) -> Array:
        inverse = np.asarray(self.params["VI"], dtype=np.float64)
        if inverse.shape != (columns, columns) or not np.isfinite(inverse).all():
            raise ValueError(
                f"metric_params['VI'] has shape {inverse.shape} or cells that are not finite; X has {columns} columns: "
                f"pass the inverse of their covariances, ({columns}, {columns})."
            )
        eigenvalues, vectors = np.linalg.eigh((inverse + inverse.T) / 2)  # its other part cancels in x' VI x
        if eigenvalues[0] < -1e-10 * max(eigenvalues[-1], 0.0):
            raise ValueError(
                f"metric_params['VI'] has the negative eigenvalue {eigenvalues[0]:g}; the inverse of covariances has "
                "none."
            )
        return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))


class Haversine(Family):
    """Angles between places on a sphere."""

    def read(self, reader: Reader) -> Array:
        """Return latitudes and longitudes."""
        values: Array = reader.table()
        if values.shape[1] != 2:
            raise ValueError(
                f"X has {values.shape[1]} columns, but metric='haversine' takes two, latitude and longitude in radians."
            )
        beyond = np.abs(values) > np.array([np.pi / 2, 2 * np.pi]) * (1 + 1e-6)
        if beyond.any():
            raise ValueError(
                f"X holds {reader.first_cell(values, beyond)}, but metric='haversine' takes latitude and longitude in "
                "radians; pass numpy.radians(X) if these are degrees."
            )
        return values

    def between(self, rows: Array, columns: Array) -> Array:
        """Return angles in radians."""
        return np.asarray(haversine_distances(rows, columns))


class NanEuclidean(Family):
    """Euclidean distances on the columns that both objects have, scaled up to all columns."""

    allow_nan = True
    may_miss = True

    def read(self, reader: Reader) -> Array:
        """Return the table, NaN where cells are missing."""
        return np.asarray(reader.table(ensure_all_finite="allow-nan", dtype=np.float64), order="F")

    def between(self, rows: Array, columns: Array) -> Array:
        """Return distances column by column, without the cancellation that scikit-learn's products of rows suffer."""
        total = np.zeros((len(rows), len(columns)))
        shared = np.zeros_like(total)
        for k in range(rows.shape[1]):
            difference = rows[:, k, None] - columns[None, :, k]
            present = ~np.isnan(difference)
            np.square(difference, out=difference)
            np.add(total, difference, out=total, where=present)
            shared += present
        return np.asarray(np.sqrt(total * (rows.shape[1] / shared)))  # 0 times inf, NaN, where nothing is shared


class Function(Family):
    """A function of two rows."""

    releases_lock = False
    tile = 64  # such a function may take milliseconds: small tiles let the progress bar move

    def __init__(self, function: Callable[..., float], params: Mapping[str, Any]) -> None:
        self.function = function
        super().__init__(getattr(function, "__name__", type(function).__name__), params)

    def check_params(self) -> None:
        """Check nothing: the function itself raises on parameters that it does not take."""

    def fit(self, reader: Reader) -> Array:
        """Return the table after checking, on N pairs, that the function is symmetric and 0 for equal rows."""
        values = self.read(reader)
        there = np.array([self._call(x, y) for x, y in pairwise(values)])
        back = np.array([self._call(y, x) for x, y in pairwise(values)])
        differ = ~np.isclose(there, back, rtol=1e-10, atol=0.0, equal_nan=True)
        if differ.any():
            i = int(np.argmax(differ))
            raise ValueError(
                f"metric={self.name!r} gives {there[i]:g} for {reader.object(i)} and {reader.object(i + 1)} but "
                f"{back[i]:g} the other way round; make it symmetric, for example by the mean of the two."
            )
        itself = [self._call(x, x) for x in values]
        if np.max(np.abs(itself)) > 1e-6 * np.max(np.abs(there)):
            i = int(np.argmax(np.abs(itself)))
            raise ValueError(
                f"metric={self.name!r} gives {itself[i]:g} for {reader.object(i)} and itself; it must be 0. "
                "Is it a similarity?"
            )
        return values

    def _call(self, x: Array, y: Array) -> float:
        return float(self.function(x, y, **self.params))

    def read(self, reader: Reader) -> Array:
        """Return the table."""
        return np.asarray(reader.table(), dtype=np.float64)

    def between(self, rows: Array, columns: Array) -> Array:
        """Return the function of each pair."""
        return np.asarray(cdist(rows, columns, self.function, **self.params))
