"""The time left of a fit."""

import math
from dataclasses import replace

import numpy as np
import pytest

from unmask import ConditionalMDS, GeneralMDS, Progress
from unmask.progress import TimeLeft, _bar
from unmask.progress._bar import WINDOW, iterations_left


class Clock:
    """Goes on by a second with every iteration."""

    now = 0.0

    def __call__(self):
        return self.now


def followed(path, *, start=1, n_starts=1, max_iter=1000, tol=1e-6, time=None, clock=None):
    """Return the time left of a start after its last iteration, and this iteration."""
    clock = clock or Clock()
    time = time or TimeLeft(clock)
    for iteration, stress in enumerate(path):
        clock.now += iteration > 0
        at = Progress("search", iteration, stress, start, n_starts, max_iter=max_iter, tol=tol)
        time.update(at)
    return time, at


def falling(factor, n):
    """Return a stress whose decreases are 1, factor, factor^2 …"""
    return (2.0 - np.concatenate([[0.0], np.cumsum(factor ** np.arange(n))])).tolist()


@pytest.mark.parametrize("factor", [0.5, 0.9])
def test_a_steady_fall_tells_when_it_will_be_below_tol(factor):
    time, at = followed(falling(factor, 12))
    left = time.left(at)
    # The decrease k is factor^(k - 1); the first below tol, after two more small ones.
    expected = math.log(1e-6) / math.log(factor) - 11 + 3
    assert left.seconds == pytest.approx(expected, rel=1e-6)
    assert str(left).startswith("about ")
    assert left.done == pytest.approx(12 / (12 + expected), rel=1e-6)


@pytest.mark.parametrize("path", [falling(0.5, 3), falling(1.1, 12)], ids=["few", "no slower"])
def test_no_time_is_given_where_the_fall_is_not_clear(path):
    time, at = followed(path)
    assert math.isnan(time.left(at).seconds)
    assert str(time.left(at)) == ""


def test_without_a_tolerance_every_iteration_is_made():
    time, at = followed(falling(0.5, 12), tol=0.0, max_iter=100)
    assert str(time.left(at)) == "about 88 s left"


@pytest.mark.parametrize(("factor", "text"), [(1, "88 s"), (60, "88 min"), (3600, "88 h")])
def test_the_time_has_a_unit_for_people(factor, text):
    assert str(_bar.Left(0.5, 88.0 * factor)) == f"about {text} left"


def test_a_slow_fall_is_never_expected_beyond_max_iter():
    time, at = followed(falling(0.99, 30), max_iter=50)
    assert time.left(at).seconds == pytest.approx(20)


def test_starts_that_have_not_begun_take_as_long_as_those_that_ended():
    clock = Clock()
    time, at = followed(falling(0.5, 22), n_starts=5, clock=clock)
    time.end(at, True)
    time, at = followed(falling(0.5, 10), start=2, n_starts=5, time=time, clock=clock)
    own = iterations_left(falling(0.5, 10), range(11), 1e-6)
    left = time.left(at)
    assert left.seconds == pytest.approx(own + 3 * 22)
    assert left.done == pytest.approx((1 + 10 / (10 + own)) / 5)


def test_starts_side_by_side_share_those_to_come():
    clock = Clock()
    time, at = followed(falling(0.5, 22), n_starts=5, clock=clock)
    time.end(at, True)
    time, _ = followed([1.0], start=2, n_starts=5, time=time, clock=clock)
    time, at = followed(falling(0.5, 10), start=3, n_starts=5, time=time, clock=clock)
    assert time.left(at).seconds == pytest.approx(iterations_left(falling(0.5, 10), range(11), 1e-6) + 2 * 22 / 2)


def test_iterations_that_were_not_due_count():
    path = falling(0.9, 60)
    every = list(range(0, 61, 6))
    some = iterations_left([path[at] for at in every], every, 1e-6)
    assert some == pytest.approx(iterations_left(path, range(61), 1e-6), rel=0.1)


def test_before_an_iteration_nothing_is_said():
    time, at = followed([1.0])
    assert math.isnan(time.left(at).seconds)
    assert str(time.left(at)) == ""


def test_real_fits_take_about_as_many_iterations_as_expected(rng):
    ratios = []
    for _ in range(15):
        mds = ConditionalMDS(n_init=1, random_state=0).fit(rng.standard_normal((60, 4)))
        at = mds.n_iter_ // 2
        last = range(max(at - WINDOW, 0), at + 1)
        expected = iterations_left(mds.stress_path_[last].tolist(), last, mds.tol)
        ratios += [] if expected is None else [expected / (mds.n_iter_ - at)]
    assert len(ratios) > 7
    assert 0.5 < np.median(ratios) < 2


@pytest.mark.parametrize("estimator", [ConditionalMDS(n_init=1), GeneralMDS(n_init=1, loss="huber")], ids=str)
def test_a_fit_ends_when_its_stress_falls_by_less_than_tol(estimator, rng):
    path = []
    estimator.set_params(random_state=0).fit(rng.standard_normal((40, 3)), callback=path.append)
    falls = -np.diff([progress.stress for progress in path])
    assert (falls[-3:] < path[-1].tol).all()
    assert falls[-4] >= path[-1].tol


def test_the_stochastic_solver_says_when_it_checks_next():
    time, at = followed(falling(0.5, 12))
    assert str(time.left(replace(at, ahead=8))) == "about 8 s left"
