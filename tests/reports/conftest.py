"""Pages that several files read."""

import pytest

from unmask.reports import _findings, _maps, render_report

from .studies import QUICK, kinship_study, nasty_study


@pytest.fixture(scope="session")
def study():
    return kinship_study()


@pytest.fixture(scope="session")
def page(study):
    return render_report(study, bootstrap=8, compare=["partial-dbrda", "mds"], saved_as="kinship.zip")


@pytest.fixture(scope="session")
def nasty():
    return render_report(nasty_study(), **QUICK, saved_as="</script> & study")


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave out the drawing, which takes most of the time, where pictures are not what is tested."""
    for module in (_maps, _findings):
        monkeypatch.setattr(module, "draw", lambda *_, **__: "data:image/svg+xml;base64,")
