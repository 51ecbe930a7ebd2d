"""Ctrl-C in a fit: the best map so far is kept, with one warning."""

import numpy as np
import pytest

from unmask import ConditionalMDS, GeneralMDS, UnfinishedMapWarning
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
    with pytest.warns(UnfinishedMapWarning, match=r"the fit was interrupted in start \d+; its map is the best") as said:
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
    with pytest.warns(UnfinishedMapWarning):
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
    assert [line.partition(":")[0] for line in lines] == [
        "start 1 of 3 (closed-form)",
        "start 2 of 3 (random)",
        "start 3 of 3 (random)",
    ]
    assert lines[0].endswith("iterations, the best so far")
    assert f"stress {mds.starts_['stress'][1]:.9g} after {mds.starts_['n_iter'][1]} iterations" in lines[1]
