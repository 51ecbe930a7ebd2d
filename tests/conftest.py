"""Data and helpers that many tests share."""

import json
from pathlib import Path

import numpy as np
import pytest

from unmask.datasets import load_kinship

REFERENCE = Path(__file__).parent / "reference"


def pytest_collection_modifyitems(items):
    """Let coverage look away from simulations: what they run, other tests run too."""
    for item in items:
        if item.get_closest_marker("simulation"):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(scope="session")
def kinship():
    return load_kinship()


@pytest.fixture(scope="session")
def reference():
    """Return a loader of the numbers that an independent implementation computed."""

    def load(name):
        if name.endswith(".csv"):
            return np.loadtxt(REFERENCE / name, delimiter=",")
        return json.loads((REFERENCE / f"{name}.json").read_text())

    return load


@pytest.fixture
def rng():
    return np.random.default_rng(12345)
