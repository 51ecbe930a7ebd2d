"""The compiled pass of a general cost equals its NumPy twin; the twin equals the definitions."""

import functools
import math

import numba
import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.special import huber, kl_div
from sklearn.manifold._utils import _binary_search_perplexity

from tests.helpers import noisy_distances, symmetric_weights, with_missing
from unmask.kernels import ArraySource, Cost, Form, Pairs, Weighting, Workers, fused, general, plain_costs

from . import twins
from .modes import compiled_only

LINKS = {
    "distance": (Form.SQUARED, plain_costs.root, 0.0),
    "square": (Form.SQUARED, plain_costs.itself, 0.0),
    "inner product": (Form.INNER, plain_costs.itself, 0.0),
    "city-block": (Form.COLUMNS, plain_costs.itself, 0.1),
    "share of Student's kernel": (Form.SQUARED, plain_costs.student, 0.0),
}
LOSSES = [
    plain_costs.squared,
    plain_costs.absolute,
    plain_costs.huber,
    plain_costs.sammon,
    plain_costs.logarithmic,
    plain_costs.kullback_leibler,
]
by_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
by_link = pytest.mark.parametrize("link", LINKS)


def exponential(x, parameter):
    value = math.exp(parameter * x)
    return value, parameter * value


def make_cost(rng, n, link, loss, *, weighted=False, missing=False):
    form, function, parameter = LINKS[link]
    targets = noisy_distances(rng, n) + 0.1
    normalised = function is plain_costs.student
    if normalised:
        targets /= np.triu(targets, 1).sum()
    if missing:
        targets = with_missing(rng, targets, 0.2)
    weights = symmetric_weights(rng, n) if weighted else None
    if weighted:
        weights[2, 3] = weights[3, 2] = 0.0
    return Cost(targets, form, function, loss, weights, parameter, 0.3 * np.nanmedian(targets), normalised)


def coordinates(rng, n, link):
    # Inner products of these are positive, so that logarithms exist.
    return rng.uniform(0.2, 1.0, (n, 3)) if link == "inner product" else rng.standard_normal((n, 3))


def variants(link):
    """Return what may be combined: shares need every pair."""
    return (
        [(False, False)] if link.startswith("share") else [(False, False), (True, False), (False, True), (True, True)]
    )


@by_loss
@by_link
def test_pass_equals_its_twin(rng, link, loss):
    for weighted, missing in variants(link):
        cost, Z = make_cost(rng, 30, link, loss, weighted=weighted, missing=missing), coordinates(rng, 30, link)
        Z[1] = Z[0]  # two objects at the same place
        with Workers(2) as workers:
            value, G = general.cost_pass(cost, Z, workers)
            shares = general.point_costs(cost, Z, workers)
        expected, expected_G = twins.cost_pass(cost, Z)
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=0)
        np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-11 * np.abs(expected_G).max())
        np.testing.assert_allclose(shares, twins.point_costs(cost, Z), rtol=1e-11, atol=1e-14 * value)
        np.testing.assert_allclose(shares.sum(), value, rtol=1e-12, atol=0)


@by_loss
@by_link
def test_half_gradient_is_half_the_derivative(rng, link, loss):
    for weighted, missing in variants(link):
        cost, Z = make_cost(rng, 7, link, loss, weighted=weighted, missing=missing), coordinates(rng, 7, link)
        _, G = twins.cost_pass(cost, Z)
        step, numeric = 1e-6, np.empty_like(Z)
        for at in np.ndindex(Z.shape):
            move = np.zeros_like(Z)
            move[at] = step
            numeric[at] = (twins.cost_pass(cost, Z + move)[0] - twins.cost_pass(cost, Z - move)[0]) / step
        np.testing.assert_allclose(2 * G, numeric / 2, rtol=0, atol=1e-6 * np.abs(G).max())


