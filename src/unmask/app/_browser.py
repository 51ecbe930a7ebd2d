"""Opening the page in the browser, without telling its secret to others who use this machine."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>unmask</title>
<p><a href="{url}">Open the workbench</a></p>
"""


@contextmanager
def opened_page(url: str) -> Iterator[Path]:
    """Open an address in the browser by way of a file that only its owner can read, which is removed at the end.

    A browser is started with what it is to open on its command line, which all users of a machine can read: there
    stands the name of the file, and not the token of the address.
    """
    with tempfile.TemporaryDirectory(prefix="unmask-", ignore_cleanup_errors=True) as folder:  # of mode 0700
        path = Path(folder) / "open.html"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_PAGE.format(url=escape(url)))
        webbrowser.open(path.as_uri())
        yield path
