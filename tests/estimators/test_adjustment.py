"""Adjusting a free map: the regression, what is left of it, and options that contradict each other."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalClassicalMDS, ConditionalMDS
from unmask.estimators._adjustment import costs_of_adjusting
from unmask.problem import check_known

pytestmark = pytest.mark.filterwarnings("ignore::unmask.LeakWarning", "ignore::unmask.AdjustmentWarning")


@pytest.fixture
def data(rng):
    """Dissimilarities of places that known features move along the map."""
    V = rng.standard_normal((30, 2)) + 5
    return squareform(pdist(rng.standard_normal((30, 3)) + V @ rng.standard_normal((2, 3)))), V


def fitted(data, p=2, **options):
    D, V = data
    return ConditionalClassicalMDS(p, metric="precomputed", adjust=True, **options).fit(D, known=V)


def test_what_is_left_is_uncorrelated_with_what_is_known(data):
    U = fitted(data).embedding_
    assert U.shape == (30, 2)
    np.testing.assert_allclose((data[1] - data[1].mean(axis=0)).T @ U, 0, atol=1e-9)


def test_with_all_axes_map_and_effects_add_up_to_the_free_map(data, rng):
    V = rng.standard_normal((30, 2))  # unrelated to the map, which then needs no further dimension
    classical = fitted((data[0], V), 3)
    assert classical.n_free_ == 3
    both = classical.embedding_ + (V - V.mean(axis=0)) @ classical.shared_coef_.to_numpy()
    np.testing.assert_allclose(both @ both.T, classical.free_embedding_ @ classical.free_embedding_.T, atol=1e-9)
    assert classical.shown_share_ == pytest.approx(1)


def test_the_share_shown_is_that_of_the_axes_kept(data):
    """The sums of squares of the residuals' principal axes are their squared singular values."""
    classical = fitted(data, 1)
    U, V = classical.free_embedding_, np.column_stack([np.ones(30), data[1]])
    assert classical.n_free_ > 1
    squares = np.linalg.svd(U - V @ np.linalg.lstsq(V, U, rcond=None)[0], compute_uv=False) ** 2
    assert classical.shown_share_ == pytest.approx(squares[0] / squares.sum(), rel=1e-9)


@pytest.mark.parametrize("options", [{"adjust": "auto", "orthogonal": True}, {"adjust": np.True_}])
def test_automatic_adjustment_gives_way_to_an_orthogonal_map(data, options):
    ConditionalMDS(metric="precomputed", n_init=1, **options).fit(data[0])


def test_costs_are_told_from_a_tenth_of_the_degrees_of_freedom_and_for_levels_of_two():
    def costs(n, small):
        sites = np.where(np.arange(n) < small, "few", "many")
        return list(costs_of_adjusting(check_known(pd.DataFrame({"site": sites}), n, None, "grouped")))

    assert costs(11, 3) == []
    (share,) = costs(10, 3)
    assert "1 column of known features with 10 objects: about 11%" in share
    (level,) = costs(11, 2)
    assert "no more than 2 objects: 'few (site)'" in level
