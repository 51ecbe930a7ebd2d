"""The server: a page, a socket, uploads and downloads, behind the guard."""

import asyncio
import io
import json
import os
import re
import signal
import socket
import stat
import threading
from pathlib import Path
from urllib.parse import unquote, urlparse

import httpx
import numpy as np
import pytest
import websockets

from unmask.app import Session, serve
from unmask.app._browser import opened_page
from unmask.app._server import BUSY, QUEUE_LIMIT, _talk
from unmask.datasets import load_kinship
from unmask.discovery import Discovery

from .serving import SOON, Running
from .test_messages import read


@pytest.fixture(scope="module")
def running():
    session = Session(Discovery(load_kinship().dissimilarities, title="Kinship"))
    running = Running(session)
    yield running
    running.close()
    session.close()


@pytest.fixture
def client(running):
    with httpx.Client(base_url=running.origin, headers={"origin": running.origin}, trust_env=False) as client:
        yield client


@pytest.fixture
def entered(client, running):
    assert client.post("/enter", json={"token": running.guard.token}).status_code == 204
    return client


def test_the_page_comes_with_its_policy_and_loads_only_its_own_files(client):
    page = client.get("/")
    assert page.status_code == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "<script" in page.text
    for path, kind in {"/app.js": "text/javascript", "/app.css": "text/css", "/icon.svg": "image/svg+xml"}.items():
        assert client.get(path).headers["content-type"].startswith(kind)


@pytest.mark.parametrize("body", [b'{"token": "wrong"}', b"{}", b"[]", b"not json", b'{"token": 3}'])
def test_a_wrong_token_does_not_enter(client, body):
    answer = client.post("/enter", content=body)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_files_come_in_and_go_out(entered):
    kept = entered.post("/upload", files={"file": ("kin.csv", io.BytesIO(b"a,b\n1,2\n"))}).json()
    assert (kept["name"], kept["bytes"]) == ("kin.csv", 8)
    refused = entered.post("/upload", files={"file": ("evil.svg", io.BytesIO(b"<svg/>"))})
    assert refused.status_code == 400
    assert "is no kind of file" in refused.json()["error"]
    assert entered.get("/take/nothing").status_code == 404
    assert entered.get("/take/..%2f..%2fetc%2fpasswd").status_code == 404


def test_nothing_is_told_to_whom_has_not_entered(client):
    assert client.post("/upload", files={"file": ("kin.csv", b"x")}).status_code == 403
    assert client.get("/take/x").status_code == 403
    for path in ("/docs", "/openapi.json", "/redoc"):
        assert client.get(path).status_code in (403, 404)


async def talk(running, cookie, *requests, origin=None):
    """Open the socket, send requests and return the answers."""
    headers = {"cookie": cookie} if cookie else {}
    address = f"ws://127.0.0.1:{running.port}/socket"
    async with websockets.connect(
        address, additional_headers=headers, origin=origin or running.origin, open_timeout=SOON, proxy=None
    ) as page:
        answers = []
        for number, sent in enumerate(requests):
            await page.send(sent if isinstance(sent, str | bytes) else json.dumps({"id": number, **sent}))
            while True:
                heard = read(await asyncio.wait_for(page.recv(), SOON))
                if "event" not in heard:
                    answers.append(heard)
                    break
        return answers


def test_the_socket_answers_and_survives_what_is_no_message(running, entered):
    cookie = "; ".join(f"{name}={value}" for name, value in entered.cookies.items())
    text = b'{"buffers": 5}'
    nonsense = ["{", b"\x00", "[" * 100_000, len(text).to_bytes(4, "little") + text]
    sent = [{"do": "hello", "protocol": 1}, *nonsense, {"do": "objects"}]
    state, *answers, objects = asyncio.run(talk(running, cookie, *sent))
    assert state["state"]["title"] == "Kinship"
    assert [answer["ok"] for answer in answers] == [False] * 4
    assert len(objects["labels"]) == 14


