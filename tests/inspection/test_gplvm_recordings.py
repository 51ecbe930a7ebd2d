"""Scores of the spectral methods: on simulated recordings, and on those of the paper against independent prototypes."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from tests import recordings
from unmask import SpectralMap
from unmask.dissimilarities import (
    AcyclicLocallyLinear,
    DisconnectedGraphWarning,
    Drill,
    Geodesic,
    LaplacianEigenmaps,
    LocallyLinear,
    MaximumEntropyUnfolding,
    MaximumVarianceUnfolding,
    drill_path,
)
from unmask.inspection import gplvm_score

METHODS = {
    "classical": lambda k: None,
    "isomap": Geodesic,
    "alle": AcyclicLocallyLinear,
    "mvu": MaximumVarianceUnfolding,
    "mvu edges": lambda k: MaximumVarianceUnfolding(k, angles=False),
    "drill": lambda k: Drill(k, penalty=0.0),
    "meu": MaximumEntropyUnfolding,
    "le": LaplacianEigenmaps,
    "lle": LocallyLinear,
}
# Score of the prototype on each recording, and by which share ours may differ. Those with one answer agree to rounding;
# unfolding depends on how exactly the pairs are kept.
TABLE = [
    ("classical", 2841, 1328, 1e-3),
    ("isomap", 3812, 2201, 1e-3),
    ("alle", 3817, 1672, 1e-3),
    ("drill", 3334, 1932, 1e-3),
    ("meu", 3134, 2091, 2e-3),
    ("mvu", 4023, 2270, 2e-2),
    ("mvu edges", 3810, 2268, 2e-2),
]

needs_run = recordings.needs(recordings.RECORDED["recorded run"])
needs_both = recordings.needs(*recordings.RECORDED.values())


@pytest.fixture(scope="module")
def score():
    """Return the score of a method on a recording; each is computed once."""
    found = {}

    def of(name, recording):
        if (name, recording) not in found:
            Y, k = recordings.load(recording), recordings.neighbours(recording)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DisconnectedGraphWarning)  # of LLE
                found[name, recording] = gplvm_score(SpectralMap(METHODS[name](k)).fit(Y), Y)
        return found[name, recording]

    return of


@pytest.mark.parametrize("data", recordings.SIMULATED)
def test_scores_of_known_maps_are_those_of_scikit_learn_s(score, data):
    Y = recordings.load(data)
    theirs = {"classical": PCA(2), "isomap": Isomap(n_neighbors=recordings.neighbours(data))}
    for name, reducer in theirs.items():
        assert score(name, data) == pytest.approx(gplvm_score(reducer.fit_transform(Y), Y), rel=1e-3)


@pytest.mark.parametrize("data", recordings.SIMULATED)
@pytest.mark.parametrize("name", ["isomap", "alle", "mvu", "mvu edges", "drill", "meu"])
def test_unfolding_explains_more_than_a_plane(score, name, data):
    assert score(name, data) > score("classical", data) + 500


@needs_both
@pytest.mark.parametrize(("name", "run", "robot", "share"), TABLE)
def test_scores_are_those_of_the_prototypes(score, name, run, robot, share):
    assert score(name, "recorded run") == pytest.approx(run, rel=share)
    assert score(name, "recorded robot") == pytest.approx(robot, rel=share)


@needs_run
def test_the_paper_s_groups_on_the_run(score):
    better = ["isomap", "alle", "mvu", "mvu edges", "drill", "meu"]
    worse = ["lle", "le"]
    assert min(score(name, "recorded run") for name in better) > max(score(name, "recorded run") for name in worse)
    # Without a ridge locally linear embedding is the prototype's. Eigenmaps are scikit-learn's (see the methods' tests)
    # but not the prototype's: 2787 against 2471, and 1846 against 1345 on the robot's; why is not known.
    assert score("lle", "recorded run") == pytest.approx(1796, rel=2e-3)


def scores_along(data, n_neighbors, penalties):
    Y = recordings.load(data)
    path = drill_path(Drill(n_neighbors), Y, penalties)
    assert all(fit.converged_ for fit in path)
    maps = [SpectralMap(_Fitted(fit)).fit(Y) for fit in path]
    return np.array([gplvm_score(placed, Y) for placed in maps])


class _Fitted:
    """A transformer whose fit is done."""

    def __init__(self, fit):
        self.dissimilarities_ = fit.dissimilarities_

    def fit(self, X):
        return self

    def transform(self, X):
        raise NotImplementedError

    def __sklearn_clone__(self):
        return self


def test_scores_along_a_path_are_those_of_single_fits():
    penalties = (0.01, 0.002, 0.001)
    scores = scores_along("simulated run", 20, penalties)
    assert np.all(np.diff(scores) > 500)  # the penalty matters here
    Y = recordings.load("simulated run")
    alone = gplvm_score(SpectralMap(Drill(20, penalty=penalties[-1])).fit(Y), Y)
    assert scores[-1] == pytest.approx(alone, rel=1e-3)


@needs_run
def test_with_twenty_neighbours_the_score_peaks_at_a_penalty_of_a_hundredth():
    penalties = (0.05, 0.02, 0.01, 0.005, 0.002)
    scores = scores_along("recorded run", 20, penalties)
    assert penalties[int(np.argmax(scores))] == 0.01
    assert scores.max() == pytest.approx(3206, rel=2e-3)
    assert scores.max() > 1.05 * np.sort(scores)[-2]


@needs_run
@pytest.mark.slow
def test_with_all_pairs_two_thousandths_is_a_shallow_local_peak_only():
    """The prototypes' peak at 0.002 is there on a grid of factors of two, but less than 1 high, and not the highest.

    On a finer grid 0.0015 scores 0.2 more than 0.002. With no penalty the field is the data themselves, whose classical
    map scores 2841; on the way there the score exceeds that of the peak.
    """
    above, peak, below, least = scores_along("recorded run", None, (0.004, 0.002, 0.001, 0.0002))
    assert above < peak - 1
    assert 0 < peak - below < 1
    assert least > peak
    assert [peak, below, least] == pytest.approx([2841] * 3, abs=2)
