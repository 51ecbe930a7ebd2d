"""Adjusting a free map: the regression, what is left of it, and options that contradict each other."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS
from unmask.estimators._adjustment import FreeMap, adjust_map, costs_of_adjusting
from unmask.estimators._parameters import check_parameters
from unmask.problem import check_known
from unmask.solvers._canonical import principal_turn


@pytest.fixture
def free(rng):
    V = rng.standard_normal((30, 2)) + 5
    return FreeMap(rng.standard_normal((30, 3)) + V @ rng.standard_normal((2, 3)), V, 1.0)


def test_what_is_left_is_uncorrelated_with_what_is_known(free):
    adjusted = adjust_map(free, 2, principal_turn)(free.U, free.V)
    assert adjusted.shape == (30, 2)
    np.testing.assert_allclose((free.V - free.V.mean(axis=0)).T @ adjusted, 0, atol=1e-10)


def test_with_all_axes_map_and_effects_add_up_to_the_free_map(free):
    adjustment = adjust_map(free, 3, principal_turn)
    both = adjustment(free.U, free.V) + (free.V - free.V.mean(axis=0)) @ adjustment.shared
    np.testing.assert_allclose(both, free.U @ adjustment.turn, atol=1e-10)
    assert adjustment.shown_share(free) == pytest.approx(1)


def test_the_share_shown_is_that_of_the_axes_kept(free):
    """The sums of squares of the residuals' principal axes are their squared singular values."""
    V = np.column_stack([np.ones(30), free.V])
    left = free.U - V @ np.linalg.lstsq(V, free.U, rcond=None)[0]
    squares = np.linalg.svd(left, compute_uv=False) ** 2
    # The mean is no effect of what is known: it stays on the map.
    centred = free._replace(U=free.U - free.U.mean(axis=0))
    for p in (1, 2, 3):
        share = adjust_map(centred, p, principal_turn).shown_share(centred)
        assert share == pytest.approx(squares[:p].sum() / squares.sum(), rel=1e-9)


def test_columns_that_depend_on_each_other_change_nothing(free):
    doubled = free._replace(V=np.column_stack([free.V, free.V.sum(axis=1)]))
    one, other = (adjust_map(f, 3, principal_turn)(f.U, f.V) for f in (free, doubled))
    np.testing.assert_allclose(other, one, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjust": "yes"}, "adjust='yes' is not one of False, True, 'auto'"),
        ({"adjust": 1}, "adjust=1 is not one of"),
        ({"adjust": True, "orthogonal": True}, "adjust=True with orthogonal=True.*set orthogonal=False"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    options = {"orthogonal": False} | options
    with pytest.raises(ValueError, match=message):
        check_parameters(ConditionalMDS(**options))


def test_automatic_adjustment_gives_way_to_an_orthogonal_map():
    check_parameters(ConditionalMDS(adjust="auto", orthogonal=True))
    check_parameters(ConditionalMDS(adjust=np.True_))


def test_costs_are_told_from_a_tenth_of_the_degrees_of_freedom_and_for_levels_of_two():
    def costs(n, small):
        sites = np.where(np.arange(n) < small, "few", "many")
        return list(costs_of_adjusting(check_known(pd.DataFrame({"site": sites}), n, None, "grouped")))

    assert costs(11, 3) == []
    (share,) = costs(10, 3)
    assert "1 column of known features with 10 objects: about 11%" in share
    (level,) = costs(11, 2)
    assert "no more than 2 objects: 'few (site)'" in level
