"""Ctrl-C in a fit: the best map so far is kept, with one warning."""

import os
import signal

import numpy as np
import pytest

from unmask import ConditionalMDS, GeneralMDS, UnfinishedWarning
from unmask.inspection import scree
from unmask.solvers import Objective


@pytest.fixture
def interrupt_after(monkeypatch):
    """Return a function that lets Ctrl-C be pressed in a certain pass over the pairs."""
    evaluate = Objective.__call__

    def arrange(number):
        passes = []

        def interrupted(self, theta):
            passes.append(1)
            if len(passes) == number:
                raise KeyboardInterrupt
            return evaluate(self, theta)

        monkeypatch.setattr(Objective, "__call__", interrupted)

    return arrange


@pytest.mark.parametrize("estimator", [ConditionalMDS, GeneralMDS])
def test_the_best_map_so_far_is_kept(kinship, interrupt_after, estimator):
    interrupt_after(150)
    mds = estimator(2, metric="precomputed", n_init=20, random_state=0)
    with pytest.warns(UnfinishedWarning, match=r"the fit was interrupted in start \d+; its map is the best") as said:
        mds.fit(kinship.dissimilarities, known=kinship.known[["gender"]])
    assert len(said) == 1
    assert 1 < len(mds.starts_) < 20
    assert mds.starts_["reason"].iloc[-1] == "it was interrupted"
    assert (mds.starts_["reason"] == "it was interrupted").sum() == 1
    assert np.isfinite(mds.embedding_).all()
    value = "stress" if estimator is ConditionalMDS else "cost"
    assert getattr(mds, f"{value}_") == pytest.approx(mds.starts_[value].min())


def test_stages_end_too(rng, interrupt_after):
    X = rng.standard_normal((40, 3))
    whole = ConditionalMDS(1, weights="curvilinear", n_init=1, random_state=0).fit(X)
    passes = int(whole.starts_["passes"].sum())
    interrupt_after(passes + 10)
    with pytest.warns(UnfinishedWarning, match="interrupted in a stage that follows the starts; .* have all of it"):
        stopped = ConditionalMDS(1, weights="curvilinear", n_init=1, random_state=0).fit(X)
    assert stopped.stop_reason_ == "it was interrupted"
    assert stopped.radius_ > whole.radius_


def test_a_series_of_fits_ends_as_a_whole(kinship, interrupt_after):
    interrupt_after(150)
    with pytest.raises(KeyboardInterrupt):
        scree(ConditionalMDS(metric="precomputed", n_init=2, random_state=0), kinship.dissimilarities)


def test_a_line_per_start_as_soon_as_it_has_ended(kinship, capsys):
    mds = ConditionalMDS(2, metric="precomputed", n_init=3, random_state=0, verbose=1)
    mds.fit(kinship.dissimilarities)
    lines = capsys.readouterr().out.splitlines()
    starts = mds.starts_.itertuples()
    assert lines == [
        f"start {number} of 3, iteration {start.n_iter}, stress {start.stress:.6g} ({start.kind})"
        for number, start in enumerate(starts, 1)
    ]


@pytest.fixture
def heard():
    """Let Ctrl-C be heard: in a process that was started in the background it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


def raise_interrupt():
    raise KeyboardInterrupt


def telling(monkeypatch, act, number=3):
    """Let something happen in the line about a certain start."""
    lines = []

    def tell(line):
        lines.append(line)
        if len(lines) == number:
            act()

    monkeypatch.setattr("builtins.print", tell)
    return lines


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("act", [press, raise_interrupt])
@pytest.mark.parametrize("n_init", [3, 20])
def test_ctrl_c_between_two_starts_keeps_the_map(kinship, monkeypatch, act, n_init):
    lines = telling(monkeypatch, act)
    mds = ConditionalMDS(2, metric="precomputed", n_init=n_init, random_state=0, verbose=1)
    with pytest.warns(UnfinishedWarning, match="in start 3;") as said:
        mds.fit(kinship.dissimilarities)
    assert len(said) == 1
    assert len(lines) == len(mds.starts_) == 3
    assert mds.stress_ == pytest.approx(mds.starts_["stress"].min())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("estimator", [ConditionalMDS, GeneralMDS])
def test_ctrl_c_in_a_pass_ends_after_it(kinship, monkeypatch, estimator):
    evaluate, passes = Objective.__call__, []

    def interrupted(self, theta):
        if len(passes) == 150:
            press()
        point = evaluate(self, theta)
        passes.append(1)
        return point

    monkeypatch.setattr(Objective, "__call__", interrupted)
    mds = estimator(2, metric="precomputed", n_init=20, random_state=0)
    with pytest.warns(UnfinishedWarning):
        mds.fit(kinship.dissimilarities)
    assert 1 < len(mds.starts_) < 20
    assert (mds.starts_["reason"] == "it was interrupted").sum() == 1
    assert len(passes) > 150  # the pass came to its end: no exception in whatever was running


@pytest.mark.usefixtures("heard")
def test_a_second_ctrl_c_ends_at_once(kinship, monkeypatch):
    telling(monkeypatch, lambda: (press(), press()))
    with pytest.raises(KeyboardInterrupt):
        ConditionalMDS(2, metric="precomputed", n_init=20, verbose=1).fit(kinship.dissimilarities)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_ones_own_stays_in_place(kinship, monkeypatch):
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append("own"))
    try:
        telling(monkeypatch, press)
        mds = ConditionalMDS(2, metric="precomputed", n_init=5, verbose=1).fit(kinship.dissimilarities)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == ["own"]
    assert len(mds.starts_) == 5
