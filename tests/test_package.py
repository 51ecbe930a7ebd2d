"""The package's face: names that are imported when they are asked for, and what indexes and notebooks show of it."""

import importlib
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

import unmask
from unmask import _documentation, dissimilarities

ROOT = Path(__file__).parents[1]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = BUILD["project"]
URLS = PROJECT["urls"]
WORKFLOWS = ROOT / ".github" / "workflows"


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


# ---- names


def test_every_public_name_can_be_had():
    for name in unmask.__all__:
        assert getattr(unmask, name) is not None


def test_a_name_is_the_object_of_its_room():
    for home, names in unmask._HOMES.items():
        room = importlib.import_module(home, "unmask")
        for name in names:
            assert getattr(unmask, name) is getattr(room, name)
    assert set(unmask._HOME) | {"__version__"} == set(unmask.__all__)


def test_names_are_listed_before_they_are_imported():
    assert set(unmask.__all__) <= set(dir(unmask))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = unmask.nonsense


# ---- the version


def test_the_version_is_that_of_the_installed_package():
    assert unmask.__version__ == version("unmask")
    assert Version(unmask.__version__)  # a version that indexes accept


def test_the_version_is_written_in_no_file():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert BUILD["tool"]["hatch"]["version"]["source"] == "vcs"
    assert "version" not in read_yaml(ROOT / "CITATION.cff")


# ---- what a package index shows


def index_text(of_version):
    """Return README.md as the build hands it to the index."""
    hook = BUILD["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = "".join((ROOT / part["path"]).read_text(encoding="utf-8") for part in hook["fragments"])
    for each in hook["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    return text.replace("$HFPR_VERSION", of_version)


def test_links_and_pictures_of_the_index_are_absolute_and_lead_to_files_of_the_release():
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", index_text("1.2.3"))
    links = re.findall(r"\]\(([^)]+)\)", index_text("1.2.3"))
    raw = URLS["Repository"].replace("github.com", "raw.githubusercontent.com") + "/v1.2.3/"
    files = URLS["Repository"] + "/blob/v1.2.3/"
    assert f"{raw}docs/images/kinship.png" in pictures
    assert f"{files}CITATION.cff" in links
    assert [each for each in pictures if not each.startswith(raw)] == []
    assert [each for each in links if not each.startswith(("https://", "#"))] == []
    ours = [each.removeprefix(raw).removeprefix(files) for each in links if each.startswith((raw, files))]
    assert [each for each in ours if not (ROOT / each.split("#")[0]).exists()] == []


def test_every_usual_address_is_there():
    assert set(URLS) == {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
    shown = dict(entry.split(", ", 1) for entry in metadata("unmask").get_all("Project-URL"))
    assert shown == URLS


OWNER = re.compile(r"github(?:usercontent)?\.com/([\w-]+)/unmask\b|([\w-]+)\.github\.io/unmask\b")


def test_other_files_name_the_same_addresses():
    """The address is chosen in pyproject.toml; whoever changes it there learns here what has to follow."""
    folders = (".github", "benchmarks", "docs", "paper", "recipe", "src", "tests", "tools")
    files = [*ROOT.iterdir(), *(file for name in folders for file in (ROOT / name).rglob("*"))]
    read = [file for file in files if file.suffix in {".cff", ".md", ".py", ".toml", ".yaml", ".yml"}]
    found = {
        (file.name, first or second)
        for file in read
        for first, second in OWNER.findall(file.read_text(encoding="utf-8"))
    }
    (owner,) = {owner for name, owner in found if name == "pyproject.toml"}
    assert {name for name, _ in found} >= {"CITATION.cff", "recipe.yaml", "config.yml", "api.md"}
    assert {name for name, other in found if other != owner} == set()
    citation, about = read_yaml(ROOT / "CITATION.cff"), read_yaml(ROOT / "recipe" / "recipe.yaml")["about"]
    assert (citation["repository-code"], citation["url"]) == (URLS["Repository"], URLS["Documentation"])
    assert (about["repository"], about["documentation"]) == (URLS["Repository"], URLS["Documentation"])


# ---- Pythons, systems, requirements


def classified(prefix):
    return [each.removeprefix(prefix) for each in PROJECT["classifiers"] if each.startswith(prefix)]


def test_what_is_claimed_to_be_supported_is_tested():
    matrix = read_yaml(WORKFLOWS / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    pythons = [each for each in classified("Programming Language :: Python :: ") if "." in each]
    assert matrix["python"] == pythons
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    named = {"Linux": "ubuntu-latest", "Windows": "windows-latest", "MacOS": "macos-latest"}
    systems = [each.split(" :: ")[-1] for each in classified("Operating System :: ")]
    assert sorted(named[each] for each in systems) == sorted(matrix["os"])


def test_the_page_about_support_names_the_same_pythons():
    pythons = [each for each in classified("Programming Language :: Python :: ") if "." in each]
    page = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
    assert f"| Python | {pythons[0]} | {pythons[-1]} " in page


@pytest.mark.parametrize("workflow", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.name)
def test_workflows_call_targets_that_exist(workflow):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = set(" ".join(re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE)).split())
    runs = [step.get("run", "") for job in read_yaml(workflow)["jobs"].values() for step in job["steps"]]
    called = {target for run in runs for target in re.findall(r"^make ([\w-]+)", run)}
    assert called
    assert called <= phony


def test_the_makefile_finds_the_commands_on_every_system():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r"(?<!/usr)/bin/", makefile) == []
    assert "Scripts,bin" in makefile


def test_the_oldest_versions_are_those_that_users_are_told_of():
    told = subprocess.run([sys.executable, ROOT / "tools" / "oldest.py"], capture_output=True, text=True, check=True)
    oldest = {Requirement(line).name: Requirement(line) for line in told.stdout.splitlines()}
    assert {Requirement(each).name for each in PROJECT["dependencies"]} <= set(oldest)
    assert {"networkx", "openpyxl", "zarr"} <= set(oldest)  # of extras
    assert not {"hypothesis", "sphinx", "ruff"} & set(oldest)
    for each in map(Requirement, PROJECT["dependencies"]):
        (pin,) = oldest[each.name].specifier
        assert pin.operator == "=="
        assert f">={pin.version}" == str(each.specifier)


def test_the_recipe_of_conda_forge_asks_for_what_the_package_asks_for():
    recipe = read_yaml(ROOT / "recipe" / "recipe.yaml")
    run = {each.split()[0].removesuffix("-base"): each.split()[1] for each in recipe["requirements"]["run"]}
    host = {each.split()[0]: each.split()[-1] for each in recipe["requirements"]["host"]}
    assert run.pop("python") == ">=${{"  # python_min
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    assert run == {each.name: str(each.specifier) for each in map(Requirement, PROJECT["dependencies"])}
    for each in map(Requirement, BUILD["build-system"]["requires"]):
        assert host[each.name] == str(each.specifier)


# ---- the paper


def test_the_paper_cites_what_its_list_has_and_nothing_is_listed_in_vain():
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"@(\w+)", paper)) == set(entries)
    assert len(entries) == len(set(entries))


