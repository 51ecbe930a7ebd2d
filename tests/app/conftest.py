"""Sessions and browsers for the tests of the workbench."""

import numpy as np
import pytest

from unmask.app import Session, _beginning, _looking, _loop

from ..web.bench import Bench, Windows
from .serving import Running
from .talking import visiting

FEW = {"n_init": 4}


@pytest.fixture(scope="module")
def session():
    """A session whose worker stays warm; tests begin studies of their own."""
    session = Session()
    yield session
    session.close()


@pytest.fixture
def page(session):
    """A page that talks to the session, without a browser."""
    with visiting(session) as page:
        yield page


class ServedBench(Bench):
    """The page in a browser, with its server and its session, which remembers what it was asked."""

    def __init__(self, page, running):
        super().__init__(page)
        self.running, self.session = running, running.session

    @property
    def study(self):
        return self.session.study

    def on_screen(self, places):
        """Return where places of the map, as it is shown, are on the screen."""
        self.drawn_anew()
        camera, size, left, top = self.page.evaluate(
            """() => {
              const map = document.querySelector(".map");
              const { x, y } = map.getBoundingClientRect();
              return [map.view.camera, map.view.size, x, y];
            }"""
        )
        middle, zoom = [camera["x"], camera["y"]], camera["zoom"]
        corner = np.array([left + size["width"] / 2, top + size["height"] / 2])
        return corner + (np.asarray(places) - middle) * [zoom, -zoom]

    def at(self, *labels):
        """Return where objects are on the screen."""
        step = self.study.step
        shown = step.embedding @ _looking.turn_of(self.session, step)
        return self.on_screen(shown.loc[list(labels)].to_numpy()[:, :2])

    def drawn(self):
        """Return the way of the feature that was adopted last, as the library takes it."""
        way = dict(self.asked("adopt")[-1]["way"])
        labels, tree = self.study.material.objects, self.study.tree
        adopted = next(action for action in reversed(tree) if action.action == "adopt")
        turn = _looking.turn_of(self.session, tree[adopted.parent - 1])
        if "groups" in way:
            way["groups"] = {name: [labels[at] for at in members] for name, members in way["groups"].items()}
        if "along" in way:
            way["along"] = [
                labels[place["object"]] if isinstance(place, dict) else list(turn @ place) for place in way["along"]
            ]
            way["axes"] = tuple(way["axes"])
        return way

    def asked(self, what):
        return [request for request in self.running.asked if request["do"] == what]


@pytest.fixture(scope="module")
def running(session):
    running = Running(session)
    yield running
    running.close()


@pytest.fixture
def windows(chromium):
    """Windows in which nothing is said on the console, no policy is broken, and nothing is asked of any other place."""
    windows = Windows(chromium)
    yield windows
    windows.close()
    assert windows.said == []


@pytest.fixture
def open_study(windows, running):
    """Return a function that opens a study in the browser; without a study, the first page."""
    fresh = []

    def open_it(study=None, **options):
        served = running
        if study is None:
            served = Running(Session())
            fresh.append(served)
        else:
            served.session.begin(study)
            served.asked.clear()
        page = windows.open(served.origin, **options)
        page.goto(served.guard.url)
        if study is None:  # what is dropped while the page is loading is not heard
            page.locator(".datasets button").first.wait_for()
        return ServedBench(page, served)

    yield open_it
    windows.close()
    for served in fresh:
        served.close()
        served.session.close()


@pytest.fixture
def few_starts(monkeypatch):
    """Fit from few starts: later maps take this over from the first."""
    monkeypatch.setattr(_beginning, "begin_fit", lambda session: _loop.begin_fit(session, **FEW))
