"""What the picture of a map is coloured by, and which markers it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._inputs import Input, columns_elsewhere
from ._options import OUTPUT, Given, Reading, Saving
from ._words import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Painting:
    """Columns to show in the picture."""

    color: Annotated[
        str | None,
        typer.Option(
            "--color",
            metavar="COLUMN",
            help="Colour the picture by this column of --known, DATA or --table, whether the fit is given it or not.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    marker: Annotated[
        str | None,
        typer.Option(
            "--shape", metavar="COLUMN", help="Show this column by the markers of the picture.", rich_help_panel=OUTPUT
        ),
    ] = None

    def read(self, source: Input, beside: Any, given: Given, reading: Reading, saving: Saving) -> dict[str, Any]:
        """Return the columns that were asked for, by parameter of `plot_map`; before the fit, which may take long."""
        asked = (("color", "--color", self.color), ("shape", "--shape", self.marker))
        wanted = [(parameter, option, name) for parameter, option, name in asked if name is not None]
        if wanted and saving.out is None:
            option = wanted[0][1]
            raise ValueError(f"{option} is about the picture that --out DIR writes; say --out too, or leave it out.")
        tables = _Tables(source, beside, given, reading)
        paint = {parameter: tables.column(name, option) for parameter, option, name in wanted}
        if paint:
            _try(paint)
        return paint


def _try(paint: dict[str, Any]) -> None:
    """Draw the columns somewhere, so that what cannot be drawn is refused before a map is fitted."""
    import pandas as pd
    from matplotlib.figure import Figure

    from ..plotting import plot_map

    index = next(iter(paint.values())).index
    somewhere = pd.DataFrame({"": range(len(index))}, index=index)
    plot_map(somewhere, max_labels=0, density=False, ax=Figure().add_subplot(), **paint)


@dataclass
class _Tables:
    """The tables that were given, whole files last: these are read again only if a column is in none of the others."""

    source: Input
    beside: Any
    given: Given
    reading: Reading

    def column(self, name: str, option: str) -> pd.Series[Any]:
        """Return a column by name."""
        from ..checking import quote

        there: list[str] = []
        for table in self._all():
            if name in table.columns:
                column: pd.Series[Any] = table[name]
                return column
            there += [column for column in map(str, table.columns) if column not in there]
        if not there:
            raise ValueError(f"{option} {name}: no table was given; say with --known or --table which file has it.")
        raise ValueError(
            f"{option}: no table that was given has a column {name!r}{did_you_mean(name, there)}; there are "
            f"{quote(there)}."
        )

    def _all(self) -> Iterator[pd.DataFrame]:
        yield from (t for t in (self.source.known, self.source.features, self.beside) if t is not None)
        yield from columns_elsewhere(self.source, self.given, self.reading)
