"""A new scheme of weights takes one file: a class with a method, and a line that registers it."""

import numpy as np
import pytest

from tests.helpers import noisy_distances
from unmask import ConditionalMDS
from unmask.inspection import shepard
from unmask.problem import SCHEMES, Scheme, register_scheme

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
