"""The published numbers for facial expressions come out with the roots of the dissimilarities, not with themselves."""

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from tests import recordings
from unmask import ConditionalMDS
from unmask.inspection import abs_correlations, average_canonical_correlation

FOLDER = Path(os.environ.get("UNMASK_FACES") or recordings.FOLDER)
needs_data = pytest.mark.skipif(
    not (FOLDER / "faces_dissimilarities.csv").exists(), reason="an addition for where the photographs' ratings are"
)

SCALES = ("PU", "AR", "TS")
COEF = (1.0, 0.7, 0.5)
SETS = [(), *(known for size in (1, 2) for known in combinations(SCALES, size))]
PUBLISHED = dict(zip(SETS, (0.71, 0.85, 0.94, 0.91, 0.89, 0.91, 0.94), strict=True))
# What an independent implementation finds with square roots.
INDEPENDENT = dict(zip(SETS, (0.72, 0.85, 0.94, 0.94, 0.89, 0.91, 0.95), strict=True))


@pytest.fixture(scope="module")
def faces():
    return tuple(pd.read_csv(FOLDER / f"faces_{name}.csv", index_col=0) for name in ("dissimilarities", "scales"))


def fit(dissimilarities, scales, known):
    mds = ConditionalMDS(3 - len(known), metric="precomputed", random_state=0)
    return mds.fit(dissimilarities, known=scales[list(known)] if known else None)


def score(dissimilarities, scales, known):
    U = fit(dissimilarities, scales, known).embedding_
    unknown = [scale for scale in SCALES if scale not in known]
    return average_canonical_correlation(np.column_stack([U, scales[list(known)]]), scales[unknown])


@pytest.fixture(scope="module")
def made_up():
    """Return squared distances of 13 objects by three scales, the last two of them correlated, and the scales."""
    scales = pd.DataFrame(np.random.default_rng(0).standard_normal((13, 3)), columns=list(SCALES))
    scales["TS"] += scales["AR"]
    return pd.DataFrame(squareform(pdist(scales * np.array(COEF), "sqeuclidean"))), scales


@pytest.mark.parametrize("known", SETS, ids=lambda known: "+".join(known) or "nothing")
def test_scales_behind_squared_distances_come_out_with_square_roots_only(made_up, known):
    squared, scales = made_up
    mds = fit(np.sqrt(squared), scales, known)
    assert mds.stress_ < 1e-8
    np.testing.assert_allclose(mds.coef_, np.diag([COEF[SCALES.index(name)] for name in known]), rtol=0, atol=1e-3)
    assert score(np.sqrt(squared), scales, known) == pytest.approx(1, abs=1e-4)
    assert fit(squared, scales, known).stress_ > 1e-3


def test_scales_behind_squared_distances_are_missed_without_roots(made_up):
    squared, scales = made_up
    assert score(squared, scales, ()) < 0.9
    assert score(squared, scales, ("PU",)) < 0.9


@needs_data
@pytest.mark.parametrize("known", SETS, ids=lambda known: "+".join(known) or "nothing")
def test_table_1_comes_out_with_square_roots(faces, known):
    dissimilarities, scales = faces
    found = score(np.sqrt(dissimilarities), scales, known)
    # Half a unit of the last digit in each of the two numbers.
    np.testing.assert_allclose(found, INDEPENDENT[known], rtol=0, atol=0.0051)
    np.testing.assert_allclose(found, PUBLISHED[known], rtol=0, atol=0.035 if known == ("TS",) else 0.015)


@needs_data
def test_table_1_does_not_come_out_with_raw_dissimilarities(faces):
    dissimilarities, scales = faces
    assert score(dissimilarities, scales, ()) - PUBLISHED[()] > 0.1
    assert score(dissimilarities, scales, ("PU",)) - PUBLISHED["PU",] < -0.1


@needs_data
@pytest.mark.parametrize(
    ("known", "published"),
    [
        (("AR",), [0.93, 0.02, 0.31]),
        (("PU", "AR"), [0.07, 0.04, 0.38]),
        (("PU", "TS"), [0.03, 0.52, 0.13]),
        (("AR", "TS"), [0.93, 0.07, 0.16]),
    ],
    ids=["AR", "PU+AR", "PU+TS", "AR+TS"],
)
def test_table_2_comes_out_with_square_roots(faces, known, published):
    dissimilarities, scales = faces
    U = fit(np.sqrt(dissimilarities), scales, known).embedding_
    np.testing.assert_allclose(abs_correlations(U[:, :1], scales).to_numpy()[0], published, rtol=0, atol=0.025)


@needs_data
def test_table_s2_is_a_local_minimum_next_to_the_best(faces):
    dissimilarities, scales = faces
    B = np.array([[0.43, -0.01, 0.01], [-0.02, 0.35, -0.12], [0.00, -0.07, 0.43]])
    # The published B up to a rotation, which changes no distance.
    values, vectors = np.linalg.eigh(B @ B.T)
    published = vectors * np.sqrt(values) @ vectors.T
    fits = [
        ConditionalMDS(1, metric="precomputed", init="random", n_init=1, random_state=seed).fit(
            np.sqrt(dissimilarities), known=scales
        )
        for seed in range(60)
    ]
    apart = [np.abs(mds.coef_.to_numpy() - published).max() for mds in fits]
    nearest, best = fits[int(np.argmin(apart))], min(fits, key=lambda mds: mds.stress_)
    assert min(apart) < 0.015 < np.abs(best.coef_.to_numpy() - published).max()
    assert best.stress_ < nearest.stress_ < 1.02 * best.stress_


@needs_data
def test_with_nothing_known_most_starts_find_as_much_as_given_pu_and_the_lowest_minimum_does_not(faces):
    dissimilarities, scales = faces
    found = []
    for seed in range(40):
        mds = ConditionalMDS(3, metric="precomputed", init="random", n_init=1, random_state=seed)
        mds.fit(np.sqrt(dissimilarities))
        found.append((mds.stress_, average_canonical_correlation(mds.embedding_, scales)))
    assert min(found)[1] == pytest.approx(0.72, abs=0.006)
    assert np.median([acc for _, acc in found]) > 0.82
