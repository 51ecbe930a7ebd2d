"""The classical map of any dissimilarities."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from unmask import ConditionalClassicalMDS, ConditionalMDS
from unmask.dissimilarities import Geodesic
from unmask.dissimilarities._entropy import MaximumEntropyUnfolding
from unmask.dissimilarities._laplacian import LaplacianEigenmaps
from unmask.estimators._spectral_map import SpectralMap
from unmask.inspection import canonical_correlations


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([SpectralMap(), SpectralMap(MaximumEntropyUnfolding(4))])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_of_euclidean_distances_it_is_principal_components(rng):
    Y, new = rng.normal(size=(40, 5)), rng.normal(size=(6, 5))
    pca = PCA(3).fit(Y)
    model = SpectralMap(n_components=3).fit(Y)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(pca.transform(Y)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(np.abs(model.transform(new)), np.abs(pca.transform(new)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, 39 * pca.explained_variance_, rtol=1e-9, atol=0)


def test_with_nothing_known_it_is_the_conditional_one(rng):
    Y = rng.normal(size=(40, 6))
    expected = make_pipeline(MaximumEntropyUnfolding(5), ConditionalClassicalMDS(metric="precomputed")).fit_transform(Y)
    np.testing.assert_allclose(
        np.abs(SpectralMap(MaximumEntropyUnfolding(5)).fit_transform(Y)), np.abs(expected), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("dissimilarity", [Geodesic(6), MaximumEntropyUnfolding(6), LaplacianEigenmaps(6)])
def test_fitted_objects_are_placed_where_they_are(dissimilarity, rng):
    Y = rng.normal(size=(40, 3))
    model = SpectralMap(dissimilarity).fit(Y)
    np.testing.assert_allclose(model.transform(Y), model.embedding_, rtol=1e-6, atol=1e-8)


def test_weighted_map_reproduces_the_dissimilarities_and_its_weighted_mean_is_zero(rng):
    model = SpectralMap(LaplacianEigenmaps(4), n_components=19).fit(rng.normal(size=(20, 3)))
    gaps = np.linalg.norm(model.embedding_[:, None] - model.embedding_, axis=2)
    np.testing.assert_allclose(gaps, model.dissimilarity_.dissimilarities_, rtol=1e-6, atol=1e-7)
    masses = model.dissimilarity_.masses_
    np.testing.assert_allclose(masses @ model.embedding_, 0.0, rtol=0, atol=1e-9)


def test_labels_and_names_travel(rng):
    frame = pd.DataFrame(rng.normal(size=(12, 3)), index=list("abcdefghijkl"), columns=["x", "y", "z"])
    model = SpectralMap(MaximumEntropyUnfolding(4)).set_output(transform="pandas")
    placed = model.fit_transform(frame)
    assert list(placed.index) == list(frame.index)
    assert list(placed.columns) == ["spectralmap0", "spectralmap1"]
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    assert list(model.transform(frame.iloc[:2]).index) == ["a", "b"]


def test_parameters_of_the_transformer_are_reached_and_it_is_cloned(rng):
    inner = MaximumEntropyUnfolding(4)
    model = SpectralMap(inner).set_params(dissimilarity__n_neighbors=5).fit(rng.normal(size=(20, 3)))
    assert model.dissimilarity_.n_neighbors == 5
    assert not hasattr(inner, "dissimilarities_")


def shown_of_what_is_hidden(seed):
    """Return how well the plain and the conditional map of a bent sheet show its hidden direction."""
    rng = np.random.default_rng(seed)
    known, hidden = rng.uniform(0, 8, 120), rng.uniform(0, 2, 120)
    roll = np.column_stack([np.cos(known / 2), np.sin(known / 2), known / 4, hidden])
    plain = SpectralMap(MaximumEntropyUnfolding(8)).fit_transform(roll)
    given = make_pipeline(MaximumEntropyUnfolding(8), ConditionalMDS(2, metric="precomputed", random_state=0))
    mapped = given.fit_transform(roll, conditionalmds__known=known[:, None])
    return [np.max(canonical_correlations(U, hidden[:, None])) for U in (plain, mapped)]


@pytest.mark.filterwarnings("ignore:.*edges join objects that are equal or nearly so")
def test_the_same_transformer_conditioned_shows_more_of_what_is_hidden():
    """Single sheets vary (.55 to .97 on twelve others, from which the bounds are), so the median of eight is judged."""
    plain, given = np.median([shown_of_what_is_hidden(seed) for seed in range(100, 108)], axis=0)
    assert given > 0.85
    assert given > plain + 0.2


def test_errors(rng):
    Y = rng.normal(size=(10, 3))
    with pytest.raises(ValueError, match="n_components=0"):
        SpectralMap(n_components=0).fit(Y)
    with pytest.raises(ValueError, match="at most 9 dimensions"):
        SpectralMap(n_components=10).fit(Y)
    with pytest.raises(ValueError, match="must be a transformer"):
        SpectralMap("isomap").fit(Y)
    apart = np.concatenate([Y, Y + 100])
    model = SpectralMap(Geodesic(2, on_disconnected="components"))
    with pytest.warns(UserWarning, match="parts"), pytest.raises(ValueError, match="use ConditionalMDS"):
        model.fit(apart)


def test_axes_beyond_the_rank_are_zero(rng):
    model = SpectralMap(n_components=3).fit(rng.normal(size=(10, 1)))
    assert np.all(model.embedding_[:, 1:] == 0)
    np.testing.assert_array_equal(model.transform(rng.normal(size=(2, 1)))[:, 1:], 0.0)
