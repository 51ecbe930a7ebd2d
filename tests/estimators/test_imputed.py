"""Missing numbers: within what is possible, with an interval, and flagged where they are not to be believed."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import t as student

from unmask import ConditionalMDS, GeneralMDS, KnownFeatureWarning, Numeric
from unmask.engines import TableEngine
from unmask.estimators._imputed import cell_widths
from unmask.kernels import ArraySource, Pairs, Workers
from unmask.problem import check_known

COLUMNS = ["object", "feature", "value", "certainty", "lower", "upper", "remark"]


def data(seed, n=40, p=2, noise=0.1, q=1, proportional=True, feature=None):
    """Return dissimilarities with noise, and the known features they are made of, the first without its first cell."""
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((n, q))
    if feature is not None:
        V[:, 0] = feature(V[:, 0])
    d = cdist(*2 * [np.column_stack([rng.standard_normal((n, p)), V])])
    error = np.triu(rng.standard_normal((n, n)), 1)
    error += error.T
    D = np.abs(d * (1 + noise * error) if proportional else d + noise * d.mean() * error)
    np.fill_diagonal(D, 0)
    known = pd.DataFrame(V, columns=[f"v{c}" for c in range(q)])
    truth = known.loc[0, "v0"]
    known.loc[0, "v0"] = np.nan
    return D, known, truth


def fit(D, known, p=2, **options):
    options = {"metric": "precomputed", "random_state": 0, "n_init": 3} | options
    return ConditionalMDS(p, **options).fit(D, known=known)


def imputed(mds):
    table = mds.known_imputed_
    assert list(table.columns) == COLUMNS
    (cell,) = table.itertuples()
    return cell


# ---- what is possible


def test_a_bounded_cell_is_as_good_as_the_bound_put_in():
    D, known, _ = data(1, feature=lambda v: np.append(-0.5, np.abs(v[1:]) + 0.1))
    with pytest.warns(KnownFeatureWarning, match="outside the range of the data"):
        free = fit(D, known)
    assert imputed(free).value == pytest.approx(-0.5, abs=0.2)
    mds = fit(D, known, known_types={"v0": Numeric(lower=0.0)}, tol=1e-12)
    cell = imputed(mds)
    assert cell.value == cell.lower == 0 < cell.upper
    assert cell.remark == "at its lower bound"
    assert mds.stress_ == pytest.approx(fit(D, known.fillna(0.0), tol=1e-12).stress_, rel=1e-7)
    assert mds.stress_ > free.stress_


def test_bounds_that_do_not_bind_change_nothing():
    D, known, _ = data(2)
    pd.testing.assert_frame_equal(
        fit(D, known).known_imputed_, fit(D, known, known_types={"v0": Numeric(-9, 9)}).known_imputed_
    )


def test_a_logarithm_is_the_feature_whose_logarithm_was_taken():
    D, known, truth = data(3)
    mds = fit(D, np.exp(known), known_types={"v0": Numeric(log=True)})
    plain = fit(D, known)
    np.testing.assert_allclose(mds.embedding_, plain.embedding_, rtol=1e-9, atol=1e-12)
    for end in ("value", "lower", "upper"):
        assert getattr(imputed(mds), end) == pytest.approx(np.exp(getattr(imputed(plain), end)), rel=1e-9)
    assert list(mds.coef_.columns) == ["v0[log]"]
    assert mds.importance_.loc["v0", "raw"] == pytest.approx(plain.importance_.loc["v0", "raw"], rel=1e-12)
    assert imputed(mds).lower < np.exp(truth) < imputed(mds).upper


def test_new_objects_are_placed_by_the_same_logarithm():
    D, known, _ = data(4)
    known = known.fillna(0.3)
    mds = fit(D, np.exp(known), known_types={"v0": Numeric(log=True)})
    np.testing.assert_allclose(mds.transform(D[:3], known=np.exp(known[:3])), mds.embedding_[:3], atol=1e-9)
    with pytest.raises(ValueError, match="'v0' holds -1, which has no logarithm"):
        mds.transform(D[:1], known=pd.DataFrame({"v0": [-1.0]}))


# ---- what is not to be believed


def test_a_value_outside_the_data_is_flagged():
    """The object lies far out along the feature, farther than any whose value is known."""
    D, known, truth = data(5, noise=0.02, feature=lambda v: np.append(4.0, v[1:].clip(-1.5, 1.5)))
    with pytest.warns(KnownFeatureWarning, match=r"'v0' of 0 is .*outside the range of the data.*Numeric\(lower=…\)"):
        mds = fit(D, known)
    cell = imputed(mds)
    assert cell.remark == "outside the range of the data: -1.5 to 1.5"
    assert cell.lower < truth < cell.upper


def test_a_value_that_the_dissimilarities_do_not_determine_is_flagged():
    """A feature that has nothing to do with the dissimilarities."""
    D, known, _ = data(6)
    known["v0"] = np.random.default_rng(7).permutation(np.arange(40.0))
    known.loc[0, "v0"] = np.nan
    with pytest.warns(KnownFeatureWarning, match="not determined by the dissimilarities"):
        cell = imputed(fit(D, known, p=3))
    assert "not determined by the dissimilarities" in cell.remark
    assert np.isnan(cell.lower) or cell.upper - cell.lower >= 38


@pytest.mark.parametrize("copied", [0.0, 0.6])
def test_a_cell_that_the_map_can_make_up_for_is_not_determined(copied):
    """Where the map repeats the feature, its objects lie in a plane, and leaving it changes no distance at first."""
    D, table, truth = data(8, p=1, noise=0.05)
    known = check_known(table, len(D), None, "auto")
    standard = known.standardise(table.fillna(truth).to_numpy())
    unknown = np.random.default_rng(9).standard_normal((len(D), 1))
    U, roots = np.column_stack([unknown, copied * standard]), np.array([[0.8]])
    with Workers(1) as workers:
        engine = TableEngine(Pairs(ArraySource(D), 1.0), workers)
        ((_, width),) = cell_widths(known, U, standard @ roots, roots, engine).items()
    assert np.isinf(width) == (copied > 0)


@pytest.mark.parametrize("options", [{"level": "ordinal"}, {"level": "interval"}])
def test_disparities_justify_no_interval(options):
    cell = imputed(fit(*data(9)[:2], **options))
    assert np.isnan([cell.lower, cell.upper, cell.certainty]).all()


def test_general_costs_flag_values_but_have_no_interval():
    D, known, _ = data(5, noise=0.02, feature=lambda v: np.append(4.0, v[1:].clip(-1.5, 1.5)))
    with pytest.warns(KnownFeatureWarning, match="outside the range of the data: -1.5 to 1.5"):
        cell = imputed(GeneralMDS(metric="precomputed", random_state=0, n_init=2).fit(D, known=known))
    assert np.isnan([cell.lower, cell.upper, cell.certainty]).all()


# ---- intervals


def brute_force_width(D, mds, known, p):
    """Return half the width by finite differences of the distances of the object in plain NumPy."""
    B, U = mds.coef_.to_numpy(), mds.embedding_
    filled = known.fillna(imputed(mds).value).to_numpy()
    others = np.column_stack([U, filled @ B])[1:]

    def distances(own):
        place = np.append(own[:p], np.append(own[p], filled[0, 1:]) @ B)
        return np.linalg.norm(place - others, axis=1)

    own = np.append(U[0], filled[0, 0])
    steps = 1e-6 * np.eye(p + 1)
    J = np.column_stack([(distances(own + step) - distances(own - step)) / 2e-6 for step in steps])
    inverse = np.linalg.inv(J.T @ J)
    residuals = (D[0, 1:] - distances(own)) / (1 - np.sum(J @ inverse * J, axis=1) - p / len(J))
    sandwich = inverse @ (J.T * residuals**2) @ J @ inverse
    Z = np.column_stack([np.ones(len(D)), U, filled @ B])
    calibration = 1 + Z[0] @ np.linalg.solve(Z.T @ Z, Z[0])
    return student.ppf(0.975, len(J) - p - 1) * np.sqrt(sandwich[p, p] * calibration)


@pytest.mark.parametrize("q", [1, 2])
def test_the_interval_is_that_of_the_regression_of_the_objects_own_dissimilarities(q):
    D, known, _ = data(10, q=q)
    mds = fit(D, known)
    cell, half = imputed(mds), brute_force_width(D, mds, known, 2)
    np.testing.assert_allclose([cell.lower, cell.upper], [cell.value - half, cell.value + half], rtol=1e-6)


def test_the_interval_does_not_depend_on_units_or_on_pairs_without_weight():
    D, known, _ = data(11)
    cell = imputed(fit(D, known))
    other = imputed(fit(1000 * D, 32 + 1.8 * known))
    np.testing.assert_allclose(other[3:4] + other[5:7], [32 + 1.8 * x for x in (*cell[3:4], *cell[5:7])], rtol=1e-6)
    W = np.ones_like(D)
    W[0, 1:20] = W[1:20, 0] = 0
    mds = ConditionalMDS(metric="precomputed", random_state=0, n_init=3).fit(D, known=known, weights=W)
    fewer = imputed(mds)
    assert fewer.upper - fewer.lower > cell.upper - cell.lower


SETTINGS = [
    (20, 1, 0.05, 1, True),
    (20, 2, 0.1, 1, False),
    (40, 2, 0.1, 1, True),
    (40, 2, 0.2, 1, False),
    (40, 2, 0.1, 3, True),
    (60, 2, 0.2, 2, True),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """95% nominal, in 360 sets, of which chance makes a standard error of 1.2%."""
    covered, repetitions = [], 60
    for at, (n, p, noise, q, proportional) in enumerate(SETTINGS):
        for seed in range(repetitions):
            D, known, truth = data([at, seed], n, p, noise, q, proportional)
            cell = imputed(fit(D, known, p))
            covered.append(cell.lower <= truth <= cell.upper)
    assert 0.92 <= np.mean(covered) <= 0.98, np.reshape(covered, (-1, repetitions)).mean(axis=1)
