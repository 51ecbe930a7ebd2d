"""The loop: why it stops."""

from tests.helpers import noisy_distances
from unmask.solvers import RULES, Reason, make_starts, minimise

from .problems import objective_for


def test_reasons_for_stopping(rng):
    objective, coded = objective_for(noisy_distances(rng, 20))
    (start,) = make_starts(objective, coded, "random", 1, rng)
    make_rule = RULES["lbfgs"](objective)
    short = minimise(objective, start.theta, make_rule(), tol=0, max_iter=2)
    assert short.reason is Reason.MAX_ITER
    assert not short.converged
    assert short.n_iter == 2
    stopped = minimise(objective, start.theta, make_rule(), tol=0, max_iter=99, callback=lambda i, *_: i == 3)
    assert stopped.reason is Reason.INTERRUPTED
    assert stopped.n_iter == 3
    exact = minimise(objective, start.theta, make_rule(), tol=0, max_iter=100_000)
    assert exact.reason is Reason.ROUNDING
    assert exact.converged
