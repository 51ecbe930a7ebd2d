"""Who may talk to the workbench."""

import asyncio
import json

import pytest

from unmask.app._guard import HEADERS, Guard

PORT = 8123


async def behind(scope, receive, send):
    """Read everything and say that it came through."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            status = 499
            break
        if not message.get("more_body"):
            status = 200
            break
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b"through"})


@pytest.fixture
def guard():
    return Guard(behind, "127.0.0.1", PORT, token="secret", upload_limit=100)


def ask(guard, path="/take/x", method="GET", kind="http", body=(b"",), arrived=None, **headers):
    """Send a request to the guard and return what came back."""
    given = {"host": f"127.0.0.1:{PORT}", **headers}
    sent = [{"type": "http.request", "body": part, "more_body": k + 1 < len(body)} for k, part in enumerate(body)]
    came = []

    async def receive():
        message = sent.pop(0) if kind == "http" else {"type": "websocket.connect"}
        if message.get("body", b"") is None:
            await asyncio.sleep(10)
        return message

    async def send(message):
        came.append(message)

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items() if value is not None]
    scope = {"type": kind, "path": path, "method": method, "headers": pairs, **(arrived or {})}
    asyncio.run(guard(scope, receive, send))
    return came


def status(*args, **options):
    return ask(*args, **options)[0]["status"]


@pytest.fixture
def cookie(guard):
    return guard.enter("secret").partition(";")[0]


def test_the_page_itself_needs_nothing(guard):
    assert status(guard, "/") == 200


def test_all_else_needs_the_cookie(guard, cookie):
    assert status(guard) == 403
    assert status(guard, cookie=cookie) == 200
    assert status(guard, cookie=f'other app={{"a b": [1]}}; {cookie}; =; odd') == 200
    assert status(guard, cookie=f"unmask-{PORT}=guessed") == 403
    assert status(guard, cookie=cookie.replace(str(PORT), "9999")) == 403


def test_the_cookie_is_given_for_the_token_only(guard):
    assert guard.enter("wrong") is None
    assert guard.enter(None) is None
    assert guard.enter("secret").endswith("; HttpOnly; SameSite=Strict; Path=/")
    assert guard.url == f"http://127.0.0.1:{PORT}/#token=secret"


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", "", None]
)
def test_a_foreign_host_is_refused_even_for_the_page(guard, cookie, host):
    assert status(guard, "/", host=host) == 400
    assert status(guard, host=host, cookie=cookie) == 400


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", f"https://127.0.0.1:{PORT}", "http://127.0.0.1"]
)
def test_what_changes_something_must_come_from_the_page(guard, cookie, origin):
    assert status(guard, "/upload", "POST", origin=origin, cookie=cookie) == 403
    closed = ask(guard, "/socket", kind="websocket", origin=origin, cookie=cookie)
    assert closed == [{"type": "websocket.close", "code": 1008}]


def test_the_page_may_open_the_socket(guard, cookie):
    opened = ask(guard, "/socket", kind="websocket", origin=f"http://127.0.0.1:{PORT}", cookie=cookie)
    assert opened == [{"type": "websocket.accept"}]
    without_cookie = ask(guard, "/socket", kind="websocket", origin=f"http://127.0.0.1:{PORT}")
    assert without_cookie == [{"type": "websocket.close", "code": 1008}]


def test_an_upload_has_a_limit_whatever_it_announces(guard, cookie):
    own = {"origin": f"http://127.0.0.1:{PORT}", "cookie": cookie}
    assert status(guard, "/upload", "POST", content_length="101", **own) == 413
    assert status(guard, "/upload", "POST", body=(b"x" * 60, b"x" * 40), content_length="100", **own) == 200
    assert status(guard, "/upload", "POST", body=(b"x" * 60, b"x" * 60), content_length="10", **own) == 413
    assert status(guard, "/enter", "POST", content_length=str(2**16 + 1), **own) == 413


@pytest.mark.parametrize("path", ["/", "/take/x"])
def test_every_answer_has_the_policy(guard, path):
    headers = {name.decode(): value.decode() for name, value in ask(guard, path)[0]["headers"]}
    assert HEADERS.items() <= headers.items()
    assert headers["content-security-policy"].startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'"
    )
    assert "access-control-allow-origin" not in headers


def test_an_address_of_version_six_is_written_in_brackets():
    guard = Guard(behind, "::1", PORT, token="t")
    assert guard.address == f"http://[::1]:{PORT}/"
    assert status(guard, "/", host=f"[::1]:{PORT}") == 200
    for wrong in (f"::1:{PORT}", "[::1]", f"[::2]:{PORT}"):
        assert status(guard, "/", host=wrong) == 400


def test_browsers_leave_port_80_out():
    guard = Guard(behind, "127.0.0.1", 80, token="t")
    assert guard.url == "http://127.0.0.1/#token=t"
    assert status(guard, "/", host="127.0.0.1") == 200
    assert status(guard, "/enter", "POST", host="localhost", origin="http://localhost") == 200
    assert status(guard, "/", host=f"127.0.0.1:{PORT}") == 400
    assert status(Guard(behind, "::1", 80, token="t"), "/", host="[::1]") == 200


def test_a_server_at_all_addresses_has_the_names_and_addresses_of_this_machine_and_no_other(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "Mine")
    guard = Guard(behind, "0.0.0.0", PORT, token="t")
    assert guard.urls == (f"http://127.0.0.1:{PORT}/#token=t", f"http://mine:{PORT}/#token=t")
    arrived = {"server": ("192.168.1.5", PORT)}
    for host in ("127.0.0.1", "localhost", "mine", "192.168.1.5"):
        assert status(guard, "/", host=f"{host}:{PORT}", arrived=arrived) == 200
    for host in (f"192.168.1.6:{PORT}", "192.168.1.5", f"evil.example:{PORT}", f"0.0.0.0:{PORT}"):
        assert status(guard, "/", host=host, arrived=arrived) == 400
    own = {"host": f"192.168.1.5:{PORT}", "arrived": arrived}
    assert status(guard, "/enter", "POST", origin=f"http://192.168.1.5:{PORT}", **own) == 200
    assert status(guard, "/enter", "POST", origin=f"http://mine:{PORT}", **own) == 403
    assert status(Guard(behind, "127.0.0.1", PORT), "/", **own) == 400, "one that listens at one address has only that"


@pytest.mark.parametrize(
    ("options", "code"),
    [({"host": "evil.example"}, 400), ({}, 403), ({"method": "POST", "path": "/enter"}, 403)],
)
def test_a_refusal_is_a_sentence_in_json(guard, options, code):
    start, body = ask(guard, **options)
    assert start["status"] == code
    assert (b"content-type", b"application/json") in start["headers"]
    assert json.loads(body["body"])["error"].endswith(".")


def test_a_request_that_stops_half_way_is_let_go(cookie, guard):
    guard._pause = 0.05
    own = {"origin": f"http://127.0.0.1:{PORT}", "cookie": cookie}
    assert status(guard, "/upload", "POST", body=(b"x", b"x", None), **own) == 408


def test_what_goes_wrong_behind_is_not_taken_for_a_refusal(cookie):
    async def broken(scope, receive, send):
        raise RuntimeError("a mistake")

    with pytest.raises(RuntimeError, match="a mistake"):
        ask(Guard(broken, "127.0.0.1", PORT), "/")
