"""A text file is read and written in the same letters on every system: each call names its encoding."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "docs", "examples", "src", "tests", "tools", "web/fixed")
TEXT_MODE = re.compile(r"[rwax+t]+")


def opens_text(call: ast.Call) -> bool:
    """Whether a call reads or writes text: by a method of Path, or by an open whose mode says so or is left out."""
    match call.func:
        case ast.Attribute(attr="read_text" | "write_text"):
            return True
        case ast.Name(id="open"):
            mode = call.args[1:2]
        case ast.Attribute(attr="open"):  # of a path, if its first argument is a mode; zarr.open and others take a name
            if call.args and not (
                isinstance(call.args[0], ast.Constant) and TEXT_MODE.fullmatch(str(call.args[0].value))
            ):
                return False
            mode = call.args[:1]
        case _:
            return False
    mode += [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    return not (mode and isinstance(mode[0], ast.Constant) and "b" in mode[0].value)


def without_encoding(code: str) -> list[int]:
    """Return the lines of the calls that leave the encoding to the system."""
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    named = {"encoding", None}  # None: **options
    return [call.lineno for call in calls if opens_text(call) and not named & {each.arg for each in call.keywords}]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_call_names_its_encoding(folder):
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = {str(file.relative_to(ROOT)): without_encoding(file.read_text(encoding="utf-8")) for file in files}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "call", ["p.read_text()", "p.write_text(t)", "open(p)", "open(p, 'w')", "p.open()", "p.open('a')"]
)
def test_what_leaves_it_to_the_system_is_found(call):
    assert without_encoding(call) == [1]


@pytest.mark.parametrize(
    "call", ["p.read_text(encoding='utf-8')", "open(p, 'rb')", "p.open(mode='wb')", "p.open('xb')", "zarr.open(p)"]
)
def test_what_names_it_or_needs_none_passes(call):
    assert without_encoding(call) == []
