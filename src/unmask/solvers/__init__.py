"""One iteration loop with rules that propose steps, the closed form, starts, and the canonical form of a map."""

from ..problem import register_scheme
from ._canonical import axis_signs, canonical_map, ordered_axes, ordering_turn, principal_axes, principal_turn
from ._closed_form import closed_form
from ._loop import (
    RULES,
    Lbfgs,
    Objective,
    Point,
    Reason,
    SearchSettings,
    Solution,
    Stage,
    catching_interrupt,
    make_objective,
    minimise,
)
from ._stages import CurvilinearWeights, within_errors
from ._starts import (
    PARALLEL_FROM,
    Start,
    attempt_all,
    automatic_n_starts,
    best_of,
    given_start,
    make_starts,
    saved_start,
    was_cut_short,
    with_saved,
)
from ._stochastic import LANDMARKS, descend, fit_landmarks, place_others

__all__ = [
    "LANDMARKS",
    "PARALLEL_FROM",
    "RULES",
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
    "saved_start",
    "was_cut_short",
    "with_saved",
    "within_errors",
]

register_scheme(CurvilinearWeights())  # a scheme that is a stage of the search
