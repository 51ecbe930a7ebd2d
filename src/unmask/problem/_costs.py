"""The three functions of a general cost: what is matched, what matches it, and what a mismatch costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from .._typing import Array
from ..checking import Dissimilarities, name_object, require_choice, require_number
from ..kernels import Cost, Form, PairFunction, Workers, square_array
from ..kernels import plain_costs as functions

FORMS = {"squared distance": Form.SQUARED, "inner product": Form.INNER, "absolute differences": Form.COLUMNS}
# Where functions of a pair are tried before a fit; an inner product may be negative.
_PLACES = {Form.SQUARED: (0.3, 0.9, 1.7), Form.INNER: (-0.7, 0.3, 1.7), Form.COLUMNS: (0.3, 0.9, 1.7)}


@dataclass(frozen=True)
class Distance:
    """How a pair's fitted value follows from the map.

    Parameters
    ----------
    function : callable
        ``function(x, parameter)`` returns the fitted value and its derivative by x; plain Python arithmetic, or a
        function compiled by ``numba.njit``.
    of : {"squared distance", "inner product", "absolute differences"}, default="squared distance"
        What x is, of the coordinates of two objects.
    normalised : bool, default=False
        Divide the fitted values by their sum over all pairs.
    parameter : float, default=0.0
        Passed to the function; for absolute differences it is also where these are smoothed.

    Examples
    --------
    A Gaussian kernel of the map's distances, of width 2:

    >>> import math
    >>> from unmask import Distance
    >>> def gaussian(x, width):
    ...     value = math.exp(-x / (2 * width**2))
    ...     return value, -value / (2 * width**2)
    >>> Distance(gaussian, parameter=2.0).of
    'squared distance'
    """

    function: PairFunction
    of: str = "squared distance"
    normalised: bool = False
    parameter: float = 0.0

    @property
    def form(self) -> Form:
        """What compiled code calls ``of``."""
        require_choice("of", self.of, tuple(FORMS))
        return FORMS[self.of]


@dataclass(frozen=True)
class Loss:
    """What it costs that a fitted value differs from its target.

    Parameters
    ----------
    function : callable
        ``function(fitted, target, parameter)`` returns the loss and its derivative by the fitted value; plain Python
        arithmetic, or a function compiled by ``numba.njit``.
    parameter : float, default=0.0
        Passed to the function.
    least_target : float or None, default=None
        Smallest target the function is defined for.
    positive : bool, default=False
        Whether the function is defined for positive fitted values only.

    Examples
    --------
    Too near costs ten times as much as too far:

    >>> from unmask import Loss
    >>> def near_is_worse(fitted, target, factor):
    ...     residual = fitted - target
    ...     weight = factor if residual < 0 else 1.0
    ...     return weight * residual**2, 2 * weight * residual
    >>> Loss(near_is_worse, parameter=10.0).function(1.0, 3.0, 10.0)
    (40.0, -40.0)
    """

    function: PairFunction
    parameter: float = 0.0
    least_target: float | None = None
    positive: bool = False


@dataclass(frozen=True)
class Neighbours:
    """Targets of t-SNE: how likely two objects are to be taken for neighbours.

    Parameters
    ----------
    perplexity : float, default=30.0
        About how many neighbours an object has.
    """

    perplexity: float = 30.0

    def __call__(self, D: Array, workers: Workers) -> Array:
        """Return shares that sum to 1 over the pairs i < j."""
        n, perplexity = len(D), require_number("perplexity", self.perplexity, 1.0)
        if perplexity >= n - 1:
            raise ValueError(
                f"perplexity={self.perplexity!r} asks for more neighbours than n_samples={n} objects have; "
                f"use less than {n - 1}."
            )
        shares = kernels.general.neighbour_shares(D**2, perplexity, workers)
        return np.asarray((shares + shares.T) / n)


def _dissimilarities(D: Array, workers: Workers) -> Array:
    return D


def _squares(D: Array, workers: Workers) -> Array:
    return D**2


def _inner_products(D: Array, workers: Workers) -> Array:
    """Return the inner products of centred points with these distances (Torgerson)."""
    squares = D**2
    means = squares.mean(axis=0)
    return np.asarray(-0.5 * (squares - (means + means[:, None]) + means.mean()))


TARGETS: dict[str, Callable[[Array, Workers], Array]] = {
    "dissimilarity": _dissimilarities,
    "squared": _squares,
    "inner": _inner_products,
    "neighbours": Neighbours(),
}
DISTANCES = {
    "euclidean": Distance(functions.root),
    "squared": Distance(functions.itself),
    "cityblock": Distance(functions.itself, of="absolute differences"),
    "inner": Distance(functions.itself, of="inner product"),
    "student": Distance(functions.student, normalised=True),
}
LOSSES = {
    "squared": Loss(functions.squared),
    "absolute": Loss(functions.absolute),
    "huber": Loss(functions.huber),
    "sammon": Loss(functions.sammon, least_target=0.0),
    "logarithmic": Loss(functions.logarithmic, least_target=np.nextafter(0.0, 1.0), positive=True),
    "kullback-leibler": Loss(functions.kullback_leibler, least_target=0.0, positive=True),
}
# Parameters of the losses above, as multiples of the median positive target: where Huber's loss turns straight, below
# what the absolute one is smoothed, and the least fitted value of which a logarithm is taken.
_SHARES = {"absolute": 0.01, "huber": 0.1, "logarithmic": 1e-6}
_SMOOTHING = 0.01
# Those of the functions above that have a parameter at all.
_WITH_PARAMETER = {
    "distance_parameter": ("cityblock",),
    "loss_parameter": ("absolute", "huber", "sammon", "logarithmic"),
}


def make_cost(
    checked: Dissimilarities,
    weights: Array | None,
    target: Any,
    distance: Any,
    loss: Any,
    workers: Workers,
    *,
    distance_parameter: float | None = None,
    loss_parameter: float | None = None,
) -> Cost:
    """Put the three functions together, each by name or as an object, and check them against the data."""
    matching = _by_name("distance", distance, DISTANCES, Distance)
    paying = _by_name("loss", loss, LOSSES, Loss)
    _require_positive_fits(matching, distance, paying, loss)
    targets = make_targets(target, checked, workers)
    if matching.normalised and (weights is not None or np.isnan(targets[~np.eye(len(targets), dtype=bool)]).any()):
        raise ValueError(
            f"distance={distance!r} is a share of all pairs, so every pair must count the same; fill in missing "
            "dissimilarities, and pass no weights."
        )
    cost = Cost(
        targets,
        matching.form,
        matching.function,
        paying.function,
        weights,
        _distance_parameter(matching, distance, distance_parameter, checked),
        _loss_parameter(paying, loss, loss_parameter, targets),
        matching.normalised,
    )
    _require_targets(cost, paying, loss, checked)
    return cost


def make_targets(target: Any, checked: Dissimilarities, workers: Workers) -> Array:
    """Return what the map is to match, n x n."""
    values = square_array(checked.source, "a general cost", "use ConditionalMDS")
    upper = np.triu(values.astype(np.float64), 1)  # the half that every pass reads
    D = upper + upper.T
    make = _target_function(target)
    if checked.missing and (make is _inner_products or isinstance(make, Neighbours)):
        raise ValueError(f"target={target!r} is computed from all dissimilarities and {checked.missing} are missing.")
    targets = np.require(make(D, workers), np.float64, ["C", "W"])
    if targets.shape != D.shape:
        raise ValueError(f"target={target!r} returned shape {targets.shape}; it must return one like D, {D.shape}.")
    rounding = 1e-9 * float(np.nanmax(np.abs(targets), initial=0.0))
    if np.isinf(targets).any() or not np.allclose(targets, targets.T, rtol=0.0, atol=rounding, equal_nan=True):
        raise ValueError(f"target={target!r} must return a symmetric array of finite numbers (NaN: does not count).")
    return targets


def _target_function(target: Any) -> Callable[[Array, Workers], Array]:
    if isinstance(target, Neighbours):
        return target
    if callable(target):
        return lambda D, _: target(D)
    if not isinstance(target, str) or target not in TARGETS:
        given = repr(target) if isinstance(target, str) else f"a {type(target).__name__}"
        listed = ", ".join(map(repr, TARGETS))
        raise ValueError(f"target is {given}, and neither one of {listed} nor a function of the dissimilarities.")
    return TARGETS[target]


def _by_name(name: str, value: Any, table: dict[str, Any], kind: type) -> Any:
    if isinstance(value, kind):
        _require_function(name, value)
        return value
    if not isinstance(value, str) or value not in table:
        listed = ", ".join(map(repr, table))
        raise ValueError(f"{name}={value!r} is neither one of {listed} nor an unmask.{kind.__name__}.")
    return table[value]


def _require_function(name: str, own: Any) -> None:
    """Raise unless a user's function returns a value and its derivative, and can be compiled."""
    places = [(x,) for x in _PLACES[own.form]] if isinstance(own, Distance) else _LOSS_PLACES
    for place in places:
        _require_slope(name, own, place)
    reason = kernels.general.why_not_compiled(own.function, len(places[0]) + 1)
    if reason is not None:
        raise ValueError(
            f"{name}: numba cannot compile the function ({reason}); write it in arithmetic and the functions of math."
        )


