"""The time left of a fit."""

import math
from dataclasses import replace

import numpy as np
import pytest

from unmask import ConditionalMDS, GeneralMDS, Progress
from unmask.progress import TimeLeft


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
    # The decrease k is factor^(k - 1), and this is the share of its logarithm on the way to that of tol.
    share = 11 * math.log(factor) / math.log(1e-6)
    assert left.done == pytest.approx(share)
    assert left.seconds == pytest.approx(12 * (1 - share) / share)
    assert str(left).startswith("about ")


def test_before_an_iteration_nothing_is_said():
    time, at = followed([1.0])
    assert math.isnan(time.left(at).seconds)
    assert str(time.left(at)) == ""


@pytest.mark.parametrize(("each", "text"), [(1, "88 s"), (60, "88 min"), (3600, "88 h")])
def test_without_a_tolerance_every_iteration_is_made(each, text):
    clock = Clock()
    time, at = followed(falling(0.5, 12), tol=0.0, max_iter=100, clock=clock)
    clock.now = 12.0 * each
    assert str(time.left(at)) == f"about {text} left"


def test_a_slow_fall_is_never_expected_beyond_max_iter():
    time, at = followed(falling(0.99, 30), max_iter=50)
    assert time.left(at).seconds == pytest.approx(20)


def test_starts_that_have_not_begun_take_as_long_as_those_that_ended():
    clock = Clock()
    time, at = followed(falling(0.5, 20), n_starts=5, clock=clock)
    time.end(at, True)
    time, at = followed([1.0], start=2, n_starts=5, time=time, clock=clock)
    left = time.left(at)
    assert left.done == pytest.approx(1 / 5)
    assert left.seconds == pytest.approx(4 * 20)


def test_starts_side_by_side_count_each():
    clock = Clock()
    time, at = followed(falling(0.5, 11), start=1, n_starts=4, clock=clock)
    alone = time.left(at).done
    time, at = followed(falling(0.5, 11), start=2, n_starts=4, time=time, clock=clock)
    assert time.left(at).done == pytest.approx(2 * alone)


def test_iterations_that_were_not_due_count():
    path = falling(0.9, 60)
    every, some = followed(path)[0], TimeLeft(Clock())
    for iteration in range(0, 61, 6):
        at = Progress("search", iteration, path[iteration], 1, 1, max_iter=1000, tol=1e-6)
        some.update(at)
    assert some.left(at).done == pytest.approx(every.left(at).done, rel=0.1)


def test_real_fits_take_about_as_long_as_expected(rng):
    ratios = []
    for _ in range(15):
        mds = ConditionalMDS(n_init=1, random_state=0).fit(rng.standard_normal((60, 4)))
        half = mds.n_iter_ // 2
        time, at = followed(mds.stress_path_[: half + 1], tol=mds.tol)
        ratios.append(time.left(at).seconds / (mds.n_iter_ - half))
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
    at = replace(at, ahead=8)
    time.update(at)
    assert str(time.left(at)) == "about 8 s left"
