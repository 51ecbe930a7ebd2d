"""How long a fit still takes, and the line that shows it."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest

from unmask import ConditionalMDS, GeneralMDS, Progress, ProgressBar
from unmask.progress import TimeLeft
from unmask.progress._time_left import WINDOW, iterations_left


class Clock:
    """Goes on by a second with every iteration."""

    now = 0.0

    def __call__(self):
        return self.now


def heard(path, *, start=1, n_starts=1, max_iter=1000, tol=1e-6, time=None, clock=None):
    """Return what has heard a start, and its last iteration."""
    clock = clock or Clock()
    time = time or TimeLeft(clock)
    for iteration, stress in enumerate(path):
        clock.now += iteration > 0
        at = Progress("search", iteration, stress, start, n_starts, max_iter=max_iter, tol=tol)
        time.hear(at)
    return time, at


def falling(factor, n):
    """Return a stress whose decreases are 1, factor, factor^2 …"""
    return (2.0 - np.concatenate([[0.0], np.cumsum(factor ** np.arange(n))])).tolist()


@pytest.mark.parametrize("factor", [0.5, 0.9])
def test_a_steady_fall_tells_when_it_will_be_below_tol(factor):
    time, at = heard(falling(factor, 12))
    left = time.left(at)
    # The decrease k is factor^(k - 1); the first below tol, after two more small ones.
    expected = math.log(1e-6) / math.log(factor) - 11 + 3
    assert left.seconds == pytest.approx(expected, rel=1e-6)
    assert str(left).startswith("about ")
    assert left.done == pytest.approx(12 / (12 + expected), rel=1e-6)


@pytest.mark.parametrize(
    ("path", "tol"),
    [(falling(0.5, 3), 1e-6), (falling(1.1, 12), 1e-6), (falling(0.5, 12), 0.0)],
    ids=["few", "no slower", "no tol"],
)
def test_where_the_fall_does_not_tell_max_iter_is_what_is_sure(path, tol):
    time, at = heard(path, tol=tol, max_iter=100)
    left = time.left(at)
    assert left.seconds == pytest.approx(100 - at.iteration)
    assert str(left).startswith("at most ")
    assert "at most" in str(left)
    assert "max_iter" in str(left)


def test_a_slow_fall_is_never_expected_beyond_max_iter():
    time, at = heard(falling(0.99, 30), max_iter=50)
    assert time.left(at).seconds == pytest.approx(20)


def test_starts_that_have_not_begun_take_as_long_as_those_that_ended():
    clock = Clock()
    time, at = heard(falling(0.5, 22), n_starts=5, clock=clock)
    time.end(at, True)
    time, at = heard(falling(0.5, 10), start=2, n_starts=5, time=time, clock=clock)
    own = iterations_left(falling(0.5, 10), 1e-6)
    left = time.left(at)
    assert left.seconds == pytest.approx(own + 3 * 22)
    assert left.done == pytest.approx((1 + 10 / (10 + own)) / 5)


def test_starts_side_by_side_share_those_to_come():
    clock = Clock()
    time, at = heard(falling(0.5, 22), n_starts=5, clock=clock)
    time.end(at, True)
    time, _ = heard([1.0], start=2, n_starts=5, time=time, clock=clock)
    time, at = heard(falling(0.5, 10), start=3, n_starts=5, time=time, clock=clock)
    assert time.left(at).seconds == pytest.approx(iterations_left(falling(0.5, 10), 1e-6) + 2 * 22 / 2)


def test_iterations_that_nobody_heard_of_count():
    path = falling(0.9, 60)
    every = list(range(0, 61, 6))
    some = iterations_left([path[at] for at in every], 1e-6, every)
    assert some == pytest.approx(iterations_left(path, 1e-6), rel=0.1)


def test_before_an_iteration_nothing_is_said():
    time, at = heard([1.0])
    assert math.isnan(time.left(at).seconds)
    assert str(time.left(at)) == ""


def test_real_fits_take_about_as_many_iterations_as_expected(rng):
    ratios = []
    for _ in range(15):
        mds = ConditionalMDS(n_init=1, random_state=0).fit(rng.standard_normal((60, 4)))
        at = mds.n_iter_ // 2
        expected = iterations_left(mds.stress_path_[max(at - WINDOW, 0) : at + 1].tolist(), mds.tol)
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


# ---- the line


def test_the_line_says_where_the_fit_is_and_goes(rng):
    shown = io.StringIO()
    mds = ConditionalMDS(n_init=3, random_state=0)
    mds.fit(rng.standard_normal((40, 3)), callback=ProgressBar(shown))
    lines = shown.getvalue().split("\r")
    assert "start 1 of 3, iteration 0, stress " in lines[1]
    assert lines[-1] == ""
    assert lines[-2].strip() == ""


def test_the_line_goes_when_a_fit_breaks_off(rng):
    shown = io.StringIO()

    def fail(progress):
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        ConditionalMDS().fit(rng.standard_normal((40, 3)), callback=[ProgressBar(shown), fail])
    assert shown.getvalue().endswith("\r")


def test_where_it_is_known_when_the_next_look_is_this_is_said():
    time, at = heard(falling(0.5, 12))
    left = time.left(replace(at, ahead=8))
    assert left.seconds == pytest.approx(8)
    assert str(left) == "at least 8 s left, then it is seen whether it still falls"
