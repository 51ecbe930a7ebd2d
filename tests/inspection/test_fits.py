"""Fitting many times: starts that were found before, and no more of them than are needed."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalMDS
from unmask.inspection._fits import agreed, all_seen, make_setup, warm_start


@pytest.fixture
def setup(rng):
    D = squareform(pdist(rng.standard_normal((20, 3))))
    known = pd.DataFrame({"v": rng.standard_normal(20)}, index=[f"o{i}" for i in range(20)])
    labelled = pd.DataFrame(D, index=known.index, columns=known.index)
    model = ConditionalMDS(1, metric="precomputed", n_init=9, random_state=0)
    return make_setup("scree", model, labelled, known.iloc[::-1])


@pytest.mark.parametrize(("minima", "needed"), [(1, 8), (2, 17), (3, 30)])
def test_starts_are_enough_once_no_further_minimum_is_expected(minima, needed):
    """By hand: w (n - 1) / (n - w - 2) < w + 1/2 means n > (2 w + 1) (w + 2) - 2 w = 2 w^2 + 3 w + 2."""
    assert needed == 2 * minima**2 + 3 * minima + 3
    stresses = 0.1 + 0.01 * (np.arange(40) % minima)
    assert not all_seen(stresses[: needed - 1])
    assert all_seen(stresses[:needed])
    assert all_seen(stresses[:8] * (1 + 1e-8 * np.arange(8))) == (minima == 1)  # where they stop is not a minimum


def test_starts_agree_up_to_where_they_stop():
    assert agreed(np.array([0.1, 0.1 + 1e-8]))
    assert not agreed(np.array([0.1, 0.1 + 1e-6]))
    assert agreed(np.array([0.1, 0.1 + 1e-6]), 1e-3)


def test_starts_are_followed_until_they_are_enough(setup):
    """Two at first, then as many again: the given map and the closed form come first."""
    fitted = setup.fit()
    assert len(fitted.starts_) == 9
    given = [warm_start(fitted)] * 2
    for enough, kinds in (
        (lambda found: True, ["given", "closed-form"]),
        (lambda found: len(found) > 2, ["given", "closed-form", "given", "random"]),
        (lambda found: False, ["given", "closed-form", "given", *["random"] * 8]),
    ):
        again = setup.fit_from(given, None, enough)
        assert again.starts_["kind"].tolist() == kinds
        assert again.stress_ <= fitted.stress_ + 1e-9


def test_only_a_number_of_starts_that_is_left_to_the_estimator_is_cut(setup):
    assert len(setup.search().starts_) == 9
    assert setup.search().stress_ == setup.fit().stress_
    setup.estimator.set_params(n_init="auto", n_components=3)
    assert len(setup.fit().starts_) > 100
    assert setup.search().stress_ == pytest.approx(setup.fit().stress_, abs=1e-8)
    assert len(setup.search().starts_) < 100


def test_without_labels_the_known_features_are_in_the_order_of_the_objects(setup):
    plain = setup.unlabelled()
    assert plain.labels is None
    assert plain.fit().stress_ == setup.fit().stress_
    assert plain.unlabelled() is plain
