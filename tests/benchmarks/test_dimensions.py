"""The page shows how many dimensions were chosen, and the choices are near the truth."""

import json

import pytest
from benchmarks.adjusted.page import renew

from benchmarks import dimensions


@pytest.fixture(scope="module")
def found():
    return json.loads(dimensions.RESULTS.read_text(encoding="utf-8"))


def share(cells, near):
    """Return the share of sets whose choice is near the number of dimensions that are left."""
    counts = [(cell["left"], int(p), count) for cell in cells for p, count in cell["chosen"].items()]
    return sum(count for left, p, count in counts if near(p, left)) / sum(count for *_, count in counts)


def test_page_shows_the_numbers_that_were_found(found):
    text = dimensions.PAGE.read_text(encoding="utf-8")
    assert renew(text, dimensions.tables(found), dimensions.COMMAND) == text
    assert sorted(map(dimensions.kind_of, found["cells"])) == sorted(dimensions.KINDS)
    assert all(sum(cell["chosen"].values()) == dimensions.SETS[cell["objects"]] for cell in found["cells"])


def test_in_noise_no_dimension_is_chosen(found):
    for cell in found["cells"]:
        if not cell["left"]:
            assert share([cell], lambda p, _: p == 0) >= 0.85


def test_choices_are_within_one_dimension_of_the_truth(found):
    """With 30 objects, and with 100 if the known features have no errors, which would be something to find too."""
    for objects, error in ((30, 0.05), (100, 0.0)):
        cells = [
            cell for cell in found["cells"] if cell["left"] and (cell["objects"], cell["error"]) == (objects, error)
        ]
        assert share(cells, lambda p, left: abs(p - left) <= 1) >= 0.95
        assert share(cells, lambda p, _: p > 0) >= 0.95
