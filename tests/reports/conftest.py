"""Pages that several files read."""

import pytest

from unmask.reports import _fit, _known, _maps

from .studies import QUICK, kinship_study, nasty_study, page_of


@pytest.fixture(scope="session")
def study():
    return kinship_study()


@pytest.fixture(scope="session")
def page(study):
    return page_of(study, bootstrap=8, compare=["partial-dbrda", "mds"], saved_as="kinship.zip")


@pytest.fixture(scope="session")
def nasty():
    return page_of(nasty_study(), **QUICK, saved_as="</script> & study")


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave out the drawing, which takes most of the time, where pictures are not what is tested."""
    for module in (_maps, _fit, _known):
        monkeypatch.setattr(module, "draw", lambda *_, **__: "data:image/svg+xml;base64,")
