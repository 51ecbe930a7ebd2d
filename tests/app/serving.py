"""A server for the tests, on loopback."""

import socket
import threading

import uvicorn

from unmask.app._server import make_app

SOON = 300.0


class Running:
    """A server on loopback, which ends with the test, and remembers what it was asked."""

    def __init__(self, session):
        self.session, self.asked = session, []
        self._handle = session.handle
        session.handle = self._remember
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.guard = make_app(session, "127.0.0.1", self.port)
        self.origin = f"http://127.0.0.1:{self.port}"
        self.server = uvicorn.Server(uvicorn.Config(self.guard, log_level="warning", ws_max_size=2**24))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listening]}, daemon=True)
        self.thread.start()

    def _remember(self, message):
        self.asked.append(message)
        return self._handle(message)

    def close(self):
        self.server.should_exit = True
        self.thread.join(timeout=SOON)
        self.listening.close()
