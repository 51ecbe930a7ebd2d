"""Data and helpers that many tests share."""

import json
from pathlib import Path

import numpy as np
import pytest

from . import browser

REFERENCE = Path(__file__).parent / "reference"


# Pages of the documentation, scikit-learn's checks, combinations of options and studies with random damage.
REPEATING = (
    "test_the_readme",
    "test_the_page_about_the_command_line",
    "test_every_combination_works_or_is_refused",
    "test_other_options_go_with_every_kind_of_problem",
    "test_code_of_a_page_runs_and_prints_what_it_says",
    "test_common_checks",
    "test_scikit_learn_conventions",
    "test_whatever_is_wrong_in_study_json_no_traceback_comes_out",
    "test_whatever_is_written_into_study_json_its_script_is_harmless",
)


def pytest_collection_modifyitems(items):
    """Let coverage, which nearly doubles their time, look away from tests that run what smaller ones run too."""
    for item in items:
        repeating = getattr(item, "originalname", "") in REPEATING or item.path.parent.name in (
            "examples",
            "extensions",
        )
        if repeating or item.get_closest_marker("simulation"):
            item.add_marker(pytest.mark.no_cover)


def pytest_terminal_summary(terminalreporter):
    """Say aloud that pages were not looked at."""
    if browser.find() is None:
        terminalreporter.write_sep("!", "no browser", red=True)
        terminalreporter.write_line(browser.MISSING, red=True)


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
