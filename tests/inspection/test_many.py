"""Inspection of many objects is refused with a way out before a table of all pairs is made."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tests.many import let_few_be_many, some_features
from unmask import ConditionalIsomap, ConditionalMDS, inspection
from unmask.dissimilarities import Metric
from unmask.inspection import bootstrap

STOCHASTIC = ConditionalMDS(2, solver="stochastic", n_init=1, tol=1e-5, random_state=0)
REFITS = ["permutation_test", "dimension_test", "choose_n_components", "scree", "jackknife", "bootstrap"]
OF_ALL_PAIRS = ["compare", "partial_dbrda", "dbrda_test", "shepard", "stress_per_point", "neighbourhood_scores"]


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Let a few thousand objects be many."""
    let_few_be_many(monkeypatch)


@pytest.mark.parametrize("name", [*REFITS, *OF_ALL_PAIRS])
def test_all_pairs_of_many_objects_are_refused_at_once(name, monkeypatch):
    features, known, _ = some_features()
    monkeypatch.setattr(ConditionalMDS, "fit", lambda *_, **__: pytest.fail("a fit began"))
    monkeypatch.setattr(Metric, "_square", lambda *_: pytest.fail("a table is made"))
    data = (STOCHASTIC, features, known) if name in REFITS else (features, known)
    metric = {} if name in REFITS else {"metric": "euclidean"}
    with pytest.raises(ValueError, match=r"needs all pairs.* 3,000 objects.*random sample.*such as 2,000"):
        getattr(inspection, name)(*data, **metric)


def test_a_table_for_which_there_is_no_memory_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"takes 29,802 GB, for which there is no memory; use .*stochastic"):
        Metric().fit(np.zeros((2_000_000, 1)))


@pytest.mark.filterwarnings("ignore::unmask.LeakWarning")
def test_paths_are_resampled_exactly():
    features, known, _ = some_features(200)
    isomap = ConditionalIsomap(2, n_neighbors=8, solver="stochastic", n_init=1, tol=1e-4, random_state=0)
    found = bootstrap(isomap, features, known[["size"]], n_resamples=2)
    exact = bootstrap(clone(isomap).set_params(solver="lbfgs"), features, known[["size"]], n_resamples=2)
    pd.testing.assert_frame_equal(found.coef, exact.coef)
    assert len(found.covariances) == 200
