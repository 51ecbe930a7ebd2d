"""What was observed against chance: equal up to rounding counts."""

import numpy as np
import pytest
import scipy.stats

from unmask.problem.chance import as_large, as_small, wilks_p_value


@pytest.mark.parametrize("observed", [1.0, -1.0, 1e-20, -3e9])
def test_equal_up_to_rounding_is_as_extreme(observed):
    step = abs(observed)
    values = observed + step * np.array([-1e-6, -1e-12, 0.0, 1e-12, 1e-6])
    assert as_large(values, observed).tolist() == [False, True, True, True, True]
    assert as_small(values, observed).tolist() == [True, True, True, True, False]


def test_slack_is_added_and_infinite_values_compare():
    assert as_small([1.0 + 5e-4, 1.0 + 2e-3], 1.0, slack=1e-3).tolist() == [True, False]
    assert as_large([np.inf, 7.0], np.inf).tolist() == [True, False]
    assert as_small([0.0, 1e-12], 0.0).tolist() == [True, False]
    np.testing.assert_array_equal(as_large(np.eye(2), np.array([[1.0], [0.5]])), np.eye(2, dtype=bool))


# ---- Wilks's lambda


@pytest.mark.parametrize(("n", "p", "q"), [(14, 2, 2), (12, 2, 8), (30, 3, 10), (150, 2, 1)])
def test_level_on_random_tables(n, p, q):
    rng = np.random.default_rng(0)
    bases = [np.linalg.qr(X - X.mean(axis=1, keepdims=True))[0] for X in rng.standard_normal((2, 2000, n, max(p, q)))]
    drawn = np.linalg.svd(bases[0][:, :, :p].transpose(0, 2, 1) @ bases[1][:, :, :q], compute_uv=False)
    level = np.mean([wilks_p_value(r, n, p, q) < 0.05 for r in drawn])
    assert abs(level - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 2000)


def test_p_value_is_bartletts_where_that_is_exact_or_there_are_many_objects():
    def bartlett(r, n, p, q):
        chi2 = -(n - 1 - (p + q + 1) / 2) * np.log(np.prod(1 - np.square(r)))
        return scipy.stats.chi2.sf(chi2, p * q)

    for n in (8, 14, 150):
        assert wilks_p_value([0.5], n, 2, 1) == pytest.approx(bartlett([0.5], n, 2, 1), rel=1e-9)
    for n, p, q, r in [(150, 2, 2, [0.2, 0.1]), (400, 3, 5, [0.2, 0.1, 0.05])]:
        assert wilks_p_value(r, n, p, q) == pytest.approx(bartlett(r, n, p, q), abs=2e-4)


def test_published_tests_of_dimensions():
    """Psychological and academic variables of 600 students: .0000, .0029, .0911 by R's CCP, as UCLA's pages print."""
    r = np.array([0.4640861, 0.1675092, 0.1039911])
    assert wilks_p_value(r, 600, 3, 5) < 5e-5
    assert wilks_p_value(r[1:], 599, 2, 4) == pytest.approx(0.0029, abs=5e-5)
    assert wilks_p_value(r[2:], 598, 1, 3) == pytest.approx(0.0911, abs=5e-5)


def test_wilks_edges():
    assert wilks_p_value([], 10, 0, 2) == wilks_p_value([], 10, 2, 0) == 1.0
    assert wilks_p_value([1.0, 0.3], 30, 2, 2) == 0.0
    assert wilks_p_value([1.0, 1.0], 4, 2, 2) == 1.0  # correlations of 1 whatever the data
