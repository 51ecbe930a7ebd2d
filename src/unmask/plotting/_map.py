"""A map as a scatter plot, with labels, colours, arrows, ellipses and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import labels_of, require_integer, require_number
from ._axes import add_title, axes_or_new, fix_limits, frame_map
from ._color import make_coloring, make_shapes
from ._density import draw_objects, wants_density
from ._fonts import as_written
from ._input import as_map, check_embedding, name_of, one_per_object
from ._labels import choose_labels, draw_labels, obstacles_of
from ._layers import Arrows, Ellipses, Thumbnails, covariances_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@as_written
def plot_map(
    embedding: Any,
    *,
    labels: Any = None,
    color: Any = None,
    shape: Any = None,
    arrows: Any = None,
    ellipses: Any = None,
    centres: Any = None,
    level: float | None = None,
    images: Any = None,
    image_size: float = 30.0,
    max_images: int = 60,
    density: Any = "auto",
    ax: Axes | None = None,
    title: str | None = None,
    merge: float = 0.03,
    max_labels: int = 150,
) -> Axes:
    """Draw a map: one point per object, one unit of distance the same length in every direction.

    Conditional maps put objects that differ only in what is known on top of each other. Their labels are joined
    ("Brother / Sister") before labels are placed so that none covers another or a point; a label for which there is
    no room is left out.

    Parameters
    ----------
    embedding : array-like or DataFrame of shape (n_objects, n_components), fitted estimator, or ordination
        The map. The first two columns are drawn, a single one along a line. The index of a DataFrame labels the
        objects and its columns the axes, which are called "dimension 1" … where the columns have the names that an
        estimator gives. Everything else that is a Series or DataFrame is aligned with it by label.
    labels : sequence of length n_objects, optional
        Labels of the objects. By default the index of a DataFrame, and none for an array.
    color : Series or array-like of length n_objects, optional
        What to colour by. Numbers get a colour scale and a colour bar, or a legend if they are at most 7 whole
        numbers; text, booleans and categories get a colour each (and a marker, unless `shape` says which) and a
        legend. Ordered categories have the colours of the scale.
    shape : Series or array-like of length n_objects, optional
        Categories, at most 8, to be shown by the markers of the points, with a legend.
    arrows : DataFrame or array-like of shape (n_objects, n_features), optional
        Numeric features from elsewhere. Each is regressed on the two axes of the map; its arrow points to where it
        rises fastest and is as long as their multiple correlation R. The dotted circle is R = 1.
    ellipses : Stability, Posterior, or array-like of shape (n_objects, 2, 2), optional
        What :func:`unmask.inspection.bootstrap` or :func:`unmask.inspection.jackknife` returns for this map, its
        :class:`unmask.Posterior`, or a covariance matrix of each object's place; drawn as the ellipse that holds
        `level` of a normal distribution.
    centres : array-like of shape (n_objects, 2), optional
        Centres of the ellipses, such as the means of the repetitions; by default the points.
    level : float, optional
        Share of the repetitions in an ellipse; by default that for which `ellipses` were made, else 0.95.
    images : sequence of length n_objects, optional
        A picture per object, drawn at its point: an array of grey values, one of colours (rows x columns x 3 or 4), or
        the path of a file. None leaves an object without. Of pictures that would overlap, or of more than
        `max_images`, only a selection that is spread over the map is drawn.
    image_size : float, default=30
        Longer side of the pictures, in points (1/72 inch).
    max_images : int, default=60
        Most pictures to draw.
    density : {"auto", True, False}, default="auto"
        Whether to draw crowds as hexagons, coloured by the number of objects (logarithmic), by the mean of a numeric
        `color`, or by the most frequent category. Fewer than 3 objects at a place stay points. ``"auto"`` does above
        20,000 objects, unless there are shapes.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        Title of the Axes.
    merge : float, default=0.03
        Objects nearer to each other than this share of the map's longer side have one label together. 0 joins only
        those at exactly the same place.
    max_labels : int, default=150
        Most objects to label; 0 draws no labels. Of more objects than this only a selection is labelled: those that
        lie farthest from each other, so that all regions of the map have some.

    Returns
    -------
    Axes
        The Axes drawn on. Points are rasterised in vector files when there are more than 2000.

    Raises
    ------
    ValueError
        If the map has no column or cells that are not finite, if something else does not match it, or if there are
        more categories than can be told apart.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_map
    >>> square = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.001]]
    >>> ax = plot_map(square, labels=list("abcde"), ax=Figure().add_subplot())
    >>> sorted(text.get_text() for text in ax.texts)
    ['a', 'b', 'c', 'd / e']
    """
    embedding = as_map(embedding)
    points, names = check_embedding(embedding)
    n, index = len(points), labels_of(embedding)
    labels = index if labels is None else one_per_object("labels", labels, n, index)
    coloring = make_coloring(one_per_object("color", color, n, index), name_of(color), n)
    shapes = make_shapes(one_per_object("shape", shape, n, index), name_of(shape))
    merge, max_labels = require_number("merge", merge, 0.0), require_integer("max_labels", max_labels, 0)
    crowded = wants_density(density, points, shapes)
    vectors = None if arrows is None else Arrows.of(points, one_per_object("arrows", arrows, n, index))
    ovals = _ellipses(points, names, index, ellipses, centres, level)
    size, most = require_number("image_size", image_size, 1.0), require_integer("max_images", max_images, 0)
    images = one_per_object("images", images, n, index)
    pictures = None if images is None else Thumbnails(points, list(images), size, most)

    ax = axes_or_new(ax)
    frame_map(ax, names)
    if ovals is not None:
        ovals.draw(ax, coloring.rgba())
    rows = draw_objects(ax, points, coloring, shapes, crowded=crowded)
    if vectors is not None:
        vectors.draw(ax)
    add_title(ax, title, rows)
    fix_limits(ax)
    covered = points[:0] if pictures is None else pictures.draw(ax, coloring.rgba())
    texts = [] if vectors is None else [vectors.labels]
    if labels is not None and max_labels > 0:
        texts.append(choose_labels(points, list(labels), merge, max_labels))
    if texts:
        lines = [] if vectors is None else vectors.lines
        draw_labels(ax, texts, np.concatenate([obstacles_of(points), covered]), lines, outline=crowded)
    return ax


def _ellipses(
    points: Any, names: list[str], index: Any, covariances: Any, centres: Any, level: float | None
) -> Ellipses | None:
    """Return checked ellipses, if there are any."""
    if covariances is None:
        if centres is not None:
            raise ValueError("centres is given without ellipses, whose centres they would be; pass both, or neither.")
        return None
    if len(names) == 1:
        raise ValueError("ellipses needs two dimensions but embedding has one column; leave it out.")
    level = getattr(covariances, "level", 0.95) if level is None else level
    return Ellipses.of(points, covariances_of(covariances, points, index), centres, level)
