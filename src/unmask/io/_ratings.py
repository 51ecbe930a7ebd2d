"""Reading pairs that several raters judged: one dissimilarity per pair, and a weight from how far they agree."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import quote, require_choice
from ._dialect import FormatOptions
from ._dissimilarities import DissimilarityFile, pairs_of_frame
from ._input_file import InputFile, open_input
from ._square import check_square
from ._tables import table_of

if TYPE_CHECKING:
    import pandas as pd

AGGREGATES = ("mean", "median")


def read_ratings(
    path: str | PathLike[str],
    *,
    aggregate: str = "mean",
    rater: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> DissimilarityFile:
    r"""Read a list of pairs in which a pair may occur several times, such as the judgements of several raters.

    Parameters
    ----------
    path : str or path
        A table in any format that `read_table` reads, a row per judgement: object, object, dissimilarity, and perhaps a
        column that says who judged. The order of the two objects does not matter.
    aggregate : {"mean", "median"}, default="mean"
        What becomes of the judgements of a pair.
    rater : str, optional
        The column that says who judged; it is left out, and raters are counted.
    delimiter, decimal, header, encoding, sheet, max_expanded, name
        As for `read_dissimilarities`.

    Returns
    -------
    DissimilarityFile
        Its ``weights`` are for ``fit(weights=…)``: pairs on which raters agree count more. The weight of a pair is its
        number of judgements divided by their variance, which is averaged with the mean variance of all pairs, because
        a few raters may agree by chance; weights have a mean of 1. None if no pair was judged twice.

    Raises
    ------
    FileProblem
        If the file cannot be read, or does not hold such a list.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "judged.csv"
    >>> rows = ["who,one,other,distance", "Ann,tea,milk,4", "Bob,milk,tea,6", "Ann,tea,rum,9", "Ann,rum,milk,8"]
    >>> _ = file.write_text("\n".join(rows), encoding="utf-8")
    >>> read = read_ratings(file, rater="who")
    >>> print(read.dissimilarities.loc["tea", "milk"])
    5.0
    >>> read.detected[-1]
    '4 judgements by 2 raters, 1 to 2 of a pair; the mean of each pair'
    """
    require_choice("aggregate", aggregate, AGGREGATES)
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    file = open_input(path, max_expanded, name)
    table, _ = table_of(file, options, index=False)
    pairs, n_raters = _without_rater(file, table.table, rater)
    judged = _judgements(file, pairs)
    summary = judged.groupby(level=[0, 1], sort=False).agg(aggregate)
    summarised = summary.rename_axis(["object", "other"]).rename("dissimilarity").reset_index()
    square = check_square(file, pairs_of_frame(file, summarised), None)
    counts = judged.groupby(level=[0, 1]).size()
    by = f" by {n_raters} raters" if n_raters is not None else ""
    least, most = counts.min(), counts.max()
    each = f"{most} of each pair" if least == most else f"{least} to {most} of a pair"
    phrase = f"{len(judged)} judgements{by}, {each}; the {aggregate} of each pair"
    D = square.frame()
    detected = (*table.detected, *square.detected, phrase)
    return DissimilarityFile(D, detected, file.path, _weights(judged, counts, D))


def _without_rater(file: InputFile, table: pd.DataFrame, rater: str | None) -> tuple[pd.DataFrame, int | None]:
    if rater is None:
        if table.shape[1] == 4:
            raise file.problem(
                f"has 4 columns, {quote(table.columns)}; a list of pairs has three, object, object, dissimilarity: say "
                "with rater=… which column says who judged."
            )
        return table, None
    if rater not in table.columns:
        raise file.problem(f"has no column {rater!r} for rater; it has {quote(table.columns)}.")
    return table.drop(columns=rater), int(table[rater].nunique())


def _judgements(file: InputFile, pairs: pd.DataFrame) -> pd.Series[Any]:
    """Return the judgements that are not missing, indexed by the two objects, in one order for each pair."""
    import pandas as pd
    from pandas.api import types

    if pairs.shape[1] != 3:
        raise file.problem(
            f"has {pairs.shape[1]} columns, {quote(pairs.columns)}; a list of pairs has three: object, object, "
            "dissimilarity."
        )
    if not types.is_numeric_dtype(pairs.dtypes.iloc[2]):
        raise file.problem(f"{str(pairs.columns[2])!r}, its third column, must hold numbers, and holds text.")
    ends = pairs.iloc[:, :2]
    if ends.isna().to_numpy().any():
        row = int(np.argmax(ends.isna().to_numpy().any(axis=1))) + 1
        raise file.problem(f"an object in pair {row} has no label; give it one.")
    codes, labels = pd.factorize(ends.to_numpy(dtype=object).ravel())
    codes = np.sort(codes.reshape(-1, 2), axis=1)
    index = pd.MultiIndex.from_arrays([labels[codes[:, 0]], labels[codes[:, 1]]])
    judged = pd.Series(pairs.iloc[:, 2].to_numpy(dtype=float), index=index).dropna()
    if judged.empty:
        raise file.problem("holds no dissimilarity at all; fill its third column.")
    return judged


def _weights(judged: pd.Series[Any], counts: pd.Series[Any], D: pd.DataFrame) -> pd.DataFrame | None:
    """Return a weight for each pair of the table, 0 where it has no dissimilarity."""
    import pandas as pd

    variance = judged.groupby(level=[0, 1]).var()
    typical = float(variance.mean())  # NaN if no pair was judged twice
    if not typical > 0:
        return None
    weight = counts / ((variance.fillna(typical) + typical) / 2)
    weight = weight[weight.index.get_level_values(0) != weight.index.get_level_values(1)]
    weight = weight / weight.mean()
    values = np.zeros(D.shape)
    i, j = (D.index.get_indexer(weight.index.get_level_values(level)) for level in range(2))
    values[i, j] = values[j, i] = weight.to_numpy()
    return pd.DataFrame(values, index=D.index, columns=D.columns)