def test_the_definitions_worked_by_other_libraries(rng):
    n, Z = 12, rng.uniform(0.2, 1.0, (12, 3))
    targets = noisy_distances(rng, n) + 0.1
    t, d = targets[np.triu_indices(n, 1)], pdist(Z)

    def value(form, link, loss, parameter=0.0, link_parameter=0.0, *, normalised=False):
        cost = Cost(targets, form, link, loss, None, link_parameter, parameter, normalised)
        return twins.cost_pass(cost, Z)[0]

    close = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=0)
    close(value(Form.SQUARED, plain_costs.root, plain_costs.squared), np.sum((d - t) ** 2))
    close(value(Form.SQUARED, plain_costs.itself, plain_costs.squared), np.sum((d**2 - t) ** 2))
    close(value(Form.SQUARED, plain_costs.root, plain_costs.huber, 0.2), 2 * huber(0.2, d - t).sum())
    close(value(Form.SQUARED, plain_costs.root, plain_costs.sammon, 0.3), np.sum((d - t) ** 2 / np.maximum(t, 0.3)))
    close(value(Form.SQUARED, plain_costs.root, plain_costs.logarithmic, 1e-9), np.sum(np.log(d / t) ** 2))
    close(value(Form.SQUARED, plain_costs.root, plain_costs.kullback_leibler), kl_div(t, d).sum())
    smooth = np.sqrt((d - t) ** 2 + 0.04) - 0.2
    close(value(Form.SQUARED, plain_costs.root, plain_costs.absolute, 0.2), smooth.sum())
    # In the limit of no smoothing, scipy's city-block distance.
    city = value(Form.COLUMNS, plain_costs.itself, plain_costs.squared, 0.0, 1e-12)
    np.testing.assert_allclose(city, np.sum((pdist(Z, "cityblock") - t) ** 2), rtol=1e-9, atol=0)
    # Half of all i and j, objects with themselves among them.
    close(value(Form.INNER, plain_costs.itself, plain_costs.squared), np.sum((Z @ Z.T - targets) ** 2) / 2)
    q = 1 / (1 + d**2) / np.sum(1 / (1 + d**2))
    student = value(Form.SQUARED, plain_costs.student, plain_costs.kullback_leibler, normalised=True)
    close(student, kl_div(t, q).sum())


@pytest.mark.parametrize("target", [0.0, 0.4])
def test_a_target_of_nothing_costs_what_is_fitted(target):
    value, slope = plain_costs.kullback_leibler(0.3, target, 0.0)
    assert value == pytest.approx(kl_div(target, 0.3), rel=1e-14)
    assert slope == pytest.approx(1 - target / 0.3, rel=1e-14)


def test_no_logarithm_of_nothing():
    value, slope = plain_costs.logarithmic(0.0, 2.0, 1e-3)
    assert value == pytest.approx(math.log(2e3) ** 2, rel=1e-14)
    assert slope < 0  # apart
    assert math.isfinite(plain_costs.kullback_leibler(0.0, 0.5, 0.0)[0])


