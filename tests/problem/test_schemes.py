"""Schemes of weights: one object each, read by everything that takes weights=."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from tests.helpers import noisy_distances
from unmask import ConditionalMDS, FewPairsWarning
from unmask.inspection import shepard
from unmask.problem import Scheme, register_scheme
from unmask.solvers import SCHEMES

N = 30


class Elastic(Scheme):
    """Weights by the reciprocal square, as in elastic scaling."""

    name = "elastic"
    summary = "relative errors count"

    def weigh(self, delta, smallest):
        return np.maximum(delta, smallest) ** -2.0


@pytest.fixture
def elastic(monkeypatch):
    """Register the scheme for one test: this line is all that a new one takes."""
    monkeypatch.setitem(SCHEMES, "elastic", None)  # taken out again afterwards
    register_scheme(Elastic())


@pytest.fixture
def D(rng):
    D = noisy_distances(rng, N)
    D[1, 0] = D[0, 1] = 0.0
    return D


def weights_by_hand(D):
    return np.maximum(D, np.min(D[D > 0])) ** -2.0


def fit(D, array=None, **options):
    return ConditionalMDS(metric="precomputed", random_state=0, n_init=3, **options).fit(D, weights=array)


@pytest.mark.usefixtures("elastic")
def test_a_new_scheme_weights_as_an_array_of_the_same_weights(D):
    named, given = fit(D, weights="elastic"), fit(D, weights_by_hand(D))
    assert named.stress_ == pytest.approx(given.stress_, rel=1e-9)
    np.testing.assert_allclose(named.embedding_, given.embedding_, atol=1e-6)
    plain = fit(D)
    assert named.stress_ != pytest.approx(plain.stress_, rel=1e-3)
    residuals = (D - named.predict_dissimilarities().to_numpy())[np.triu_indices(N, 1)]
    w, delta = (table[np.triu_indices(N, 1)] for table in (weights_by_hand(D), D))
    assert named.stress_ == pytest.approx(np.sum(w * residuals**2) / np.sum(w * delta**2), rel=1e-9)


@pytest.mark.usefixtures("elastic")
@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_a_new_scheme_leaves_missing_pairs_out_and_weights_new_objects(D):
    D[4, 7] = D[7, 4] = np.nan
    named = fit(D, weights="elastic")
    given = fit(D, np.nan_to_num(weights_by_hand(np.nan_to_num(D))))
    assert named.stress_ == pytest.approx(given.stress_, rel=1e-9)
    new = np.linspace(0.2, 1.1, N)[None]
    placed = named.transform(new)
    U, w = named.embedding_, new[0] ** -2.0
    here = [np.sum(w * (new[0] - np.linalg.norm(U - place, axis=1)) ** 2) for place in placed]
    for step in 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert np.sum(w * (new[0] - np.linalg.norm(U - placed - step, axis=1)) ** 2) > here[0]


@pytest.mark.usefixtures("elastic")
def test_a_new_scheme_is_known_wherever_weights_are(D):
    table = shepard(D, fit(D, weights="elastic"))
    np.testing.assert_allclose(table["weight"], weights_by_hand(D)[np.triu_indices(N, 1)], rtol=1e-12)
    with pytest.raises(ValueError, match="weights='elastic' with level='ordinal'"):
        fit(D, weights="elastic", level="ordinal")
    with pytest.raises(ValueError, match="'elastic' asks for a scheme and fit received an array"):
        fit(D, np.ones((N, N)), weights="elastic")


class Near(Scheme):
    """Only what is nearer than half of the largest counts."""

    name = "near"
    summary = "what is near counts"

    def weigh(self, delta, smallest):
        return delta < 0.5 * np.nanmax(delta)


class Infinite(Elastic):
    """Without a floor: nothing but the diagonal is infinite."""

    def weigh(self, delta, smallest):
        with np.errstate(divide="ignore"):
            return delta**-2.0


class Negative(Elastic):
    """Weights below 0."""

    def weigh(self, delta, smallest):
        return -delta


@pytest.mark.parametrize("stored", [False, True])
def test_the_weights_of_a_new_scheme_are_checked_like_an_array(rng, monkeypatch, stored):
    for scheme in (Near(), Negative()):
        monkeypatch.setitem(SCHEMES, scheme.name, scheme)
    groups = np.r_[rng.uniform(size=(10, 2)), rng.uniform(size=(10, 2)) + 9]
    D = squareform(pdist(groups))
    if stored:
        monkeypatch.setattr("unmask.checking._stored.MANY_OBJECTS", 3)
        monkeypatch.setattr("unmask.checking._stored.FEW_PAIRS", 1.1)
    data = sp.coo_array(np.triu(D)) if stored else D
    with pytest.raises(ValueError, match="fall into 2 groups between which all weights are zero"):
        fit(data, weights="near")
    with pytest.raises(ValueError, match=r"weights has -\S+ for the pair \(object 0, object 1\), which is negative"):
        fit(data, weights="elastic")
    line = squareform(pdist(np.arange(20.0)[:, None] ** 2))
    with pytest.warns(FewPairsWarning, match=r"object 19 \(5\)"):
        fit(sp.coo_array(np.triu(line)) if stored else line, weights="near", n_components=6)


def test_what_a_new_scheme_makes_of_the_diagonal_does_not_matter(rng, monkeypatch):
    monkeypatch.setitem(SCHEMES, "elastic", Elastic())
    D = noisy_distances(rng, N)
    expected = fit(D, weights="elastic")
    monkeypatch.setitem(SCHEMES, "elastic", Infinite())
    np.testing.assert_array_equal(fit(D, weights="elastic").embedding_, expected.embedding_)


def test_an_unknown_scheme_is_refused_with_the_names_that_there_are(D):
    with pytest.raises(ValueError, match=r"weights='elastic'.*None, 'sammon', 'curvilinear'"):
        fit(D, weights="elastic")


def test_every_scheme_says_what_it_does():
    assert all(scheme.summary and scheme.name == name for name, scheme in SCHEMES.items())
