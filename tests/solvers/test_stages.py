"""Fits in stages: weights that follow the map, values that move within their errors."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from tests.helpers import noisy_distances, with_missing
from unmask import MapWarning, MissingDissimilarityWarning, Numeric
from unmask.checking import check_dissimilarities
from unmask.engines import make_engine
from unmask.kernels import Workers
from unmask.problem import SCHEMES, Problem, build_pairs, check_known
from unmask.solvers import (
    RULES,
    SearchSettings,
    Stage,
    make_objective,
    make_starts,
    minimise,
    within_errors,
)


def first_stage(D, known=None, p=2, rule="lbfgs", types=None, max_iter=1000, **options):
    workers = Workers(1)
    checked = check_dissimilarities(D, workers=workers)
    coded = check_known(known, checked.n, None, "auto", types=types)
    problem = Problem(build_pairs(checked, None, None, workers), coded, p, **options)
    objective = make_objective(problem, make_engine(problem.pairs, workers))
    (start,) = make_starts(objective, coded, "closed-form", 1, np.random.default_rng(0))
    solution = minimise(objective, start.theta, RULES[rule](objective)(), tol=1e-9, max_iter=1000)
    return problem, Stage(objective, solution), workers, SearchSettings(RULES[rule], 1e-9, max_iter)


# ---- curvilinear weights


def curvilinear(problem, stage, workers, settings):
    return SCHEMES["curvilinear"].refine(problem, stage, workers, settings)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_curvilinear_stress_is_weighted_by_the_distances_on_the_map(rng, rule, missing):
    """The last stage's stress, by hand: its weights come from a map a little different from its own."""
    D = with_missing(rng, noisy_distances(rng, 80, 2, noise=0.05), missing)
    with pytest.warns(MissingDissimilarityWarning) if missing else nullcontext():
        problem, stage, workers, settings = first_stage(D, rule=rule)
    stage, radius = curvilinear(problem, stage, workers, settings)  # warnings are errors: it is not too small
    engine, W = stage.objective.engine, stage.objective.engine.pairs.W
    Z = stage.objective.structure.lift(stage.solution.theta)
    upper = np.triu_indices(80, 1)
    delta, d, w = D[upper] * engine.scale, pdist(Z), W[upper]
    assert np.all(w[np.isnan(delta)] == 0)
    expected = np.nansum(w * (delta - d) ** 2) / np.nansum(w * delta**2)
    assert stage.solution.value == pytest.approx(expected, rel=1e-9)
    present = w > 0
    # What the weights were: a Gaussian of the distances at the beginning of the stage.
    assert np.corrcoef(np.log(w[present]), -(d[present] ** 2))[0, 1] > 0.95
    assert np.polyfit(d[present] ** 2, np.log(w[present]), 1)[0] == pytest.approx(
        -1 / (radius * engine.scale) ** 2, rel=0.2
    )
    # Small for most, and enough for all.
    neighbours = W.sum(axis=1)
    assert neighbours.min() >= 2 + 3
    assert np.median(neighbours) <= 4 * (2 + 3)


@pytest.mark.parametrize("rule", RULES)
def test_curvilinear_weights_may_leave_clusters_to_themselves(rng, rule):
    """Between far clusters weights are so small that the Laplacian would be singular to rounding."""
    X = rng.standard_normal((80, 3))
    X[40:, 0] += 60
    problem, stage, workers, settings = first_stage(cdist(X, X), rule=rule)
    stage, _ = curvilinear(problem, stage, workers, settings)
    assert np.all(stage.objective.engine.pairs.W[:40, 40:] == 0)
    Z = stage.objective.structure.lift(stage.solution.theta)
    assert np.isfinite(Z).all()
    assert np.all(np.diff(stage.solution.path) <= 0)


def test_a_neighbourhood_too_small_from_the_start_leaves_the_map_as_it_was(rng):
    problem, stage, workers, settings = first_stage(noisy_distances(rng, 7, 3))
    with pytest.warns(MapWarning, match="too few for neighbourhoods"):
        last, radius = curvilinear(problem, stage, workers, settings)
    assert radius == np.inf
    assert last is stage


@pytest.mark.parametrize(("max_iter", "converged"), [(1000, True), (60, False), (3, False)])
def test_the_last_stage_is_followed_to_its_end_within_max_iter(rng, max_iter, converged):
    problem, stage, workers, settings = first_stage(noisy_distances(rng, 60, 4), rule="smacof", max_iter=max_iter)
    solution = curvilinear(problem, stage, workers, replace(settings, tol=1e-8))[0].solution
    assert solution.converged == converged
    assert solution.n_iter <= max_iter
    assert solution.n_iter == max_iter or converged
    assert solution.passes >= solution.n_iter
    assert np.all(np.diff(solution.path) <= 0)


# ---- values within their errors


@pytest.mark.parametrize("rule", RULES)
def test_a_move_by_one_error_costs_the_mean_squared_residual(rng, rule):
    n = 20
    V = rng.standard_normal((n, 2))
    D = noisy_distances(rng, n, 3)
    problem, stage, _, settings = first_stage(D, V, rule=rule, types={0: Numeric(error=0.4)})
    moved = within_errors(problem, stage, settings)
    (cells, r) = next(iter(moved.objective.structure.moved(moved.solution.theta)))
    engine, known = stage.objective.engine, problem.known
    price = engine.stress(stage.objective.structure.lift(stage.solution.theta))[0] / (n * (n - 1) / 2)
    x = known.restore(known.values[:, 0] + r[:, 0], 0)
    assert np.any(np.abs(x - V[:, 0]) > 1e-3)
    expected = moved.objective.structure.price(moved.solution.theta)
    assert price * np.sum(((x - V[:, 0]) / 0.4) ** 2) == pytest.approx(expected, rel=1e-9)
    assert moved.solution.value < stage.solution.value  # stress and price together
    assert list(cells.rows) == list(range(n))
