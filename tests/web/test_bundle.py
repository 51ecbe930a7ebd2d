"""What is committed of the page: small, from pinned packages, and without anything that its policy forbids."""

import gzip
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "unmask" / "app" / "static"
LIMIT = 40_960  # bytes, packed


@pytest.mark.parametrize("script", ["app.js", "widget.js"])
def test_a_page_is_small(script):
    packed = sum(len(gzip.compress((STATIC / name).read_bytes())) for name in (script, "app.css"))
    assert packed <= LIMIT


def test_the_page_has_no_script_or_style_of_its_own():
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*src=)|<style|style=|\son[a-z]+=", page) == []
    assert re.findall(r"(?:src|href)=\"(?!app\.js|app\.css|icon\.svg)", page) == []


@pytest.mark.parametrize("script", ["app.js", "widget.js"])
def test_no_code_is_made_of_text(script):
    assert re.findall(r"\beval\(|new Function\(", (STATIC / script).read_text(encoding="utf-8")) == []


def test_types_of_the_page_are_those_of_the_server():
    sys.path.insert(0, str(ROOT / "tools"))
    import page_types

    assert page_types.OUT.read_text(encoding="utf-8") == page_types.page_types()


def test_packages_are_pinned_and_name_no_registry():
    package = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))
    versions = {**package["dependencies"], **package["devDependencies"], **package["overrides"]}.values()
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
    locked = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert not any("resolved" in entry for entry in locked.values())
    assert all("integrity" in entry for path, entry in locked.items() if path)
