"""The memory of limited-memory BFGS, compiled and by its definition."""

import numpy as np
import pytest

from unmask.kernels import lbfgs

from . import twins


@pytest.mark.parametrize("count", [1, 3, 4, 11])
def test_lbfgs_direction_equals_the_matrix_formula(rng, count):
    memory, size = 4, 6
    steps, changes = np.zeros((memory, size)), np.zeros((memory, size))
    A = np.cov(rng.standard_normal((size, 20)))
    for at in range(min(count, memory)):
        steps[at] = rng.standard_normal(size)
        changes[at] = A @ steps[at]
    curvatures = np.einsum("ij,ij->i", steps, changes)
    inverse = np.divide(1.0, curvatures, out=np.zeros(memory), where=curvatures > 0)
    gradient = rng.standard_normal(size)
    direction = lbfgs.lbfgs_direction(steps, changes, inverse, count, gradient)
    np.testing.assert_allclose(direction, twins.lbfgs_direction(steps, changes, inverse, count, gradient), rtol=1e-9)
    assert direction @ gradient < 0


def test_lbfgs_remembers_steps_that_curve_upwards_and_no_others(rng):
    step = rng.standard_normal(6)
    for change, kept in ((3 * step + 0.1, True), (-step, False), (np.zeros(6), False)):
        memories = [(np.zeros((4, 6)), np.zeros((4, 6)), np.zeros(4)) for _ in range(2)]
        for module, memory in zip((lbfgs, twins), memories, strict=True):
            assert module.lbfgs_remember(*memory, 2, step, change) is kept
        for mine, twin in zip(*memories, strict=True):
            np.testing.assert_allclose(mine, twin, rtol=1e-12)
        assert np.array_equal(memories[0][0][2], step) == kept
