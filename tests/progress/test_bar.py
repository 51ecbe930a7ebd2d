"""The bar: as a callback, and by itself where a fit takes some seconds and it can be seen."""

import io
import sys
import types
from contextlib import nullcontext, redirect_stderr
from threading import Thread

import numpy as np
import pytest

from unmask import Checkpoint, ConditionalIsomap, ConditionalMDS, ProgressBar
from unmask.cli import app
from unmask.datasets import load_kinship
from unmask.discovery import Discovery
from unmask.progress import Stopped, _bar, series

REMOVED = "\x1b[1A\x1b[2K"  # one line up, and erase it


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(fit, file=Terminal):
    """Return what a fit writes to a standard error that is a terminal, or another file."""
    with redirect_stderr(file()) as written:
        fit()
    return written.getvalue()


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_bar, "APPEARS", 0.0)
    monkeypatch.setattr(_bar, "BETWEEN", 0.0)


X = np.random.default_rng(0).standard_normal((30, 3))


def fit(**options):
    ConditionalMDS(n_init=2, random_state=0).fit(X, **options)


@pytest.mark.parametrize("fails", [False, True])
def test_a_bar_as_a_callback_shows_the_position_and_disappears(fails):
    other = io.StringIO()

    def stop(_):
        if fails:
            raise RuntimeError

    def watched():
        with pytest.raises(RuntimeError) if fails else nullcontext():
            fit(callback=[ProgressBar(), ProgressBar(other), stop])

    written = shown(watched)
    assert "start 1 of 2, iteration 0, stress " in written
    assert written.endswith(REMOVED)
    assert other.getvalue() == ""  # not a terminal


def test_the_bar_appears_on_a_terminal_and_disappears():
    written = shown(fit)
    assert "start 1 of 2, iteration 0, stress " in written
    assert written.endswith(REMOVED)


def test_a_fit_that_is_over_before_shows_nothing(monkeypatch):
    monkeypatch.setattr(_bar, "APPEARS", 1e6)
    assert shown(fit) == ""


def test_nothing_appears_where_it_cannot_be_seen():
    assert shown(fit, io.StringIO) == ""
    with redirect_stderr(None):  # a program without a console
        fit()


def test_a_notebook_shows_it(monkeypatch):
    lines, shell = [], types.SimpleNamespace(kernel=object())
    handle = types.SimpleNamespace(update=lambda content, raw: lines.append(content["text/plain"]))
    display = types.SimpleNamespace(display=lambda *content, **options: handle)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert shown(fit, io.StringIO) == ""
    assert any("start 1 of 2, iteration 0" in line for line in lines)
    assert lines[-1] == ""


def test_it_appears_in_the_middle_of_a_stage_without_iterations(monkeypatch):
    """The timer is called by hand, after the stage has begun."""
    timers, now = [], [0.0]

    class Timer:
        def __init__(self, seconds, function):
            self.seconds, self.function = seconds, function

        def start(self):
            timers.append(self)

        def cancel(self):
            timers.remove(self)

    monkeypatch.setattr(_bar, "APPEARS", 3.0)
    monkeypatch.setattr(_bar, "Timer", Timer)
    monkeypatch.setattr(_bar.time, "monotonic", lambda: now[0])
    with redirect_stderr(Terminal()) as terminal:
        (bar,), (timer,) = _bar.late_bars(), timers
        bar.begin("paths", 0)
        assert terminal.getvalue() == ""
        now[0] = timer.seconds
        timer.function()
        assert "paths" in terminal.getvalue()
        bar.close()
        assert not timers
        written = terminal.getvalue()
        assert written.endswith(REMOVED)
        timer.function()  # it was on its way when the fit ended
        assert terminal.getvalue() == written


@pytest.mark.parametrize(
    "other",
    [
        lambda: fit(callback=lambda progress: None),
        lambda: ConditionalMDS(n_init=1, random_state=0, verbose=1).fit(X),
    ],
    ids=["callback", "verbose"],
)
def test_there_is_no_bar_where_the_progress_is_shown(other):
    assert shown(other) == ""


@pytest.mark.parametrize(
    "other",
    [
        lambda path: fit(callback=Checkpoint(path / "fit.npz")),
        lambda path: Discovery(load_kinship().dissimilarities).fit(2, n_init=1),
        lambda path: ConditionalIsomap(n_init=1, random_state=0).fit(X),
    ],
    ids=["checkpoint", "study", "isomap"],
)
def test_it_appears_where_the_progress_is_not_shown(tmp_path, other):
    written = shown(lambda: other(tmp_path))
    assert "iteration" in written
    assert written.endswith(REMOVED)


def test_fits_in_threads_show_nothing():
    def in_a_thread():
        thread = Thread(target=fit)
        thread.start()
        thread.join()

    assert shown(in_a_thread) == ""


def test_the_command_line_stays_quiet_if_asked(tmp_path):
    load_kinship().dissimilarities.to_csv(tmp_path / "kin.csv")

    def command():
        with pytest.raises(SystemExit) as ended:
            app(["fit", str(tmp_path / "kin.csv"), "--quiet"])
        assert ended.value.code == 0

    assert shown(command) == ""


def test_a_series_of_fits_shows_its_parts_and_not_their_iterations():
    def outer():
        with series() as report:
            for done in range(3):
                report("fits", done, 3)
                fit()
                with series() as inner:
                    inner("within", 0, 1)

    written = shown(outer)
    assert "fits, 0 of 3" in written
    assert "67%" in written
    assert "iteration" not in written
    assert "within" not in written
    assert written.endswith(REMOVED)


def test_a_callback_receives_parts_and_iterations_and_ends_a_series():
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.kind == "part" and progress.iteration == 1

    def follow():
        with series(stop) as report:
            for done in range(3):
                report("fits", done, 3)
                fit()

    with pytest.raises(Stopped):
        follow()
    assert [progress.stage for progress in seen if progress.kind == "part"] == ["fits", "fits"]
    assert any(progress.stage == "search" for progress in seen)
