"""ConditionalMDS: known numbers, invariances, reports, new objects."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import smacof
from sklearn.model_selection import GridSearchCV, KFold

from tests.helpers import noisy_distances, symmetric_weights
from unmask import ConditionalMDS, MissingDissimilarityWarning
from unmask.datasets import make_car_brands
from unmask.inspection import average_canonical_correlation

BEST = {
    "gender": (["gender"], {}, 0.026086954836),
    "full": (["gender", "degree"], {}, 0.014288491061),
    "diagonal": (["gender", "degree"], {"coef": "diagonal"}, 0.014289490737),
    "sammon": (["gender", "degree"], {"weights": "sammon"}, 0.019867975049),
}


def fit(D, known=None, pair_weights=None, **options):
    options = {"metric": "precomputed", "random_state": 0} | options
    return ConditionalMDS(**options).fit(D, known=known, weights=pair_weights)


@pytest.fixture(scope="module")
def by_gender(kinship):
    return fit(kinship.dissimilarities, kinship.known[["gender"]])


# ---- known numbers


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("case", BEST)
def test_defaults_find_the_best_known_minimum_with_any_seed(kinship, case, seed):
    columns, options, stress = BEST[case]
    mds = fit(kinship.dissimilarities, kinship.known[columns], random_state=seed, **options)
    assert mds.stress_ == pytest.approx(stress, abs=1e-8)
    assert mds.converged_


def test_estimator_follows_the_reference_from_its_start(kinship, reference):
    """The same through the public face: init=(U0, B0), the solver and the tolerance of the reference."""
    expected = reference("b_GD_matrix_g1e-9")
    mds = fit(
        kinship.dissimilarities,
        kinship.known[["gender", "degree"]],
        init=(reference("U_start.csv"), np.eye(2)),
        solver="smacof",
        tol=1e-9,
    )
    total = np.sum(np.triu(kinship.dissimilarities.to_numpy(), 1) ** 2.0)
    np.testing.assert_allclose(mds.stress_path_ * total, expected["sigma"], rtol=1e-9)
    B = np.array(expected["B"])
    np.testing.assert_allclose(mds.coef_.to_numpy() @ mds.coef_.to_numpy(), B @ B.T, rtol=1e-7)
    assert list(mds.starts_["kind"]) == ["given"]


def test_without_known_features_it_is_metric_mds(kinship):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    mine = fit(D)
    start = mine.embedding_ + 0.1 * np.random.default_rng(0).standard_normal((14, 2))
    _, raw, _ = smacof(
        D, n_components=2, init=start, n_init=1, max_iter=3000, eps=1e-12, return_n_iter=True, normalized_stress=False
    )
    assert mine.stress_ * np.sum(np.triu(D) ** 2) == pytest.approx(raw, rel=1e-6)
    assert mine.leak_ == 0
    assert mine.coef_.shape == (0, 0)
    assert mine.importance_.shape == (0, 2)


def test_exact_configurations_are_recovered_exactly(rng):
    """Without noise the map is the unknown features up to rotation and the coefficients are the true ones."""
    U, V, b = rng.standard_normal((30, 2)) * [2, 1], rng.standard_normal((30, 2)), np.array([1.5, 0.5])
    Z = np.column_stack([U, V * b])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    for coef in ("full", "diagonal"):
        mds = fit(D, V, coef=coef)
        assert mds.stress_ < 1e-10
        np.testing.assert_allclose(mds.coef_.to_numpy(), np.diag(b), atol=1e-3)
        assert average_canonical_correlation(mds.embedding_, U) == pytest.approx(1, abs=1e-5)


def test_no_unknown_dimension_fits_the_coefficients_alone(rng):
    V, B = rng.standard_normal((20, 2)), np.array([[2.0, 0.3], [0.3, 1.0]])
    Z = V @ B
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    mds = fit(D, V, n_components=0)
    assert mds.embedding_.shape == (20, 0)
    np.testing.assert_allclose(mds.coef_.to_numpy(), B, atol=1e-4)
    assert mds.leak_ == 0
    assert mds.transform(D, known=V).shape == (20, 0)


@pytest.mark.simulation
@pytest.mark.parametrize("replicates", [15, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("q", "least"), [(4, 0.89), (5, 0.915), (6, 0.96)])
def test_car_brands_recover_all_seven_features(q, least, replicates):
    """Median over the replicates of the papers' score; plain metric MDS reaches about .81."""
    scores = []
    for replicate in range(replicates):
        cars = make_car_brands(random_state=replicate)
        known = cars.known.iloc[:, :q]
        U = fit(cars.dissimilarities, known, n_components=7 - q, random_state=replicate).embedding_
        scores.append(average_canonical_correlation(np.column_stack([U, known]), cars.features))
    assert np.median(scores) >= least


