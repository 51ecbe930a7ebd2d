"""ConditionalIsomap: reference stresses, the Swiss roll, and its equality with the pipeline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_swiss_roll
from sklearn.pipeline import make_pipeline

from unmask import ConditionalIsomap, ConditionalMDS, Cyclic
from unmask.dissimilarities import Geodesic


@pytest.mark.parametrize(("k", "stress"), [(4, 0.058529488411), (5, 0.027287615992), (6, 0.028949900625)])
def test_stress_from_the_reference_start(kinship, reference, k, stress):
    isomap = ConditionalIsomap(
        2,
        n_neighbors=k,
        metric="precomputed",
        init=(reference("U_start.csv"), np.eye(2)),
        solver="smacof",
        tol=1e-9,
        max_iter=10_000,
    ).fit(kinship.dissimilarities, known=kinship.known[["gender", "degree"]])
    assert isomap.stress_ == pytest.approx(stress, abs=1e-9)


def test_a_swiss_roll_given_its_height_unrolls_to_the_arc_length():
    X, t = make_swiss_roll(800, random_state=0)
    isomap = ConditionalIsomap(1, n_neighbors=10, n_init=3, random_state=0).fit(X, known=X[:, 1])
    arc = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    assert abs(np.corrcoef(isomap.embedding_[:, 0], arc)[0, 1]) >= 0.995
    assert isomap.coef_.iloc[0, 0] == pytest.approx(1, abs=0.1)  # height counts as what it is


def test_it_equals_the_pipeline_of_its_stages(kinship):
    known = kinship.known[["gender"]]
    options = {"metric": "precomputed", "n_init": 3, "random_state": 0}
    isomap = ConditionalIsomap(2, n_neighbors=6, **options)
    stages = make_pipeline(Geodesic(6, metric="precomputed"), ConditionalMDS(2, **options))
    one = isomap.fit_transform(kinship.dissimilarities, known=known)
    two = stages.fit_transform(kinship.dissimilarities, conditionalmds__known=known.to_numpy())
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("metric", ["precomputed", "euclidean"])
def test_fitted_objects_return_to_their_points_and_new_ones_land_near_their_neighbours(metric):
    X, _ = make_swiss_roll(300, random_state=1)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    data, new = (D[:250, :250], D[250:, :250]) if metric == "precomputed" else (X[:250], X[250:])
    isomap = ConditionalIsomap(1, n_neighbors=8, metric=metric, n_init=2, random_state=0).fit(data, known=X[:250, 1])
    np.testing.assert_allclose(isomap.transform(data, known=X[:250, 1]), isomap.embedding_, atol=1e-6)
    placed = isomap.transform(new, known=X[250:, 1])
    nearest = np.argmin(D[250:, :250], axis=1)
    spread = np.ptp(isomap.embedding_)
    assert np.median(np.abs(placed - isomap.embedding_[nearest])) < 0.05 * spread


def test_labels_align_known_and_name_the_objects(kinship):
    known = kinship.known[["gender"]]
    options = {"metric": "precomputed", "n_init": 2, "random_state": 0}
    one, two = (ConditionalIsomap(**options).fit(kinship.dissimilarities, known=k) for k in (known, known.iloc[::-1]))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert list(one.stress_per_point_.index) == list(known.index)


def test_types_reach_the_isomap():
    X = np.random.default_rng(17).uniform(size=(24, 3))
    sites = np.array(["north", "east", "south", "west"])[np.random.default_rng(6).permutation(24) % 4]
    isomap = ConditionalIsomap(2, n_neighbors=6, known_types={"h": Cyclic(24)}, n_init=1, random_state=0)
    isomap.fit(X, known=pd.DataFrame({"h": np.arange(24), "site": sites}))
    assert list(isomap.known_summary_["type"]) == ["cyclic", "nominal"]
    assert isomap.coef_.shape == (5, 5)
