"""The three functions of a general cost: put together, and checked against the data and against each other."""

import math
import warnings

import numba
import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold._t_sne import _joint_probabilities

from tests.helpers import symmetric_weights
from tests.kernels import twins
from unmask import Distance, Loss, Neighbours
from unmask.checking import check_dissimilarities
from unmask.kernels import Form, Workers, plain_costs
from unmask.problem import make_cost

N = 12


def checked(D):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says how many are missing
        return check_dissimilarities(D, workers=Workers(1))


def put_together(D, target="dissimilarity", distance="euclidean", loss="squared", weights=None, **parameters):
    return make_cost(checked(D), weights, target, distance, loss, Workers(1), **parameters)


def targets_of(target, D):
    return put_together(D, target).targets


def parabola(fitted, target, parameter):
    residual = fitted - target
    return residual * residual, 2 * residual


def identity(x, parameter):
    return x, 1.0


def exponential(x, parameter):
    return math.exp(x), math.exp(x)


@pytest.fixture
def X(rng):
    return rng.standard_normal((N, 3))


@pytest.fixture
def D(X):
    return squareform(pdist(X))


# ---- targets


def test_targets_of_each_name(X, D):
    centred = X - X.mean(axis=0)
    np.testing.assert_array_equal(targets_of("dissimilarity", D), D)
    np.testing.assert_allclose(targets_of("squared", D), D**2, rtol=1e-14, atol=0)
    np.testing.assert_allclose(targets_of("inner", D), centred @ centred.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(targets_of(lambda d: d**3, D), D**3, rtol=1e-14, atol=0)


def test_neighbours_are_the_joint_probabilities_of_scikit_learn(D):
    # Theirs sum to 1 over all i and j, and are found in single precision.
    expected = 2 * squareform(_joint_probabilities((D**2).astype(np.float32), 4.0, 0))
    targets = targets_of(Neighbours(4.0), D)
    np.testing.assert_allclose(targets, expected, rtol=2e-4, atol=1e-7)
    assert np.triu(targets, 1).sum() == pytest.approx(1.0, rel=1e-12)


def test_inner_products_that_are_zero_but_for_rounding_are_symmetric():
    lattice = 0.1 * np.array([[i, j, k] for i in range(3) for j in range(3) for k in range(3)])
    targets = targets_of("inner", squareform(pdist(lattice)))
    np.testing.assert_array_equal(targets, targets.T)
    assert np.abs(targets).min() < 1e-15


def test_rounding_of_both_triangles_is_taken_from_one(D):
    D[0, 1] += 1e-13
    targets = targets_of("dissimilarity", D)
    np.testing.assert_array_equal(targets, targets.T)


def test_a_target_may_leave_pairs_out(D):
    cost = put_together(D, target=lambda d: np.where(d > np.median(d), np.nan, d))
    assert np.isnan(cost.targets).any()
    assert twins.cost_pass(cost, np.zeros((N, 2)))[0] == pytest.approx(np.nansum(np.triu(cost.targets, 1) ** 2))


# ---- names, and functions of the user's


FORMS = {
    "euclidean": Form.SQUARED,
    "squared": Form.SQUARED,
    "cityblock": Form.COLUMNS,
    "inner": Form.INNER,
    "student": Form.SQUARED,
}
LOSSES = ["squared", "absolute", "huber", "sammon", "logarithmic", "kullback-leibler"]


@pytest.mark.parametrize("distance", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_distance_goes_with_every_loss_but_logarithms_with_inner_products(D, distance, loss):
    if distance == "inner" and loss in ("logarithmic", "kullback-leibler"):
        with pytest.raises(ValueError, match="positive fitted values"):
            put_together(D, distance=distance, loss=loss)
    else:
        cost = put_together(D, distance=distance, loss=loss)
        function = getattr(plain_costs, loss.replace("-", "_"))
        assert (cost.form, cost.loss) == (FORMS[distance], function)


@pytest.mark.parametrize("compile_first", [False, True])
def test_functions_of_the_users_are_taken_plain_or_compiled(D, compile_first):
    ready = numba.njit if compile_first else (lambda function: function)
    cost = put_together(D, distance=Distance(ready(identity), parameter=3.0), loss=Loss(ready(parabola), 2.0))
    assert (cost.form, cost.link_parameter, cost.loss_parameter) == (Form.SQUARED, 3.0, 2.0)
    assert put_together(D, loss=Loss(ready(parabola), 2.0), loss_parameter=5.0).loss_parameter == 5.0


def test_positive_functions_of_inner_products_may_go_with_logarithms(D):
    positive = Distance(exponential, of="inner product", normalised=True)
    cost = put_together(D, target=Neighbours(3.0), distance=positive, loss="kullback-leibler")
    assert cost.form == Form.INNER
    assert not cost.counts_itself


# ---- parameters


def test_default_parameters_go_by_the_median_target(D):
    median = np.median(pdist_of(D))
    assert put_together(D, loss="huber").loss_parameter == pytest.approx(0.1 * median, rel=1e-12)
    assert put_together(D, loss="absolute").loss_parameter == pytest.approx(0.01 * median, rel=1e-12)
    assert put_together(D, loss="logarithmic").loss_parameter == pytest.approx(1e-6 * median, rel=1e-12)
    assert put_together(D, loss="huber", target="squared").loss_parameter == pytest.approx(
        0.1 * np.median(pdist_of(D) ** 2), rel=1e-12
    )
    assert put_together(D, distance="cityblock").link_parameter == pytest.approx(0.01 * median, rel=1e-12)
    D[0, 1] = D[1, 0] = 0.0
    assert put_together(D, loss="sammon").loss_parameter == np.min(D[D > 0])
    assert put_together(D, loss="huber", loss_parameter=0.4).loss_parameter == 0.4
    assert put_together(D, distance="cityblock", distance_parameter=0.4).link_parameter == 0.4


def pdist_of(D):
    return D[np.triu_indices(len(D), 1)]


def test_targets_that_are_all_zero_leave_a_unit_of_one(D):
    assert put_together(D, target=lambda d: 0 * d, loss="huber").loss_parameter == pytest.approx(0.1)


# ---- losses against targets


def test_pairs_that_do_not_count_may_have_any_target(D, rng):
    D[2, 5] = D[5, 2] = 0.0
    W = symmetric_weights(rng, N)
    W[2, 5] = W[5, 2] = 0.0
    cost = put_together(D, loss="logarithmic", weights=W)
    assert math.isfinite(twins.cost_pass(cost, rng.standard_normal((N, 2)))[0])
    D[2, 5] = D[5, 2] = np.nan
    assert np.isnan(put_together(D, loss="logarithmic").targets[2, 5])


def test_a_loss_takes_targets_of_zero_where_it_is_defined_and_a_diagonal_that_counts(D):
    D[2, 5] = D[5, 2] = 0.0
    for loss in ("sammon", "kullback-leibler"):
        assert put_together(D, loss=loss).targets[2, 5] == 0.0
    inner = Distance(exponential, of="inner product")
    assert put_together(D, target=lambda d: np.exp(-d), distance=inner, loss="logarithmic").counts_itself
