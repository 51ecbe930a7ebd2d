"""The code in the README and the documentation runs, and prints what the page says it prints."""

import contextlib
import io
import re
import runpy
from itertools import zip_longest
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

from unmask.solvers import automatic_n_starts

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "zh").glob("*.md"))]
# Packages of which not every environment of the tests has a version that goes with the others, and versions whose names
# the pages use.
NEEDED = {
    "from_scanpy.md": {"anndata": None, "harmonypy": None},
    "from_sklearn.md": {"sklearn": "1.8"},
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str | None]]:
    """Pair each python block with the text block right after it, if there is one."""
    found = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    pairs = []
    for block, after in zip_longest(found, found[1:]):
        if block[1] == "python":
            adjacent = (
                after is not None and after[1] == "text" and not block.string[block.end() : after.start()].strip()
            )
            pairs.append((block[2], after[2] if adjacent else None))
    return pairs


def short(page: Path) -> str:
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=short)
def test_code_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    for package, oldest in NEEDED.get(page.name, {}).items():
        pytest.importorskip(package, oldest, reason=f"{page.name} is NOT run here: it needs {package} {oldest or ''}")
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    namespace = {"__name__": "__main__"}
    try:
        for code, expected in blocks(page):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, str(page), "exec"), namespace)
            if expected is not None:
                assert printed.getvalue() == expected
    finally:
        pyplot.close("all")


def test_every_row_of_the_forms_in_and_out_returns_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "dissimilarities.md"
    namespace = {"__name__": "__main__"}
    (setup, _), *_ = blocks(page)
    exec(compile(setup, str(page), "exec"), namespace)
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `([^|]+)` \| `([^|]+)` \|$", text, re.MULTILINE)
    assert len(rows) == len(re.findall(r"^\| [^|]+ \| `", text, re.MULTILINE)) > 35
    assert {code: str(eval(code, namespace)) for code, _ in rows} == dict(rows)


def test_pages_with_code_are_found():
    assert {"README.md", "start.md", "mds.md", "zh/start.md"} <= {short(page) for page in PAGES if blocks(page)}


def test_the_first_page_has_the_same_code_in_every_language():
    assert blocks(ROOT / "docs" / "zh" / "start.md") == blocks(ROOT / "docs" / "start.md")


def test_readme_example_has_ten_lines_at_most():
    (code, _), *_ = blocks(ROOT / "README.md")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_readme_refers_to_files_that_exist():
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert "docs/images/kinship.png" in targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_table_of_the_number_of_starts_is_what_the_solver_does():
    rows = re.findall(
        r"^\| (objects|starts) \|(.*)\|$", (ROOT / "docs" / "mds.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    (_, objects), (_, starts) = rows
    assert [automatic_n_starts(int(n)) for n in objects.split("|")] == [int(n) for n in starts.split("|")]


@pytest.mark.parametrize("asked", [True, False])
def test_the_documentation_asks_the_network_only_when_told_to(asked, monkeypatch):
    monkeypatch.setenv("UNMASK_INTERSPHINX", "1" if asked else "")
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    assert ("sphinx.ext.intersphinx" in conf["extensions"]) is asked
    linked = set(conf["intersphinx_mapping"])
    assert linked >= {"python", "numpy", "scipy", "pandas", "sklearn", "matplotlib"}
    aliases = {each.split(".")[0] for each in conf.get("numpydoc_xref_aliases", {}).values()}
    assert aliases - {"bool", "collections"} <= linked
