"""What the picture of a map is coloured by, and which markers it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from ._inputs import Input, columns_elsewhere
from ._options import Given, Reading, Saving, output_option
from ._words import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Painting:
    """Options for the colours and markers of the picture."""

    color: Annotated[
        str | None,
        output_option(
            "--color",
            metavar="COLUMN",
            help="Colour the picture by this column of --known, DATA or --table, whether the fit is given it or not.",
        ),
    ] = None
    marker: Annotated[
        str | None, output_option("--shape", metavar="COLUMN", help="Show this column by the markers of the picture.")
    ] = None

    def read(self, source: Input, beside: Any, given: Given, reading: Reading, saving: Saving) -> dict[str, Any]:
        """Return the columns that were asked for, by parameter of `plot_map`; raise before the fit if there is none."""
        asked = (("color", "--color", self.color), ("shape", "--shape", self.marker))
        wanted = [(parameter, option, name) for parameter, option, name in asked if name is not None]
        if wanted and saving.out is None:
            option = wanted[0][1]
            raise ValueError(f"{option} is about the picture that --out DIR writes; say --out too, or leave it out.")
        tables = [table for table in (source.known, source.features, beside) if table is not None]
        paint = {
            # Whole files are read again only if a column is in none of the other tables.
            parameter: _column(name, option, chain(tables, columns_elsewhere(source, given, reading)))
            for parameter, option, name in wanted
        }
        if paint:
            _require_drawable(paint)
        return paint


def _require_drawable(paint: dict[str, Any]) -> None:
    """Raise if the columns cannot be drawn: tried on a line of points, before a map is fitted."""
    import pandas as pd
    from matplotlib.figure import Figure

    from ..plotting import plot_map

    index = next(iter(paint.values())).index
    line = pd.DataFrame({"": range(len(index))}, index=index)
    plot_map(line, max_labels=0, density=False, ax=Figure().add_subplot(), **paint)


def _column(name: str, option: str, tables: Iterable[pd.DataFrame]) -> pd.Series[Any]:
    """Return the column of this name from the first table that has it."""
    from ..checking import quote

    there: dict[str, None] = {}
    for table in tables:
        if name in table.columns:
            column: pd.Series[Any] = table[name]
            return column
        there |= dict.fromkeys(map(str, table.columns))
    if not there:
        raise ValueError(f"{option} {name}: no table was given; say with --known or --table which file has it.")
    raise ValueError(
        f"{option}: no table that was given has a column {name!r}{did_you_mean(name, there)}; there are "
        f"{quote(list(there))}."
    )
