"""Scores of the spectral methods on the recordings of the paper, against those of independent prototypes."""

import warnings
from pathlib import Path

import numpy as np
import pytest

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

DATA = Path(__file__).parents[2] / "../shared/data"
FILES = {"motion": ("motion_55x102.npy", 6), "robot": ("robot_wifi_215x30.npy", 7)}
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

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the recordings are not shipped")


@pytest.fixture(scope="module")
def score():
    """Return the score of a method on a recording; each is computed once."""
    found = {}

    def of(name, recording):
        if (name, recording) not in found:
            file, k = FILES[recording]
            Y = np.load(DATA / file)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DisconnectedGraphWarning)  # of LLE
                found[name, recording] = gplvm_score(SpectralMap(METHODS[name](k)).fit(Y), Y)
        return found[name, recording]

    return of


@pytest.mark.parametrize(("name", "motion", "robot", "share"), TABLE)
def test_scores_are_those_of_the_prototypes(score, name, motion, robot, share):
    assert score(name, "motion") == pytest.approx(motion, rel=share)
    assert score(name, "robot") == pytest.approx(robot, rel=share)


def test_the_paper_s_groups_on_the_motion_data(score):
    better = ["isomap", "alle", "mvu", "mvu edges", "drill", "meu"]
    worse = ["lle", "le"]
    assert min(score(name, "motion") for name in better) > max(score(name, "motion") for name in worse)
    # Without a ridge locally linear embedding is the prototype's. Eigenmaps are scikit-learn's (see the methods' tests)
    # but not the prototype's: 2787 against 2471, and 1846 against 1345 on the robot's; why is not known.
    assert score("lle", "motion") == pytest.approx(1796, rel=2e-3)


def scores_along(n_neighbors, penalties):
    Y = np.load(DATA / "motion_55x102.npy")
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


def test_with_twenty_neighbours_the_score_peaks_at_a_penalty_of_a_hundredth():
    penalties = (0.05, 0.02, 0.01, 0.005, 0.002)
    scores = scores_along(20, penalties)
    assert penalties[int(np.argmax(scores))] == 0.01
    assert scores.max() == pytest.approx(3206, rel=2e-3)
    assert scores.max() > 1.05 * np.sort(scores)[-2]


@pytest.mark.simulation
def test_with_all_pairs_two_thousandths_is_a_shallow_local_peak_only():
    """The prototypes' peak at 0.002 is there on a grid of factors of two, but less than 1 high, and not the highest.

    On a finer grid 0.0015 scores 0.2 more than 0.002. With no penalty the field is the data themselves, whose classical
    map scores 2841; on the way there the score exceeds that of the peak.
    """
    above, peak, below, least = scores_along(None, (0.004, 0.002, 0.001, 0.0002))
    assert above < peak - 1
    assert 0 < peak - below < 1
    assert least > peak
    assert [peak, below, least] == pytest.approx([2841] * 3, abs=2)
