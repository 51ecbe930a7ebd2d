"""What must not change a map: how it was begun, the order of the objects, units, forms of the input, threads."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from tests.helpers import noisy_distances, symmetric_weights
from unmask.datasets import make_car_brands

from .fits import assert_same_map, fit


def test_rotating_the_start_changes_nothing(kinship, start, base, rng):
    rotation = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    turned = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    U0, B0 = start["init"]
    rotated = start | {"init": (U0 @ rotation + 9, B0 @ turned)}
    other = fit(kinship.dissimilarities, kinship.known[["gender", "degree"]], **rotated)
    assert_same_map(base, other)
    np.testing.assert_allclose(other.coef_, base.coef_, rtol=1e-5)


def test_relabelling_changes_nothing(kinship, start, base, rng):
    order = rng.permutation(14)
    D = kinship.dissimilarities.iloc[order, order]
    moved = start | {"init": (start["init"][0][order], start["init"][1])}
    other = fit(D, kinship.known[["gender", "degree"]].iloc[order], **moved)
    np.testing.assert_allclose(other.embedding_, base.embedding_[order], atol=1e-5)
    np.testing.assert_allclose(other.stress_per_point_[base.stress_per_point_.index], base.stress_per_point_, rtol=1e-4)


@pytest.mark.parametrize("factor", [1e-150, 3.0, 1e150])
def test_scaling_dissimilarities_scales_the_map(kinship, start, base, factor):
    scaled = start | {"init": tuple(part * factor for part in start["init"])}
    other = fit(kinship.dissimilarities * factor, kinship.known[["gender", "degree"]], **scaled)
    assert other.stress_ == pytest.approx(base.stress_, rel=1e-9)
    np.testing.assert_allclose(other.embedding_ / factor, base.embedding_, atol=1e-5)
    np.testing.assert_allclose(other.coef_ / factor, base.coef_, rtol=1e-5)
    np.testing.assert_allclose(other.importance_ / factor, base.importance_, rtol=1e-5)
    placed = other.transform(kinship.dissimilarities * factor, known=kinship.known[["gender", "degree"]])
    np.testing.assert_allclose(placed, other.embedding_)


@pytest.mark.parametrize("case", ["relabelled", "recoded", "float32", "scaled"])
def test_default_starts_find_the_same_map_however_the_problem_is_written(kinship, by_gender, case, rng):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    order = rng.permutation(14) if case == "relabelled" else np.arange(14)
    D, known = D.iloc[order, order], known.iloc[order]
    if case == "recoded":
        known = 1e9 - 7 * known
    if case == "float32":
        D = D.astype(np.float32)
    factor = 1e-150 if case == "scaled" else 1.0
    other = fit(D * factor, known)
    assert other.stress_ == pytest.approx(by_gender.stress_, abs=1e-8)
    size = np.abs(by_gender.embedding_).max()
    np.testing.assert_allclose(other.embedding_ / factor, by_gender.embedding_[order], atol=2e-3 * size)


def test_weights_beyond_single_precision_with_single_precision_data(rng):
    """The arithmetic is single, the weights are double and of any size."""
    D = noisy_distances(rng, 1000, 3).astype(np.float32)
    D = np.maximum(D, D.T)
    unit = fit(D, n_init=1)
    for size in (1e40, 1e-50):
        weighted = fit(D, pair_weights=np.full((1000, 1000), size), n_init=1)
        assert weighted.stress_ == pytest.approx(unit.stress_, rel=1e-5)
    tiny = fit(D * np.float32(1e-38), n_init=1)
    assert tiny.n_iter_ > 0
    assert tiny.stress_ == pytest.approx(unit.stress_, rel=1e-3)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_extreme_scales_work_from_default_starts_and_with_every_weighting(kinship, factor, rng):
    known = kinship.known[["gender"]]
    for options in ({}, {"weights": "sammon"}):
        plain = fit(kinship.dissimilarities, known, n_init=3, **options)
        scaled = fit(kinship.dissimilarities * factor, known, n_init=3, **options)
        assert scaled.stress_ == pytest.approx(plain.stress_, rel=1e-6)
    W = symmetric_weights(rng, 14)
    plain, scaled = (fit(kinship.dissimilarities, known, W * f, n_init=3) for f in (1.0, factor))
    assert scaled.stress_ == pytest.approx(plain.stress_, rel=1e-6)


def test_shifting_known_features_by_a_billion_changes_nothing(kinship, start, base):
    other = fit(kinship.dissimilarities, kinship.known[["gender", "degree"]] + 1e9, **start)
    assert_same_map(base, other)
    np.testing.assert_allclose(other.coef_, base.coef_, rtol=1e-6)


@pytest.mark.parametrize("factors", [(1000.0, 1e-3), (1e150, 1e150), (1e-150, 1e-150)])
def test_rescaling_known_features_rescales_their_importance_only(kinship, start, base, factors):
    factors = np.array(factors)
    scaled = start | {"init": (start["init"][0], start["init"][1] / factors[:, None])}
    other = fit(kinship.dissimilarities, kinship.known[["gender", "degree"]] * factors, **scaled)
    assert_same_map(base, other)
    np.testing.assert_allclose(other.importance_["raw"] * factors, base.importance_["raw"], rtol=1e-5)
    np.testing.assert_allclose(other.importance_["standardized"], base.importance_["standardized"], rtol=1e-5)
    # The coefficients as reported give the reported stress.
    VB = (kinship.known[["gender", "degree"]] * factors).to_numpy() @ other.coef_.to_numpy()
    distances = pdist(np.column_stack([other.embedding_, VB]))
    delta = squareform(kinship.dissimilarities.to_numpy())
    assert np.sum((delta - distances) ** 2) / np.sum(delta**2.0) == pytest.approx(other.stress_, rel=1e-6)


@pytest.mark.parametrize("kind", ["float32", "int", "read-only", "non-contiguous", "fortran"])
def test_the_form_of_the_input_changes_nothing(kinship, start, base, kind):
    D = kinship.dissimilarities.to_numpy()
    wide = np.full((28, 28), 7.0)
    wide[::2, ::2] = D
    form = {
        "float32": D.astype(np.float32),
        "int": D.astype(np.int64),
        "read-only": D.astype(float),
        "non-contiguous": wide[::2, ::2],
        "fortran": np.asfortranarray(D.astype(float)),
    }[kind]
    form.flags.writeable = kind != "read-only"
    before = form.copy()
    other = fit(form, kinship.known[["gender", "degree"]].to_numpy(), **start)
    assert_same_map(base, other, rtol=1e-5)
    np.testing.assert_array_equal(form, before)
    assert other.embedding_.dtype == (np.float32 if kind == "float32" else np.float64)


def test_data_frames_in_another_order_are_aligned_by_label(kinship, start, base):
    known = kinship.known[["gender", "degree"]].sample(frac=1, random_state=1)
    shuffled = kinship.dissimilarities.sample(frac=1, axis=1, random_state=2)
    before = shuffled.copy(), known.copy()
    assert_same_map(base, fit(shuffled, known, **start))
    pd.testing.assert_frame_equal(shuffled, before[0])
    pd.testing.assert_frame_equal(known, before[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_or_two_threads_give_the_same_map(dtype):
    cars = make_car_brands(1100, random_state=0)
    D = cars.dissimilarities.to_numpy(dtype=dtype)
    maps = [fit(D, cars.known.iloc[:, :4], n_components=3, n_jobs=jobs) for jobs in (1, 2)]
    np.testing.assert_array_equal(maps[0].embedding_, maps[1].embedding_)
    assert maps[0].stress_ == maps[1].stress_


def test_single_precision_reaches_the_minimum_of_double_precision():
    cars = make_car_brands(1100, random_state=0)
    D = cars.dissimilarities.to_numpy()
    single, double = (fit(D.astype(t), cars.known.iloc[:, :4], n_components=3) for t in (np.float32, np.float64))
    assert single.stress_ == pytest.approx(double.stress_, rel=1e-6)
    assert single.converged_


def test_full_coefficients_do_not_depend_on_how_features_are_coded(kinship, start, base):
    recoded = kinship.known[["gender", "degree"]] @ np.array([[1.0, 2.0], [1.0, -1.0]])
    A = np.array([[1.0, 2.0], [1.0, -1.0]])
    other = fit(
        kinship.dissimilarities, recoded, **(start | {"init": (start["init"][0], np.linalg.solve(A, start["init"][1]))})
    )
    assert_same_map(base, other)
