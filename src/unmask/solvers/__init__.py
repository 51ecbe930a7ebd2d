"""One iteration loop with rules that propose steps, the closed form, starts, and the canonical form of a map."""

from ..problem import register_scheme
from ._canonical import axis_signs as axis_signs
from ._canonical import canonical_map as canonical_map
from ._canonical import ordered_axes as ordered_axes
from ._canonical import ordering_turn as ordering_turn
from ._canonical import principal_axes as principal_axes
from ._canonical import principal_turn as principal_turn
from ._closed_form import closed_form as closed_form
from ._loop import RULES as RULES
from ._loop import Lbfgs as Lbfgs
from ._loop import Objective as Objective
from ._loop import Point as Point
from ._loop import Reason as Reason
from ._loop import SearchSettings as SearchSettings
from ._loop import Solution as Solution
from ._loop import Stage as Stage
from ._loop import catching_interrupt as catching_interrupt
from ._loop import make_objective as make_objective
from ._loop import minimise as minimise
from ._stages import CurvilinearWeights
from ._stages import within_errors as within_errors
from ._starts import PARALLEL_FROM as PARALLEL_FROM
from ._starts import Start as Start
from ._starts import attempt_all as attempt_all
from ._starts import automatic_n_starts as automatic_n_starts
from ._starts import best_of as best_of
from ._starts import given_start as given_start
from ._starts import make_starts as make_starts
from ._starts import saved_start as saved_start
from ._starts import was_cut_short as was_cut_short
from ._starts import with_saved as with_saved
from ._stochastic import LANDMARKS as LANDMARKS
from ._stochastic import descend as descend
from ._stochastic import fit_landmarks as fit_landmarks
from ._stochastic import place_others as place_others

__all__ = ["RULES", "make_objective", "make_starts", "minimise"]  # for engines and solvers of your own

register_scheme(CurvilinearWeights())  # a scheme that is a stage of the search
