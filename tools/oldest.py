"""Print the oldest versions that pyproject.toml allows, as constraints for pip; `make test-oldest` installs them."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

# What only those need who change the project; the rest is what users install.
OURS = {"test", "bench", "docs", "dev"}
# Not ours: later ones warn of what old versions of typer, matplotlib and scikit-learn do with them, and old versions of
# scikit-learn do not see the names of columns in later ones of polars.
COMPANIONS = {"click<8.3", "polars<1.40", "pyparsing<3.3", "pytest<9"}
REQUIREMENT = re.compile(r"^(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)$")


def requirements(project: dict) -> Iterator[str]:
    """Yield every requirement that users meet: of the package, and of its extras."""
    yield from project["dependencies"]
    for extra, needed in project["optional-dependencies"].items():
        if extra not in OURS:
            yield from needed


def constraint(requirement: str) -> str:
    """Return the constraint that holds a requirement at its minimum."""
    found = REQUIREMENT.match(requirement)
    if found is None:
        raise SystemExit(f"pyproject.toml: {requirement!r} does not read name>=version, so it has no oldest version")
    return f"{found['name']}=={found['version']}"


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    oldest = {constraint(each) for each in requirements(tomllib.loads(text)["project"])}
    print("\n".join(sorted(oldest | COMPANIONS)))