# ---- invariances


def assert_same_map(one, other, rtol=1e-6):
    size = np.abs(one.embedding_).max()
    assert other.stress_ == pytest.approx(one.stress_, rel=1e-7)
    np.testing.assert_allclose(other.embedding_, one.embedding_, atol=rtol * size)


@pytest.fixture(scope="module")
def start(kinship):
    """A start close to a minimum with distinct axes, and tight tolerances, so that maps can be compared closely."""
    mds = fit(kinship.dissimilarities, kinship.known[["gender", "degree"]])
    return {"init": (mds.embedding_ * 1.01, mds.coef_.to_numpy()), "tol": 1e-15, "max_iter": 10_000}


@pytest.fixture(scope="module")
def base(kinship, start):
    return fit(kinship.dissimilarities, kinship.known[["gender", "degree"]], **start)


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


def test_a_start_beyond_all_numbers_is_an_error(kinship):
    with pytest.raises(FloatingPointError, match=r"the stress at the start is (inf|nan)"):
        fit(kinship.dissimilarities, init=(np.arange(28.0).reshape(14, 2) * 1e200, None))


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


def test_large_contiguous_input_is_not_copied(rng):
    """The engine must hold the user's own array (or its transpose), not a copy of it."""
    from unmask.checking import check_dissimilarities
    from unmask.kernels import Workers
    from unmask.problem import build_pairs

    D = noisy_distances(rng, 50)
    for array in (D, np.asfortranarray(D), D.astype(np.float32)):
        workers = Workers(1)
        pairs = build_pairs(check_dissimilarities(array, symmetrize=None, workers=workers), None, None, workers)[0]
        assert np.shares_memory(pairs.values, array)


# ---- weights and missing dissimilarities


def test_constant_array_weights_are_unit_weights(kinship, start, base):
    assert_same_map(
        base, fit(kinship.dissimilarities, kinship.known[["gender", "degree"]], np.full((14, 14), 3.0), **start)
    )


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.coo_array, np.asarray])
def test_zero_weights_equal_missing_dissimilarities(kinship, start, form):
    known = kinship.known[["gender", "degree"]]
    W = np.ones((14, 14))
    W[0, 5] = W[5, 0] = W[2, 3] = W[3, 2] = 0
    holes = kinship.dissimilarities.mask(W == 0)
    with pytest.warns(MissingDissimilarityWarning, match="2 of 91 pairs"):
        missing = fit(holes, known, **start)
    assert_same_map(missing, fit(kinship.dissimilarities, known, form(W), **start))


def test_weights_in_another_order_are_aligned_by_label(kinship, start, rng):
    W = pd.DataFrame(symmetric_weights(rng, 14), kinship.dissimilarities.index, kinship.dissimilarities.index)
    known = kinship.known[["gender", "degree"]]
    ordered = fit(kinship.dissimilarities, known, W, **start)
    assert_same_map(ordered, fit(kinship.dissimilarities, known, W.iloc[::-1, ::-1], **start))


def test_sammon_weights_accept_duplicates(kinship):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    D = np.block([[D, D[:, :1]], [D[:1], np.zeros((1, 1))]])  # Aunt twice, at dissimilarity 0
    mds = fit(D, weights="sammon", n_init=5)
    assert np.isfinite(mds.stress_)
    assert np.linalg.norm(mds.embedding_[0] - mds.embedding_[14]) < 1e-2 * np.abs(mds.embedding_).max()


