"""Options that several commands share, in groups. They are named as the parameters of the library that they set."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from ..discovery import Discovery
    from ._output import Output

# An option of each panel of the help.
known_option = partial(typer.Option, rich_help_panel="What is known")
reading_option = partial(typer.Option, rich_help_panel="How DATA is read")
fitting_option = partial(typer.Option, rich_help_panel="How it is fitted")
output_option = partial(typer.Option, rich_help_panel="Output")

DataPath = Annotated[
    Path, typer.Argument(metavar="DATA", help="A file of dissimilarities in any of the usual forms, or of features.")
]
StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="A study: the folder that fit or explore wrote.")]
Dimensions = Annotated[int, fitting_option("--n-components", "-d", min=0, help="Dimensions of the map.")]
Seed = Annotated[int, fitting_option("--random-state", min=0, help="Seed of everything random.")]
Force = Annotated[bool, output_option("--force", help="Write into a folder, or over a file, that is not from unmask.")]


def names_in(texts: Sequence[str] | None) -> list[str] | None:
    """Return the names in comma-separated texts; a name that contains a comma stands in double quotes."""
    if texts is None:
        return None
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip()]


@dataclass(frozen=True)
class Reading:
    """The files beside DATA, and how DATA is read where this cannot be detected."""

    known: Annotated[
        list[Path] | None, known_option("--known", metavar="FILE", help="A table of known features, joined by label.")
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
            help="Types of columns: numeric, numeric:lower=0:upper=100, numeric:log, numeric:error=0.5, nominal, "
            "ordinal, ordinal:low<mid<high, cyclic:24, spline, spline:3; A=? lists all.",
        ),
    ] = None
    table: Annotated[
        list[Path] | None,
        known_option("--table", metavar="FILE", help="Columns that are not known to the fit but may explain the map."),
    ] = None
    metric: Annotated[
        str | None,
        reading_option(
            "--metric",
            "-m",
            help="DATA is a table of features, compared by this metric: euclidean, seuclidean, braycurtis, gower …",
        ),
    ] = None
    features: Annotated[
        list[str] | None, reading_option("--features", metavar="A,B", help="Columns of a table of features to compare.")
    ] = None
    shape: Annotated[
        Literal["auto", "square", "lower", "condensed", "long", "phylip"],
        reading_option("--shape", help="Shape of the table of dissimilarities."),
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

    def study(self, output: Output, data: Path, **options: Any) -> Discovery:
        """Return a study of the files, and note what was detected in them and assumed."""
        from ..discovery import study_from_files

        if self.rating_weights is not None and self.aggregate is None:
            raise ValueError(
                "--rating-weights is for a list of rated pairs; combine the ratings with --aggregate mean."
            )
        named = {"tab": "\t", "space": " "}
        read_as = {
            "shape": None if self.shape == "auto" else self.shape,
            "delimiter": named.get(self.delimiter or "", self.delimiter),
            "index": False if self.index == "none" else self.index,
        }
        same = ("symmetrize", "similarity", "aggregate", "rater", "decimal", "encoding", "sheet")
        study = study_from_files(
            data,
            known=self.known or (),
            table=[*(self.table or ()), *options.pop("table", ())],
            columns=names_in(self.columns),
            features=names_in(self.features),
            metric=self.metric,
            types=types_in(self.types),
            read_as=read_as | {name: getattr(self, name) for name in same},
            rating_weights=self.rating_weights,
            **options,
        )
        assert study.origin is not None  # it is made from files
        for text in (*study.origin.detected, *study.origin.assumed):
            output.note(text)
        return study


def types_in(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the declared type of each column: site=nominal, hour=cyclic:24."""
    from ..problem import type_from_text

    types: dict[str, Any] = {}
    for text in names_in(texts) or []:
        name, equals, declared = map(str.strip, text.partition("="))
        if not equals or not name or not declared:
            raise ValueError(f"--types {text}: this is not COLUMN=TYPE, such as site=nominal or hour=cyclic:24.")
        if name in types:
            raise ValueError(f"--types {text}: column {name!r} has a type already; give it one.")
        try:
            types[name] = type_from_text(declared)
        except ValueError as problem:
            raise ValueError(f"--types {text}: {problem}") from None
    return types


@dataclass(frozen=True)
class Search:
    """How a map is fitted."""

    n_components: Dimensions = 2
    estimator: Annotated[
        Literal["mds", "isomap", "classical"],
        fitting_option(
            "--estimator", help="isomap follows a curved surface by near neighbours; classical needs no search."
        ),
    ] = "mds"
    weights: Annotated[
        str | None,  # any scheme of the library, which is not imported for the help
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
        Literal["auto", "true", "false"],
        fitting_option(
            "--adjust",
            case_sensitive=False,
            help="Take off the map what the known features predict, at no cost of fit; auto: if it repeats them.",
        ),
    ] = "auto"
    orthogonal: Annotated[
        bool, fitting_option("--orthogonal", help="Keep the map uncorrelated with the known features.")
    ] = False
    init: Annotated[
        str | None,
        fitting_option("--init", metavar="FILE", help="Continue the fit saved in this checkpoint."),
    ] = None
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
    n_neighbors: Annotated[
        int | None, fitting_option("--n-neighbors", "-k", min=1, help="isomap: nearest neighbours of each object.")
    ] = None
    radius: Annotated[
        float | None, fitting_option("--radius", min=0.0, help="isomap: neighbours are within this distance.")
    ] = None
    n_landmarks: Annotated[
        int | None, fitting_option("--n-landmarks", min=2, help="isomap: only paths from so many random objects.")
    ] = None
    random_state: Seed = 0
    n_jobs: Annotated[int | None, fitting_option("--n-jobs", "-j", help="Threads; every core by default.")] = None

    @property
    def params(self) -> dict[str, Any]:
        """The number of dimensions, and the parameters of the estimator that differ from their defaults."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        chosen = {f.name: given[f.name] for f in fields(self) if given[f.name] != f.default and f.name != "estimator"}
        if self.adjust != "auto":
            chosen["adjust"] = self.adjust == "true"
        if self.radius is not None:
            chosen["n_neighbors"] = self.n_neighbors
        return {"n_components": self.n_components, **chosen}


@dataclass(frozen=True)
class Saving:
    """Where results are written."""

    out: Annotated[
        Path | None, output_option("--out", "-o", metavar="DIR", file_okay=False, help="Folder for the results.")
    ] = None
    force: Force = False
