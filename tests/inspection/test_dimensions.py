"""The number of dimensions: scree, elbow, held-out dissimilarities."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalClassicalMDS, ConditionalIsomap, ConditionalMDS
from unmask.datasets import make_car_brands
from unmask.inspection import choose_n_components, elbow, scree


def mds(**options):
    return ConditionalMDS(metric="precomputed", **{"n_init": 3, "random_state": 0, "tol": 1e-7, **options})


@pytest.mark.parametrize("known", [None, ["gender"], ["gender", "degree"]])
def test_stress_never_rises_with_the_number_of_dimensions(kinship, known):
    known = known if known is None else kinship.known[known]
    table = scree(mds(n_init=1), kinship.dissimilarities, known, max_components=6)
    assert list(table.index) == list(range(7))
    assert (np.diff(table["stress"]) <= 0).all()
    np.testing.assert_allclose(table["fall"][1:], -np.diff(table["stress"]), rtol=0, atol=1e-15)
    if known is None:
        assert table["stress"][0] == 1
    else:
        alone = mds(n_components=0).fit(kinship.dissimilarities, known=known)
        assert table["stress"][0] == pytest.approx(alone.stress_, rel=1e-6)
    best = mds(n_components=2, n_init=20).fit(kinship.dissimilarities, known=known)
    assert table["stress"][2] >= best.stress_ - 1e-7


def test_a_warm_start_keeps_what_a_single_poor_start_loses(kinship):
    """From one random start each, without warm starts, the stress does rise somewhere."""
    D = kinship.dissimilarities
    cold = [ConditionalMDS(p, metric="precomputed", init="random", n_init=1, random_state=3).fit(D).stress_
            for p in range(1, 8)]  # fmt: skip
    warm = scree(ConditionalMDS(metric="precomputed", init="random", n_init=1, random_state=3), D, max_components=7)
    assert (np.diff(warm["stress"]) <= 0).all()
    assert (warm["stress"].to_numpy()[1:] <= np.array(cold) + 1e-12).all()


def test_elbow_is_where_the_curve_bends():
    assert elbow([1.0, 0.5, 0.1, 0.09, 0.08]) == 2
    assert elbow([1.0, 0.02, 0.01, 0.0]) == 1
    assert elbow([0.3, 0.3, 0.3]) == 0


def test_an_elbow_does_not_leave_behind_what_one_more_dimension_explains():
    assert elbow([0.58, 0.06, 6e-7]) == 2
    assert elbow([0.58, 0.06, 6e-7, 1e-9, 0.0]) == 2
    assert elbow([1.0, 0.58, 0.06, 6e-7, 0.0, 0.0, 0.0]) == 3
    assert elbow([1.0, 0.2, 0.04, 1e-9, 0.0, 0.0]) == 3
    # A stress that is small already, or that falls on slowly, is left.
    assert elbow([1.0, 0.5, 0.008, 1e-12, 0.0]) == 2
    assert elbow([1.0, 0.1, 0.05, 0.02, 0.01, 0.0]) == 1


def test_the_elbow_of_points_on_a_sphere_is_three():
    X = np.random.default_rng(0).normal(size=(20, 3))
    D = squareform(pdist(X / np.linalg.norm(X, axis=1, keepdims=True)))
    table = scree(ConditionalMDS(metric="precomputed", n_init=4, random_state=0), D, max_components=5)
    assert table["stress"].iloc[2] > 0.01
    assert table.attrs["elbow"] == 3
    assert not np.signbit(table["fall"].to_numpy()[1:]).any()


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_number_of_dimensions_is_found(rng, dimensions):
    D = squareform(pdist(rng.standard_normal((20, dimensions))))
    noise = np.triu(0.05 * rng.standard_normal(D.shape), 1)
    options = {"max_components": 4, "n_splits": 2, "n_permutations": 19}
    table = choose_n_components(mds(n_init=2), D * (1 + noise + noise.T), **options)
    assert table.attrs["chosen"] == dimensions
    assert {"stress", "fall", "p_value", "heldout", "heldout_se"} == set(table.columns)
    assert (table["p_value"][:dimensions] <= 0.05).all()
    assert table["p_value"][dimensions] > 0.05
    assert table["p_value"][dimensions + 1 :].isna().all()
    # A plain computation of the error of one dimension too few is larger by far than that of the choice.
    assert table["heldout"][dimensions - 1] > 2 * table["heldout"][dimensions]


def chosen(q, replicate):
    cars = make_car_brands(60, noise=0.05, known_noise=0.0, random_state=replicate)
    table = choose_n_components(mds(), cars.dissimilarities, cars.known.iloc[:, :q], max_components=7, n_splits=5)
    return table.attrs["chosen"]


@pytest.mark.slow
@pytest.mark.parametrize("q", range(1, 8))
def test_what_is_left_of_car_brands_is_counted(q):
    """A test at 5% takes one dimension too many in one set of twenty; four of ten have a probability below 0.002."""
    found = np.array([chosen(q, replicate) for replicate in range(10)])
    assert found.min() >= 7 - q
    assert np.mean(found == 7 - q) > 0.6


@pytest.mark.slow
def test_of_noisy_car_brands_some_dimensions_are_chosen():
    """The TPAMI paper's simulation with 20% noise and two unknown features, where held-out pairs chose none."""
    found = []
    for replicate in range(6):
        cars = make_car_brands(30, random_state=replicate)
        options = {"max_components": 3, "n_splits": 2}
        found.append(
            choose_n_components(mds(), cars.dissimilarities, cars.known.iloc[:, :5], **options).attrs["chosen"]
        )
    assert np.mean(np.array(found) > 0) >= 0.8


