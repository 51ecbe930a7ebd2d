"""A ridge on the map: what is minimised, that it is free of units, and how held-out pairs choose its strength."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalIsomap, ConditionalMDS, Numeric
from unmask.solvers import _ridge, _stochastic

from .fits import fit

pytestmark = pytest.mark.filterwarnings(
    "ignore::unmask.LeakWarning", "ignore::unmask.MissingDissimilarityWarning", "ignore::unmask.KnownFeatureWarning"
)


def noisy(rng, n=24, noise=0.2, q=2, hidden=2):
    """Return dissimilarities with a multiplicative error, what is known, and what is not."""
    X = rng.uniform(size=(n, q + hidden))
    D = squareform(np.maximum(pdist(X) * (1 + noise * rng.standard_normal(n * (n - 1) // 2)), 0.0))
    return D, X[:, :q], X[:, q:]


def by_definition(mds, D, ridge, W=None):
    """Return the stress and the ridge together, as a share of the weighted sum of squares, without the library."""
    i, j = np.triu_indices(len(D), 1)
    w = np.ones(len(i)) if W is None else W[i, j]
    w, delta = np.where(np.isnan(D[i, j]), 0.0, w), np.nan_to_num(D[i, j])
    d = mds.predict_dissimilarities().to_numpy()[i, j]
    pull = ridge * w.sum() / np.count_nonzero(w) * np.sum(mds.free_embedding_**2)
    return (np.sum(w * (delta - d) ** 2) + pull) / np.sum(w * delta**2)


def test_an_independent_minimiser_finds_the_same_map(rng):
    D, V, _ = noisy(rng)
    mds = fit(D, V, ridge=1.3, n_init=6, tol=1e-14, max_iter=5000)
    i, j = np.triu_indices(len(D), 1)

    def cost(theta):
        U, B = theta[:48].reshape(24, 2), theta[48:].reshape(2, 2)
        d = np.sqrt(np.sum((U[i] - U[j]) ** 2, axis=1) + np.sum(((V[i] - V[j]) @ B) ** 2, axis=1))
        return np.sum((D[i, j] - d) ** 2) + 1.3 * np.sum(U**2)

    start = np.concatenate([mds.embedding_.ravel() * 1.1, mds.coef_.to_numpy().ravel() * 0.9])
    found = minimize(cost, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    assert found.fun / np.sum(D[i, j] ** 2) == pytest.approx(mds.starts_["stress"].min(), rel=1e-8)
    U = found.x[:48].reshape(24, 2)
    np.testing.assert_allclose(pdist(U), pdist(mds.embedding_), atol=1e-4)
    np.testing.assert_allclose(U.mean(axis=0), 0.0, atol=1e-5)  # nothing else holds the map in the middle


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
@pytest.mark.parametrize("weighting", ["unit", "array", "sparse", "sammon", "missing"])
def test_what_is_minimised_is_the_stress_and_the_ridge_by_definition(rng, solver, weighting):
    D, V, _ = noisy(rng)
    W, options = None, {}
    if weighting in ("array", "sparse"):
        W = rng.uniform(0.1, 3.0, D.shape) * (rng.uniform(size=D.shape) < 0.8)
        W = W + W.T
        np.fill_diagonal(W, 0.0)
    if weighting == "sammon":
        W, options = 1.0 / np.where(D > 0, D, np.inf), {"weights": "sammon"}
    if weighting == "missing":
        gone = np.triu(rng.uniform(size=D.shape) < 0.2, 1)
        D = np.where(gone | gone.T, np.nan, D)
    given = sp.csr_array(W) if weighting == "sparse" else W if weighting == "array" else None
    options |= {"ridge": 0.7, "n_init": 3, "tol": 1e-12, "max_iter": 20_000}
    mds = fit(D, V, given, solver=solver, **options)
    assert mds.starts_["stress"].min() == pytest.approx(by_definition(mds, D, 0.7, W), rel=1e-7)
    assert np.all(np.diff(mds.stress_path_) <= 0)
    other = fit(D, V, given, solver="smacof" if solver == "lbfgs" else "lbfgs", **options)
    assert other.starts_["stress"].min() == pytest.approx(mds.starts_["stress"].min(), rel=1e-5)


def test_none_is_the_fit_without(rng):
    D, V, _ = noisy(rng)
    plain, none = fit(D, V, n_init=4), fit(D, V, n_init=4, ridge=0.0)
    np.testing.assert_array_equal(plain.embedding_, none.embedding_)
    assert plain.ridge_ == none.ridge_ == 0.0


def test_the_stronger_the_smaller_the_map_and_the_larger_the_stress(rng):
    D, V, _ = noisy(rng)
    fits = [fit(D, V, n_init=8, ridge=ridge) for ridge in (0.0, 0.3, 1.0, 3.0, 10.0)]
    assert np.all(np.diff([np.sum(mds.embedding_**2) for mds in fits]) < 0)
    assert np.all(np.diff([mds.stress_ for mds in fits]) > 0)
    assert [mds.ridge_ for mds in fits] == [0.0, 0.3, 1.0, 3.0, 10.0]


@pytest.mark.parametrize("ridge", [0.9, "heldout"])
def test_units_of_dissimilarities_and_weights_do_not_matter(rng, ridge):
    D, V, _ = noisy(rng)
    W = rng.uniform(0.5, 2.0, D.shape)
    W = W + W.T
    one, other = (fit(unit * D, V, weight * W, ridge=ridge, n_init=4) for unit, weight in ((1.0, 1.0), (3e4, 1e-3)))
    assert one.ridge_ == other.ridge_ > 0
    np.testing.assert_allclose(other.embedding_, 3e4 * one.embedding_, rtol=1e-5, atol=0.1)
    assert other.stress_ == pytest.approx(one.stress_, rel=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"leak_penalty": 0.5},
        {"orthogonal": True},
        {"level": "interval"},
        {"level": "ordinal"},
        {"level": "spline"},
        {"adjust": True},
        {"known_types": {"known0": Numeric(error=0.05)}},
        {"weights": "curvilinear"},
    ],
)
def test_it_goes_with_other_options(rng, options):
    D, V, _ = noisy(rng, 40)
    plain, drawn_in = (fit(D, V, n_init=3, ridge=ridge, **options) for ridge in (0.0, 2.0))
    assert drawn_in.ridge_ == 2.0
    assert np.sum(drawn_in.free_embedding_**2) < np.sum(plain.free_embedding_**2)
    assert np.all(np.diff(drawn_in.stress_path_) <= 1e-12)


# ---- chosen by held-out pairs


@pytest.mark.parametrize("level", ["ratio", "interval", "ordinal", "spline"])
def test_the_choice_gives_the_same_map_as_its_number(rng, level):
    D, V, _ = noisy(rng, 20)
    chosen = fit(D, V, n_init=3, ridge="heldout", level=level)
    assert chosen.ridge_ in _ridge.STRENGTHS
    given = fit(D, V, n_init=3, ridge=chosen.ridge_, level=level)
    np.testing.assert_array_equal(chosen.embedding_, given.embedding_)


def test_without_noise_there_is_nothing_to_draw_in(rng):
    D, V, _ = noisy(rng, noise=0.0)
    assert fit(D, V, n_init=3, ridge="heldout").ridge_ == 0.0


def test_noise_makes_a_ridge(rng):
    D, V, _ = noisy(rng, noise=0.3)
    assert fit(D, V, n_init=3, ridge="heldout").ridge_ > 0.2


def test_without_dimensions_there_is_none(rng):
    D, V, _ = noisy(rng)
    assert fit(D, V, n_components=0, ridge="heldout").ridge_ == 0.0


@pytest.mark.parametrize("form", ["features", "file", "sparse", "weights"])
def test_of_many_objects_some_choose(rng, form, monkeypatch, tmp_path):
    monkeypatch.setattr(_ridge, "MOST_OBJECTS", 40)
    X = rng.normal(size=(120, 3))
    known = pd.DataFrame({"x": X[:, 0], "kind": np.where(np.arange(120) == 7, "rare", "common")})
    options = {"ridge": "heldout", "n_init": 1, "random_state": 0}
    noise = 0.2 * rng.standard_normal((120, 5))
    if form == "features":
        mds = ConditionalMDS(**options).fit(np.column_stack([X, noise]), known=known)
    elif form == "file":
        D = squareform(pdist(np.column_stack([X, noise])))
        np.save(tmp_path / "d.npy", D)
        mds = ConditionalMDS(metric="precomputed", **options).fit(tmp_path / "d.npy", known=known)
    else:
        D = squareform(pdist(np.column_stack([X, noise])))
        # Of some 40 objects a few have no weight with any other of them.
        W = np.triu(rng.uniform(size=D.shape) < (0.3 if form == "sparse" else 0.1), 1).astype(float)
        W = sp.csr_array(W + W.T) if form == "sparse" else W + W.T
        mds = ConditionalMDS(metric="precomputed", **options).fit(D, known=known, weights=W)
    assert mds.ridge_ in _ridge.STRENGTHS


def test_the_stochastic_solver_takes_it(rng, monkeypatch):
    from unmask.estimators import _many

    for module in (_stochastic, _many):
        monkeypatch.setattr(module, "LANDMARKS", 150)
    monkeypatch.setattr(_stochastic, "FIRST", 100)
    X = rng.normal(size=(500, 4))
    plain, drawn_in, chosen = (
        ConditionalMDS(3, solver="stochastic", n_init=1, random_state=0, ridge=ridge).fit(X, known=X[:, :1])
        for ridge in (0.0, 150.0, "heldout")
    )
    exact = ConditionalMDS(3, solver="lbfgs", n_init=1, random_state=0, ridge=150.0).fit(X, known=X[:, :1])
    assert drawn_in.solver_.startswith("stochastic")
    size = np.sum(drawn_in.embedding_**2)
    assert size == pytest.approx(np.sum(exact.embedding_**2), rel=0.01)
    assert size < 0.9 * np.sum(plain.embedding_**2)
    assert chosen.ridge_ in _ridge.STRENGTHS


def test_groups_that_are_mapped_apart_have_one(rng):
    D, V, _ = noisy(rng, 30)
    D[:15, 15:] = D[15:, :15] = np.nan
    mds = fit(D, V, n_init=2, ridge="heldout", on_disconnected="components")
    assert mds.ridge_ in _ridge.STRENGTHS


def test_isomap_has_it_too(rng):
    X = rng.normal(size=(30, 3))
    mds = ConditionalIsomap(ridge="heldout", n_init=2, random_state=0).fit(X, known=X[:, :1])
    assert mds.ridge_ in _ridge.STRENGTHS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ridge": -1.0}, "ridge=-1.0 must be a number of at least 0"),
        ({"ridge": True}, "ridge=True must be a number of at least 0"),
        ({"ridge": "held-out"}, "ridge='held-out' must be a number of at least 0, or 'heldout'"),
        ({"ridge": "heldout", "weights": "curvilinear"}, "ridge='heldout' with weights='curvilinear', which leave out"),
    ],
)
def test_what_it_cannot_be_is_said(rng, options, message):
    D, V, _ = noisy(rng)
    with pytest.raises(ValueError, match=message):
        fit(D, V, **options)


@pytest.mark.filterwarnings("ignore::unmask.MapWarning")
def test_pairs_that_can_be_held_out_are_needed(rng):
    """Of a tree no pair can go without the objects falling apart."""
    X = rng.normal(size=(12, 2))
    D = np.full((12, 12), np.nan)
    for a in range(11):
        D[a, a + 1] = D[a + 1, a] = np.linalg.norm(X[a] - X[a + 1])
    np.fill_diagonal(D, 0.0)
    with pytest.raises(ValueError, match=r"ridge='heldout': .* fall into groups; pass a number"):
        fit(D, n_components=1, ridge="heldout", n_init=1)
