"""Fits over all combinations of options have the numbers that were recorded before the rooms were rebuilt."""

import numpy as np
import pytest

from tests import guard

with np.load(guard.RECORDED) as file:
    RECORDED = {}
    for key in file.files:
        number, _, name = key.partition("/")
        RECORDED.setdefault(int(number), {})[name] = file[key]


def test_enough_is_recorded():
    assert len(RECORDED) == guard.CASES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", RECORDED)
def test_a_fit_has_the_numbers_recorded(number):
    assert not guard.alike(guard.outcome(number), RECORDED[number], 1e-7), guard.drawn(number)
