"""Options that several commands share, in groups."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

# An option of each panel of the help.
known_option = partial(typer.Option, rich_help_panel="What is known")
reading_option = partial(typer.Option, rich_help_panel="How DATA is read")
fitting_option = partial(typer.Option, rich_help_panel="How it is fitted")
output_option = partial(typer.Option, rich_help_panel="Output")

DataPath = Annotated[
    Path, typer.Argument(metavar="DATA", help="A file of dissimilarities in any of the usual forms, or of features.")
]
StudyPath = Annotated[
    Path, typer.Argument(metavar="STUDY", help="A folder that fit wrote with --out, or a saved study.")
]
Dimensions = Annotated[int, fitting_option("--dim", "-d", min=0, help="Dimensions of the map.")]
Seed = Annotated[int, fitting_option("--seed", min=0, help="Seed of all that is random.")]
Neighbors = Annotated[int | None, fitting_option("--neighbors", "-k", min=1, help="Nearest neighbours of an object.")]
IsomapNeighbors = Annotated[
    int | None,
    fitting_option(
        "--neighbors", "-k", min=1, help="Follow a curved surface, as isomap does, by so many nearest neighbours."
    ),
]
TablePath = Annotated[
    Path | None,
    known_option(
        "--table", metavar="FILE", help="Columns that the fits are not given, but that may explain what the maps show."
    ),
]
Force = Annotated[bool, output_option("--force", help="Write although there are files of somebody else's.")]


def names_in(texts: Sequence[str] | None) -> list[str] | None:
    """Return the names in comma-separated texts; a name with a comma in it stands in double quotes."""
    if texts is None:
        return None
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip()]


@dataclass(frozen=True)
class Given:
    """Options for the known features."""

    known: Annotated[
        Path | None, known_option("--known", metavar="FILE", help="A table of known features, by label.")
    ] = None
    columns: Annotated[
        list[str] | None,
        known_option(
            "--columns",
            "-c",
            metavar="A,B",
            help="Its columns that are known; all by default. Without --known: columns of DATA, a table of features.",
        ),
    ] = None
    types: Annotated[
        list[str] | None,
        known_option(
            "--types",
            "-t",
            metavar="A=TYPE",
            help="Their types: numeric, numeric:lower=0:upper=100, numeric:log, numeric:error=0.5, nominal, ordinal, "
            "ordinal:low<mid<high, cyclic:24, spline, spline:3; A=? lists all.",
        ),
    ] = None


@dataclass(frozen=True)
class Reading:
    """How the file of data is read, where this cannot be detected."""

    metric: Annotated[
        str | None,
        reading_option(
            "--metric",
            "-m",
            help="DATA is a table of features, compared by this metric: euclidean, seuclidean, gower …",
        ),
    ] = None
    features: Annotated[
        list[str] | None, reading_option("--features", metavar="A,B", help="Columns of a table of features to compare.")
    ] = None
    shape: Annotated[
        Literal["auto", "square", "lower", "condensed", "long", "phylip"],
        reading_option("--form", help="Form of the dissimilarities."),
    ] = "auto"
    symmetrize: Annotated[
        Literal["mean"] | None, reading_option("--symmetrize", help="Average the two dissimilarities of each pair.")
    ] = None
    similarity: Annotated[
        str | None,
        reading_option(
            "--similarity",
            metavar="METHOD",
            help="DATA holds similarities: reverse (largest + smallest - x), reverse:1:9 (on a scale from 1 to 9), "
            "correlation, absolute_correlation, cosine, unit, counts, confusion, confusion:0.5 (added to every cell) "
            "or standard.",
        ),
    ] = None
    aggregate: Annotated[
        Literal["mean", "median"] | None,
        reading_option("--aggregate", help="Combine the ratings of pairs that occur several times in DATA."),
    ] = None
    rater: Annotated[
        str | None, reading_option("--rater", metavar="COLUMN", help="Its column of raters; detected by default.")
    ] = None
    rating_weights: Annotated[
        Literal["count", "spread"] | None,
        reading_option("--rating-weights", help="Weigh pairs by their number of ratings, or by how far these agree."),
    ] = None
    index: Annotated[
        str | None, reading_option("--index", metavar="COLUMN", help="Column of tables that holds the labels, or none.")
    ] = None
    delimiter: Annotated[str | None, reading_option("--delimiter", help="Between cells: , ; | tab space.")] = None
    decimal: Annotated[Literal[".", ","] | None, reading_option("--decimal", help="The decimal mark.")] = None
    encoding: Annotated[str | None, reading_option("--encoding", help="Encoding of the text.")] = None
    sheet: Annotated[str | None, reading_option("--sheet", help="Sheet of an Excel file.")] = None

    @property
    def format_options(self) -> dict[str, Any]:
        """Options of the functions that read files."""
        named = {"tab": "\t", "space": " "}
        delimiter = None if self.delimiter is None else named.get(self.delimiter, self.delimiter)
        return {"delimiter": delimiter, "decimal": self.decimal, "encoding": self.encoding, "sheet": self.sheet}

    @property
    def labels(self) -> str | bool | None:
        """The column of labels: a name, False for none, or None to detect it."""
        return False if self.index == "none" else self.index


@dataclass(frozen=True)
class Search:
    """How a map is fitted; the fields are named as the parameters of the estimators."""

    n_components: Dimensions = 2
    weights: Annotated[
        str | None,  # any scheme of the library, which is not opened for help
        fitting_option("--weights", "-w", metavar="SCHEME", help="Weigh pairs by a scheme: sammon, curvilinear."),
    ] = None
    coef: Annotated[
        Literal["auto", "full", "diagonal", "grouped"],
        fitting_option("--coef", help="Coefficients of the known features."),
    ] = "auto"
    level: Annotated[
        Literal["ratio", "interval", "ordinal", "spline"],
        fitting_option("--level", "-l", help="Measurement level of the dissimilarities."),
    ] = "ratio"
    ties: Annotated[
        Literal["primary", "secondary"], fitting_option("--ties", help="Ordinal level: whether ties may be broken.")
    ] = "primary"
    adjust: Annotated[
        Literal["auto", "yes", "no"],
        fitting_option(
            "--adjust",
            help="Take off the map what the known features predict, at no cost of fit; auto: if it repeats them.",
        ),
    ] = "auto"
    orthogonal: Annotated[
        bool, fitting_option("--orthogonal", help="Keep the map uncorrelated with what is known.")
    ] = False
    n_init: Annotated[
        int | None, fitting_option("--n-init", min=1, help="Number of starts; by default the more the fewer objects.")
    ] = None
    solver: Annotated[
        Literal["auto", "lbfgs", "smacof", "stochastic"],
        fitting_option(
            "--solver", help="How the map is searched for; stochastic, for many objects, reads only some of the pairs."
        ),
    ] = "auto"
    max_iter: Annotated[int, fitting_option("--max-iter", min=1, help="Most iterations from each start.")] = 1000
    random_state: Seed = 0
    n_jobs: Annotated[int | None, fitting_option("--jobs", "-j", help="Threads; every core by default.")] = None

    def __post_init__(self) -> None:
        """Refuse a scheme that there is not before anything is read."""
        if self.weights is not None:
            from .. import solvers  # noqa: F401  where one of the schemes registers itself
            from ..checking import require_choice
            from ..problem import SCHEMES

            require_choice("weights", self.weights, tuple(SCHEMES))

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of an estimator: the number of dimensions, and what differs from the defaults."""
        chosen = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        if "adjust" in chosen:
            chosen["adjust"] = self.adjust == "yes"
        return {"n_components": self.n_components, **chosen}


@dataclass(frozen=True)
class Keeping:
    """Saving a fit while it runs, and continuing it."""

    checkpoint: Annotated[
        Path | None,
        fitting_option(
            "--checkpoint", metavar="FILE", dir_okay=False, help="Save the fit in this file while it runs (.npz)."
        ),
    ] = None
    resume: Annotated[
        Path | None,
        fitting_option("--resume", metavar="FILE", dir_okay=False, help="Continue the fit saved in this file."),
    ] = None

    @property
    def file(self) -> Path | None:
        """The file in which the fit is saved: the one that is continued, unless another is named."""
        return self.checkpoint or self.resume

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of an estimator."""
        return {} if self.resume is None else {"init": str(self.resume)}


@dataclass(frozen=True)
class Saving:
    """Where results are written."""

    out: Annotated[
        Path | None, output_option("--out", "-o", metavar="DIR", file_okay=False, help="Folder for the results.")
    ] = None
    file_format: Annotated[Literal["csv", "parquet", "json"], output_option("--format", help="Of the tables.")] = "csv"
    force: Force = False
