"""The workbench in JupyterLab: it is shown, by several views, after running a cell again, and after a reload."""

import json
import sys

import pytest

from ..web.bench import Windows
from .serving import SOON, free_port, served

pytest.importorskip("jupyterlab", reason="make test-notebooks has it")
pytestmark = pytest.mark.slow

CODE = """from unmask.datasets import load_kinship
from unmask.discovery import Discovery

study = Discovery(load_kinship().dissimilarities)
study.fit(2, n_init=2)
workbench = study.explore()
workbench"""


def cell(number, source):
    return {
        "cell_type": "code",
        "id": f"c{number}",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": [cell(1, CODE), cell(2, "workbench")], "metadata": {"kernelspec": kernel}}
    (folder / "kin.ipynb").write_text(json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    port = free_port()
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.root_dir": folder,
        "ServerApp.allow_root": True,
        "ServerApp.open_browser": False,
        "IdentityProvider.token": "",
        "LabApp.news_url": "",
    }
    command = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]
    with served(command, folder, f"http://127.0.0.1:{port}/lab") as address:
        yield address


@pytest.fixture(scope="module")
def views(chromium, address):
    """The notebook with two views of one workbench, run once."""
    windows = Windows(chromium)
    page = windows.open(address.removesuffix("lab"), "data:", viewport={"width": 1400, "height": 2600})
    page.set_default_timeout(1000 * SOON)
    page.goto(f"{address}/tree/kin.ipynb?reset")
    page.locator(".jp-Notebook .jp-CodeCell").nth(1).wait_for()
    run_all(page)
    yield page
    windows.close()


def run_all(page):
    for number in range(2):
        page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-editor").nth(number).click()
        page.keyboard.press("Shift+Enter")


def shows(page, text):
    """Wait until both views show a map, and say something."""
    page.wait_for_function(
        """(text) => {
          const views = [...document.querySelectorAll(".jp-OutputArea .unmask")];
          return views.length === 2 && views.every((view) => view.querySelector(".map .label") !== null
            && view.querySelector(".summary").textContent.includes(text));
        }""",
        arg=text,
    )


def test_two_views_show_the_same_study(views):
    shows(views, "Map 1")
    views.locator(".unmask").first.get_by_role("button", name="Fit a map").click()
    shows(views, "Map 2")


def test_keys_go_to_the_map_and_not_to_the_notebook(views):
    shows(views, "Map")
    view = views.locator(".unmask").last
    view.locator(".map").focus()
    views.keyboard.press("ArrowUp")
    view.locator(".summary", has_text="At ").wait_for()
    assert view.locator(".map").evaluate("map => map === document.activeElement")


def test_running_the_cells_again_shows_a_new_study(views):
    run_all(views)
    shows(views, "Map 1")


def test_a_reload_finds_the_study_as_it_was(views):
    shows(views, "Map")
    views.locator(".unmask").first.get_by_role("button", name="Fit a map").click()
    shows(views, "Map 2")
    views.keyboard.press("ControlOrMeta+s")
    views.wait_for_timeout(1500)
    views.reload()
    shows(views, "Map 2")
