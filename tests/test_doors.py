"""Rooms keep to their doors: no room reads a private attribute that another room defines."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import unmask

PACKAGE = Path(unmask.__file__).parent
NAMED_TUPLE = ("_asdict", "_fields", "_replace")  # public in spite of their names
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())


def _nodes(room: str) -> Iterator[tuple[Path, ast.AST]]:
    for file in sorted((PACKAGE / room).rglob("*.py")):
        yield from ((file, node) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def _is_private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE


def _private_name(node: ast.AST) -> str | None:
    """Return the private attribute that an expression reads, by name or by getattr and hasattr."""
    if isinstance(node, ast.Attribute) and _is_private(node.attr):
        return node.attr
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("getattr", "hasattr"):
        name = getattr(node.args[1], "value", None)
        return name if _is_private(name) else None
    return None


def _defined(room: str) -> set[str]:
    """Return the private names that a room defines: functions, classes, and what is assigned to, attributes too."""
    names: set[str] = set()
    for _, node in _nodes(room):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return names


def _reads(room: str, private: dict[str, set[str]]) -> list[str]:
    """Return where a room reads a private name that others define and it does not; libraries' names are theirs."""
    others = set().union(*(names for other, names in private.items() if other != room)) - private[room]
    reads = ((file, node, _private_name(node)) for file, node in _nodes(room))
    return [f"{file.relative_to(PACKAGE)}:{node.lineno} {name}" for file, node, name in reads if name in others]


@pytest.fixture(scope="module")
def private() -> dict[str, set[str]]:
    return {room: _defined(room) for room in ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_reads_what_is_private_to_another(room, private):
    assert _reads(room, private) == []


def test_reading_a_private_attribute_is_noticed():
    assert _private_name(ast.parse("study._material", mode="eval").body) == "_material"
    assert _private_name(ast.parse("getattr(mds, '_labels', None)", mode="eval").body) == "_labels"
    assert _private_name(ast.parse("study.__dict__", mode="eval").body) is None
    assert "_map" in _defined("estimators")


@pytest.mark.parametrize("name", [*sorted(Path(__file__).parent.glob("extensions/*.py")), Path("docs/architecture.md")])
def test_an_extension_needs_public_names_only(name):
    text = (Path(__file__).parents[1] / name).read_text(encoding="utf-8")
    assert re.findall(r"\bunmask(?:\.\w+)*\._\w+", text) == []
    for room, imported in re.findall(r"^from unmask\.(\w+) import (\([^)]*\)|.*)$", text, re.MULTILINE):
        names = set(re.findall(r"\w+", imported))
        assert names <= set(importlib.import_module(f"unmask.{room}").__all__)
