"""Who may talk to the workbench: pages of this start, on this machine, and nobody else.

A browser sends what any page asks it to send, also to servers on one's own machine. So everything but the page itself
needs a cookie, which is only given for the token in the address that was printed; the address in ``Host`` must be our
own (a foreign name that points here is refused), and so must the ``Origin`` of whatever changes something.
"""

from __future__ import annotations

import secrets
from typing import Any

# What the page may load: its own files, and pictures it made itself.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}

# The page, which holds nothing of a study, and the door.
OPEN = frozenset({"/", "/app.js", "/app.css", "/icon.svg", "/enter"})

# Most bytes of one upload, and of one request that is none.
UPLOAD_LIMIT = 2**30
REQUEST_LIMIT = 2**16


class Guard:
    """An ASGI application around another one, which sees only what may pass.

    Parameters
    ----------
    app : ASGI application
        The one behind the guard.
    host, port : str, int
        The address that the server is bound to.
    token : str, optional
        What the page shows to enter; by default a new secret.
    upload_limit : int, default=2**30
        Most bytes of an upload.
    """

    def __init__(
        self, app: Any, host: str, port: int, *, token: str | None = None, upload_limit: int = UPLOAD_LIMIT
    ) -> None:
        self._app, self.port = app, port
        names = {host, "localhost"} if host in ("127.0.0.1", "::1") else {host}
        self.hosts = frozenset(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names)
        self.address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        self.token = secrets.token_urlsafe(24) if token is None else token
        self._cookie = secrets.token_urlsafe(24)
        self._limits = {"/upload": upload_limit}

    @property
    def url(self) -> str:
        """The address to open, with the token in its fragment, which browsers do not send."""
        return f"{self.address}#token={self.token}"

    def enter(self, token: Any) -> str | None:
        """Return the cookie that lets a page in, if its token is right."""
        if not isinstance(token, str) or not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        return f"{self._name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"

    @property
    def _name(self) -> str:
        """Cookies do not know ports: with its port in its name each server has its own."""
        return f"unmask-{self.port}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request pass, with our headers on the answer, or say why not."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, self._limited(scope, receive), _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _answer(send, *refusal)

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if host not in self.hosts:
            return 400, f"this is {self.address}; open that address."
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if changes and headers.get("origin") != f"http://{host}":
            return 403, "another site asked for this; only the page of the workbench may."
        if scope["path"] not in OPEN and not self._is_known(headers.get("cookie", "")):
            return 403, "this page has not entered; open the address that the terminal shows."
        if scope["type"] == "http" and _length(headers) > self._limit(scope):
            return 413, f"more than {self._limit(scope)} bytes; that is the limit here."
        return None

    def _is_known(self, cookies: str) -> bool:
        # By hand: SimpleCookie drops all where another server of this machine has set one that it finds odd.
        given = dict(part.strip().partition("=")[::2] for part in cookies.split(";")).get(self._name)
        return given is not None and secrets.compare_digest(given.encode(), self._cookie.encode())

    def _limit(self, scope: Any) -> int:
        return self._limits.get(scope["path"], REQUEST_LIMIT)

    def _limited(self, scope: Any, receive: Any) -> Any:
        """Count the bytes that come: a length that was announced may be a lie."""
        if scope["type"] != "http":
            return receive
        limit, read = self._limit(scope), 0

        async def counted() -> Any:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            return message if read <= limit else {"type": "http.disconnect"}

        return counted


def _length(headers: dict[str, str]) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdecimal() else 0


def _with_headers(send: Any) -> Any:
    own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def sent(message: Any) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            message = {**message, "headers": [*message.get("headers", []), *own]}
        await send(message)

    return sent


async def _answer(send: Any, status: int, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await _with_headers(send)({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