def test_predicting_held_out_pairs_beats_the_mean(rng):
    """With pairs missing at random the fitted distances still follow the true ones."""
    cars = make_car_brands(40, noise=0.05, random_state=3)
    D = cars.dissimilarities.to_numpy().copy()
    holes = np.triu(rng.uniform(size=D.shape) < 0.2, 1)
    D[holes | holes.T] = np.nan
    with pytest.warns(MissingDissimilarityWarning):
        mds = fit(D, cars.known.iloc[:, :4], n_components=3, n_init=5)
    Z = np.column_stack([mds.embedding_, cars.known.iloc[:, :4].to_numpy() @ mds.coef_.to_numpy()])
    d = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    truth = cars.noiseless.to_numpy()[holes]
    assert np.corrcoef(d[holes], truth)[0, 1] > 0.9
    assert np.mean((d[holes] - truth) ** 2) < 0.2 * np.var(truth)  # the mean of the others would leave all of it


# ---- reports


def test_stress_and_its_parts_by_their_definitions(kinship, by_gender):
    D = kinship.dissimilarities.to_numpy()
    Z = np.column_stack([by_gender.embedding_, kinship.known[["gender"]].to_numpy() * by_gender.coef_.iloc[0, 0]])
    d = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    error = (D - d) ** 2
    total = np.sum(np.triu(D) ** 2.0)
    assert by_gender.stress_ == pytest.approx(np.triu(error).sum() / total, rel=1e-9)
    np.testing.assert_allclose(by_gender.stress_per_point_, error.sum(axis=1) / (2 * total), rtol=1e-7)
    assert by_gender.stress_per_point_.sum() == pytest.approx(by_gender.stress_, rel=1e-9)
    assert list(by_gender.stress_per_point_.index) == list(kinship.dissimilarities.index)
    assert by_gender.stress_path_[-1] == pytest.approx(by_gender.stress_, rel=1e-9)
    assert len(by_gender.stress_path_) == by_gender.n_iter_ + 1


def test_importance_is_the_row_norm_of_the_coefficients(base, kinship):
    B = base.coef_.to_numpy()
    np.testing.assert_allclose(base.importance_["raw"], np.linalg.norm(B, axis=1), rtol=1e-7)
    deviation = kinship.known[["gender", "degree"]].std(ddof=1).to_numpy()
    np.testing.assert_allclose(base.importance_["standardized"], base.importance_["raw"] * deviation, rtol=1e-12)
    np.testing.assert_allclose(B, B.T)
    assert np.linalg.eigvalsh(B).min() >= 0


def test_embedding_is_in_canonical_form(by_gender):
    U = by_gender.embedding_
    np.testing.assert_allclose(U.mean(axis=0), 0, atol=1e-9)
    covariance = U.T @ U
    assert abs(covariance[0, 1]) < 1e-9 * covariance[0, 0]
    assert covariance[0, 0] > covariance[1, 1]
    assert np.all(np.sum(U**3, axis=0) > 0)


def test_every_start_is_reported_and_the_best_kept(by_gender):
    starts = by_gender.starts_
    assert len(starts) >= 100
    assert starts["kind"].iloc[0] == "closed-form"
    assert set(starts["kind"].iloc[1:]) == {"random"}
    assert starts["best"].sum() == 1
    assert starts.loc[starts["best"], "stress"].item() == starts["stress"].min()
    assert starts["stress"].max() > starts["stress"].min() + 1e-4  # local minima are many
    assert starts["stress"].iloc[0] > by_gender.stress_ + 1e-5  # and the closed form leads to another one


@pytest.mark.parametrize(
    ("init", "kinds"),
    [("closed-form", ["closed-form"]), ("random", ["random"] * 3), ("auto", ["closed-form", "random", "random"])],
)
def test_starts_asked_for_are_made(kinship, init, kinds):
    n_init = "auto" if init == "closed-form" else 3
    mds = fit(kinship.dissimilarities, kinship.known[["gender"]], init=init, n_init=n_init)
    assert list(mds.starts_["kind"]) == kinds