def test_shares_of_inner_products_leave_an_object_with_itself_out(rng):
    """As a share of all pairs, an object with itself is none: whatever is on the diagonal does not matter."""
    targets, Z = noisy_distances(rng, 9), 0.5 * rng.standard_normal((9, 2))
    targets /= np.triu(targets, 1).sum()
    cost = Cost(targets, Form.INNER, exponential, plain_costs.kullback_leibler, None, 1.0, 0.0, normalised=True)
    other = Cost(targets + 7 * np.eye(9), *(cost.form, cost.link, cost.loss), None, 1.0, 0.0, normalised=True)
    k = np.exp(Z @ Z.T)[np.triu_indices(9, 1)]
    expected = kl_div(targets[np.triu_indices(9, 1)], k / k.sum()).sum()
    for each in (cost, other):
        value, G = general.cost_pass(each, Z, Workers(1))
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(G, twins.cost_pass(each, Z)[1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(general.point_costs(each, Z, Workers(1)).sum(), expected, rtol=1e-12, atol=0)
    direction, step = rng.standard_normal(Z.shape), 1e-6
    ends = [twins.cost_pass(cost, Z + side * step * direction)[0] for side in (-1, 1)]
    assert 2 * np.sum(G * direction) == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-6)


@compiled_only
def test_squared_loss_of_distances_is_the_stress_over_several_chunks(rng):
    n = 1100
    D, Z, W = noisy_distances(rng, n), rng.standard_normal((n, 3)), symmetric_weights(rng, n)
    assert len(fused._chunks(n)) > 1
    cost = Cost(D, Form.SQUARED, plain_costs.root, plain_costs.squared, W)
    value, G = general.cost_pass(cost, Z, Workers(2))
    stress, expected = fused.stress_pass(Pairs(ArraySource(D), 1.0, Weighting.ARRAY, W), Z, Workers(1))
    assert value == pytest.approx(stress, rel=1e-12)
    np.testing.assert_allclose(G, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@compiled_only
@pytest.mark.parametrize("link", ["city-block", "inner product", "share of Student's kernel"])
def test_the_number_of_threads_does_not_change_a_bit(rng, link):
    cost, Z = make_cost(rng, 1100, link, plain_costs.kullback_leibler), coordinates(rng, 1100, link)
    results = [general.cost_pass(cost, Z, Workers(threads)) for threads in (1, 2, 3)]
    shares = [general.point_costs(cost, Z, Workers(threads)) for threads in (1, 2, 3)]
    for (value, G), share in zip(results[1:], shares[1:], strict=True):
        assert value == results[0][0]
        np.testing.assert_array_equal(G, results[0][1])
        np.testing.assert_array_equal(share, shares[0])


def test_targets_and_weights_that_may_not_be_written_to_are_read(rng):
    cost, Z = make_cost(rng, 9, "distance", plain_costs.squared, weighted=True), rng.standard_normal((9, 2))
    expected, _ = general.cost_pass(cost, Z, Workers(1))
    cost.targets.flags.writeable = cost.weights.flags.writeable = False
    assert general.cost_pass(cost, Z, Workers(1))[0] == expected


# ---- neighbours of t-SNE


@pytest.fixture
def squares(rng):
    return squareform(pdist(rng.standard_normal((60, 4)), "sqeuclidean"))


@pytest.mark.parametrize("perplexity", [1.5, 10.0, 55.0])
def test_neighbour_shares_have_the_entropy_asked_for(squares, perplexity):
    shares = general.neighbour_shares(squares, perplexity, Workers(2))
    np.testing.assert_allclose(shares, twins.neighbour_shares(squares, perplexity), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(np.diagonal(shares), 0.0)
    logs = np.log(np.where(shares > 0, shares, 1.0))
    np.testing.assert_allclose(-np.sum(shares * logs, axis=1), np.log(perplexity), rtol=0, atol=1e-9)
    # exp(-b x): the logarithm falls in proportion to the square.
    j, k, m = np.argsort(squares[0])[1:4]
    falls = (logs[0, j] - logs[0, k]) / (squares[0, k] - squares[0, j])
    assert (logs[0, k] - logs[0, m]) / (squares[0, m] - squares[0, k]) == pytest.approx(falls, rel=1e-9)


def test_neighbour_shares_are_those_of_scikit_learn(squares):
    expected = _binary_search_perplexity(squares.astype(np.float32), 10.0, 0)
    shares = general.neighbour_shares(squares, 10.0, Workers(1))
    # Theirs is in single precision, and stops when the entropy is right to 1e-5.
    np.testing.assert_allclose(shares, expected, rtol=2e-4, atol=1e-8)


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e150])
def test_neighbours_that_are_all_equally_far_share_equally_in_any_unit(unit):
    squares = unit * (1.0 - np.eye(6))
    squares[0, 1] = squares[1, 0] = 0.0  # two objects are the same
    for shares in (general.neighbour_shares(squares, 3.0, Workers(1)), twins.neighbour_shares(squares, 3.0)):
        np.testing.assert_allclose(shares[2:], (1 - np.eye(6))[2:] / 5, rtol=1e-12, atol=0)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12, atol=0)
        np.testing.assert_allclose(shares[0, 2:], shares[0, 2], rtol=1e-12, atol=0)
        assert shares[0, 1] > shares[0, 2]


# ---- functions of the user's


@compiled_only
def test_what_cannot_be_compiled_says_why():
    def with_a_file(x, parameter):
        return len(open(parameter, "rb").read()), x

    assert "open" in general.why_not_compiled(with_a_file, 2)
    assert "function" in general.why_not_compiled(functools.partial(exponential, parameter=1.0), 1)
    assert general.why_not_compiled(exponential, 2) is None
    assert general.why_not_compiled(numba.njit(exponential), 2) is None


def test_compiled_functions_are_used_as_they_are():
    jitted = numba.njit(exponential)
    ready = general.compiled(jitted)
    assert ready is jitted
    assert ready(0.5, 2.0) == pytest.approx((math.e, 2 * math.e), rel=1e-12)
