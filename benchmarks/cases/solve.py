"""Case 2: time and passes from default starts to the best stress anybody found, plus 1e-6 (normalised)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..data import N_FEATURES, N_KNOWN, dissimilarities
from ..measure import OURS, Measurement, Results
from ..ours import MARGIN, best_stress, fit, fit_conditional, time_to
from ..peers import CML, CML_QUOTED_N, CML_QUOTED_SECONDS, PYMDE, SKLEARN, Watch, optional, pymde_to, sklearn_to
from ..plan import Plan

CASE = "solve"
PYMDE_UP_TO = 5000  # its list of pairs and their temporaries take some 10 GB at 10000


def task(p: int, q: int = 0, dtype: str = "float64") -> str:
    """Return the name of a problem."""
    return f"to the best stress + 1e-6, p = {p}, q = {q}, {dtype}"


def same_task(p: int) -> str:
    """Return the name of the problem of reaching what scikit-learn reached."""
    return f"to the stress scikit-learn had at its end, p = {p}"


def _unconditional(results: Results, n: int, p: int, limit: float) -> None:
    """Ordinary MDS, which scikit-learn can do too."""
    D = dissimilarities(n)
    make = partial(fit, D, p)
    goal = best_stress(make, 4 if n <= 2000 else 1) + MARGIN
    repeats = 3 if n <= 5000 else 1
    results.add(time_to(goal, make, repeats).named(CASE, task(p), OURS, n))
    single = partial(fit, dissimilarities(n, "float32"), p)
    results.add(time_to(goal, single, repeats).named(CASE, task(p), f"{OURS} (float32)", n))
    watch = Watch(goal, limit)
    theirs = results.add(sklearn_to(D, p, watch).named(CASE, task(p), SKLEARN, n))
    if not watch.reached:  # so that nobody has to believe in a lower bound: the same stress for both
        results.add(time_to(watch.stress, make, repeats).named(CASE, same_task(p), OURS, n))
        results.add(replace(theirs, bound=False).named(CASE, same_task(p), SKLEARN, n))


def _pymde(results: Results, n: int, p: int, limit: float) -> None:
    """Let PyMDE solve the same problem."""
    pymde = optional("pymde", results)
    if pymde is not None and n <= PYMDE_UP_TO:
        goal = best_stress(partial(fit, dissimilarities(n), p), 1) + MARGIN
        timed = pymde_to(pymde, dissimilarities(n), p, Watch(goal, limit))
        results.add(timed.named(CASE, task(p), PYMDE, n))


def _from_closed_form(results: Results, n: int, plan: Plan) -> None:
    """Give scikit-learn the same closed-form start for nothing: what is left is the iteration."""
    from unmask import ConditionalClassicalMDS

    D = dissimilarities(n)
    goal = best_stress(partial(fit, D, N_FEATURES), 1) + MARGIN
    start = ConditionalClassicalMDS(N_FEATURES, metric="precomputed").fit_transform(D)
    timed = sklearn_to(D, N_FEATURES, Watch(goal, plan.limit), np.ascontiguousarray(start))
    results.add(timed.named(CASE, task(N_FEATURES), f"{SKLEARN} (given our start)", n))


def _conditional(results: Results, n: int) -> None:
    """Three unknown features given four known ones: nobody but cml can do it; SMACOF's passes stand for cml's."""
    make = partial(fit_conditional, n)
    goal = best_stress(make, 1) + MARGIN
    p, q = N_FEATURES - N_KNOWN, N_KNOWN
    results.add(time_to(goal, make, 3).named(CASE, task(p, q), OURS, n))
    if n != CML_QUOTED_N:
        return
    plain = time_to(goal, make, 1, solver="smacof", init="random")
    results.add(plain.named(CASE, task(p, q), f"{OURS} (plain SMACOF, random start)", n))
    assert plain.value is not None
    measured = results.find("pass", "one pass, float64, unit weights", CML, CML_QUOTED_N)
    iteration = measured.wall if measured and measured.wall and not measured.quoted else CML_QUOTED_SECONDS
    note = f"{plain.value:.0f} passes of plain SMACOF from a random start, each {iteration:.2g} s"
    seconds, derived = plain.value * iteration, measured is None or measured.quoted
    quoted = Measurement(
        CASE, task(p, q), CML, n, seconds, seconds, plain.value, plain.bound, quoted=derived, note=note
    )
    results.add(quoted)


def run(results: Results, plan: Plan) -> None:
    """Go through the sizes in seven dimensions; then in two, the default of all, where minima are many."""
    for n in plan.solve_sizes:
        _conditional(results, n)
        # At the main size, of which a target speaks, scikit-learn may take the time that it needs to get there.
        _unconditional(results, n, N_FEATURES, plan.long_limit if n == plan.main else plan.limit)
        _pymde(results, n, N_FEATURES, plan.limit)
    _from_closed_form(results, min(plan.main, 2000), plan)
    for n, limit in {plan.solve_sizes[:2][-1]: plan.limit, plan.main: plan.long_limit}.items():
        _unconditional(results, n, 2, limit)
