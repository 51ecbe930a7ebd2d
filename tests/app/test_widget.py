"""The workbench in a notebook: the same session, its messages carried by the notebook."""

import queue

import numpy as np
import pytest

from unmask import ConditionalClassicalMDS, ConditionalMDS, GeneralMDS
from unmask.app import explore_fitted
from unmask.datasets import load_kinship
from unmask.discovery import Discovery

from .talking import SOON
from .test_messages import read


def wait_for_a_map(workbench):
    page = queue.Queue()
    workbench._session.listen(page.put)
    while not workbench.study.steps:
        page.get(timeout=SOON)
    workbench._session.leave(page.put)


@pytest.fixture
def workbench():
    workbench = Discovery(load_kinship().dissimilarities, title="Kinship").explore()
    yield workbench
    workbench.close()


def test_messages_go_through_the_notebook(workbench, monkeypatch):
    sent = []
    monkeypatch.setattr(workbench, "send", lambda _, buffers: sent.append(read(*buffers)))
    workbench.study.fit(2, n_init=2)
    workbench._hear(None, {"id": 1, "do": "hello", "protocol": 1}, [])
    workbench._hear(None, {"id": 2, "do": "map", "step": 1}, [])
    workbench._hear(None, {"id": 3, "do": "upload", "name": "x.csv"}, [memoryview(b"a,b\n1,2\n")])
    hello, found, upload = sent
    assert hello["state"]["title"] == "Kinship"
    np.testing.assert_allclose(found["points"].reshape(14, 2), workbench.study.embedding, rtol=1e-6)
    assert (upload["ok"], upload["bytes"]) == (True, 8)


def test_an_answer_is_for_the_view_that_asked_and_the_view_of_a_step_is_kept(workbench, monkeypatch):
    sent = []
    monkeypatch.setattr(workbench, "send", lambda _, buffers: sent.append(read(*buffers)))
    workbench.study.fit(2, n_init=2)
    seen = {"axes": [0, 1], "selection": [3]}
    workbench._hear(None, {"id": 1, "do": "view", "step": 1, "view": seen, "from": "left"}, [])
    workbench._hear(None, {"id": 1, "do": "hello", "protocol": 1, "from": "right"}, [])
    assert [(answer["ok"], answer["from"]) for answer in sent] == [(True, "left"), (True, "right")]
    assert sent[1]["state"]["views"] == {"1": seen}
    sent.clear()
    workbench._session.tell(workbench._session.state())
    assert "from" not in sent[0], "all views hear what happens"


def test_files_are_handed_over_where_there_is_no_server(workbench):
    workbench.study.fit(2, n_init=2)
    answer = workbench._session.handle({"id": 1, "do": "take", "what": "csv"})
    assert answer["data"].startswith(b"label,axis1,axis2")


def test_nothing_of_the_study_is_kept_in_the_notebook(workbench):
    workbench.study.fit(2, n_init=2)
    kept = {name: value for name, value in workbench.get_state().items() if not name.startswith("_")}
    assert set(kept) <= {"layout", "tabbable", "tooltip", "comm"}


# ---- two of one study


def test_two_workbenches_of_one_study_share_its_state(workbench, monkeypatch):
    other = workbench.study.explore()
    heard = []
    monkeypatch.setattr(other, "send", lambda _, buffers: heard.append(read(*buffers)))
    try:
        asked = {"id": 1, "do": "title", "title": "Terms", "revision": workbench._session.revision}
        workbench._hear(None, asked, [])
        assert heard[-1]["state"]["title"] == "Terms"
        assert other._session is workbench._session
    finally:
        other.close()
    assert len(workbench._session._hearing) == 1
    assert workbench._session.handle({"id": 2, "do": "objects"})["ok"]
    assert workbench._session.jobs._process.poll() is None, "its worker is there while one is open"
    other.close()
    assert workbench._session.jobs._process.poll() is None, "closing twice is closing once"


def test_a_study_that_was_closed_or_left_begins_a_session_of_its_own(workbench):
    study, session = workbench.study, workbench._session
    session.begin(Discovery(load_kinship().dissimilarities, title="Another"))  # as who drops another file
    again = study.explore()
    try:
        assert again._session is not session
        assert (again.study, workbench.study.title) == (study, "Another")
    finally:
        again.close()
    assert again._session.jobs._process.poll() is not None


# ---- as notebooks carry messages


class Comm:
    """What Jupyter and marimo give a widget to talk through."""

    def __init__(self):
        self.sent, self.comm_id = [], "1"

    def send(self, data=None, metadata=None, buffers=None):
        self.sent.append((data, metadata or {}, buffers or []))

    def close(self, *_, **__):
        pass

    def answer(self):
        """Return the last message of our own."""
        data, metadata, buffers = next(sent for sent in reversed(self.sent) if sent[0].get("method") == "custom")
        assert (data["content"], metadata) == ({}, {})
        return read(*buffers)


@pytest.fixture
def comm(workbench, monkeypatch):
    comm = Comm()
    monkeypatch.setattr(type(workbench), "comm", comm)
    return comm


def say(workbench, buffers=(), **content):
    message = {"content": {"data": {"method": "custom", "content": content}}, "buffers": list(buffers)}
    workbench._handle_msg(message)


def test_a_study_goes_on_through_the_messages_of_a_notebook(workbench, comm):
    say(workbench, id=1, do="hello", protocol=1, **{"from": "view"})
    hello = comm.answer()
    assert (hello["ok"], hello["from"], hello["state"]["n"]) == (True, "view", 14)
    say(workbench, id=2, do="fit", revision=hello["state"]["revision"], params={"n_init": 2}, **{"from": "view"})
    wait_for_a_map(workbench)
    say(workbench, id=3, do="map", step=1)
    np.testing.assert_allclose(comm.answer()["points"].reshape(14, 2), workbench.study.embedding, rtol=1e-6)
    say(workbench, [memoryview(b"a,b\n1,2\n")], id=4, do="upload", name="x.csv")
    assert comm.answer()["bytes"] == 8
    say(workbench, id=5, do="fit", revision=-1)
    assert comm.answer()["stale"]
    assert all(sent[0]["method"] == "custom" for sent in comm.sent), "nothing becomes part of the notebook"


# ---- from a fitted estimator


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (ConditionalMDS(metric="precomputed", n_init=2, random_state=3, known_types={"degree": "ordinal"}), "mds"),
        (ConditionalClassicalMDS(n_components=1, metric="precomputed"), "classical"),
    ],
)
def test_a_fitted_estimator_opens_the_workbench_with_its_map(estimator, name):
    kin = load_kinship()
    known, table = kin.known[["degree"]], kin.known[["gender"]]
    mds = estimator.fit(kin.dissimilarities, known=known)
    workbench = mds.explore(kin.dissimilarities, known=known, table=table)
    try:
        wait_for_a_map(workbench)
        step = workbench.study.step
        assert (step.estimator, step.n_components) == (name, mds.n_components)
        np.testing.assert_allclose(step.embedding, mds.embedding_, rtol=1e-6, atol=1e-9)
        assert (list(workbench.study.known), list(workbench.study.table)) == (["degree"], ["gender"])
        assert workbench.study.known_types == (mds.known_types or {})
    finally:
        workbench.close()


def test_an_estimator_whose_maps_a_study_does_not_have_says_so():
    D = load_kinship().dissimilarities
    with pytest.raises(ValueError, match="explore\\(\\) of GeneralMDS: a study has maps of ConditionalMDS"):
        explore_fitted(GeneralMDS(), D, None, None, None)  # not fitted, which takes a while to compile
