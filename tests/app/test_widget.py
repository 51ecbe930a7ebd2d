"""The workbench in a notebook: the same session, its messages carried by the notebook."""

import numpy as np
import pytest

from unmask.datasets import load_kinship
from unmask.discovery import Discovery


@pytest.fixture
def workbench():
    workbench = Discovery(load_kinship().dissimilarities, title="Kinship").explore()
    yield workbench
    workbench.close()


def test_messages_go_through_the_notebook(workbench, monkeypatch):
    sent = []
    monkeypatch.setattr(workbench, "send", lambda content, buffers: sent.append((content, buffers)))
    workbench.study.fit(2, n_init=2)
    workbench._hear(None, {"id": 1, "do": "hello", "protocol": 1}, [])
    workbench._hear(None, {"id": 2, "do": "map", "step": 1}, [])
    data = {"buffer": 0, "type": "bytes", "shape": [8]}
    workbench._hear(None, {"id": 3, "do": "upload", "name": "x.csv", "data": data}, [memoryview(b"a,b\n1,2\n")])
    (hello, _), (found, buffers), (upload, _) = sent
    assert hello["state"]["title"] == "Kinship"
    assert found["points"] == {"buffer": 0, "type": "f4", "shape": [14, 2]}
    points = np.frombuffer(buffers[0], "<f4").reshape(14, 2)
    np.testing.assert_allclose(points, workbench.study.embedding, rtol=1e-6)
    assert (upload["ok"], upload["bytes"]) == (True, 8)


def test_an_answer_is_for_the_view_that_asked_and_the_view_of_a_step_is_kept(workbench, monkeypatch):
    sent = []
    monkeypatch.setattr(workbench, "send", lambda content, buffers: sent.append(content))
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
