"""Notebook servers for the tests."""

import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager

SOON = 240  # seconds: a new environment compiles first


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextmanager
def served(command, folder, address):
    """Run a server in a folder until the test ends; wait until it answers."""
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(address, process, folder)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=SOON)


def _wait(address, process, folder):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(10 * SOON):
        if process.poll() is not None:
            break
        try:
            opener.open(address, timeout=SOON).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError((folder / "log.txt").read_text(encoding="utf-8"))