def test_the_same_seed_gives_the_same_map_and_another_other_starts(kinship):
    one, two, other = (fit(kinship.dissimilarities, init="random", n_init=2, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert not np.allclose(one.starts_["stress"], other.starts_["stress"], rtol=1e-12, atol=0)


def test_leak_is_measured_and_can_be_suppressed(rng):
    """With more dimensions than unknown features the map re-learns what is known, unless told not to."""
    n = 60
    U, V = rng.standard_normal((n, 1)), rng.standard_normal((n, 1))
    Z = np.column_stack([U, V])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2)) * (
        1 + 0.1 * np.abs(np.subtract.outer(V[:, 0], V[:, 0])) ** 2
    )
    known = pd.DataFrame(V, columns=["v"])
    leaky = fit(D, known, n_components=3, n_init=3)
    penalised = fit(D, known, n_components=3, n_init=3, leak_penalty=1.0)
    orthogonal = fit(D, known, n_components=3, n_init=3, orthogonal=True)
    assert leaky.leak_ == pytest.approx(average_canonical_correlation(leaky.embedding_, V), rel=1e-9)
    assert penalised.leak_ < leaky.leak_ / 2
    assert orthogonal.leak_ < 1e-6
    assert leaky.stress_ <= penalised.stress_ <= orthogonal.stress_ * 1.02
    assert penalised.stress_path_[-1] > penalised.stress_  # the path includes the penalty, stress_ does not


@pytest.mark.parametrize("weighting", ["sammon", "array", "missing"])
def test_orthogonal_maps_do_not_leak_whatever_the_weights(kinship, rng, weighting):
    D, known = kinship.dissimilarities.astype(float), kinship.known[["gender", "degree"]]
    options = {"n_components": 3, "n_init": 4, "weights": "sammon" if weighting == "sammon" else None}
    W = symmetric_weights(rng, 14) ** 2 if weighting == "array" else None
    if weighting == "missing":
        D.iloc[0, 1] = D.iloc[1, 0] = np.nan
        warnings.simplefilter("ignore", MissingDissimilarityWarning)
    free = fit(D, known, W, **options)
    orthogonal, stepwise = (
        fit(D, known, W, orthogonal=True, solver=s, max_iter=20_000, **options) for s in ("lbfgs", "smacof")
    )
    penalised = fit(D, known, W, leak_penalty=1000.0, **options)
    assert orthogonal.leak_ < 1e-9
    assert stepwise.leak_ < 1e-9
    assert free.leak_ > 0.05
    assert penalised.leak_ < 1e-2
    assert orthogonal.stress_ == pytest.approx(stepwise.stress_, rel=1e-3)


def test_grouped_coefficients_are_block_diagonal(kinship):
    columns = ["gender", "degree", "generation"]
    mds = fit(kinship.dissimilarities, kinship.known[columns], coef=[["gender"], ["degree", "generation"]], n_init=5)
    B = mds.coef_
    assert B.loc["gender", ["degree", "generation"]].tolist() == [0, 0]
    assert B.loc["degree", "generation"] != 0
    twolevel = kinship.known[columns].set_axis(
        pd.MultiIndex.from_tuples([("sex", "gender"), ("kin", "degree"), ("kin", "generation")]), axis=1
    )
    grouped = fit(kinship.dissimilarities, twolevel, coef="grouped", n_init=5)
    np.testing.assert_allclose(grouped.coef_, B, rtol=1e-9)
    assert list(grouped.coef_.columns) == ["sex/gender", "kin/degree", "kin/generation"]
    diagonal = fit(kinship.dissimilarities, kinship.known[columns], coef="diagonal", n_init=5)
    plain = fit(kinship.dissimilarities, kinship.known[columns], coef="grouped", n_init=5)
    np.testing.assert_array_equal(plain.coef_, diagonal.coef_)


def test_full_coefficients_do_not_depend_on_how_features_are_coded(kinship, start, base):
    recoded = kinship.known[["gender", "degree"]] @ np.array([[1.0, 2.0], [1.0, -1.0]])
    A = np.array([[1.0, 2.0], [1.0, -1.0]])
    other = fit(
        kinship.dissimilarities, recoded, **(start | {"init": (start["init"][0], np.linalg.solve(A, start["init"][1]))})
    )
    assert_same_map(base, other)


def test_not_converged_is_a_warning_and_says_so(kinship):
    with pytest.warns(ConvergenceWarning, match="more than max_iter=2"):
        mds = fit(kinship.dissimilarities, max_iter=2, n_init=2)
    assert not mds.converged_
    assert mds.n_iter_ == 2
    assert "max_iter" in mds.stop_reason_


def test_verbose_prints_starts_and_iterations(kinship, capsys):
    fit(kinship.dissimilarities, n_init=2, verbose=2)
    printed = capsys.readouterr().out
    assert "iteration 1: normalised stress" in printed
    assert "closed-form" in printed
    fit(kinship.dissimilarities, n_init=2)
    assert capsys.readouterr().out == ""


