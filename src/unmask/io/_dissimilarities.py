"""Reading dissimilarities from files of any usual form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ..checking import require_choice
from ..dissimilarities import similarity_to_dissimilarity
from ._cells import DECIMAL_COMMA, Cells, FormatOptions, is_whole
from ._files import InputFile, open_input
from ._layout import Layout, find_layout
from ._phylip import is_phylip, read_phylip
from ._shapes import Square, check_square, complete, read_square
from ._text import encoding_of, lines_of, open_text
from ._typed import open_typed

if TYPE_CHECKING:
    import pandas as pd

SHAPES = ("auto", "square", "lower", "condensed", "long", "phylip")


@dataclass(frozen=True)
class DissimilarityFile:
    """Dissimilarities as they were read, and what was detected about the file.

    Attributes
    ----------
    dissimilarities : DataFrame of shape (n_samples, n_samples)
        Symmetric, zero on the diagonal, NaN for pairs that the file does not give. Labels are text if the file is;
        without labels objects are numbered from 0.
    detected : tuple of str
        What was detected about the file, in short phrases.
    path : str
        The file.
    ratings : DataFrame or None
        Where several ratings of a pair were combined: one row per pair with the combined rating, the count of ratings
        and their spread (the standard deviation), as they stand in the file.
    """

    dissimilarities: pd.DataFrame
    detected: tuple[str, ...]
    path: str
    ratings: pd.DataFrame | None = None

    def weights(self, by: str = "count") -> pd.DataFrame:
        """Return weights of the pairs from their ratings, for ``fit(weights=…)``; their mean is 1.

        Parameters
        ----------
        by : {"count", "spread"}, default="count"
            The number of ratings; or this number divided by their variance, so that pairs on which raters agree count
            more. The variance is averaged with the mean variance of all pairs, because few raters may agree by chance.

        Returns
        -------
        DataFrame of shape (n_samples, n_samples)
            0 for pairs without a rating.
        """
        import pandas as pd

        require_choice("by", by, ("count", "spread"))
        if self.ratings is None:
            raise ValueError("there are no ratings to weigh the pairs by; pass aggregate='mean' when the file is read.")
        weight = self.ratings["count"].astype(float)
        if by == "spread":
            variance = self.ratings["spread"] ** 2
            typical = float(variance.mean())  # NaN if no pair was rated twice
            if not typical > 0:
                raise ValueError("raters never differ, or no pair was rated twice; use by='count'.")
            weight = weight / ((variance.fillna(typical) + typical) / 2)
        D = self.dissimilarities
        i, j = (D.index.get_indexer(self.ratings.index.get_level_values(level)) for level in range(2))
        weight = weight.where(i != j)
        values = np.zeros(D.shape)
        values[i, j] = values[j, i] = (weight / weight.mean()).fillna(0.0).to_numpy()
        return pd.DataFrame(values, index=D.index, columns=D.columns)


def read_dissimilarities(
    path: str | PathLike[str],
    *,
    shape: str = "auto",
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    symmetrize: str | None = None,
    similarity: str | None = None,
    aggregate: str | None = None,
    rater: str | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> DissimilarityFile:
    r"""Read dissimilarities from a file, in any of the usual forms.

    Parameters
    ----------
    path : str or path
        CSV, TSV or any delimited text, NumPy's npy and npz, Parquet, Excel, JSON or PHYLIP; text, npy and JSON may be
        compressed by gzip. The first bytes of the file decide, not its name.
    shape : {"auto", "square", "lower", "condensed", "long", "phylip"}, default="auto"
        A square table (scikit-bio's LSMat too), a lower triangle, one number per pair, a list of pairs (object, object,
        dissimilarity), or PHYLIP; detected by default.
    delimiter : {",", ";", tab, " ", "|"}, optional
        The character between cells; a blank means any number of them. Detected by default.
    decimal : {".", ","}, optional
        The decimal mark; detected by default.
    header : bool, optional
        Whether the first row holds names; detected by default.
    encoding : str, optional
        By default UTF-8, or the encoding of the byte-order mark.
    sheet : str, optional
        The sheet of an Excel file; by default the first.
    symmetrize : {None, "mean"}, default=None
        With "mean" the two numbers of each pair are averaged; otherwise a file in which they differ is refused.
    similarity : str, optional
        The file holds similarities, which are turned into dissimilarities: "reverse" subtracts each from the sum of the
        largest and the smallest; "reverse:1:9" does so for a scale from 1 to 9. Or a method of
        :func:`unmask.dissimilarities.similarity_to_dissimilarity`, such as "correlation" or "confusion";
        "confusion:0.5" adds 0.5 to every cell.
    aggregate : {"mean", "median"}, optional
        Combine the numbers of pairs that occur several times in a list of pairs, such as the ratings of several raters.
    rater : str, optional
        The column that names the raters in a list of pairs; detected by default.
    max_expanded : int, optional
        How many bytes a compressed file may unpack to; by default a quarter of the machine's memory.
    name : str, optional
        The name of the file in messages and in the result; by default its path.

    Returns
    -------
    DissimilarityFile
        The table, and what was detected about the file.

    Raises
    ------
    FileProblem
        If the file cannot be read or does not hold dissimilarities: one sentence with the place in the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "drinks.csv"
    >>> rows = ["who,one,other,alike", "Ann,tea,milk,6", "Bob,milk,tea,4", "Ann,tea,rum,1", "Ann,rum,milk,2"]
    >>> _ = file.write_text("\n".join(rows), encoding="utf-8")
    >>> read = read_dissimilarities(file, similarity="reverse:1:9", aggregate="mean")
    >>> print(read.dissimilarities.loc["tea", "milk"])
    5.0
    >>> read.detected[1]
    'list of pairs, 3 of the 3 pairs of 3 objects'
    """
    require_choice("shape", shape, SHAPES)
    require_choice("symmetrize", symmetrize, (None, "mean"))
    require_choice("aggregate", aggregate, ("mean", "median", None))
    if rater is not None and aggregate is None:
        raise ValueError(f"rater={rater!r} belongs to aggregate, which is None; pass aggregate='mean'.")
    convert = None if similarity is None else _conversion(similarity)
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    with open_input(path, max_expanded, name) as file:
        cells, layout = open_cells(file, options, shape)
        if layout is None:
            cells = _numbers_in_lines(cells, options, shape)
            layout = find_layout(cells, shape, header, rater)
        square = read_square(cells, layout, aggregate)
        if aggregate is not None and square.ratings is None:
            raise file.problem(
                f"does not hold a list of pairs, so there is nothing to combine by aggregate={aggregate!r}; leave it "
                "out, or name the column of raters by rater=…."
            )
        if convert is not None:
            complete(square, symmetrize)
            symmetrize = None
            try:
                square.detected += (convert(square),)
            except ValueError as error:
                raise file.problem(str(error).replace("method=", "similarity=")) from None
        return checked(file, square, symmetrize)


def open_cells(file: InputFile, options: FormatOptions, shape: str = "auto") -> tuple[Cells, Layout | None]:
    """Read the first rows of a file; all of a PHYLIP file, whose layout is known."""
    if file.kind != "text":
        return open_typed(file, options), None
    encoding = encoding_of(file, options.encoding)
    if shape == "phylip" or (shape == "auto" and options.delimiter is None):
        with lines_of(file, encoding) as lines:
            phylip = shape == "phylip" or is_phylip(islice(lines, 20))
        if phylip:
            with lines_of(file, encoding) as lines:
                return read_phylip(file, lines)
    return open_text(file, options), None


def _numbers_in_lines(cells: Cells, options: FormatOptions, shape: str) -> Cells:
    """Read lines of one or two whole numbers again as single numbers with a decimal comma, if they can be."""
    lines = [",".join(row.cells) for row in cells.head]
    commas = sum(DECIMAL_COMMA.fullmatch(line) is not None for line in lines)
    numbers = commas and commas + sum(map(is_whole, lines)) == len(lines) > 2
    if cells.file.kind != "text" or not numbers or shape not in ("auto", "condensed") or options.delimiter:
        return cells
    return open_text(cells.file, FormatOptions(None, ",", options.header, options.encoding))


def checked(file: InputFile, square: Square, symmetrize: str | None = None) -> DissimilarityFile:
    """Return a square table as dissimilarities, with labels; raise if it cannot be."""
    check_square(file, square, symmetrize)
    detected = (*(("gzip",) if file.packed else ()), *square.detected)
    return DissimilarityFile(_frame(square), detected, file.path, square.ratings)


def _frame(square: Square) -> pd.DataFrame:
    import pandas as pd

    index = None if square.labels is None else pd.Index(square.labels)
    return pd.DataFrame(square.values, index=index, columns=index, copy=False)


# ---- similarities


def _conversion(similarity: str) -> partial[str]:
    """Return the function that turns a table of similarities into dissimilarities and describes this in a phrase."""
    method, *texts = str(similarity).split(":")
    try:
        numbers = [float(text) for text in texts]
        if len(numbers) not in {"reverse": (0, 2), "confusion": (0, 1)}.get(method, (0,)):
            raise ValueError
    except ValueError:
        raise ValueError(
            f"similarity={similarity!r} has not the numbers that belong to its name; write 'reverse', 'reverse:1:9' "
            "(the ends of the scale), 'confusion:0.5', or a name alone."
        ) from None
    return partial(_reverse, numbers) if method == "reverse" else partial(_convert, method, numbers)


def _convert(method: str, numbers: list[float], square: Square) -> str:
    pseudocount = numbers[0] if numbers else None
    found = similarity_to_dissimilarity(_frame(square), method, pseudocount=pseudocount)
    square.values = found.to_numpy(copy=True)
    return f"similarities ({method}) turned into dissimilarities"


def _reverse(ends: list[float], square: Square) -> str:
    """Subtract each similarity from the sum of the largest and the smallest."""
    np.fill_diagonal(square.values, np.nan)
    if square.scale is None and not np.isnan(square.values).all():
        square.scale = (float(np.nanmin(square.values)), float(np.nanmax(square.values)))
    if square.scale is None:
        raise ValueError("holds no similarity at all.")
    low, high = sorted(ends) if ends else square.scale
    if not low <= square.scale[0] <= square.scale[1] <= high:
        raise ValueError(
            f"similarities go from {square.scale[0]:g} to {square.scale[1]:g}, beyond {low:g} to {high:g}."
        )
    square.values = low + high - square.values
    return f"similarities reversed, {low + high:g} - x, on a scale from {low:g} to {high:g}"
