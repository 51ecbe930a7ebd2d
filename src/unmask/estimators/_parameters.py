"""Checks of parameters: each by itself, and the combinations that are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..checking import require_choice, require_coef, require_flag, require_integer, require_jobs, require_number
from ..problem import LEVELS, SCHEMES, TIES
from ._given_start import require_init
from ._many import Solver

Parameters = Mapping[str, Any]


def _require_adjust(adjust: Any) -> None:
    if not isinstance(adjust, bool | np.bool_) and not (isinstance(adjust, str) and adjust == "auto"):
        raise ValueError(f"adjust={adjust!r} is not one of False, True, 'auto'.")


def _require_n_init(n_init: Any) -> None:
    if isinstance(n_init, str):
        require_choice("n_init", n_init, ("auto",))
    else:
        require_integer("n_init", n_init, 1)


def _require_weights(weights: Any) -> None:
    if hasattr(weights, "shape"):
        raise ValueError("weights is an array, which is data: pass it to fit(X, weights=…).")
    require_choice("weights", weights, tuple(SCHEMES))


CHECKS: dict[str, Callable[[Any], object]] = {
    "coef": require_coef,
    "n_jobs": require_jobs,
    "n_components": lambda value: require_integer("n_components", value, 0),
    "adjust": _require_adjust,
    "orthogonal": lambda value: require_flag("orthogonal", value),
    "verbose": lambda value: require_integer("verbose", value, 0),
    "max_iter": lambda value: require_integer("max_iter", value, 1),
    "tol": lambda value: require_number("tol", value, 0.0),
    "init": require_init,
    "n_init": _require_n_init,
    "weights": _require_weights,
    "level": lambda value: require_choice("level", value, LEVELS),
    "ties": lambda value: require_choice("ties", value, TIES),
    "solver": lambda value: require_choice("solver", value, ("auto", *(solver.value for solver in Solver))),
}


def _one_start(parameters: Parameters) -> bool:
    init = parameters.get("init", "auto")
    single = isinstance(init, tuple) or (isinstance(init, str) and init == "closed-form")
    return single and parameters["n_init"] not in ("auto", 1)


# A condition, and the sentence with the way out. Conditions may rely on parameters that have passed their checks.
REFUSED: tuple[tuple[Callable[[Parameters], bool], str], ...] = (
    (
        lambda p: bool(p["adjust"]) and p["adjust"] != "auto" and bool(p.get("orthogonal", False)),
        "adjust=True with orthogonal=True: both keep the map uncorrelated with what is known, adjust without cost of "
        "fit; set orthogonal=False.",
    ),
    (
        _one_start,
        "n_init={n_init!r} asks for several starts but init gives a single one; use init='auto' or n_init=1.",
    ),
)


def check_parameters(estimator: Any) -> int:
    """Raise if a parameter, or a combination of some, is not possible; return the number of dimensions."""
    parameters = estimator.get_params(deep=False)
    for name, check in CHECKS.items():
        if name in parameters:
            check(parameters[name])
    for refused, sentence in REFUSED:
        if refused(parameters):
            raise ValueError(sentence.format(**parameters))
    return int(parameters["n_components"])
