"""The three functions of a general cost: targets, fitted values, and what their difference costs."""

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

# Where functions are tried before a fit. An inner product may be negative.
_DISTANCE_PLACES = {
    Form.SQUARED: [(0.3,), (0.9,), (1.7,)],
    Form.INNER: [(-0.7,), (0.3,), (1.7,)],
    Form.COLUMNS: [(0.3,), (0.9,), (1.7,)],
}
_LOSS_PLACES = [(fitted, target) for fitted in (0.3, 0.9, 1.7) for target in (1.0, 0.5)]


@dataclass(frozen=True)
class Distance:
    """The fitted value of a pair as a function of the map.

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
        """The compiled code's name for ``of``."""
        require_choice("of", self.of, tuple(FORMS))
        return FORMS[self.of]


@dataclass(frozen=True)
class Loss:
    """The cost of the difference between a fitted value and its target.

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
    """Targets of t-SNE: the probabilities that two objects are neighbours.

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


def _inner_products(D: Array, workers: Workers) -> Array:
    """Return the inner products of centred points with these distances (Torgerson)."""
    squares = D**2
    means = squares.mean(axis=0)
    return np.asarray(-0.5 * (squares - (means + means[:, None]) + means.mean()))


TARGETS: dict[str, Callable[[Array, Workers], Array]] = {
    "dissimilarity": lambda D, _: D,
    "squared": lambda D, _: D**2,
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
# Default parameters, as multiples of the median positive target (of the median dissimilarity for city-block): below it
# absolute values are smoothed, from it on Huber's loss is straight, and it is the least fitted value of which a
# logarithm is taken. Sammon's is the smallest positive target. The others have no parameter.
_SHARES = {"cityblock": 0.01, "absolute": 0.01, "huber": 0.1, "logarithmic": 1e-6, "sammon": np.nan}


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
    link: Distance = _by_name("distance", distance, DISTANCES, Distance)
    paid: Loss = _by_name("loss", loss, LOSSES, Loss)
    if paid.positive:
        for (x,) in _DISTANCE_PLACES[link.form]:
            if (fitted := link.function(x, link.parameter)[0]) < 0.0:
                raise ValueError(
                    f"loss={loss!r} needs positive fitted values, and distance={distance!r} makes {fitted:.3g} of "
                    f"{link.of} {x:g}; use another loss."
                )
    values = square_array(checked.source, "a general cost", "use ConditionalMDS")
    upper = np.triu(values.astype(np.float64), 1)  # the half that every pass reads
    D = upper + upper.T
    targets = _targets(target, D, checked.missing, workers)
    if link.normalised and (weights is not None or np.isnan(targets[~np.eye(len(D), dtype=bool)]).any()):
        raise ValueError(
            f"distance={distance!r} is a share of all pairs, so every pair must count the same; fill in missing "
            "dissimilarities, and pass no weights."
        )
    parameters = (
        _parameter("distance", distance, link, distance_parameter, D),
        _parameter("loss", loss, paid, loss_parameter, targets),
    )
    if link.form == Form.COLUMNS and not parameters[0] > 0.0:
        raise ValueError(
            f"distance={distance!r} is of absolute differences, which are smoothed below its parameter; "
            f"parameter={parameters[0]:g} must be greater than 0."
        )
    cost = Cost(targets, link.form, link.function, paid.function, weights, *parameters, link.normalised)
    if paid.least_target is not None:
        low = targets < paid.least_target
        if weights is not None:
            low &= weights > 0
        np.fill_diagonal(low, cost.counts_itself & (np.diagonal(targets) < paid.least_target))
        if low.any():
            i, j = np.argwhere(low)[0]
            raise ValueError(
                f"loss={loss!r} needs {'positive' if paid.least_target > 0 else 'non-negative'} targets, and that of "
                f"{name_object(checked.labels, i)} and {name_object(checked.labels, j)} is {targets[i, j]:g}; use "
                "another loss, or make the pair missing (NaN)."
            )
    return cost


def _targets(target: Any, D: Array, missing: int, workers: Workers) -> Array:
    """Return what the map is to match, n x n."""
    if isinstance(target, str) and target in TARGETS:
        make = TARGETS[target]
    elif callable(target):
        make = target if isinstance(target, Neighbours) else lambda D, _: target(D)
    else:
        given = repr(target) if isinstance(target, str) else f"a {type(target).__name__}"
        listed = ", ".join(map(repr, TARGETS))
        raise ValueError(f"target is {given}, and neither one of {listed} nor a function of the dissimilarities.")
    if missing and (make is _inner_products or isinstance(make, Neighbours)):
        raise ValueError(f"target={target!r} is computed from all dissimilarities and {missing} are missing.")
    targets = np.require(make(D, workers), np.float64, ["C", "W"])
    if targets.shape != D.shape:
        raise ValueError(f"target={target!r} returned shape {targets.shape}; it must return one like D, {D.shape}.")
    rounding = 1e-9 * float(np.nanmax(np.abs(targets), initial=0.0))
    if np.isinf(targets).any() or not np.allclose(targets, targets.T, rtol=0.0, atol=rounding, equal_nan=True):
        raise ValueError(f"target={target!r} must return a symmetric array of finite numbers (NaN: does not count).")
    return targets


def _by_name(name: str, value: Any, table: dict[str, Any], kind: type[Distance | Loss]) -> Any:
    """Return a distance or loss from its table, or a user's own if its function is sound."""
    if isinstance(value, str) and value in table:
        return table[value]
    if not isinstance(value, kind):
        listed = ", ".join(map(repr, table))
        raise ValueError(f"{name}={value!r} is neither one of {listed} nor an unmask.{kind.__name__}.")
    places: list[Any] = _DISTANCE_PLACES[value.form] if isinstance(value, Distance) else _LOSS_PLACES
    for x, *other in places:
        try:
            below, (_, slope), above = (value.function(x + h, *other, value.parameter) for h in (-1e-6, 0.0, 1e-6))
            measured = (above[0] - below[0]) / 2e-6
        except TypeError as error:
            arguments = "fitted, target, parameter" if other else "x, parameter"
            raise ValueError(
                f"{name}: the function must take ({arguments}) and return (value, derivative): {error}."
            ) from error
        if not abs(measured - slope) <= 1e-4 * max(1.0, abs(measured)):
            at = f"fitted={x}, target={other[0]}" if other else f"x={x}"
            raise ValueError(
                f"{name}: at {at} the function returns the slope {slope:.6g}, but its values change by "
                f"{measured:.6g} per unit; it must return (value, derivative)."
            )
    reason = kernels.general.why_not_compiled(value.function, len(places[0]) + 1)
    if reason is not None:
        raise ValueError(
            f"{name}: numba cannot compile the function ({reason}); write it in arithmetic and the functions of math."
        )
    return value


def _parameter(name: str, chosen: Any, own: Distance | Loss, given: float | None, scale: Array) -> float:
    """Return the parameter of a function: as given, the user's own, or one by the size of some values."""
    if given is not None:
        if isinstance(chosen, str) and chosen not in _SHARES:
            raise ValueError(f"{name}_parameter={given!r} means nothing with {name}={chosen!r}; leave it out.")
        number = require_number(f"{name}_parameter", given, 0.0)
        if isinstance(chosen, str) and number == 0.0:
            raise ValueError(f"{name}_parameter={given!r} must be greater than 0.")
        return number
    if not isinstance(chosen, str):
        return float(own.parameter)
    sizes = np.abs(scale[np.triu_indices(len(scale), 1)])
    if chosen == "sammon":
        return float(np.min(scale, where=scale > 0, initial=np.inf))
    sizes = sizes[sizes > 0]
    return _SHARES.get(chosen, 0.0) * (float(np.median(sizes)) if len(sizes) else 1.0)
