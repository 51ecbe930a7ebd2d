"""Pairs and objects of a fit against the estimator's own stress and a double loop."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from tests.helpers import noisy_distances, symmetric_weights, with_missing
from unmask import ConditionalMDS
from unmask.inspection import shepard, stress_per_point


def fitted(D, known=None, weights=None, **options):
    mds = ConditionalMDS(metric="precomputed", init="closed-form", **options)
    return mds.fit(D, known=known, weights=weights)


def stress_of(table):
    return (table["weight"] * table["residual"] ** 2).sum() / (table["weight"] * table["disparity"] ** 2).sum()


@pytest.mark.parametrize("level", ["ratio", "interval", "ordinal"])
def test_the_table_gives_the_stress_of_the_fit(kinship, level):
    mds = fitted(kinship.dissimilarities, kinship.known[["gender"]], level=level)
    table = shepard(kinship.dissimilarities, mds)
    assert len(table) == 91
    assert stress_of(table) == pytest.approx(mds.stress_, rel=1e-9)
    np.testing.assert_array_equal(table["residual"], table["disparity"] - table["distance"])
    pair = table.set_index(["i", "j"]).loc[("Aunt", "Uncle")]
    assert pair["dissimilarity"] == kinship.dissimilarities.loc["Aunt", "Uncle"]


@pytest.mark.parametrize("level", ["ratio", "ordinal"])
def test_points_have_the_estimators_parts(kinship, level):
    D = kinship.dissimilarities
    mds = fitted(D, kinship.known[["gender"]], level=level)
    table = stress_per_point(D, mds)
    np.testing.assert_allclose(table["stress"], mds.stress_per_point_, rtol=1e-9, atol=1e-15)
    shuffled = D.iloc[::-1, ::-1]
    pd.testing.assert_frame_equal(stress_per_point(shuffled, mds).loc[D.index], table, rtol=1e-12)


def test_weights_and_missing_pairs_count_as_in_the_fit(rng):
    D = with_missing(rng, noisy_distances(rng, 25), 0.1)
    W = symmetric_weights(rng, 25)
    with pytest.warns(UserWarning, match="treated as missing"):
        mds = ConditionalMDS(metric="precomputed", n_init=2, random_state=0).fit(D, weights=W)
    table = shepard(D, mds, weights=W)
    assert len(table) == 300
    assert stress_of(table.dropna()) == pytest.approx(mds.stress_, rel=1e-9)
    missing = table["dissimilarity"].isna()
    assert missing.sum() == np.isnan(D[np.triu_indices(25, 1)]).sum() > 0
    assert (table.loc[missing, "weight"] == 0).all()
    assert table.loc[missing, "distance"].notna().all()
    points = stress_per_point(D, mds, weights=pd.DataFrame(W))
    np.testing.assert_allclose(points["stress"], mds.stress_per_point_, rtol=1e-9, atol=1e-15)


def test_sammons_weights_are_the_estimators(rng):
    D = noisy_distances(rng, 20)
    D[2, 3] = D[3, 2] = 0.0
    mds = fitted(D, weights=None)
    sammon = ConditionalMDS(metric="precomputed", weights="sammon", n_init=1, random_state=0).fit(D)
    np.testing.assert_allclose(stress_per_point(D, sammon)["stress"], sammon.stress_per_point_, rtol=1e-9, atol=1e-15)
    plain = stress_per_point(D, mds)["stress"]
    by_name = stress_per_point(D, mds, weights="sammon")["stress"]
    assert not np.allclose(plain, by_name, rtol=1e-3)


def test_a_plain_map_against_a_double_loop(rng):
    D = noisy_distances(rng, 12)
    U, VB = rng.standard_normal((12, 2)), rng.standard_normal((12, 1))
    table = stress_per_point(D, np.column_stack([U, VB]))
    parts, own, total = np.zeros(12), np.zeros(12), 0.0
    for i in range(12):
        for j in range(12):
            d = np.sqrt(np.sum((U[i] - U[j]) ** 2) + np.sum((VB[i] - VB[j]) ** 2))
            parts[i] += (D[i, j] - d) ** 2
            own[i] += D[i, j] ** 2
            total += D[i, j] ** 2
    np.testing.assert_allclose(table["stress"], parts / total, rtol=1e-12)
    np.testing.assert_allclose(table["relative"], parts / own, rtol=1e-12)
    np.testing.assert_allclose(shepard(D, U)["distance"], pdist(U), rtol=1e-12)


def test_labels_are_aligned(kinship, rng):
    D = kinship.dissimilarities
    U = pd.DataFrame(rng.standard_normal((14, 2)), index=D.index)
    table = shepard(D, U)
    pd.testing.assert_frame_equal(shepard(D, U.iloc[::-1]), table)
    expected = squareform(pdist(U))[np.triu_indices(14, 1)]
    np.testing.assert_allclose(table["distance"], expected, rtol=1e-12)


def test_weights_that_move_with_the_map_must_be_given(rng):
    near = noisy_distances(rng, 60, dimensions=2)
    moved = ConditionalMDS(metric="precomputed", weights="curvilinear", n_init=1, random_state=0).fit(near)
    with pytest.raises(ValueError, match="moved with the map and were not kept"):
        shepard(near, moved)
    weights = np.exp(-((moved.predict_dissimilarities() / moved.radius_) ** 2))
    assert stress_of(shepard(near, moved, weights=weights)) == pytest.approx(moved.stress_, rel=0.05)


@pytest.mark.parametrize("first", [0, 100])
def test_whole_numbers_are_labels_too(kinship, rng, first):
    """pandas keeps 0, 1, 2 … and 100, 101, 102 … as a range; in another order they are still labels."""
    D = kinship.dissimilarities.to_numpy()
    D = pd.DataFrame(D, index=pd.RangeIndex(first, first + 14), columns=pd.RangeIndex(first, first + 14))
    mds = ConditionalMDS(1, metric="precomputed", n_init=2, random_state=0).fit(D)
    order = rng.permutation(14)
    shuffled = stress_per_point(D.iloc[order, order], mds)
    pd.testing.assert_frame_equal(shuffled.sort_index(), stress_per_point(D, mds), check_index_type=False)
    assert shepard(D.iloc[order, order], mds)["residual"].pow(2).sum() == pytest.approx(
        shepard(D, mds)["residual"].pow(2).sum(), rel=1e-12
    )


def test_made_up_numbers_are_no_labels(kinship):
    D = kinship.dissimilarities
    numbered = D.set_axis(range(14)).set_axis(range(14), axis=1)
    mds = ConditionalMDS(1, metric="precomputed", n_init=2, random_state=0).fit(numbered)
    assert stress_per_point(D, mds)["stress"].sum() == pytest.approx(mds.stress_, rel=1e-9)
