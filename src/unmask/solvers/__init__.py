"""One iteration loop with plug-in rules, the closed form, starts, canonical form, and placing new objects."""

from ..problem import register_scheme
from ._canonical import (
    axis_signs,
    canonical_map,
    ordered_axes,
    ordering_turn,
    principal_axes,
    principal_turn,
)
from ._closed_form import closed_form
from ._loop import Reason, SearchSettings, Solution, Stage, catching_interrupt, minimise, run_stage
from ._objective import Objective, Point, make_objective
from ._rules import RULES, Lbfgs
from ._stages import CurvilinearWeights, within_errors
from ._starts import (
    PARALLEL_FROM,
    Attempt,
    Start,
    attempt_all,
    automatic_n_starts,
    best_of,
    given_start,
    make_starts,
    saved_start,
    warned_of_interruption,
    was_cut_short,
    with_saved,
)
from ._stochastic import LANDMARKS, descend, fit_landmarks, place_others

__all__ = [
    "LANDMARKS",
    "PARALLEL_FROM",
    "RULES",
    "Attempt",
    "Lbfgs",
    "Objective",
    "Point",
    "Reason",
    "SearchSettings",
    "Solution",
    "Stage",
    "Start",
    "attempt_all",
    "automatic_n_starts",
    "axis_signs",
    "best_of",
    "canonical_map",
    "catching_interrupt",
    "closed_form",
    "descend",
    "fit_landmarks",
    "given_start",
    "make_objective",
    "make_starts",
    "minimise",
    "ordered_axes",
    "ordering_turn",
    "place_others",
    "principal_axes",
    "principal_turn",
    "run_stage",
    "saved_start",
    "warned_of_interruption",
    "was_cut_short",
    "with_saved",
    "within_errors",
]

register_scheme(CurvilinearWeights())  # a scheme that is a stage of the search
