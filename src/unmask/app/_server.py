"""The workbench as a page on this machine: HTTP and WebSocket around one session."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response, UploadFile, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse, JSONResponse

from ._guard import UPLOAD_LIMIT, Guard
from ._messages import decode, encode
from ._session import Session

# Most bytes of one message of the page: a file is uploaded, not sent.
MESSAGE_LIMIT = 2**24

# Messages that wait for a page that does not read; beyond, the page is let go and catches up when it comes back.
QUEUE_LIMIT = 1000

_PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/app.css": ("app.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def make_app(session: Session, host: str, port: int, *, token: str | None = None) -> Guard:
    """Return the guarded application of a session, for a server at an address."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    guard = Guard(app, host, port, token=token)

    for path, (name, kind) in _PAGE.items():
        content = (files(__package__) / "static" / name).read_bytes()
        app.get(path)(_constant(content, kind))

    @app.post("/enter")
    async def enter(request: Request) -> Response:
        given = None
        with suppress(ValueError):
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


def _constant(content: bytes, kind: str) -> Callable[[], Response]:
    return lambda: Response(content, media_type=kind)


async def _talk(session: Session, page: Any) -> None:
    """Take the messages of one page, in order, and send what it is to hear."""
    await page.accept()
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[Any] = asyncio.Queue(QUEUE_LIMIT)

    def put(message: Any) -> None:
        if waiting.full():
            sender.cancel()
        else:
            waiting.put_nowait(message)

    def hear(message: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(put, message)

    async def send() -> None:
        while True:
            frame = encode(await waiting.get())
            await (page.send_text(frame) if isinstance(frame, str) else page.send_bytes(frame))

    sender = asyncio.create_task(send())
    session.listen(hear)
    try:
        while not sender.done():
            frame = await page.receive()
            if frame["type"] == "websocket.disconnect":
                break
            hear(await asyncio.to_thread(_answer, session, frame.get("text") or frame.get("bytes") or ""))
    except WebSocketDisconnect:
        pass
    finally:
        session.leave(hear)
        sender.cancel()


def _answer(session: Session, frame: str | bytes) -> dict[str, Any]:
    try:
        message = decode(frame)
    except Exception as problem:  # whatever a page sends, it is answered
        return {"id": None, "ok": False, "error": f"the page sent what is no message: {problem}"}
    return session.handle(message)


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
    try:
        listening = socket.create_server((host, port))
    except OSError as problem:
        raise ValueError(f"--host {host} --port {port}: {problem.strerror}; choose another port, or 0.") from None
    with listening:
        guard = make_app(session, host, listening.getsockname()[1])
        if host not in ("127.0.0.1", "localhost", "::1"):
            say(
                f"Warning: --host {host} lets other machines reach this page, without encryption; whoever sees the "
                "address below sees your data. A tunnel (ssh -L) to 127.0.0.1 is safer."
            )
        say(f"The workbench is at {guard.url}\nCtrl-C ends it.")
        if open_browser:
            webbrowser.open(guard.url)
        config = uvicorn.Config(
            guard, log_level="warning", ws_max_size=MESSAGE_LIMIT, timeout_keep_alive=30, server_header=False
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            session.close()
