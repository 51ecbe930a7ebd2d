"""What all spectral methods share: conventions, reading, new objects."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from unmask import MapWarning
from unmask.dissimilarities import (
    AcyclicLocallyLinear,
    KernelDissimilarity,
    LaplacianEigenmaps,
    LocallyLinear,
    MaximumEntropyUnfolding,
)

GRAPH_METHODS = [LaplacianEigenmaps, LocallyLinear, AcyclicLocallyLinear, MaximumEntropyUnfolding]
ONE_MISSING = 1.0 - np.eye(8)
ONE_MISSING[0, 1] = ONE_MISSING[1, 0] = np.nan
JOINING = [LaplacianEigenmaps, MaximumEntropyUnfolding, LocallyLinear]


@pytest.fixture(scope="module")
def curve():
    angle = np.linspace(0, 5, 40)
    noise = np.random.default_rng(3).normal(scale=0.05, size=(40, 8))
    return np.column_stack([np.cos(angle), np.sin(angle), angle, angle**2 / 5, *noise[:, :4].T]) + noise


@pytest.mark.parametrize("cls", GRAPH_METHODS)
def test_dissimilarities_are_those_of_the_covariance(cls, curve):
    model = cls(5).fit(curve)
    K, L = model.covariance_, model.precision_
    own = np.diagonal(K)
    size = np.abs(K).max()
    np.testing.assert_allclose(model.dissimilarities_**2, own[:, None] + own - 2 * K, rtol=1e-7, atol=1e-9 * size)
    np.testing.assert_allclose(L @ np.ones(len(L)), 0.0, rtol=0, atol=1e-9 * np.abs(L).max())
    np.testing.assert_allclose(K @ L, np.eye(len(L)) - 1 / len(L), rtol=0, atol=1e-6)
    assert (model.graph_ != model.graph_.T).nnz == 0


@pytest.mark.parametrize("cls", GRAPH_METHODS)
def test_distances_alone_give_the_same_as_features(cls, curve):
    D = cls(5).fit_transform(curve)
    from_distances = cls(5, metric="precomputed").fit_transform(cdist(curve, curve))
    np.testing.assert_allclose(from_distances, D, rtol=1e-9, atol=1e-9 * D.max())


@pytest.mark.parametrize("cls", [LaplacianEigenmaps, LocallyLinear, MaximumEntropyUnfolding])
def test_order_of_objects_does_not_matter(cls, curve, rng):
    order = rng.permutation(len(curve))
    expected = cls(5).fit_transform(curve)[np.ix_(order, order)]
    np.testing.assert_allclose(cls(5).fit_transform(curve[order]), expected, rtol=1e-3, atol=1e-3 * expected.max())


@pytest.mark.parametrize("cls", [LocallyLinear, AcyclicLocallyLinear, MaximumEntropyUnfolding])
def test_rotation_and_shift_do_not_matter(cls, curve, rng):
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    expected = cls(5).fit_transform(curve)
    np.testing.assert_allclose(
        cls(5).fit_transform(curve @ turn + 100.0), expected, rtol=1e-4, atol=1e-4 * expected.max()
    )


@pytest.mark.parametrize("cls", [AcyclicLocallyLinear, MaximumEntropyUnfolding])
def test_dissimilarities_have_the_unit_of_the_data(cls, curve):
    expected = 1000 * cls(5).fit_transform(curve)
    np.testing.assert_allclose(cls(5).fit_transform(1000 * curve), expected, rtol=1e-6, atol=1e-6 * expected.max())


@pytest.mark.parametrize("cls", [*GRAPH_METHODS, KernelDissimilarity])
def test_fitted_objects_have_their_fitted_rows_and_labels_travel(cls, curve):
    frame = pd.DataFrame(curve, index=[f"o{i}" for i in range(40)], columns=list("abcdefgh"))
    model = cls().set_output(transform="pandas")
    D = model.fit_transform(frame)
    assert list(D.index) == list(D.columns) == list(frame.index)
    pd.testing.assert_frame_equal(model.transform(frame), D)
    pd.testing.assert_frame_equal(model.transform(frame.iloc[[7, 3]]), D.iloc[[7, 3]])


@pytest.mark.filterwarnings("ignore::unmask.MapWarning")
@pytest.mark.parametrize("cls", GRAPH_METHODS)
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_new_object_lies_at_the_weighted_mean_of_its_neighbours(cls, metric, curve):
    new, old = curve[20:21], np.delete(curve, 20, axis=0)
    table, rows = (old, new) if metric == "euclidean" else (cdist(old, old), cdist(new, old))
    model = cls(2, metric=metric).fit(table)
    found = model.transform(rows)
    near = np.argsort(cdist(new, old)[0])[:2]
    # The weights of two neighbours by hand: the foot of the object on the line through them, up to the ridge.
    a, b = old[near] - new
    ridge = 1e-3 * (a @ a + b @ b) / 2
    share = (b @ b + ridge - a @ b) / (a @ a + b @ b + 2 * ridge - 2 * a @ b)
    weights = np.zeros(len(old))
    weights[near] = share, 1 - share
    difference = weights - np.eye(len(old))
    expected = np.sqrt(np.einsum("ij,jk,ik->i", difference, model.covariance_, difference))
    np.testing.assert_allclose(found[0], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cls", JOINING)
def test_parts_are_joined_with_a_warning_that_counts_them(cls, rng):
    parts = np.concatenate([rng.normal(size=(10, 5)), rng.normal(size=(10, 5)) + 50, rng.normal(size=(10, 5)) - 50])
    with pytest.warns(MapWarning, match=r"3 (parts|groups)"):
        model = cls(3).fit(parts)
    assert model.n_components_joined_ >= 3
    D = model.dissimilarities_
    assert np.isfinite(D).all()
    assert D[:10, 10:].min() > 0
    with pytest.raises(ValueError, match=r"3 (parts|groups).*on_disconnected='join'"):
        cls(3, on_disconnected="error").fit(parts)


@pytest.mark.parametrize("cls", GRAPH_METHODS)
def test_all_pairs_are_joined_without_a_number_of_neighbours(cls, curve):
    model = cls(None).fit(curve[:7])
    assert model.graph_.nnz == 7 * 6
    assert model.transform(curve[8:10]).shape == (2, 7)


@pytest.mark.parametrize("cls", [MaximumEntropyUnfolding, AcyclicLocallyLinear])
def test_duplicates_are_raised_with_a_warning(cls, curve):
    doubled = np.concatenate([curve, curve[:2]])
    with pytest.warns(MapWarning, match=r"2 of \d+"):
        D = cls(4).fit_transform(doubled)
    assert np.isfinite(D).all()
    assert 0 < D[0, 40] < 0.2 * np.median(D)


@pytest.mark.parametrize("gap", [1e-5, 1e-3, 1e-2, 1e-1])
def test_near_objects_are_kept_apart_and_nearer_ones_have_the_floor(gap):
    # Of points at random in the plane one edge in a thousand is shorter than 1e-3 of the median, squared.
    rng = np.random.default_rng(0)
    plane = rng.uniform(size=(150, 2))
    typical = np.median(np.sort(cdist(plane, plane), axis=1)[:, 1:7])
    twins = plane[:3] + gap * typical * np.array([1.0, 0.0])
    with pytest.warns(MapWarning, match="3 of .* edges") if gap < 1e-4 else nullcontext():
        model = MaximumEntropyUnfolding(6).fit(np.concatenate([plane, twins]))
    pairs = [0, 1, 2], [150, 151, 152]
    expected = gap * typical if gap > 1e-4 else np.sqrt(1e-3) * np.median(model.graph_.data)
    np.testing.assert_allclose(model.dissimilarities_[pairs], expected, rtol=2e-3, atol=0)


@pytest.mark.parametrize(
    ("parameters", "data", "message"),
    [
        ({}, np.ones((9, 3)), "all 9 objects are equal"),
        ({"metric": "precomputed"}, ONE_MISSING, "1 pairs have no dissimilarity"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_errors_name_the_argument(parameters, data, message, curve):
    with pytest.raises(ValueError, match=message):
        MaximumEntropyUnfolding(**parameters).fit(curve if data is None else data)


def test_errors_of_new_dissimilarities(curve):
    D = cdist(curve, curve)
    model = MaximumEntropyUnfolding(4, metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="40 features as input"):
        model.transform(D[:2, :39])
    with pytest.raises(ValueError, match="missing or infinite ones: new dissimilarities must be finite and >= 0"):
        model.transform(-D[:2])


def test_other_metrics(curve):
    D = LaplacianEigenmaps(4, metric="minkowski", metric_params={"p": 1}).fit_transform(curve)
    expected = LaplacianEigenmaps(4, metric="precomputed").fit_transform(cdist(curve, curve, "cityblock"))
    np.testing.assert_allclose(D, expected, rtol=1e-9, atol=1e-12)
