"""A callback of one's own, in one file: stop when the best start is good enough, and keep a film of the map."""

import numpy as np
import pytest

from unmask import ConditionalIsomap, ConditionalMDS, GeneralMDS, UnfinishedWarning


class GoodEnough:
    """Keeps the map of every iteration, and stops the fit at a given share of where the first start began."""

    def __init__(self, share):
        self.share, self.first, self.film = share, None, []

    def __call__(self, progress):
        if not progress.n_starts:  # a stage without iterations
            return False
        self.first = self.first or progress.stress
        self.film.append(progress.embedding())
        return progress.stress <= self.share * self.first


@pytest.mark.parametrize("make", [ConditionalMDS, ConditionalIsomap, GeneralMDS])
def test_it_stops_any_fit_that_iterates(make, rng):
    X = rng.standard_normal((40, 4))
    callback = GoodEnough(0.9)
    with pytest.warns(UnfinishedWarning):
        mds = make(init="random", n_init=3, random_state=0).fit(X, callback=callback)
    path = mds.cost_path_ if make is GeneralMDS else mds.stress_path_
    assert path[-1] <= 0.9 * callback.first < path[-2]
    assert len(callback.film) == mds.starts_["n_iter"].sum() + len(mds.starts_)
    np.testing.assert_allclose(callback.film[-1], mds.embedding_, atol=1e-9)