def test_a_page_is_answered_while_a_file_is_made_for_it(running, entered, monkeypatch):
    cookie = "; ".join(f"{name}={value}" for name, value in entered.cookies.items())
    go_on, save = threading.Event(), Discovery.save
    monkeypatch.setattr(Discovery, "save", lambda study, path: go_on.wait(SOON) and save(study, path))

    async def story():
        address = f"ws://127.0.0.1:{running.port}/socket"
        headers = {"cookie": cookie}
        async with websockets.connect(address, additional_headers=headers, origin=running.origin, proxy=None) as page:
            for number, what in enumerate(["study", "csv"]):
                await page.send(json.dumps({"id": number, "do": "take", "what": what}))
            await page.send(json.dumps({"id": 2, "do": "objects"}))
            heard = {}
            while len(heard) < 3:
                answer = read(await asyncio.wait_for(page.recv(), SOON))
                heard[answer["id"]] = answer
                if answer["id"] == 2:
                    assert 0 not in heard, "the file is not there yet"
                    go_on.set()
            return [heard[number] for number in range(3)]

    study, table, objects = asyncio.run(story())
    assert len(objects["labels"]) == 14
    assert (study["id"], study["name"]) == (0, "Kinship.zip")
    assert (table["id"], table["ok"]) == (1, False), "there is no map yet"


@pytest.mark.parametrize(("cookie", "origin"), [(None, None), ("right", "http://evil.example"), ("unmask=1", None)])
def test_the_socket_is_closed_to_others(running, entered, cookie, origin):
    own = "; ".join(f"{name}={value}" for name, value in entered.cookies.items())
    with pytest.raises(websockets.exceptions.InvalidStatus):
        asyncio.run(talk(running, own if cookie == "right" else cookie, {"do": "hello"}, origin=origin))


def test_whatever_is_refused_is_a_sentence_in_json(entered):
    refused = [
        entered.get("/nothing"),
        entered.post("/take/x"),
        entered.post("/upload", data={"other": "field"}),
        entered.post("/upload", content=b"no form"),
        entered.get("/take/nothing"),
    ]
    assert [answer.status_code for answer in refused] == [404, 405, 400, 400, 404]
    for answer in refused:
        assert list(answer.json()) == ["error"]
        assert answer.json()["error"].endswith(".")


def test_an_upload_that_is_larger_than_it_says_is_refused_in_a_sentence(entered, running, monkeypatch):
    monkeypatch.setitem(running.guard._limits, "/upload", 100)

    def parts():  # of which the first is in order
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        yield from [b"x" * 60] * 4

    answer = entered.post("/upload", content=parts(), headers={"content-type": "multipart/form-data; boundary=b"})
    assert answer.status_code == 413
    assert answer.json() == {"error": "more than 100 bytes; that is the limit here."}


def test_a_saved_study_comes_in(entered, tmp_path):
    study = Discovery(load_kinship().dissimilarities).save(tmp_path / "kin.zip")
    kept = entered.post("/upload", files={"file": ("kin.zip", study.read_bytes())})
    assert (kept.status_code, kept.json()["name"]) == (200, "kin.zip")


class Silent:
    """A page that asks for nothing, and reads as slowly as it is told to; it may be gone without a word."""

    def __init__(self):
        self.sent, self.may_read, self.is_gone = [], asyncio.Event(), False

    async def accept(self):
        pass

    async def close(self):
        self.is_gone = True

    async def receive(self):
        await asyncio.Event().wait()

    async def send_text(self, frame):
        await self.may_read.wait()
        if self.is_gone:
            raise RuntimeError("the connection is closed")
        self.sent.append(read(frame))

    send_bytes = send_text


async def listening_page(session):
    page = Silent()
    talk = asyncio.create_task(_talk(session, page))
    while not session._hearing:
        await asyncio.sleep(0)
    return page, talk


class Hall:
    """As much of a session as a page listens to."""

    def __init__(self):
        self._hearing = []
        self.listen, self.leave = self._hearing.append, self._hearing.remove

    async def tell(self, *messages):
        for message in messages:
            for hear in self._hearing:
                hear(message)
        await asyncio.sleep(0.01)


