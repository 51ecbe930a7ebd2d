"""What the README and the page about the command line tell people to type runs, and prints what they say it prints."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unmask.cli import app

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?:console|bash|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What changes the machine rather than shows something.
ELSEWHERE = ("make", "pip", "git", "python -m pip")
NEEDS_A_SHELL = re.compile(r"[|;<>&$*]")


def commands(page):
    """Return the commands of a page, each with what is said to be printed; None where nothing is said."""
    found = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if "$ " in block else block.splitlines():
            line, _, printed = part.replace("\\\n", " ").partition("\n")
            command = line.partition(" # ")[0].strip()
            if command and not command.startswith(ELSEWHERE):
                found.append((command, printed or None))
    return found


def in_a_shell(command, folder, **given):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
        **given,
    )


def in_this_process(command):
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)


def run_all(found, folder):
    """Run commands as a user would; what needs no shell in this process, which has imported everything already."""
    for command, printed in found:
        first, _, then = command.partition("|")
        if first.startswith("unmask ") and not NEEDS_A_SHELL.search(first):
            done = in_this_process(first)
            if then and done.returncode == 0:
                done = in_a_shell(then, folder, input=done.stdout)
        else:
            done = in_a_shell(command, folder)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert printed in (None, done.stdout), (command, done.stdout)


def test_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = commands(ROOT / "README.md")
    assert any(command.startswith("unmask fit") for command, _ in found)
    run_all(found, tmp_path)


def test_the_page_about_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_all(commands(ROOT / "docs" / "cli.md"), tmp_path)


def test_the_page_has_an_example_of_every_command():
    text = " ".join(command for command, _ in commands(ROOT / "docs" / "cli.md"))
    names = [command.name for command in app.registered_commands]
    assert len(names) == 11
    assert [name for name in names if f"unmask {name}" not in text] == []


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("```console\n$ a b\nout\n$ c \\\n  d\n```\n", [("a b", "out\n"), ("c    d", None)]),
        ("```sh\nmake demo    # a remark\nunmask demo  # another\n```\n", [("unmask demo", None)]),
        ("```python\nprint()\n```\n", []),
    ],
)
def test_commands_of_a_page_are_found(tmp_path, page, found):
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    assert commands(tmp_path / "page.md") == found
