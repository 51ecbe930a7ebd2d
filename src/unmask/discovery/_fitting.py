"""One fit of a study: its estimator, its parameters, and Ctrl-C."""

from __future__ import annotations

import inspect
import platform
import threading
import time
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from ..checking import MapWarning, UnfinishedWarning, quote, require_choice, require_integer, warn_user
from ..estimators import (
    INITS,
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    known_part_of,
    names_checkpoint,
    random_fits,
    refit,
    stress_of_known,
)
from ..progress import Callback, Listener, Progress, SavedFit, listeners_of
from ..solvers import catching_interrupt
from ._material import Material
from ._records import Step
from ._values import plain

PACKAGES = ("unmask", "numpy", "scipy", "scikit-learn", "pandas", "numba")
ESTIMATORS: dict[str, Any] = {
    "mds": ConditionalMDS,
    "isomap": ConditionalIsomap,
    "classical": ConditionalClassicalMDS,
}
# Below this stress a map fits, whatever the data are.
FITS_ANYTHING = 1e-6
# Parameters that belong to the study, and where they are given.
DECIDED = {
    "metric": "the study holds dissimilarities; give it to Discovery(X, metric=…)",
    "metric_params": "the study holds dissimilarities; give them to Discovery(X, metric_params=…)",
}


def parameters_of(estimator: str) -> list[str]:
    """Return the names of the parameters that a fit may have."""
    return [name for name in ESTIMATORS[estimator]().get_params() if name not in DECIDED]


def takes(estimator: str, argument: str) -> bool:
    """Return whether an estimator's fit takes "weights", or a "callback" because it searches."""
    return argument in inspect.signature(ESTIMATORS[estimator].fit).parameters


