"""Compute the causes of what differs from the papers, and renew the tables of the pages that show them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..adjusted.page import renew
from ..measure import ROOT
from . import complexity, spectral


def variants() -> dict[str, str]:
    """Return the parts of docs/spectral.md, or none where the recordings are not at hand."""
    folder = Path(os.environ.get("UNMASK_MOTION") or "no recordings")
    if not all((folder / file).exists() for file, _ in spectral.RECORDINGS.values()):
        print("docs/spectral.md is left as it is: UNMASK_MOTION names no folder with the recordings")
        return {}
    return {
        "variants": spectral.page(spectral.load(folder)),
        "entropy": spectral.entropy_page(spectral.both_forms(folder)),
    }


PAGES = {
    "spectral": ("spectral.md", variants),
    "complexity": ("scaling.md", lambda: complexity.page(complexity.measure())),
}


def main() -> None:
    """Compute, print and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PAGES), choices=list(PAGES), help="by default all")
    for part in parser.parse_args().parts:
        name, make = PAGES[part]
        path, made = ROOT / "docs" / name, make()
        print("\n\n".join(made.values()))
        path.write_text(renew(path.read_text(encoding="utf-8"), made, by="make papers"), encoding="utf-8")


if __name__ == "__main__":
    main()
