"""The workbench in marimo: it is shown, by several views, after running a cell again, and after a reload."""

import sys

import pytest

from ..web.bench import Windows
from .serving import SOON, free_port, served

pytest.importorskip("marimo", reason="make test-notebooks has it")
pytestmark = pytest.mark.slow

NOTEBOOK = """import marimo

app = marimo.App()


@app.cell
def _():
    from unmask.datasets import load_kinship
    from unmask.discovery import Discovery

    study = Discovery(load_kinship().dissimilarities)
    study.fit(2, n_init=2)
    workbench = study.explore()
    workbench
    return (workbench,)


@app.cell
def _(workbench):
    workbench
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "kin.py").write_text(NOTEBOOK, encoding="utf-8")
    port = free_port()
    options = ["--headless", "--no-token", "--skip-update-check", "--host=127.0.0.1", f"--port={port}"]
    with served(
        [sys.executable, "-m", "marimo", "edit", *options, "kin.py"], folder, f"http://127.0.0.1:{port}/"
    ) as url:
        yield url


@pytest.fixture(scope="module")
def views(chromium, address):
    windows = Windows(chromium)
    page = windows.open(address, viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(1000 * SOON)
    page.goto(address)
    page.locator(".cm-content").nth(1).wait_for()
    run_all(page)
    yield page
    windows.close()


def run_all(page):
    for number in range(2):
        page.locator(".cm-content").nth(number).click()
        page.keyboard.press("ControlOrMeta+Enter")


def shows(page, text):
    """Wait until both views show a map, and say something."""
    for view in range(2):
        page.locator(".unmask .summary").nth(view).filter(has_text=text).wait_for()
        page.locator(".unmask .map").nth(view).locator(".label").first.wait_for()


def test_two_views_show_the_same_study(views):
    shows(views, "Map 1")
    views.locator(".unmask").first.get_by_role("button", name="Fit a map").click()
    shows(views, "Map 2")


def test_running_the_cells_again_shows_a_new_study(views):
    shows(views, "Map")
    run_all(views)
    shows(views, "Map 1")


def test_a_reload_shows_the_study(views):
    shows(views, "Map")
    views.reload()
    shows(views, "Map")
