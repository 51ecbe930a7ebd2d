"""Schemes of weights: one object each, read by everything that takes weights=."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from tests.helpers import noisy_distances
from unmask import ConditionalMDS, MapWarning
from unmask.problem import SCHEMES, Scheme


def fit(D, array=None, **options):
    return ConditionalMDS(metric="precomputed", random_state=0, n_init=3, **options).fit(D, weights=array)


class Near(Scheme):
    """Only what is nearer than half of the largest counts."""

    name = "near"
    summary = "what is near counts"

    def weigh(self, delta, smallest):
        return delta < 0.5 * np.nanmax(delta)


class Infinite(Scheme):
    """Without a floor: nothing but the diagonal is infinite."""

    name, summary = "infinite", "relative errors count"

    def weigh(self, delta, smallest):
        with np.errstate(divide="ignore"):
            return delta**-2.0


class Negative(Scheme):
    """Weights below 0."""

    name, summary = "negative", "nothing counts"

    def weigh(self, delta, smallest):
        return -delta


@pytest.mark.parametrize("stored", [False, True])
def test_the_weights_of_a_new_scheme_are_checked_like_an_array(rng, monkeypatch, stored):
    for scheme in (Near(), Negative()):
        monkeypatch.setitem(SCHEMES, scheme.name, scheme)
    groups = np.r_[rng.uniform(size=(10, 2)), rng.uniform(size=(10, 2)) + 9]
    D = squareform(pdist(groups))
    if stored:
        monkeypatch.setattr("unmask.checking._sources.MANY_OBJECTS", 3)
        monkeypatch.setattr("unmask.checking._sources.FEW_PAIRS", 1.1)
    data = sp.coo_array(np.triu(D)) if stored else D
    with pytest.raises(ValueError, match="fall into 2 groups between which all weights are zero"):
        fit(data, weights="near")
    with pytest.raises(ValueError, match=r"weights has -\S+ for the pair \(object 0, object 1\), which is negative"):
        fit(data, weights="negative")
    line = squareform(pdist(np.arange(20.0)[:, None] ** 2))
    with pytest.warns(MapWarning, match=r"object 19 \(5\)"):
        fit(sp.coo_array(np.triu(line)) if stored else line, weights="near", n_components=6)


def test_what_a_new_scheme_makes_of_the_diagonal_does_not_matter(rng, monkeypatch):
    monkeypatch.setitem(SCHEMES, "infinite", Infinite())
    D = noisy_distances(rng, 30)
    given = (D + np.eye(30)) ** -2.0
    np.testing.assert_array_equal(fit(D, weights="infinite").embedding_, fit(D, given).embedding_)


def test_every_scheme_says_what_it_does():
    assert all(scheme.summary and scheme.name == name for name, scheme in SCHEMES.items())