def test_features_are_turned_into_dissimilarities(rng):
    X = rng.standard_normal((20, 2))
    table = scree(ConditionalMDS(n_init=2, random_state=0), X, max_components=3)
    assert table["stress"][2] < 1e-8 < table["stress"][1]


def test_a_closed_form_has_a_scree_but_nothing_to_hold_out(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender", "degree"]]
    closed = ConditionalClassicalMDS(metric="precomputed")
    table = scree(closed, D, known, max_components=3)
    alone = [ConditionalClassicalMDS(p, metric="precomputed").fit(D, known=known).stress_ for p in range(4)]
    np.testing.assert_allclose(table["stress"], np.minimum.accumulate(alone), rtol=1e-12)
    with pytest.raises(ValueError, match="ConditionalClassicalMDS, which needs all dissimilarities"):
        choose_n_components(closed, D, known)


def test_the_scree_of_isomap_is_that_of_its_fits(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    options = {"n_neighbors": 6, "metric": "precomputed", "n_init": 4, "random_state": 0}
    table = scree(ConditionalIsomap(**options), D, known, max_components=2)
    single = ConditionalIsomap(2, **options).fit(D, known=known)
    assert table["stress"][2] <= single.stress_ + 1e-12
    assert table["stress"][2] == pytest.approx(single.stress_, rel=0.05)


def test_held_out_pairs_are_predicted_in_the_units_of_an_ordinal_fit(rng):
    """Only the order is used, so that any rising function of the dissimilarities leads to the same errors."""
    D = squareform(pdist(rng.standard_normal((16, 2))))
    noise = np.triu(0.05 * rng.standard_normal(D.shape), 1)
    D = D * (1 + noise + noise.T)
    options = {"max_components": 2, "n_splits": 2, "n_permutations": 19}
    one, other = (choose_n_components(mds(level="ordinal"), table, **options) for table in (D, 10 * np.sqrt(D)))
    assert one["heldout"][2] < 0.1
    np.testing.assert_allclose(one["stress"], other["stress"], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(one["heldout"], other["heldout"], rtol=0.1, atol=5e-3)


def test_of_an_adjusting_estimator_the_axes_of_the_adjusted_map_are_shown():
    rng = np.random.default_rng(21)
    v = rng.normal(size=(40, 1))
    truth = rng.normal(size=(40, 2)) * [1.0, 0.6]
    D = squareform(pdist(truth + 2 * v * [1.0, 0.0]))
    estimator = ConditionalMDS(1, metric="precomputed", n_init=3, random_state=0, adjust=True)
    table = scree(estimator, D, v, max_components=3)
    free = scree(ConditionalMDS(1, metric="precomputed", n_init=3, random_state=0), D, v, max_components=3)
    assert "residual" not in free
    np.testing.assert_array_equal(table["stress"], free["stress"])  # adjusting changes none
    left = (
        truth
        - truth.mean(axis=0)
        - (v - v.mean()) @ np.linalg.lstsq(v - v.mean(), truth - truth.mean(axis=0), rcond=None)[0]
    )
    lengths = np.linalg.svd(left, compute_uv=False) / np.sqrt(40)
    np.testing.assert_allclose(table["residual"].iloc[1:3], lengths, rtol=1e-2)
    assert table["residual"].iloc[3] < 0.05 * lengths[1]


@pytest.mark.parametrize("known", [None, ["gender"]])
def test_progress_counts_the_numbers_of_dimensions(kinship, known):
    told = []
    mds = ConditionalMDS(metric="precomputed", n_init=1, random_state=0)
    given = None if known is None else kinship.known[known]
    scree(mds, kinship.dissimilarities, given, max_components=2, progress=lambda *now: told.append(now))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    told.clear()
    options = {"max_components": 1, "n_splits": 2, "n_permutations": 19, "progress": lambda *now: told.append(now)}
    choose_n_components(mds, kinship.dissimilarities, given, **options)
    assert {total for _, total in told} == {6 + 19}
    steps = list(dict.fromkeys(done for done, _ in told))
    assert steps == sorted(steps)
    assert {0, 1, 2, 4, 6, 25} <= set(steps)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_with_as_many_parameters_as_pairs_nothing_is_tested(rng):
    D = squareform(pdist(rng.standard_normal((8, 7))))
    D[0, 1:5] = D[1:5, 0] = D[1, 4:] = D[4:, 1] = np.nan  # leaves 20 pairs for the 21 numbers of a full coef
    options = {"max_components": 1, "n_splits": 2}
    table = choose_n_components(mds(coef="full"), D, rng.standard_normal((8, 6)), **options)
    assert table["p_value"].isna().all()
    assert table.attrs["chosen"] == 0