def check_params(estimator: Any, n_components: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a fit, checked, in a form that can be saved."""
    require_choice("estimator", estimator, tuple(ESTIMATORS))
    for name, reason in DECIDED.items():
        if name in params:
            raise ValueError(f"{name}={params[name]!r} is not a parameter of a step: {reason}.")
    allowed = parameters_of(estimator)
    unknown = [name for name in params if name not in allowed]
    if unknown:
        raise ValueError(
            f"fit has no parameter {quote(unknown)} with estimator={estimator!r}; it has {', '.join(allowed)}."
        )
    if names_checkpoint(params.get("init")):  # a study names no files
        require_choice("init", params["init"], INITS)
    given = {"n_components": require_integer("n_components", n_components, 0)}
    for name, value in params.items():
        given[name] = plain(value, name, "use a number, text, or a list or dictionary of them.")
    if takes(estimator, "callback"):
        # Without a seed the study would not come to the same numbers again.
        given["random_state"] = require_integer("random_state", given.get("random_state", 0), 0)
    return given


def without_checkpoint(params: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return parameters that a step keeps, and the checkpoint that ``init`` names, if it does."""
    if not names_checkpoint(params.get("init")):
        return dict(params), None
    init = SavedFit.read(params["init"]).init
    own = {name: value for name, value in params.items() if name != "init"}
    return own if init == "auto" else own | {"init": init}, params["init"]


def fit_step(
    material: Material,
    known: pd.DataFrame,
    types: Mapping[str, Any],
    estimator: str,
    params: Mapping[str, Any],
    number: int,
    callback: Callback | None = None,
    checkpoint: Any = None,
    n_free: int | None = None,
) -> Step:
    """Fit a map and return it as a step; warnings of the fit are kept in it and given to the user."""
    own = dict(params)
    declared = {**types, **(own.pop("known_types", None) or {})}
    mds = ESTIMATORS[estimator](**material.data.params, known_types=declared or None, **own)
    if checkpoint is not None:
        mds.set_params(init=checkpoint)
    options: dict[str, Any] = {"known": known if known.shape[1] else None}
    if material.weights is not None:
        if not takes(estimator, "weights"):
            raise ValueError(
                f"estimator={estimator!r} takes no weights but the study has some; use estimator='mds', or a study "
                "without."
            )
        options["weights"] = material.weights
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if takes(estimator, "callback"):
            stopped = threading.Event()
            options["callback"] = [*listeners_of(callback), _Interrupt(stopped)]
            with catching_interrupt(stopped):
                refit(mds, material.data.fitted, n_free=n_free, **options)
        else:
            refit(mds, material.data.fitted, n_free=n_free, **options)
    seconds = time.perf_counter() - begun
    # Ctrl-C after the last search changes nothing.
    finished = not any(issubclass(warning.category, UnfinishedWarning) for warning in caught)
    messages = _messages(caught, finished, number)
    step = Step(
        number=number,
        estimator=estimator,
        # What the fit decided instead of "auto": the study comes to the same map again.
        params={**params, "adjust": bool(mds.adjusted_)},
        known=tuple(map(str, known.columns)),
        known_types=declared,
        embedding=_map_table(mds.embedding_, known.index),
        free_embedding=_map_table(mds.free_embedding_, known.index),
        known_map=_map_table(known_part_of(mds), known.index),
        coef=mds.coef_,
        importance=mds.importance_,
        imputed=mds.known_imputed_,
        stress=float(mds.stress_),
        shown_stress=float(mds.shown_stress_),
        known_stress=stress_of_known(mds),
        stress_se=float(getattr(mds, "stress_se_", 0.0)),
        solver=getattr(mds, "solver_", ""),
        leak=float(mds.leak_),
        free_leak=float(mds.free_leak_),
        leak_reference=float(mds.leak_reference_),
        stress_per_point=mds.stress_per_point_,
        warnings=tuple(f"{category.__name__}: {message}" for category, message in (*messages, *_doubts(mds))),
        converged=bool(getattr(mds, "converged_", True)),  # a closed form has no search
        finished=finished,
        seconds=seconds,
        versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    )
    # Before the step is kept: where warnings are errors, the study stays as it was.
    for category, message in messages:
        warn_user(message, category)
    return step


def _doubts(mds: Any) -> list[tuple[type[Warning], str]]:
    """Return a warning if the map fits no better than maps of the same dissimilarities in random order.

    The step keeps it for the page, the report and the command line; in Python, ``summary()`` of the estimator says it.
    """
    if not mds.n_components or not getattr(mds, "converged_", True):
        return []
    chance = random_fits(mds)
    if not len(chance.values) or mds.stress_ <= max(chance.median, FITS_ANYTHING):
        return []
    message = (
        f"the map is no better than chance: its stress is {mds.stress_:.2g}, that of the same dissimilarities in "
        f"random order {chance.median:.2g}. Are these similarities? Large numbers must mean dissimilar; "
        "similarity_to_dissimilarity converts them, and so does --similarity of the command line."
    )
    return [(MapWarning, message)]


class _Interrupt(Listener):
    """Ends a fit with the best map so far when Ctrl-C was pressed."""

    silent = True

    def __init__(self, stopped: threading.Event) -> None:
        self.is_due = stopped.is_set  # type: ignore[method-assign]

    def update(self, _: Progress) -> bool:
        return self.is_due()


def _messages(caught: list[warnings.WarningMessage], finished: bool, number: int) -> list[tuple[type[Warning], str]]:
    """Return the warnings of a fit; of an interrupted one that it is unfinished, not that it has not converged."""
    all_messages = [(warning.category, str(warning.message)) for warning in caught]
    if finished:
        return all_messages
    others = [pair for pair in all_messages if not issubclass(pair[0], ConvergenceWarning | UnfinishedWarning)]
    message = (
        f"the fit of step {number} was interrupted; its map is unfinished: look at it, or take it back with undo()."
    )
    return [*others, (UnfinishedWarning, message)]


def _map_table(embedding: Any, objects: pd.Index) -> pd.DataFrame:
    axes = pd.Index([f"axis{c + 1}" for c in range(embedding.shape[1])], dtype="str")
    return pd.DataFrame(embedding.astype(float), index=objects, columns=axes)
