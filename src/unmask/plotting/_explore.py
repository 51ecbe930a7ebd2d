"""A map to look at in a browser: one page with everything in it, which a notebook shows and a file keeps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import Array
from ..checking import labels_of
from ._color import make_coloring, packed
from ._input import as_map, check_embedding, name_of, one_per_object
from ._page import in_frame, make_page, map_holder

# Places along the longer side of a map, in 16 bits; an even number, so that the middle is one of them.
PLACES = 65534
# Pixels, in a notebook.
HEIGHT = 560


@dataclass(frozen=True)
class InteractiveMap:
    """A map to hover over, zoom, pan and search, as :func:`explore` returns it.

    A notebook shows it when it is the last line of a cell, in a frame of its own (``_repr_html_``); elsewhere it says
    how many objects it has. ``save(path)`` writes it as a page, which loads nothing and allows no script but its own.

    Attributes
    ----------
    n_objects : int
        Number of objects.
    title : str
        Title of the page.
    data : str
        The map as JSON that may stand in a ``script`` element: places, names and colours.
    page : str
        The page as HTML.

    Examples
    --------
    >>> from unmask.plotting import explore
    >>> explore([[0.0, 0.0], [3.0, 4.0]], labels=["here", "there"])
    <map of 2 objects: a notebook shows it, save(path) writes a page>
    """

    n_objects: int
    title: str
    data: str

    def __repr__(self) -> str:
        """Say what it is, where it cannot be shown."""
        return f"<map of {self.n_objects:,} objects: a notebook shows it, save(path) writes a page>"

    @property
    def page(self) -> str:
        """The page, as HTML."""
        return make_page(map_holder(self.data, whole=True), self.title or "Map")

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own."""
        return in_frame(self.page, self.title or "Map", HEIGHT)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page, which opens in any browser, from disk and without a network.

        Parameters
        ----------
        path : str or path
            The file to write, which usually ends in ``.html``.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        target.write_text(self.page, encoding="utf-8", newline="\n")
        return target


def explore(embedding: Any, *, color: Any = None, labels: Any = None, title: str | None = None) -> InteractiveMap:
    """Return a map to look at in a notebook or a browser: hover, zoom, pan, search, and all of it by keys.

    It is made of the same parts as the map of the workbench, without a server: a page with everything in it, some 30 kB
    and, with short labels, 20 bytes an object. Arrow keys walk from object to object, ``+``, ``-`` and ``0`` zoom,
    ``/`` searches and Escape clears; a table says the same as the map. The levels of a legend can be put out.

    Parameters
    ----------
    embedding : array-like or DataFrame of shape (n_objects, n_components), fitted estimator, or ordination
        The map, as :func:`plot_map` takes it: the first two columns are shown, a single one along a line. The index of
        a DataFrame labels the objects.
    color : Series or array-like of length n_objects, optional
        What to colour by. Numbers get a colour scale, or a legend if they are at most 7 whole numbers; text, booleans
        and categories get a colour and a shape each, and a legend that counts them.
    labels : sequence of length n_objects, optional
        Labels of the objects. By default the index of a DataFrame; objects of an array are numbered from 0.
    title : str, optional
        Title of the page.

    Returns
    -------
    InteractiveMap
        What a notebook shows, and whose ``save(path)`` writes a page. Places are kept to one part in 65,534 of the
        map's longer side, and so are numbers to colour by in their range; whole numbers are kept as they are.

    Raises
    ------
    ValueError
        If the map has no column or cells that are not finite, if something else does not match it, or if there are
        more categories than can be told apart.

    See Also
    --------
    plot_map : The same as a still picture, with arrows, ellipses and pictures.

    Examples
    --------
    >>> import tempfile
    >>> from unmask.plotting import explore
    >>> square = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> shown = explore(square, labels=list("abcd"), color=["near", "near", "far", "far"])
    >>> page = shown.save(f"{tempfile.mkdtemp()}/square.html")
    >>> page.stat().st_size < 40_000
    True
    """
    embedding = as_map(embedding)
    points, axes = check_embedding(embedding)
    n, index = len(points), labels_of(embedding)
    labels = index if labels is None else one_per_object("labels", labels, n, index)
    coloring = make_coloring(one_per_object("color", color, n, index), name_of(color), n)
    names = None if labels is None else [str(label) for label in labels]
    content = {"title": title or "", "axes": axes, **_places(points), "names": names, "colour": coloring.stored()}
    return InteractiveMap(n, title or "", _as_json(content))


def _places(points: Array) -> dict[str, Any]:
    """Return the points as whole numbers along the longer side of the map, around its middle."""
    low, high = points.min(axis=0) / 2, points.max(axis=0) / 2  # halves, whose sums and differences are finite
    middle, half = low + high, float((high - low).max())
    shares = (points - middle) / (half or 1.0)
    places = np.rint((shares + 1) / 2 * PLACES)
    return {"places": packed(places, "<u2"), "middle": middle.tolist(), "half": half}


def _as_json(content: dict[str, Any]) -> str:
    """Return JSON that ends no ``script`` element, whatever the labels are; half characters are written as escapes."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
