"""Messages between two processes, over their standard streams."""

from __future__ import annotations

import io
import pickle
import threading
from contextlib import suppress
from typing import IO, Any


class Pipe:
    """Sends and receives objects; what both sides have already is only named.

    Parameters
    ----------
    source, target : binary file
        Where messages come from, and where they go to.
    """

    def __init__(self, source: Any, target: Any) -> None:
        self._source: IO[bytes] = source
        self._target: IO[bytes] = target
        self._sending = threading.Lock()

    def send(self, message: Any, shared: Any = None) -> None:
        """Send an object; ``shared`` may be anywhere in it."""
        self.write(self.packed(message, shared))

    def send_if_free(self, message: Any) -> bool:
        """Send a small object unless something else is being sent; return whether it was."""
        if not self._sending.acquire(blocking=False):
            return False
        try:
            with suppress(OSError):  # the other side has gone, and is replaced
                self._write(self.packed(message))
        finally:
            self._sending.release()
        return True

    @staticmethod
    def packed(message: Any, shared: Any = None) -> memoryview:
        """Return an object as it is sent."""

        class Packer(pickle.Pickler):
            def persistent_id(self, given: Any) -> str | None:
                return "shared" if given is shared and shared is not None else None

        packed = io.BytesIO()
        Packer(packed, protocol=pickle.HIGHEST_PROTOCOL).dump(message)
        return packed.getbuffer()

    def write(self, packed: memoryview) -> None:
        """Send what was packed; waits for as long as the other side does not read."""
        with self._sending:
            self._write(packed)

    def _write(self, packed: memoryview) -> None:
        if self._target.closed:
            raise BrokenPipeError("the other side has gone")
        self._target.write(len(packed).to_bytes(8, "little"))
        self._target.write(packed)
        self._target.flush()

    def receive(self, shared: Any = None) -> Any:
        """Wait for an object; EOFError if the other side has gone."""

        class Unpacker(pickle.Unpickler):
            def persistent_load(self, _: Any) -> Any:
                return shared

        return Unpacker(io.BytesIO(self._read(int.from_bytes(self._read(8), "little")))).load()

    def close(self) -> None:
        """Close both ends; what could not be sent is lost."""
        with self._sending, suppress(OSError):
            self._target.close()
        with suppress(OSError):
            self._source.close()

    def _read(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) < size:
            raise EOFError
        return data
