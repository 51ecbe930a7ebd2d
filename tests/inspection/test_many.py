"""Inspection of many objects is refused with a way out before a table of all pairs is made."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tests.many import let_few_be_many, no_square, some_features
from unmask import ConditionalIsomap, ConditionalMDS, inspection
from unmask.dissimilarities import Metric
from unmask.inspection import bootstrap
from unmask.plotting import plot_shepard

pytestmark = pytest.mark.filterwarnings("ignore::unmask.LeakWarning")
STOCHASTIC = ConditionalMDS(2, solver="stochastic", n_init=1, tol=1e-5, random_state=0)


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Let a few thousand objects be many."""
    let_few_be_many(monkeypatch)


@pytest.fixture(scope="module")
def fitted():
    """Return a fit, its features and what was known."""
    with pytest.MonkeyPatch.context() as patch:
        let_few_be_many(patch)
        features, known, _ = some_features()
        return clone(STOCHASTIC).fit(features, known=known), features, known


@pytest.mark.parametrize(
    "name", ["permutation_test", "dimension_test", "choose_n_components", "scree", "jackknife", "bootstrap"]
)
def test_what_refits_all_pairs_refuses_at_once(fitted, name, monkeypatch):
    _, features, known = fitted
    monkeypatch.setattr(ConditionalMDS, "fit", lambda *_, **__: pytest.fail("a fit began"))
    monkeypatch.setattr(Metric, "_square", lambda *_: pytest.fail("a table is made"))
    with pytest.raises(ValueError, match=rf"{name} needs all pairs.* 3,000 objects.*random sample.*such as 2,000"):
        getattr(inspection, name)(STOCHASTIC, features, known)


def test_other_functions_refuse_at_once(fitted):
    mds, features, known = fitted
    calls = dict.fromkeys(("compare", "partial_dbrda", "dbrda_test"), known)
    calls |= dict.fromkeys(("shepard", "stress_per_point", "neighbourhood_scores"), mds)
    for name, other in calls.items():
        with no_square(), pytest.raises(ValueError, match=r"needs all pairs.*3,000 objects.*random sample"):
            getattr(inspection, name)(features, other, metric="euclidean")
    with no_square(), pytest.raises(ValueError, match=r"needs all pairs.*3,000 objects.*random sample"):
        plot_shepard(mds, features)


def test_a_table_for_which_there_is_no_memory_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"takes 29,802 GB, for which there is no memory; use .*stochastic"):
        Metric().fit(np.zeros((2_000_000, 1)))


def test_paths_are_resampled_exactly(fitted):
    _, features, known = fitted
    isomap = ConditionalIsomap(2, n_neighbors=8, solver="stochastic", n_init=1, tol=1e-4, random_state=0)
    few, sizes = features.iloc[:300], known[["size"]].iloc[:300]
    found = bootstrap(isomap, few, sizes, n_resamples=2)
    exact = bootstrap(clone(isomap).set_params(solver="lbfgs"), few, sizes, n_resamples=2)
    pd.testing.assert_frame_equal(found.coef, exact.coef)
    assert len(found.covariances) == 300


def test_paths_from_landmarks_are_refused(fitted):
    _, features, known = fitted
    with pytest.raises(ValueError, match="n_landmarks=30: bootstrap needs the paths between all objects; leave it out"):
        bootstrap(ConditionalIsomap(n_landmarks=30), features.iloc[:100], known.iloc[:100])