_LOSS_PLACES = [(fitted, target) for fitted in (0.3, 0.9, 1.7) for target in (1.0, 0.5)]


def _require_slope(name: str, own: Any, place: tuple[float, ...]) -> None:
    """Raise if the second of what a user's function returns is not the derivative of the first."""
    step, (x, *target) = 1e-6, place
    try:
        below, (_, slope), above = (own.function(x + h, *target, own.parameter) for h in (-step, 0.0, step))
        measured = (above[0] - below[0]) / (2 * step)
    except TypeError as error:
        arguments = "x, parameter" if len(place) == 1 else "fitted, target, parameter"
        raise ValueError(
            f"{name}: the function must take ({arguments}) and return (value, derivative): {error}."
        ) from error
    if not abs(measured - slope) <= 1e-4 * max(1.0, abs(measured)):
        at = f"fitted={x}, target={target[0]}" if target else f"x={x}"
        raise ValueError(
            f"{name}: at {at} the function says its slope is {slope:.6g}, but its values change by "
            f"{measured:.6g} per unit; it must return (value, derivative)."
        )


def _require_positive_fits(matching: Distance, distance: Any, paying: Loss, loss: Any) -> None:
    """Raise where a loss takes logarithms of fitted values that may be negative."""
    if not paying.positive:
        return
    for x in _PLACES[matching.form]:
        fitted = matching.function(x, matching.parameter)[0]
        if fitted < 0.0:
            raise ValueError(
                f"loss={loss!r} needs positive fitted values, and distance={distance!r} makes {fitted:.3g} of "
                f"{matching.of} {x:g}; use another loss."
            )


