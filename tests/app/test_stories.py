"""The workbench in a browser, by mouse and by keyboard, with the server and the worker: numbers are the library's."""

import pytest

from unmask.app import Session
from unmask.datasets import load_kinship
from unmask.discovery import Discovery

from ..reports.photograph import browser
from ..web.test_fixed_page import Bench
from .serving import SOON, Running


@pytest.fixture(scope="module")
def started():
    with browser() as program:
        yield program


@pytest.fixture
def open_study(started):
    """Open a study in the browser; at the end the console is empty, and nothing was asked of any other place."""
    opened, said = [], []

    def open_it(study=None, **options):
        session = Session(study)
        running = Running(session)
        settings = {"viewport": {"width": 1300, "height": 900}, "reduced_motion": "reduce", **options}
        context = started.new_context(**settings)
        opened.append((context, running, session))
        page = context.new_page()
        page.set_default_timeout(1000 * SOON)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: None if own(running, request.url) else said.append(request.url))
        page.goto(running.guard.url)
        bench = Bench(page)
        bench.session = session
        return bench

    def own(running, url):
        return url.startswith((running.origin, running.origin.replace("http", "ws"), "blob:"))

    yield open_it
    for context, running, session in opened:
        context.close()
        running.close()
        session.close()
    assert said == []


def kinship():
    return Discovery(load_kinship().dissimilarities, title="Kinship")


WOMEN = ["Aunt", "Daughter", "Granddaughter", "Grandmother", "Mother", "Niece", "Sister"]


def test_kinship_by_mouse(open_study):
    bench = open_study(kinship())
    bench.button("Fit a map").click()
    bench.says("Map 1")
    bench.button("Lasso").click()
    bench.drag((0.01, 0.99), (0.99, 0.99), (0.99, 0.5), (0.01, 0.5))
    bench.says("7 selected")
    bench.page.get_by_label("Name").fill("gender")
    bench.button("Condition on it").click()
    bench.says("given gender")
    study = kinship()
    study.fit(2)
    study.adopt("gender", groups={"women": WOMEN})
    shown = bench.session.study
    assert shown.step.stress == pytest.approx(study.fit(2).stress, rel=1e-9)
    groups = shown.known["gender"]
    assert sorted(groups.index[groups == groups["Aunt"]]) == WOMEN


def test_a_fit_that_is_stopped_keeps_its_map(open_study):
    bench = open_study(kinship())
    bench.button("Fit a map").click()
    bench.says("Map 1")
    bench.session.handle({"id": 1, "do": "fit", "revision": bench.session.revision, "params": {"n_init": 100_000}})
    bench.button("Stop").click()
    bench.says("Map 2")
    assert not bench.session.study.step.finished


def test_wine_from_the_first_page_to_a_suggestion(open_study):
    bench = open_study()
    bench.button("wine", exact=False).click()
    bench.says("Map 1")
    assert len(bench.session.study.material.objects) == 178
    assert list(bench.session.study.table.columns[:1]) == ["alcohol"]


def test_the_page_comes_back_as_it_was(open_study):
    bench = open_study(kinship())
    bench.button("Fit a map").click()
    bench.says("Map 1")
    bench.page.reload()
    bench.says("Map 1")
    assert len(bench.labels()) == 14
