"""Who may talk to the workbench: pages of this start, on this machine, and nobody else.

A browser sends what any page asks it to send, also to servers on one's own machine. So everything but the page itself
needs a cookie, which is only given for the token in the address that was printed; the address in ``Host`` must be our
own (a foreign name that points here is refused), and so must the ``Origin`` of whatever changes something.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
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

# Most bytes of one upload, of all files of a session, and of one request that is no upload.
UPLOAD_LIMIT = 2**30
FILES_LIMIT = 2**32
REQUEST_LIMIT = 2**16

# Most objects of a file that is uploaded: the page shows no more.
MOST_ROWS = 100_000

# Seconds for which a request may send nothing before all of it is there.
PAUSE = 60.0

LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Addresses that stand for all that this machine has.
EVERYWHERE = ("0.0.0.0", "::")


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
    pause : float, default=60
        Seconds for which a request may send nothing before all of it is there.

    Attributes
    ----------
    address : str
        Where this machine finds the page.
    addresses : tuple of str
        Where it is found, by others too.
    """

    def __init__(
        self,
        app: Any,
        host: str,
        port: int,
        *,
        token: str | None = None,
        upload_limit: int = UPLOAD_LIMIT,
        pause: float = PAUSE,
    ) -> None:
        self._app, self.port, self._pause = app, port, pause
        self._everywhere = host in EVERYWHERE
        own = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        names = [own, *([socket.gethostname()] if self._everywhere else [])]
        self.addresses = tuple(f"http://{_written(name, port)}/" for name in names)
        self.address = self.addresses[0]
        also = ["localhost"] if own in LOOPBACK else []
        self.hosts = frozenset(_written(name, port) for name in [*names, *also])
        self.token = secrets.token_urlsafe(24) if token is None else token
        self._cookie = secrets.token_urlsafe(24)
        self._limits = {"/upload": upload_limit}

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses to open, with the token in their fragment, which browsers do not send."""
        return tuple(f"{address}#token={self.token}" for address in self.addresses)

    @property
    def url(self) -> str:
        """The address to open on this machine."""
        return self.urls[0]

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
        if refusal is None and scope["type"] == "http":
            await self._pass_limited(scope, receive, _with_headers(send))
        elif refusal is None:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _answer(_with_headers(send), *refusal)

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "").lower()
        if host not in self.hosts and host != self._own_address(scope):
            return 400, f"this is {self.address}; open that address."
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if changes and headers.get("origin") != f"http://{host}":
            return 403, "another site asked for this; only the page of the workbench may."
        if scope["path"] not in OPEN and not self._is_known(headers.get("cookie", "")):
            return 403, "this page has not entered; open the address that the terminal shows."
        if scope["type"] == "http" and _length(headers) > self._limit(scope):
            return 413, _too_large(self._limit(scope))
        return None

    def _is_known(self, cookies: str) -> bool:
        # By hand: SimpleCookie drops all where another server of this machine has set one that it finds odd.
        given = dict(part.strip().partition("=")[::2] for part in cookies.split(";")).get(self._name)
        return given is not None and secrets.compare_digest(given.encode(), self._cookie.encode())

    def _own_address(self, scope: Any) -> str | None:
        """Return the address at which a request arrived, of a server that listens at all addresses."""
        return _written(scope["server"][0], self.port) if self._everywhere and scope.get("server") else None

    def _limit(self, scope: Any) -> int:
        return self._limits.get(scope["path"], REQUEST_LIMIT)

    async def _pass_limited(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request pass, counting bytes and seconds: a length that was announced may be a lie."""
        limit, read, more, begun = self._limit(scope), 0, True, False
        refusal: tuple[int, str] | None = None

        async def counted() -> Any:
            nonlocal read, more, refusal
            try:
                message = await asyncio.wait_for(receive(), self._pause if more else None)
            except TimeoutError:
                refusal = 408, f"nothing came for {self._pause:.0f} seconds; send it again."
                return {"type": "http.disconnect"}
            read += len(message.get("body", b""))
            more = message.get("more_body", False)
            if read <= limit:
                return message
            refusal = 413, _too_large(limit)
            return {"type": "http.disconnect"}

        async def unless_refused(message: Any) -> None:
            nonlocal begun
            if refusal is None or begun:
                begun = True
                await send(message)

        try:
            await self._app(scope, counted, unless_refused)
        except Exception:
            if refusal is None:
                raise
        if refusal is not None and not begun:
            await _answer(send, *refusal)


def _written(name: str, port: int) -> str:
    """Return how browsers write an address: one of version six in brackets, and port 80 not at all."""
    host = f"[{name}]" if ":" in name else name.lower()
    return host if port == 80 else f"{host}:{port}"


def _too_large(limit: int) -> str:
    return f"more than {limit:,} bytes; that is the limit here."


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
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
