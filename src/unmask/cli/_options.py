"""Options that several commands have: each declared once, in the small object that it belongs to."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

KNOWN, READING, FITTING, OUTPUT = "What is known", "How DATA is read", "How it is fitted", "Output"

DataPath = Annotated[
    Path, typer.Argument(metavar="DATA", help="A file of dissimilarities in any of the usual forms, or of features.")
]
StudyPath = Annotated[
    Path, typer.Argument(metavar="STUDY", help="A folder that fit wrote with --out, or a saved study.")
]
Dimensions = Annotated[int, typer.Option("--dim", "-d", min=0, help="Dimensions of the map.", rich_help_panel=FITTING)]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all that is random.", rich_help_panel=FITTING)]
Neighbors = Annotated[
    int | None,
    typer.Option("--neighbors", "-k", min=1, help="Nearest neighbours of an object.", rich_help_panel=FITTING),
]
Surface = Annotated[
    int | None,
    typer.Option(
        "--neighbors",
        "-k",
        min=1,
        help="Follow a curved surface, as isomap does, by so many nearest neighbours.",
        rich_help_panel=FITTING,
    ),
]
TablePath = Annotated[
    Path | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="Columns that the fits are not given, but that may explain what the maps show.",
        rich_help_panel=KNOWN,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Write although there are files of somebody else's.", rich_help_panel=OUTPUT),
]


def names_in(texts: Sequence[str] | None) -> list[str] | None:
    """Return the names in comma-separated texts; a name with a comma in it stands in double quotes."""
    if texts is None:
        return None
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip()]


@dataclass(frozen=True)
class Given:
    """What is known of the objects."""

    known: Annotated[
        Path | None,
        typer.Option("--known", metavar="FILE", help="A table of known features, by label.", rich_help_panel=KNOWN),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "-c",
            metavar="A,B",
            help="Its columns that are known; all by default. Without --known: columns of DATA, a table of features.",
            rich_help_panel=KNOWN,
        ),
    ] = None
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--types",
            "-t",
            metavar="A=TYPE",
            help="Their types: numeric, numeric:0..100, numeric:log, nominal, ordinal, ordinal:low<mid<high, "
            "cyclic:24, spline, spline:3.",
            rich_help_panel=KNOWN,
        ),
    ] = None


@dataclass(frozen=True)
class Reading:
    """How the file of data is read, where this cannot be found out."""

    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "-m",
            help="DATA is a table of features, compared by this metric: euclidean, seuclidean, gower …",
            rich_help_panel=READING,
        ),
    ] = None
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features", metavar="A,B", help="Columns of a table of features to compare.", rich_help_panel=READING
        ),
    ] = None
    shape: Annotated[
        Literal["auto", "square", "lower", "condensed", "long", "lsmat", "phylip"],
        typer.Option("--form", help="Form of the dissimilarities.", rich_help_panel=READING),
    ] = "auto"
    symmetrize: Annotated[
        Literal["mean"] | None,
        typer.Option("--symmetrize", help="Average the two dissimilarities of each pair.", rich_help_panel=READING),
    ] = None
    similarity: Annotated[
        str | None,
        typer.Option(
            "--similarity",
            metavar="METHOD",
            help="DATA holds similarities: correlation, absolute_correlation, cosine, unit, counts, confusion, "
            "confusion:0.5 (added to every cell) or standard.",
            rich_help_panel=READING,
        ),
    ] = None
    aggregate: Annotated[
        Literal["mean", "median"] | None,
        typer.Option(
            "--aggregate",
            help="DATA is a list of pairs, some of them several times: take this.",
            rich_help_panel=READING,
        ),
    ] = None
    rater: Annotated[
        str | None,
        typer.Option(
            "--rater", metavar="COLUMN", help="Its column that says who judged the pair.", rich_help_panel=READING
        ),
    ] = None
    spread_weights: Annotated[
        bool,
        typer.Option("--spread-weights", help="Pairs on which raters agree count more.", rich_help_panel=READING),
    ] = False
    index: Annotated[
        str | None,
        typer.Option(
            "--index",
            metavar="COLUMN",
            help="Column of tables that holds the labels, or none.",
            rich_help_panel=READING,
        ),
    ] = None
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Between cells: , ; | tab space.", rich_help_panel=READING)
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None, typer.Option("--decimal", help="The decimal mark.", rich_help_panel=READING)
    ] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Encoding of the text.", rich_help_panel=READING)
    ] = None
    sheet: Annotated[str | None, typer.Option("--sheet", help="Sheet of an Excel file.", rich_help_panel=READING)] = (
        None
    )

    @property
    def wishes(self) -> dict[str, Any]:
        """What the readers of files take."""
        named = {"tab": "\t", "space": " "}
        delimiter = None if self.delimiter is None else named.get(self.delimiter, self.delimiter)
        return {"delimiter": delimiter, "decimal": self.decimal, "encoding": self.encoding, "sheet": self.sheet}

    @property
    def labels(self) -> str | bool | None:
        """The column of labels: a name, False for none, or None to find out."""
        return False if self.index == "none" else self.index


@dataclass(frozen=True)
class Search:
    """How a map is fitted; fields are parameters of the estimators."""

    n_components: Dimensions = 2
    weights: Annotated[
        str | None,  # any scheme of the library, which is not opened for help
        typer.Option(
            "--weights",
            "-w",
            metavar="SCHEME",
            help="Let small dissimilarities count more: sammon, curvilinear.",
            rich_help_panel=FITTING,
        ),
    ] = None
    coef: Annotated[
        Literal["auto", "full", "diagonal", "grouped"],
        typer.Option("--coef", help="Coefficients of the known features.", rich_help_panel=FITTING),
    ] = "auto"
    level: Annotated[
        Literal["ratio", "interval", "ordinal", "spline"],
        typer.Option("--level", "-l", help="Measurement level of the dissimilarities.", rich_help_panel=FITTING),
    ] = "ratio"
    ties: Annotated[
        Literal["primary", "secondary"],
        typer.Option("--ties", help="Ordinal level: whether ties may be broken.", rich_help_panel=FITTING),
    ] = "primary"
    adjust: Annotated[
        Literal["auto", "yes", "no"],
        typer.Option(
            "--adjust",
            help="Take off the map what the known features predict, at no cost of fit; auto: if it repeats them.",
            rich_help_panel=FITTING,
        ),
    ] = "auto"
    orthogonal: Annotated[
        bool,
        typer.Option("--orthogonal", help="Keep the map uncorrelated with what is known.", rich_help_panel=FITTING),
    ] = False
    leak_penalty: Annotated[
        float,
        typer.Option(
            "--leak-penalty", min=0.0, help="Price on what the map repeats of the known.", rich_help_panel=FITTING
        ),
    ] = 0.0
    n_init: Annotated[
        int | None,
        typer.Option(
            "--n-init", min=1, help="Number of starts; by default the more the fewer objects.", rich_help_panel=FITTING
        ),
    ] = None
    max_iter: Annotated[
        int, typer.Option("--max-iter", min=1, help="Most iterations from each start.", rich_help_panel=FITTING)
    ] = 1000
    random_state: Seed = 0
    n_jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Threads; every core by default.", rich_help_panel=FITTING),
    ] = None

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of an estimator: the number of dimensions, and what is not as it would be anyway."""
        chosen = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        if "adjust" in chosen:
            chosen["adjust"] = self.adjust == "yes"
        return {"n_components": self.n_components, **chosen}


@dataclass(frozen=True)
class Saving:
    """Where results are written."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", file_okay=False, help="Folder for the results.", rich_help_panel=OUTPUT
        ),
    ] = None
    file_format: Annotated[
        Literal["csv", "parquet", "json"], typer.Option("--format", help="Of the tables.", rich_help_panel=OUTPUT)
    ] = "csv"
    force: Force = False
