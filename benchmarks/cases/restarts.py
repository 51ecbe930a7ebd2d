"""Case 8: ten starts of thirty objects, after compilation."""

from __future__ import annotations

from functools import partial

from ..data import N_UNKNOWN, dissimilarities, known
from ..measure import OURS, Results, clock
from ..ours import fit_conditional
from ..peers import SKLEARN, quiet
from ..plan import Plan

CASE = "restarts"
TASK = "10 starts, p = 3"
SIDE_BY_SIDE = 400


def _sklearn(n: int) -> None:
    from sklearn.manifold import smacof

    with quiet():
        smacof(dissimilarities(n), n_components=N_UNKNOWN, n_init=10, random_state=0, normalized_stress=False)


def run(results: Results, plan: Plan) -> None:
    """Time the second and later fits; scikit-learn solves the problem without known features."""
    n = 30
    ten = partial(fit_conditional, n, n_init=10)
    ten()
    results.add(clock(ten, 5 * plan.repeats).named(CASE, TASK, OURS, known(n).shape[0]))
    results.add(clock(lambda: _sklearn(n), plan.repeats).named(CASE, TASK, SKLEARN, n))
    # From some 200 objects on starts are followed side by side: one thread against all.
    for jobs in (1, None):
        many = partial(fit_conditional, SIDE_BY_SIDE, n_init=20, n_jobs=jobs)
        who = f"{OURS} (one thread)" if jobs == 1 else OURS
        results.add(clock(many, plan.repeats).named(CASE, "20 starts, p = 3", who, SIDE_BY_SIDE))
