"""A map drawn with letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import Array

# A character is about twice as high as it is wide.
ASPECT = 2.0
MARK = "*"


def text_map(embedding: pd.DataFrame, width: int = 76, height: int = 24, longest: int = 16) -> str:
    """Draw the first two axes of a map: a mark per object, or the number of those in one place, and labels where free.

    Parameters
    ----------
    embedding : DataFrame of shape (n_objects, n_components)
        The map; with one column, all objects are on one line.
    width, height : int
        Size in characters; the map takes as much of it as equal units on both axes allow.
    longest : int
        Labels are cut to this length.
    """
    columns, rows = _cells(embedding, width, height, longest)
    if not len(columns):
        return ""
    canvas = [[" "] * width for _ in range(int(rows.max()) + 1)]
    places: dict[tuple[int, int], list[str]] = {}
    for row, column, label in zip(rows, columns, embedding.index, strict=True):
        places.setdefault((int(row), int(column)), []).append(str(label))
    for (row, column), labels in places.items():
        canvas[row][column] = MARK if len(labels) == 1 else str(len(labels)) if len(labels) < 10 else "+"
    for (row, column), labels in places.items():
        _write(canvas[row], column, "/".join(labels), longest)
    return "\n".join("".join(line).rstrip() for line in canvas)


def _cells(embedding: pd.DataFrame, width: int, height: int, longest: int) -> tuple[Array, Array]:
    """Return column and row of each object; the right margin has room for a label."""
    import numpy as np

    points = embedding.to_numpy(dtype=float)[:, :2]
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros((len(points), 2 - points.shape[1]))])
    points = points - points.min(axis=0, initial=np.inf) if len(points) else points
    x, y = points.T
    unit = min(
        (width - longest - 2) / max(x.max(initial=0.0), 1e-300), (height - 1) * ASPECT / max(y.max(initial=0.0), 1e-300)
    )
    columns = np.rint(x * unit).astype(int)
    rows = np.rint(y * unit / ASPECT).astype(int)
    return columns, rows.max(initial=0) - rows


def _write(line: list[str], column: int, label: str, longest: int) -> None:
    """Write a label to the right of its mark, or else to the left, where there is room."""
    text = label if len(label) <= longest else f"{label[: longest - 1]}…"
    for start in (column + 2, column - 1 - len(text)):
        # A blank on each side keeps labels apart.
        around = range(max(start - 1, 0), min(start + len(text) + 1, len(line)))
        free = all(line[at] == " " for at in around if at != column)
        if start >= 0 and start + len(text) <= len(line) and free:
            line[start : start + len(text)] = text
            return