def test_a_page_that_is_gone_without_a_word_is_let_go_when_it_is_told_something():
    async def story():
        hall = Hall()
        page, talk = await listening_page(hall)
        page.is_gone = True
        page.may_read.set()
        await hall.tell({"event": "state"})
        await asyncio.wait_for(talk, SOON)
        assert hall._hearing == []

    asyncio.run(story())


def test_a_page_that_does_not_read_is_let_go_at_once():
    async def story():
        hall = Hall()
        page, talk = await listening_page(hall)
        await hall.tell(*[{"event": "state"}] * (QUEUE_LIMIT + 2))
        await asyncio.wait_for(talk, SOON)
        assert hall._hearing == []
        assert page.is_gone

    asyncio.run(story())


def test_a_page_that_is_behind_is_not_told_how_far_a_job_is():
    async def story():
        hall = Hall()
        page, talk = await listening_page(hall)
        progress = [{"event": "progress", "points": np.zeros(2), "number": k} for k in range(50)]
        await hall.tell(*progress, {"event": "done"})
        page.may_read.set()
        while not page.sent or page.sent[-1]["event"] != "done":
            await asyncio.sleep(0)
        assert [told["event"] for told in page.sent] == ["progress"] * (len(page.sent) - 1) + ["done"]
        assert len(page.sent) <= BUSY + 2
        await hall.tell(progress[0])
        assert page.sent[-1]["event"] == "progress", "one that has caught up hears it again"
        talk.cancel()
        await asyncio.gather(talk, return_exceptions=True)

    asyncio.run(story())


# ---- beginning and ending


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_change_that_waits_to_be_saved_is_saved_when_the_server_ends(tmp_path, monkeypatch, name):
    monkeypatch.setattr("unmask.app._session.SAVE_AFTER", 10 * SOON)
    number, died = getattr(signal, name), []
    session = Session(Discovery(load_kinship().dissimilarities, title="Before"), path=tmp_path / "study")
    before = signal.signal(number, lambda *_: died.append(number))  # what would end the process, if it is reached

    said = []

    def page(text):
        said.append(text)
        if len(said) > 1:
            return
        address = urlparse(re.search(r"http://\S+", text)[0])

        def change():
            httpx.get(f"http://{address.netloc}/", trust_env=False)  # so that it serves
            session.handle({"id": 1, "do": "title", "title": "After", "revision": session.revision})
            os.kill(os.getpid(), number)

        threading.Thread(target=change).start()

    try:
        serve(session, open_browser=False, say=page)
    finally:
        signal.signal(number, before)
    assert died == ([signal.SIGINT] if name == "SIGINT" else []), "Ctrl-C is an error in Python, and ends it afterwards"
    assert said[1:] == [f"The study is saved in {tmp_path / 'study'}."]
    assert Discovery.load(tmp_path / "study").title == "After"


def test_the_browser_is_not_told_the_token_where_others_can_read_it(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with opened_page("http://127.0.0.1:1/#token=secret") as path:
        (given,) = opened
        assert "secret" not in given
        assert Path(unquote(urlparse(given).path)) == path
        assert 'content="0; url=http://127.0.0.1:1/#token=secret"' in path.read_text(encoding="utf-8")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.parent.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0"])
def test_a_page_is_served_at_every_kind_of_address(host, monkeypatch):
    if host == "::1" and not socket.has_ipv6:
        pytest.skip("no addresses of version six")
    said, opened = [], []
    session = Session()

    def page(text):
        said.append(text)
        if "Ctrl-C" not in text:
            return

        def look():
            with httpx.Client(trust_env=False) as client:
                opened.append(client.get(re.search(r"http://[^#]+", text)[0]).status_code)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=look).start()

    serve(session, host=host, open_browser=False, say=page)
    assert opened == [200]
    assert len(said) == (2 if host == "0.0.0.0" else 1), "whoever lets others in is warned"
