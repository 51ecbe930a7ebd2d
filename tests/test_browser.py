"""A browser for the tests is found, or installed, or missed aloud."""

import pytest

from . import browser


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine on which nothing is installed but what a test says."""
    programs = set()
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}" if name in programs else None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    return programs


def test_a_browser_that_is_there_is_taken(machine):
    machine.add("google-chrome")
    assert browser.install(run=None) == "/usr/bin/google-chrome"


def test_debians_package_is_installed_where_that_is_allowed(machine):
    machine.add("apt-get")
    asked = []

    def run(command, **_):
        asked.append(command)
        machine.add("chromium")

    assert browser.install(run) == "/usr/bin/chromium"
    assert [(command[0], command[-1]) for command in asked] == [("apt-get", "chromium")]


def test_else_playwrights_own(machine, monkeypatch, tmp_path, capsys):
    machine.update(["apt-get", "sudo"])
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000)
    asked = []

    def run(command, **_):
        asked.append(command)
        if command[0] == "sudo":
            raise OSError("no tty")
        own = tmp_path / "chromium-1200" / "chrome-linux" / "chrome"
        own.parent.mkdir(parents=True)
        own.touch()

    assert browser.install(run) == str(tmp_path / "chromium-1200" / "chrome-linux" / "chrome")
    assert asked[0][:2] == ["sudo", "--non-interactive"]
    assert asked[1][1:] == ["-m", "playwright", "install", "chromium"]
    assert "no tty" in capsys.readouterr().err


def test_elsewhere_nothing_is_installed_and_that_is_loud(machine, capsys):
    assert browser.install(run=None) is None
    assert "NO BROWSER" in capsys.readouterr().err
    with pytest.raises(pytest.skip.Exception, match="NO BROWSER"), browser.browser():
        pass
