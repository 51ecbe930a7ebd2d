"""What the draws promise is kept on data that the model itself makes; the whole of it takes minutes."""

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from scipy.stats import chi2, kstest

from unmask import ConditionalMDS
from unmask.posterior import predict_new

from .simulated import draw, make_model, simulate, without

LEVELS = np.array([0.5, 0.8, 0.95])


def one_set(rng, seed, n=20, draws=150):
    """Return coverage of ellipses and of missing dissimilarities, and the ranks of what is the same after a turn."""
    x, delta, model = simulate(make_model(n, 2, rng.standard_normal((n, 2))), rng)
    left_out = rng.uniform(size=len(delta)) < 0.1
    found = draw(without(model, left_out), x, draws=draws, chains=1, seed=seed)
    own = model.parameters(x)
    return (
        _ellipses(found, own.U),
        _predicted(found, model.evidence, left_out, delta, seed),
        _ranks(found, own),
    )


def _ellipses(found, U):
    U = U - U.mean(axis=0)
    left, _, right = np.linalg.svd(U.T @ found.axes, full_matrices=False)
    off = U @ left @ right - found.embedding
    far = np.einsum("ni,nij,nj->n", off, np.linalg.inv(found.covariances), off)
    return [(far < chi2.ppf(level, 2)).mean() for level in LEVELS]


def _predicted(found, pairs, left_out, delta, seed):
    judged = delta[left_out]
    inside = []
    for level in LEVELS:
        said = found.predict(pairs.rows[left_out], pairs.columns[left_out], level, seed)
        inside.append(((said.low <= judged) & (judged <= said.high)).mean())
    return inside


def _ranks(found, own):
    thin, gram = slice(None, None, 3), own.C @ own.C.T
    return [
        np.mean(found.s[thin] < np.exp(own.log_s)),
        np.mean(found.gamma[thin] < own.gamma),
        np.mean(found.gram[thin, 0, 0] < gram[0, 0]),
        np.mean(found.gram[thin, 0, 1] < gram[0, 1]),
        np.mean(np.trace(found.gram[thin], axis1=1, axis2=2) < np.trace(gram)),
    ]


@pytest.mark.slow
def test_ellipses_and_intervals_cover_and_ranks_are_uniform():
    rng = np.random.default_rng(2026)
    ellipses, predicted, ranks = zip(*(one_set(rng, seed) for seed in range(100)), strict=True)
    assert np.abs(np.mean(ellipses, axis=0) - LEVELS).max() < 0.03
    assert np.abs(np.mean(predicted, axis=0) - LEVELS).max() < 0.03
    # Five quantities are looked at: none of their ranks is less uniform than one in a thousand sets would be.
    assert min(kstest(column, "uniform").pvalue for column in np.transpose(ranks)) > 0.001


def test_one_set_has_the_truth_where_it_is_said_to_be():
    rng = np.random.default_rng(5)
    ellipses, predicted, _ = one_set(rng, 0, n=12, draws=100)
    assert ellipses[-1] > 0.7
    assert predicted[-1] > 0.6


def one_fit(rng, seed, n=20, draws=200, chains=2):
    """Return the same coverage of what users do: a fit by least squares, whose map gives the start and tau."""
    known = rng.standard_normal((n, 2))
    x, delta, model = simulate(make_model(n, 2, known), rng)
    left_out = rng.uniform(size=len(delta)) < 0.1
    D = squareform(np.where(left_out, np.nan, np.maximum(delta, 0.0)))
    mds = ConditionalMDS(metric="precomputed", random_state=seed, n_jobs=1).fit(D, known=known)
    found = mds.posterior(draws, chains, random_state=seed)
    predicted = []
    for level in LEVELS:
        said = found.predict_dissimilarities(level=level)[left_out]
        judged = np.maximum(delta[left_out], 0.0)
        predicted.append(((said["low"] <= judged) & (judged <= said["high"])).mean())
    return _ellipses(found.draws, model.parameters(x).U / found.unit), predicted


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_covers_as_well():
    rng = np.random.default_rng(20261116)
    ellipses, predicted = zip(*(one_fit(rng, seed) for seed in range(20)), strict=True)
    # Three standard errors of 20 sets.
    assert np.abs(np.mean(ellipses, axis=0) - LEVELS).max() < 0.07
    assert np.abs(np.mean(predicted, axis=0) - LEVELS).max() < 0.07


def one_new(rng, seed, n=20):
    """Return coverage of the pairs of a new object with half of the fitted ones, given those with the others."""
    known = rng.standard_normal((n + 1, 2))
    x, delta, model = simulate(make_model(n + 1, 2, known), rng)
    new = (model.evidence.rows == n) | (model.evidence.columns == n)
    found = draw(without(model, new), x, draws=200, chains=1, seed=seed)
    seen = np.arange(n) % 2 == 0
    judged = delta[new]
    # The last object of the model is the new one: nothing is known to be near it, and its pair with itself is missing.
    given = np.append(np.where(seen, judged, np.nan), np.nan)
    inside = []
    for level in LEVELS:
        said = predict_new(found, given, model.known.values[n], level, np.random.default_rng(seed))
        inside.append(((said.low[:n] <= judged) & (judged <= said.high[:n]))[~seen].mean())
    return inside


@pytest.mark.slow
def test_pairs_of_new_objects_are_covered():
    rng = np.random.default_rng(20261117)
    inside = [one_new(rng, seed) for seed in range(160)]
    assert np.abs(np.mean(inside, axis=0) - LEVELS).max() < 0.03


@pytest.mark.slow
def test_chains_from_different_starts_find_the_same_map():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(make_model(30, 2, rng.standard_normal((30, 3))).size)
    x[-2:] = 0.0  # the noise that is expected a priori
    model = make_model(30, 2, rng.standard_normal((30, 3)))
    x, _, model = simulate(model, rng, x)
    grams = [
        draw(model, start, draws=800, chains=2, seed=seed).axes
        for seed, start in enumerate((x, rng.standard_normal(model.size)))
    ]
    one, other = (axes @ axes.T for axes in grams)
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.99


def test_without_evidence_the_draws_are_those_of_the_prior():
    model = without(make_model(4, 1), np.ones(6, dtype=bool))
    found = draw(model, np.zeros(model.size), draws=500, chains=2, tuning=100)
    x = found.chains.x.reshape(-1, model.size)
    np.testing.assert_allclose(x.mean(axis=0), 0.0, atol=0.2)
    np.testing.assert_allclose(x.std(axis=0), 1.0, atol=0.2)
