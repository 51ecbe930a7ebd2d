"""Ctrl-C as something to look up at leisure instead of an exception anywhere."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hearing_interrupt(heard: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C set ``heard``, and a second one end at once.

    Only the main thread hears of signals, and whoever has put a handler of his own in place keeps it. As an exception
    Ctrl-C could end any line, and compiled code turns it into a SystemError.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def hear(*_: object) -> None:
        heard.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
