"""Case 7: a fit with general weights against one with unit weights, each to its own best stress plus 1e-6."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..measure import OURS, Results
from ..ours import MARGIN, best_stress, fit_conditional, some_weights, time_to
from ..plan import Plan

CASE = "weights"
TASK = "to the best stress + 1e-6, p = 3, q = 4"
FACTOR_UP_TO = 2000


def who(kind: str) -> str:
    """Return the name of a contender."""
    return OURS if kind == "unit" else f"{OURS} ({kind} weights)"


def run(results: Results, plan: Plan) -> None:
    """Time three kinds of weights at the main size."""
    n = plan.main
    kinds: dict[str, dict[str, Any]] = {"unit": {}, "sammon": {"weights": "sammon"}, "array": {"W": some_weights(n)}}
    for kind, options in kinds.items():
        make = partial(fit_conditional, n, **options)
        goal = best_stress(make, 1) + MARGIN
        results.add(time_to(goal, make, 3).named(CASE, TASK, who(kind), n))
    _factor_or_preconditioner(results, min(n, FACTOR_UP_TO))


def _factor_or_preconditioner(results: Results, n: int) -> None:
    """Compare a Cholesky factor of H in memory (plain SMACOF) with H's diagonal as a preconditioner (the default)."""
    for solver, name in (("lbfgs", "diagonal of H"), ("smacof", "Cholesky factor of H")):
        make = partial(fit_conditional, n, weights="sammon", solver=solver)
        goal = best_stress(partial(fit_conditional, n, weights="sammon"), 1) + MARGIN
        results.add(time_to(goal, make, 1).named(CASE, f"{TASK}, Sammon weights", f"{OURS} ({name})", n))
