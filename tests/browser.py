"""The browser that pages are tested in: Chromium, of the system or Playwright's own.

Run as a program, ``python tests/browser.py``, it installs one where there is none: Debian's package where that is
allowed, else Playwright's own. Where neither works it says so aloud, and so do the tests that are left out.
"""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "chromium"  # of Debian
MISSING = (
    f"NO BROWSER: none of {', '.join(PROGRAMS)} is on the path, and Playwright has none of its own. Tests of pages are "
    f"left out. Get one: `apt-get install {PACKAGE}`, or `python -m playwright install --with-deps chromium`."
)


def find():
    """Return the path of the browser; None if there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None) or _playwrights_own()


def _playwrights_own():
    kept = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    return next(map(str, sorted(Path(kept).glob("chromium-*/chrome-linux*/chrome"))), None)


@contextmanager
def browser():
    """Start the browser; a test that needs one is skipped where there is none."""
    import pytest

    playwright = pytest.importorskip("playwright.sync_api", reason="drives the browser: pip install playwright")
    program = find()
    if program is None:
        pytest.skip(MISSING)
    with playwright.sync_playwright() as driver:
        # Without the sandbox, which a container does not allow; pages are our own.
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


# ---- installing one


def ways():
    """Return the commands that may bring a browser to this machine, the best first; none if it is no Debian."""
    if shutil.which("apt-get") is None:
        return []
    package = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", PACKAGE]
    if os.geteuid() == 0:
        as_root = [package]
    else:
        as_root = [["sudo", "--non-interactive", *package]] if shutil.which("sudo") else []
    return [*as_root, [sys.executable, "-m", "playwright", "install", PACKAGE]]


def install(run=subprocess.run):
    """Install a browser if there is none, and return where it is; None, said aloud, if that does not work."""
    for way in ways() if find() is None else ():
        print("installing a browser for the tests:", *way, flush=True)
        try:
            run(way, stdin=subprocess.DEVNULL, timeout=600)
        except (OSError, subprocess.SubprocessError) as problem:
            print(problem, file=sys.stderr)
        if find() is not None:
            break
    found = find()
    if found is None:
        print(f"\n{'!' * 100}\n{MISSING}\n{'!' * 100}\n", file=sys.stderr)
    return found


if __name__ == "__main__":
    install()
