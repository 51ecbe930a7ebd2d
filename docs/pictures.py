"""Draw the pictures of the documentation: run the code of the pages and put the PNG files it saves into docs/images.

``make pictures`` draws all of them, ``python docs/pictures.py levels isomap`` those of some pages. Only pictures that a
page shows are kept; ``kinship.png`` is what ``make demo`` writes.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import matplotlib
from matplotlib import pyplot
from PIL import Image

DOCS = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"\]\(images/([^)]+\.png)\)")


def run(page: Path) -> None:
    """Run all python blocks of a page, one after the other, in the working directory."""
    namespace = {"__name__": "__main__"}
    for code in BLOCK.findall(page.read_text(encoding="utf-8")):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, str(page), "exec"), namespace)


def draw(page: Path) -> list[str]:
    """Run a page and renew the pictures that it both saves and shows; return their names."""
    shown = set(SHOWN.findall(page.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        run(page)
        drawn = sorted(shown & set(os.listdir()))
        for name in drawn:
            # 256 colours are enough for a drawing, and take a third of the room.
            Image.open(name).convert("RGB").quantize(256).save(DOCS / "images" / name, optimize=True)
    return drawn


def main(names: list[str]) -> None:
    """Draw the pictures of the named pages, or of all."""
    matplotlib.use("Agg")
    pages = [DOCS / f"{name}.md" for name in names] or sorted(DOCS.glob("*.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if SHOWN.search(text) and BLOCK.search(text):
            print(f"{page.name}: {', '.join(draw(page)) or 'nothing drawn'}")
            pyplot.close("all")


if __name__ == "__main__":
    main(sys.argv[1:])
