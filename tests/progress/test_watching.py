"""Who hears of which iterations."""

import numpy as np
import pytest

from unmask import ConditionalMDS, UnfinishedWarning
from unmask.datasets import load_kinship
from unmask.progress import Listener


class Seldom(Listener):
    """Hears of every tenth iteration, until there is something to say."""

    def __init__(self, stop_after=10**9):
        self.asked, self.heard, self.ended, self.stop_after = 0, [], 0, stop_after

    def is_due(self):
        self.asked += 1
        return self.asked % 10 == 0

    def update(self, progress):
        self.heard.append((progress.stress, progress.embedding()))
        return len(self.heard) >= self.stop_after

    def end(self, progress, converged):
        self.ended += 1


def fit(callback):
    mds = ConditionalMDS(metric="precomputed", n_init=5, random_state=0)
    return mds.fit(load_kinship().dissimilarities, callback=callback)


def test_who_is_seldom_due_hears_of_few_iterations_and_of_every_end():
    seldom, every = Seldom(), []
    watched = fit(seldom)
    both = Seldom()
    np.testing.assert_array_equal(
        watched.embedding_, fit([both, lambda progress: every.append(progress.stress)]).embedding_
    )
    assert len(seldom.heard) == seldom.asked // 10
    assert seldom.asked == len(every)
    assert seldom.ended == 5
    assert len(both.heard) == len(every), "who hears beside others hears what they hear"


def test_who_is_due_may_end_the_fit():
    seldom = Seldom(stop_after=2)
    with pytest.warns(UnfinishedWarning):
        mds = fit(seldom)
    assert len(seldom.heard) == 2
    assert len(mds.stress_path_) <= 20
