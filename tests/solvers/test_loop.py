"""The loop: which steps it takes, and why it stops."""

import numpy as np
import pytest

from tests.helpers import noisy_distances
from unmask.solvers import RULES, Point, Reason, make_starts, minimise

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


# ---- with a function and a rule made by hand


class Parabola:
    """theta squared; a candidate of 99 is no number."""

    total = 4.0

    def __call__(self, theta):
        value = float("nan") if theta[0] == 99 else float(theta @ theta)
        return Point(theta, value, theta)


class Tries:
    """Proposes the given places, a list of them for each iteration, none of which may raise the value."""

    patience = 2

    def __init__(self, *places):
        self.places = iter(places)
        self.learnt = []

    def candidates(self, point):
        for place in next(self.places):
            yield np.array([place]), point.value

    def learn(self, old, new):
        self.learnt.append((old.theta[0], new.theta[0]))


def followed(rule, start=2.0, tol=0.0, max_iter=9, **options):
    return minimise(Parabola(), np.array([start]), rule, tol=tol, max_iter=max_iter, **options)


def test_the_first_candidate_that_does_not_rise_is_taken_and_learnt():
    rule = Tries([3.0, 1.0, 0.0], [0.5], [4.0, 5.0])
    solution = followed(rule)
    assert solution.path == (1.0, 0.25, 0.0625)  # shares of the total
    assert rule.learnt == [(2.0, 1.0), (1.0, 0.5)]
    assert solution.passes == 1 + 2 + 1 + 2
    assert solution.reason is Reason.ROUNDING  # no candidate of the third was any lower
    assert solution.theta == [0.5]


def test_it_takes_as_many_small_decreases_in_a_row_as_the_rule_has_patience():
    """A large fall starts the count anew: one small one before it and two after it make four iterations."""
    places = [[1.999], [1.0], [0.999], [0.998], [0.5]]
    solution = followed(Tries(*places), tol=0.1)
    assert solution.reason is Reason.SMALL_DECREASE
    assert solution.theta == [0.998]
    assert solution.n_iter == 4


def test_what_is_no_number_ends_it_at_the_last_place_that_has_one():
    solution = followed(Tries([1.0], [99.0]))
    assert solution.reason is Reason.NOT_FINITE
    assert not solution.converged
    assert solution.theta == [1.0]
    with pytest.raises(FloatingPointError, match="the stress at the start is nan"):
        followed(Tries(), start=99.0)


def test_a_callback_hears_of_the_start_and_of_every_iteration():
    heard = []
    solution = followed(Tries([1.0], [0.5]), max_iter=2, callback=lambda *call: heard.append(call) and False)
    assert [(iteration, value, *theta) for iteration, value, theta in heard] == [
        (0, 1.0, 2.0),
        (1, 0.25, 1.0),
        (2, 0.0625, 0.5),
    ]
    assert solution.reason is Reason.MAX_ITER


def test_a_callback_may_end_it_before_the_first_iteration():
    solution = followed(Tries(), callback=lambda *_: True)
    assert solution.reason is Reason.INTERRUPTED
    assert (solution.n_iter, solution.passes) == (0, 1)


def test_ctrl_c_in_a_pass_ends_it_where_it_is():
    class Interrupted(Tries):
        def candidates(self, point):
            yield from super().candidates(point)
            raise KeyboardInterrupt

    solution = followed(Interrupted([1.0], [3.0]))
    assert solution.reason is Reason.INTERRUPTED
    assert solution.theta == [1.0]
