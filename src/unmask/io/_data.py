"""Reading a file that may hold dissimilarities or features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike

import numpy as np

from ._dialect import FormatOptions, Grid
from ._dissimilarities import DissimilarityFile, dissimilarities_of
from ._input_file import InputFile, open_input
from ._layout import Layout
from ._numbers import is_text
from ._problems import FileProblem
from ._tables import TableFile, table_of


def read_data(
    path: str | PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> DissimilarityFile | TableFile:
    r"""Read dissimilarities if a file holds them, and a table of features otherwise.

    Parameters
    ----------
    path : str or path
        Any file that `read_dissimilarities` or `read_table` reads.
    delimiter, decimal, header, encoding, sheet, max_expanded, name
        As for these.

    Returns
    -------
    DissimilarityFile or TableFile
        The last phrase of ``detected`` says what the file was taken for, and why.

    Raises
    ------
    FileProblem
        If the file can be read as neither.

    See Also
    --------
    read_dissimilarities, read_table : Where it is known what the file holds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "cities.csv"
    >>> _ = file.write_text("0,1,2\n1,0,3\n2,3,0\n", encoding="utf-8")
    >>> read_data(file).detected[-1]
    'taken for dissimilarities: symmetric, with zeros on the diagonal'
    >>> _ = file.write_text("0,1,2\n1,0,3\n2,4,0\n", encoding="utf-8")
    >>> read_data(file).detected[-1]
    'taken for a table of features: 3 for objects 2 and 3, but 4 the other way round (row 3, column 2)'
    """
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    file = open_input(path, max_expanded, name)
    evidence = _Evidence()
    try:
        read = dissimilarities_of(file, "auto", options, None, evidence)
        why = evidence.verdict(file, read)
        return replace(read, detected=(*read.detected, f"taken for dissimilarities: {why}"))
    except FileProblem as problem:
        if evidence.sure:
            raise
        table, _ = table_of(file, options, None)
        why = problem.what.split(";")[0].rstrip(".")
        return replace(table, detected=(*table.detected, f"taken for a table of features: {why}"))


_REASONS = {"phylip": "PHYLIP", "condensed": "one number per pair", "lower": "a lower triangle"}


@dataclass
class _Evidence:
    """Remembers the layout of a file, and decides whether it is enough to take it for dissimilarities."""

    layout: Layout | None = None
    crossing: bool = True  # some object is on both sides of a list of pairs
    named: bool = False  # and all have names

    def __call__(self, layout: Layout, grid: Grid | None) -> None:
        self.layout = layout
        if grid is None:
            return
        if layout.shape == "condensed" and layout.header is not None:
            raise grid.file.problem("its one column has a name")
        if layout.shape == "long":
            rows = (row.cells() for row in grid.head[layout.header is not None :])
            pairs = [cells[:2] for cells in rows if cells]
            self.crossing = bool({cells[0] for cells in pairs} & {cells[-1] for cells in pairs})
            self.named = all(is_text(cell, grid.decimal) for cells in pairs for cell in cells)

    @property
    def sure(self) -> bool:
        """Whether it can hardly be a table of features."""
        if self.layout is not None and self.layout.shape == "long":
            return self.crossing and self.named
        return self.layout is not None and self.layout.sure

    def verdict(self, file: InputFile, read: DissimilarityFile) -> str:
        """Return why a file is taken for dissimilarities; raise if it only looks like them."""
        if self.layout is not None and self.layout.shape == "long":
            return self._pairs(file, read)
        if self.layout is not None and self.layout.shape in _REASONS:
            return _REASONS[self.layout.shape]
        return "labels of rows and columns agree" if self.sure else "symmetric, with zeros on the diagonal"

    def _pairs(self, file: InputFile, read: DissimilarityFile) -> str:
        values = read.dissimilarities.to_numpy()
        n = len(values)
        given = (np.count_nonzero(~np.isnan(values)) - n) / (n * (n - 1))
        numbered = all(str(label).lstrip("-").isdigit() for label in read.dissimilarities.index)
        if not self.crossing or (numbered and given < 0.5):
            raise file.problem("three columns, whose first two do not name the same objects")
        return "three columns, of which the first two name objects"
