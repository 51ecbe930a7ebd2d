"""The workbench as a page on this machine: HTTP and WebSocket around one session."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.resources import files
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response, UploadFile, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException

from ._browser import opened_page
from ._guard import LOOPBACK, UPLOAD_LIMIT, Guard
from ._messages import decode, encode
from ._session import Hear, Session

# Most bytes of one message of the page: a file is uploaded, not sent.
MESSAGE_LIMIT = 2**24

# Messages that wait for a page that does not read; beyond, the page is let go and catches up when it comes back. While
# more than a few wait it is not told how far a job is, with a map each time: the next time will do.
QUEUE_LIMIT = 1000
BUSY = 4

_PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/app.css": ("app.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


# What is refused by the framework is answered with a sentence too.
_REFUSALS = {404: "there is nothing at this address.", 405: "this address is not for that."}
_NOT_OURS = "this is no request that the page makes; reload it."


def make_app(session: Session, host: str, port: int, *, token: str | None = None) -> Guard:
    """Return the guarded application of a session, for a server at an address."""
    refusals: dict[Any, Any] = {HTTPException: _refuse, RequestValidationError: _refuse}
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, exception_handlers=refusals)
    guard = Guard(app, host, port, token=token)

    for path, (name, kind) in _PAGE.items():
        content = (files(__package__) / "static" / name).read_bytes()
        app.get(path)(_constant(content, kind))

    @app.post("/enter")
    async def enter(request: Request) -> Response:
        cookie = None
        with suppress(ValueError, RecursionError):  # no JSON, too deep, or half characters
            given = await request.json()
            cookie = guard.enter(given.get("token") if isinstance(given, dict) else None)
        if cookie is None:
            return JSONResponse({"error": "this address is of an earlier start; open the one of now."}, 403)
        return Response(status_code=204, headers={"set-cookie": cookie})

    @app.post("/upload")
    async def upload(file: UploadFile) -> Response:
        def keep() -> dict[str, Any]:
            return session.files.keep(file.filename or "", file.file, limit=UPLOAD_LIMIT)

        try:
            return JSONResponse(await asyncio.to_thread(keep))
        except ValueError as problem:
            return JSONResponse({"error": str(problem)}, 400)

    @app.get("/take/{name}")
    async def take(name: str) -> Response:
        made = session.files.made(name)
        if made is None:
            return JSONResponse({"error": "this is no longer there; make it again."}, 404)
        return FileResponse(made.path, filename=made.name, media_type="application/octet-stream")

    @app.websocket("/socket")
    async def talk(page: WebSocket) -> None:
        await _talk(session, page)

    return guard


async def _refuse(_: Request, problem: Exception) -> Response:
    status = getattr(problem, "status_code", 400)
    return JSONResponse({"error": _REFUSALS.get(status, _NOT_OURS)}, status)


def _constant(content: bytes, kind: str) -> Callable[[], Response]:
    return lambda: Response(content, media_type=kind)


async def _talk(session: Session, page: Any) -> None:
    """Take the messages of one page and send what it is to hear, until either comes to its end."""
    await page.accept()
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[Any] = asyncio.Queue(QUEUE_LIMIT)

    def put(message: Any) -> None:
        if waiting.full():
            sender.cancel()
        elif message.get("event") != "progress" or waiting.qsize() < BUSY:
            waiting.put_nowait(message)

    def hear(message: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(put, message)

    async def send() -> None:
        while True:
            await page.send_bytes(encode(await waiting.get()))

    async def receive() -> None:
        while (frame := await page.receive())["type"] != "websocket.disconnect":
            await asyncio.to_thread(_answer, session, frame.get("text") or frame.get("bytes") or "", hear)

    sender, receiver = asyncio.create_task(send()), asyncio.create_task(receive())
    session.listen(hear)
    try:
        await asyncio.wait([sender, receiver], return_when=asyncio.FIRST_COMPLETED)
    finally:
        session.leave(hear)
        for task in (sender, receiver):
            task.cancel()
        await asyncio.gather(sender, receiver, return_exceptions=True)  # a page that is gone cannot be sent to
        with suppress(Exception):
            await page.close()


def _answer(session: Session, frame: str | bytes, hear: Hear) -> None:
    try:
        message = decode(frame)
    except Exception as problem:  # whatever a page sends, it is answered
        hear({"id": None, "ok": False, "error": f"the page sent what is no message: {problem}"})
    else:
        session.receive(message, hear)


def serve(
    session: Session,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Show the workbench until it is ended by Ctrl-C.

    Parameters
    ----------
    session : Session
        What to show.
    host : str, default="127.0.0.1"
        Address to bind to; any other than loopback lets other machines in, and is warned of.
    port : int, default=0
        Port; 0 takes a free one.
    open_browser : bool, default=True
        Whether to open the page.
    say : callable, default=print
        Hears the address to open.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as problem:
        raise ValueError(f"--host {host} --port {port}: {problem.strerror}; choose another port, or 0.") from None
    with listening:
        guard = make_app(session, host, listening.getsockname()[1])
        if host not in LOOPBACK:
            say(
                f"Warning: --host {host} lets other machines reach this page, without encryption; whoever sees the "
                "address below sees your data. A tunnel (ssh -L) to 127.0.0.1 is safer."
            )
        say(f"The workbench is at {' or '.join(guard.urls)}\nCtrl-C ends it.")
        config = uvicorn.Config(
            guard, log_level="warning", ws_max_size=MESSAGE_LIMIT, timeout_keep_alive=30, server_header=False
        )
        server = uvicorn.Server(config)
        try:
            page = opened_page(guard.url) if open_browser else nullcontext()
            with suppress(KeyboardInterrupt), _ending(server), page:  # uvicorn ends, and then sends itself Ctrl-C again
                server.run(sockets=[listening])
        finally:
            session.close()
        if session.saved_in is not None:
            say(f"The study is saved in {session.saved_in}.")


@contextmanager
def _ending(server: uvicorn.Server) -> Iterator[None]:
    """Let the server end by itself, so that the study is saved, when it is terminated or its terminal is closed.

    uvicorn hears SIGINT and SIGTERM, and afterwards sends itself the same signal again, of which the second would end
    this process at once.
    """

    def end(*_: Any) -> None:
        server.should_exit = True

    heard = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        heard = []  # only the main thread hears signals
    before = {number: signal.signal(number, end) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