# ---- new objects


@pytest.mark.parametrize("options", [{}, {"weights": "sammon"}, {"coef": "diagonal"}])
def test_a_training_row_returns_its_own_point(kinship, options):
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known, n_init=5, **options)
    placed = mds.transform(kinship.dissimilarities.iloc[::-1], known=known)
    np.testing.assert_allclose(placed[::-1], mds.embedding_, atol=1e-9)


def test_training_rows_return_to_their_points_when_others_are_at_dissimilarity_zero(kinship):
    D = np.maximum(kinship.dissimilarities.to_numpy(dtype=float) - 30, 0)  # several pairs at 0, apart on the map
    mds = fit(D, n_init=20)
    np.testing.assert_allclose(mds.transform(D), mds.embedding_, atol=1e-9)
    known = kinship.known[["gender"]]
    W = symmetric_weights(np.random.default_rng(0), 14) ** 3
    for options in ({"orthogonal": True}, {"leak_penalty": 1.0}, {"pair_weights": W}, {"weights": "sammon"}):
        mds = fit(D, known, n_components=1, n_init=5, **options)
        np.testing.assert_allclose(mds.transform(D, known=known), mds.embedding_, atol=1e-9, err_msg=str(options))


@pytest.mark.parametrize("options", [{"orthogonal": True}, {"leak_penalty": 1.0}])
def test_training_rows_are_told_from_others_at_dissimilarity_zero_by_all_their_dissimilarities(options):
    """Held apart from what is known, a map does not put every object where its own row would fit best."""
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((30, 2))
        D = np.maximum(np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) - 0.5, 0)
        known = np.round(X[:, :1])
        mds = fit(D, known, n_components=1, n_init=2, **options)
        np.testing.assert_allclose(mds.transform(D, known=known), mds.embedding_, atol=1e-9)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_training_rows_are_told_apart_by_dissimilarities_that_did_not_count(stored):
    """A new object brings all its dissimilarities; which of them counted in the fit must not matter."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        D = noisy_distances(rng, 20)
        i, j = rng.permutation(20).reshape(2, 10)
        D[i, j] = D[j, i] = 0
        W = symmetric_weights(rng, 20)
        W[W < 1.5] = 0
        mds = fit(D, pair_weights=stored(W), n_components=1, n_init=3)
        np.testing.assert_allclose(mds.transform(D), mds.embedding_, atol=1e-9)


@pytest.mark.filterwarnings("ignore::unmask.ImputedKnownWarning")
@pytest.mark.parametrize("options", [{}, {"level": "interval"}, {"weights": "sammon"}, {"coef": "diagonal"}])
def test_training_rows_return_to_their_points_with_values_that_moved_within_their_error(options):
    """The values that are given again are those that were measured, not those that the fit made of them."""
    rng = np.random.default_rng(4)
    D = noisy_distances(rng, 20, noise=0.3)
    known = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    known.loc[3, "b"] = np.nan
    mds = fit(D, known, known_error={"a": 0.5}, n_init=3, **options)
    assert np.abs(mds.known_corrected_["a"] - known["a"]).max() > 0.1
    rows = np.delete(np.arange(20), 3)
    placed = mds.transform(D[rows], known=known.iloc[rows])
    np.testing.assert_allclose(placed, mds.embedding_[rows], atol=1e-9)


def test_a_training_row_returns_to_its_point_without_the_zero_to_itself(kinship):
    """Placed from its other dissimilarities alone, an object finds the same optimum."""
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known, tol=1e-14)
    rows = kinship.dissimilarities.to_numpy(dtype=float).copy()
    np.fill_diagonal(rows, np.nan)
    placed = mds.transform(rows, known=known)
    D = kinship.dissimilarities.to_numpy()
    VB = known.to_numpy() @ mds.coef_.to_numpy()

    def stress(points):
        d2 = ((points[:, None] - mds.embedding_[None]) ** 2).sum(axis=2) + ((VB[:, None] - VB[None]) ** 2).sum(axis=2)
        error = (D - np.sqrt(d2)) ** 2
        np.fill_diagonal(error, 0)
        return error.sum(axis=1)

    own = stress(mds.embedding_)
    assert np.all(stress(placed) <= own * (1 + 1e-6))
    assert np.sum(np.abs(placed - mds.embedding_).max(axis=1) < 1e-3) >= 12


def test_new_objects_are_placed_where_they_belong(rng):
    U, V = rng.standard_normal((40, 2)) * [2, 1], rng.standard_normal((40, 1))
    Z = np.column_stack([U, 1.5 * V])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    old, new = slice(0, 30), slice(30, 40)
    mds = fit(D[old, old], V[old])
    placed = mds.transform(D[new, old], known=V[new])
    both = np.concatenate([mds.embedding_, placed])
    np.testing.assert_allclose(pdist(both), pdist(U), atol=1e-3)


def test_new_objects_are_placed_one_by_one_as_all_at_once(kinship, by_gender, rng):
    rows = kinship.dissimilarities.to_numpy() * rng.uniform(0.8, 1.2, (14, 14))
    known = kinship.known[["gender"]].to_numpy()
    together = by_gender.transform(rows, known=known)
    apart = np.concatenate([by_gender.transform(rows[i : i + 1], known=known[i : i + 1]) for i in range(14)])
    np.testing.assert_allclose(apart, together, atol=1e-9)


def test_features_of_new_objects(rng):
    X = rng.standard_normal((30, 4))
    mds = ConditionalMDS(2, random_state=0, n_init=3, metric="minkowski", metric_params={"p": 1}).fit(
        X[:25], known=X[:25, :1]
    )
    assert mds.transform(X[25:], known=X[25:, :1]).shape == (5, 2)
    np.testing.assert_allclose(mds.transform(X[:25], known=X[:25, :1]), mds.embedding_, atol=1e-6)


def test_columns_of_new_known_features_are_matched_by_name(kinship):
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known, n_init=2)
    placed = mds.transform(kinship.dissimilarities, known=known[["degree", "gender"]])
    np.testing.assert_allclose(placed, mds.embedding_, atol=1e-9)


@pytest.mark.parametrize("weights", [None, "sammon", "sparse"])
def test_starts_followed_at_the_same_time_give_the_same_report(weights):
    cars = make_car_brands(220, random_state=0)
    W = sp.csr_matrix(np.ones((220, 220))) if weights == "sparse" else None
    options = {"n_components": 2, "n_init": 6, "weights": "sammon" if weights == "sammon" else None}
    one, two = (fit(cars.dissimilarities, cars.known.iloc[:, :3], W, n_jobs=jobs, **options) for jobs in (1, 2))
    pd.testing.assert_frame_equal(one.starts_, two.starts_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


# ---- the score


def test_the_score_is_of_dissimilarities_that_did_not_place_the_object(rng):
    """By hand: every new object from the even fitted ones, judged by the odd ones, and the other way round."""
    Z = rng.standard_normal((30, 4))
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    D[25, 3] = np.nan
    V = Z[:, :1]
    mds = fit(D[:22, :22], V[:22], n_init=3)
    rows, VB = D[22:, :22], V * mds.coef_.to_numpy()
    missed = total = 0.0
    for first in (0, 1):
        used = np.arange(22) % 2 == first
        placed = mds.transform(np.where(used, rows, np.nan), known=V[22:])
        d = np.sqrt(((placed[:, None] - mds.embedding_[None]) ** 2).sum(axis=2) + (VB[22:] - VB[:22].T) ** 2)
        missed += np.nansum((d - rows)[:, ~used] ** 2)
        total += np.nansum(rows[:, ~used] ** 2)
    assert mds.score(rows, known=V[22:]) == pytest.approx(1 - missed / total, rel=1e-9)
    # An object with nothing in one half is judged by the other alone; one with nothing at all by nothing.
    rows[0, ::2] = np.nan
    rows[1] = np.nan
    assert np.isfinite(mds.score(rows, known=V[22:]))


def test_a_grid_search_finds_the_number_of_dimensions():
    """Two unknown features beside a known one, and noise; the stress alone would take as many as it can."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [2, 1.5, 1]
    noise = np.triu(0.1 * rng.normal(size=(40, 40)), 1)
    D = squareform(pdist(X)) * np.abs(1 + noise + noise.T)
    model = ConditionalMDS(metric="precomputed", n_init=2, random_state=0)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(model, {"n_components": [0, 1, 2, 4]}, cv=KFold(4)).fit(D, known=X[:, :1])
    assert search.best_params_ == {"n_components": 2}
