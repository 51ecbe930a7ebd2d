"""Data and helpers that many tests share."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from . import browser

REFERENCE = Path(__file__).parent / "reference"


def pytest_terminal_summary(terminalreporter):
    """Say aloud that pages were not looked at."""
    if browser.find() is None:
        terminalreporter.write_sep("!", "no browser", red=True)
        terminalreporter.write_line(browser.MISSING, red=True)


@pytest.fixture(scope="session", autouse=True)
def without_umap():
    """Hide umap-learn, where it is installed: it compiles for a quarter of a minute in every process."""
    sys.modules["umap"] = None  # to import it is an ImportError; the one slow test that needs it lifts this


@pytest.fixture(scope="module")
def chromium():
    """A browser. Not for all modules at once: its loop would be in the way of tests that have loops of their own."""
    with browser.browser() as started:
        yield started


@pytest.fixture(scope="session")
def kinship():
    from unmask.datasets import load_kinship  # here, so that coverage sees the package being imported

    return load_kinship()


@pytest.fixture(scope="session")
def reference():
    """Return a loader of the numbers that an independent implementation computed."""

    def load(name):
        if name.endswith(".csv"):
            return np.loadtxt(REFERENCE / name, delimiter=",")
        return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))

    return load


@pytest.fixture
def rng():
    return np.random.default_rng(12345)