def _require_targets(cost: Cost, paying: Loss, loss: Any, checked: Dissimilarities) -> None:
    if paying.least_target is None:
        return
    low = cost.targets < paying.least_target
    if cost.weights is not None:
        low &= cost.weights > 0
    np.fill_diagonal(low, cost.counts_itself & (np.diagonal(cost.targets) < paying.least_target))
    if low.any():
        i, j = np.argwhere(low)[0]
        which = "positive" if paying.least_target > 0 else "non-negative"
        raise ValueError(
            f"loss={loss!r} needs {which} targets, and that of {name_object(checked.labels, i)} and "
            f"{name_object(checked.labels, j)} is {cost.targets[i, j]:g}; use another loss, or make the pair missing "
            "(NaN)."
        )


def _median_size(targets: Array) -> float:
    sizes = np.abs(targets[np.triu_indices(len(targets), 1)])
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) else 1.0


def _require_parameter(name: str, given: Any, function: Any) -> float:
    """Return a parameter that was given, for a function that has one."""
    if isinstance(function, str) and function not in _WITH_PARAMETER[name]:
        which = name.removesuffix("_parameter")
        raise ValueError(f"{name}={given!r} means nothing with {which}={function!r}; leave it out.")
    number = require_number(name, given, 0.0)
    if isinstance(function, str) and number == 0.0:
        raise ValueError(f"{name}={given!r} must be greater than 0.")
    return number


def _distance_parameter(matching: Distance, distance: Any, given: float | None, checked: Dissimilarities) -> float:
    if given is not None:
        parameter = _require_parameter("distance_parameter", given, distance)
    elif isinstance(distance, str) and matching.form == Form.COLUMNS:
        parameter = _SMOOTHING * _median_size(checked.array_for("GeneralMDS"))
    else:
        parameter = float(matching.parameter)
    if matching.form == Form.COLUMNS and not parameter > 0.0:
        raise ValueError(
            f"distance={distance!r} is of absolute differences, which are smoothed below its parameter; "
            f"parameter={parameter:g} must be greater than 0."
        )
    return parameter


def _loss_parameter(paying: Loss, loss: Any, given: float | None, targets: Array) -> float:
    if given is not None:
        return _require_parameter("loss_parameter", given, loss)
    if not isinstance(loss, str):
        return float(paying.parameter)
    if loss == "sammon":  # a target of zero counts as the smallest positive one
        return float(np.min(targets, where=targets > 0, initial=np.inf))
    return _SHARES.get(loss, 0.0) * _median_size(targets)