# ---- the link to the documentation in a notebook


def estimators():
    """Yield every public estimator with the name that the reference has for it."""
    for module in (unmask, dissimilarities):
        for name in module.__all__:
            made = getattr(module, name)
            if isinstance(made, type) and issubclass(made, BaseEstimator):
                yield f"{module.__name__}.{name}", made


def referenced():
    """Return the names that docs/api.md gives pages of their own."""
    names, module = set(), ""
    for line in (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.removeprefix(".. currentmodule:: ")
        elif re.fullmatch(r"   \w+", line):
            names.add(f"{module}.{line.strip()}")
    return names


@pytest.mark.parametrize(("name", "made"), [pytest.param(*each, id=each[0]) for each in estimators()])
def test_an_estimator_links_to_its_page_of_the_reference(name, made):
    link = made()._get_doc_link()
    assert link == f"{URLS['Documentation']}api/generated/{name}.html"
    assert name in referenced()


def test_scikit_learns_picture_of_a_pipeline_has_the_links():
    page = make_pipeline(dissimilarities.Geodesic(), unmask.ConditionalMDS(metric="precomputed"))._repr_html_()
    for name in ("unmask.dissimilarities.Geodesic", "unmask.ConditionalMDS"):
        assert f'href="{URLS["Documentation"]}api/generated/{name}.html"' in page


def test_the_page_of_a_fitted_estimator_has_the_link(kinship):
    mds = unmask.ConditionalClassicalMDS(metric="precomputed").fit(kinship.dissimilarities)
    assert f'<a href="{mds._get_doc_link()}"' in mds._repr_html_()


def test_a_class_of_somebody_else_does_not_link_to_our_pages():
    class Mine(unmask.ConditionalMDS):
        pass

    assert Mine()._get_doc_link() == ""


def test_without_an_installed_package_there_is_no_link(monkeypatch, kinship):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(_documentation, "metadata", missing)
    _documentation.documentation_address.cache_clear()
    try:
        mds = unmask.ConditionalClassicalMDS(metric="precomputed").fit(kinship.dissimilarities)
        assert mds._get_doc_link() == ""
        assert "<a href" not in mds._repr_html_()
    finally:
        _documentation.documentation_address.cache_clear()
