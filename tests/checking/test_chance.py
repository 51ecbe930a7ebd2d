"""What was observed against chance: equal up to rounding counts."""

import numpy as np
import pytest

from unmask.checking import as_large, as_small


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
