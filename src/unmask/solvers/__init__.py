"""One iteration loop with plug-in rules, the closed form, starts, canonical form, and placing new objects."""

from ._canonical import (
    axis_signs,
    canonical_by_component,
    canonical_map,
    ordered_axes,
    ordering_turn,
    principal_axes,
    principal_turn,
    side_by_side,
)
from ._closed_form import ClosedForm, closed_form
from ._interrupt import hearing_interrupt
from ._loop import Callback, Reason, Rule, Solution, minimise
from ._objective import Objective, Point, make_objective
from ._rules import RULES, Lbfgs, Smacof
from ._stages import Curvilinear, Settings, Stage, curvilinear, within_errors
from ._starts import (
    Attempt,
    Start,
    attempt_all,
    automatic_number,
    best_of,
    given_start,
    make_starts,
    warned_of_interruption,
    was_cut_short,
)

__all__ = [
    "RULES",
    "Attempt",
    "Callback",
    "ClosedForm",
    "Curvilinear",
    "Lbfgs",
    "Objective",
    "Point",
    "Reason",
    "Rule",
    "Settings",
    "Smacof",
    "Solution",
    "Stage",
    "Start",
    "attempt_all",
    "automatic_number",
    "axis_signs",
    "best_of",
    "canonical_by_component",
    "canonical_map",
    "closed_form",
    "curvilinear",
    "given_start",
    "hearing_interrupt",
    "make_objective",
    "make_starts",
    "minimise",
    "ordered_axes",
    "ordering_turn",
    "principal_axes",
    "principal_turn",
    "side_by_side",
    "warned_of_interruption",
    "was_cut_short",
    "within_errors",
]
