"""The server: a page, a socket, uploads and downloads, behind the guard."""

import asyncio
import io
import json

import httpx
import pytest
import websockets

from unmask.app import Session
from unmask.app._messages import decode
from unmask.datasets import load_kinship
from unmask.discovery import Discovery

from .serving import SOON, Running


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
                heard = decode(await asyncio.wait_for(page.recv(), SOON))
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


@pytest.mark.parametrize(("cookie", "origin"), [(None, None), ("right", "http://evil.example"), ("unmask=1", None)])
def test_the_socket_is_closed_to_others(running, entered, cookie, origin):
    own = "; ".join(f"{name}={value}" for name, value in entered.cookies.items())
    with pytest.raises(websockets.exceptions.InvalidStatus):
        asyncio.run(talk(running, own if cookie == "right" else cookie, {"do": "hello"}, origin=origin))
