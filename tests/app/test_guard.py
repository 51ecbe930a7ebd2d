"""Who may talk to the workbench."""

import asyncio

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


def ask(guard, path="/take/x", method="GET", kind="http", body=(b"",), **headers):
    """Send a request to the guard and return what came back."""
    given = {"host": f"127.0.0.1:{PORT}", **headers}
    sent = [{"type": "http.request", "body": part, "more_body": k + 1 < len(body)} for k, part in enumerate(body)]
    came = []

    async def receive():
        return sent.pop(0) if kind == "http" else {"type": "websocket.connect"}

    async def send(message):
        came.append(message)

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items() if value is not None]
    scope = {"type": kind, "path": path, "method": method, "headers": pairs}
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
    assert status(guard, "/upload", "POST", body=(b"x" * 60, b"x" * 60), content_length="10", **own) == 499
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
    assert Guard(behind, "::1", PORT, token="t").address == f"http://[::1]:{PORT}/"
