"""A study made from files: the one place where the command line and the workbench read what they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import file_digest
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from ..checking import count, quote
from ..io import DissimilarityFile, read_data, read_dissimilarities, read_known, read_table
from ..problem import feature_type, inferred_type
from ._data import large_file

if TYPE_CHECKING:
    from ._study import Discovery

AnyPath = str | PathLike[str]
# Names of files that do not say what is in them; their folder does.
PLAIN_NAMES = ("data", "dissimilarities", "distances", "matrix", "similarities", "table")
# Options of dissimilarities; with any of these a file is not a table of features.
OF_PAIRS = ("shape", "symmetrize", "similarity", "aggregate", "rater")


class InputFile(BaseModel):
    """A file that a study was made from: its role, its name, and its SHA-256 (empty if the data stay in it)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["data", "known", "table"]
    name: str
    sha256: str = ""


class Origin(BaseModel):
    """The files a study was made from, and how they were read.

    Attributes
    ----------
    files : tuple of InputFile
        The files.
    detected, assumed : tuple of str
        Sentences about what was detected in each file, and about what was assumed.
    metric : str or None
        How features were compared; None for dissimilarities.
    features : tuple of str
        The columns that were compared.
    known_in_data : tuple of str
        Known features that are columns of the data file itself.
    similarity : str or None
        The kind of similarities that the dissimilarities were made of.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: tuple[InputFile, ...]
    detected: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    metric: str | None = None
    features: tuple[str, ...] = ()
    known_in_data: tuple[str, ...] = ()
    similarity: str | None = None


def study_from_files(
    data: AnyPath,
    *,
    known: AnyPath | Sequence[AnyPath] = (),
    table: AnyPath | Sequence[AnyPath] = (),
    columns: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    metric: str | None = None,
    types: Mapping[str, Any] | None = None,
    kind: str = "auto",
    read_as: Mapping[str, Any] | None = None,
    rating_weights: str | None = None,
    ignore: Sequence[str] = (),
    pictures: Mapping[Any, Any] | None = None,
    title: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Discovery:
    """Return a study of the objects in a file; ``study.origin`` says what was detected in the files, and assumed.

    A table of features is compared by the Euclidean distance of its columns of numbers, each divided by its standard
    deviation, unless a metric is named.

    Parameters
    ----------
    data : path
        Dissimilarities in any form that :func:`unmask.io.read_dissimilarities` reads, or a table of features. A table
        of dissimilarities in a large ``.npy`` file, or in a ``.zarr`` folder, stays there.
    known : path or sequence of paths, optional
        Tables of known features, joined by label.
    table : path or sequence of paths, optional
        Tables of external columns, which the fits are not given.
    columns : sequence of str, optional
        The known columns: of the files in `known`, or of a table of features if there are none. The other columns
        become external. By default all columns in `known`.
    features : sequence of str, optional
        The columns of a table of features to compare. By default those of numbers that are not known or declared to be
        of another type; with ``metric="gower"`` all but angles.
    metric : str, optional
        How a table of features is compared, as in :class:`unmask.dissimilarities.Metric`.
    types : dict, optional
        Types of columns, as in ``known_types`` of :class:`unmask.ConditionalMDS`.
    kind : {"auto", "dissimilarities", "features"}, default="auto"
        What `data` holds.
    read_as : dict, optional
        How `data` is read where it cannot be detected: arguments of :func:`unmask.io.read_dissimilarities`, and
        ``index`` of :func:`unmask.io.read_table`, which also serves the other tables.
    rating_weights : {"count", "spread"}, optional
        Weigh pairs by their ratings, as :meth:`unmask.io.DissimilarityFile.weights` does.
    ignore : sequence of str, optional
        Columns that are left out.
    pictures : dict from label to bytes or path, optional
        Pictures of the objects.
    title : str, optional
        By default the name of the file of data.
    names : dict from path to str, optional
        Names of files in messages; by default their paths.

    Returns
    -------
    Discovery
    """
    from ._study import Discovery

    types, read_as = dict(types or {}), {name: value for name, value in (read_as or {}).items() if value is not None}
    index = read_as.pop("index", None)
    files: list[InputFile] = []
    detected: list[str] = []
    assumed: list[str] = []

    def name_of(path: AnyPath) -> str:
        return (names or {}).get(fspath(path), fspath(path))

    def note(role: Any, path: AnyPath, found: Sequence[str], *, stays: bool = False) -> None:
        digest = ""
        if not stays:
            with Path(path).open("rb") as stream:
                digest = file_digest(stream, "sha256").hexdigest()
        files.append(InputFile(role=role, name=PurePath(name_of(path)).name, sha256=digest))
        detected.append(f"{name_of(path)}: {'; '.join(found)}")

    def read_beside(role: str, given: AnyPath | Sequence[AnyPath], objects: pd.Index) -> list[pd.DataFrame]:
        tables = []
        for path in [given] if isinstance(given, str | PathLike) else given:
            read = read_known(path, objects, index=index, name=name_of(path))
            note(role, path, read.detected)
            tables.append(read.table)
        return tables

    name = name_of(data)
    given, own, objects, weights, found = _read_data(data, name, kind, metric, features, read_as, index, rating_weights)
    note("data", data, found, stays=given is data)
    beside = read_beside("known", known, objects)
    if columns is not None and own is None and not beside:
        raise ValueError(
            f"columns={list(columns)!r} names known features, but {name} holds dissimilarities; pass the table that "
            "has these columns as known."
        )
    whole = joined([own] if own is not None and not beside else beside, objects)
    where = quote(file.name for file in files if file.role == "known") or name
    chosen = whole if columns is None and beside else whole[_present(whole, columns or (), where)]
    in_data = [] if beside else list(chosen.columns)
    external = [] if own is None else [own.drop(columns=in_data)]
    external += [whole.drop(columns=chosen.columns)] if beside else []
    rest = joined([*external, *read_beside("table", table, objects)], objects)
    rest = rest.drop(columns=[name for name in rest if str(name) in set(ignore)])
    unknown = [name for name in types if name not in {*ignore, *map(str, chosen.columns), *map(str, rest.columns)}]
    if unknown:
        raise ValueError(f"types names {quote(unknown)}, which is not a column of these files.")
    compared: list[str] = []
    if own is not None:
        given = _compared(own.drop(columns=in_data), features, metric, types, name, assumed)
        compared, metric = list(map(str, given.columns)), metric or "seuclidean"
    study = Discovery(
        given,
        known=chosen if chosen.shape[1] else None,
        table=pd.DataFrame({name: as_typed(column, types) for name, column in rest.items()}, index=objects),
        known_types={name: kind for name, kind in types.items() if name in chosen.columns} or None,
        weights=weights,
        metric=metric or "precomputed",
        pictures=pictures,
        title=_title(Path(name)) if title is None else title,
    )
    study.origin = Origin(
        files=tuple(files),
        detected=tuple(detected),
        assumed=tuple(assumed),
        metric=metric,
        features=tuple(compared),
        known_in_data=tuple(map(str, in_data)),
        similarity=read_as.get("similarity"),
    )
    return study


def _title(path: Path) -> str:
    return path.parent.name if path.stem.lower() in PLAIN_NAMES and path.parent.name else path.stem


def _read_data(
    path: AnyPath,
    name: str,
    kind: str,
    metric: str | None,
    features: Any,
    read_as: dict[str, Any],
    index: Any,
    rating_weights: str | None,
) -> tuple[Any, pd.DataFrame | None, pd.Index, pd.DataFrame | None, Sequence[str]]:
    """Return dissimilarities (or a file that they stay in) or a table of features, objects, weights, and notes."""
    of_pairs = sorted(option for option in OF_PAIRS if read_as.get(option, "auto") != "auto")
    of_table = [option for option, used in (("metric", metric), ("features", features)) if used is not None]
    if of_table and (of_pairs or kind == "dissimilarities"):
        raise ValueError(
            f"{quote(of_table)} is for a table of features, {quote(of_pairs) or 'the kind that was chosen'} for "
            "dissimilarities; leave out what the file does not hold."
        )
    if kind == "auto" and not of_table and not read_as and Path(path).suffix in (".npy", ".zarr"):
        in_file = large_file(fspath(path))
        if in_file is not None:
            n = len(in_file.objects)
            return path, None, in_file.objects, None, [f"{n:,} x {n:,} dissimilarities, which stay in the file"]
    form = {option: value for option, value in read_as.items() if option not in OF_PAIRS}
    read: Any
    if of_pairs or kind == "dissimilarities":
        read = read_dissimilarities(path, name=name, **read_as)
    elif of_table or kind == "features" or index is not None:
        read = read_table(path, index=index, name=name, **form)
    else:
        read = read_data(path, name=name, **form)
    if not isinstance(read, DissimilarityFile):
        return None, read.table, read.table.index, None, read.detected
    weights = read.weights(rating_weights) if rating_weights else None
    return read.dissimilarities, None, read.dissimilarities.index, weights, read.detected


# ---- columns


def _compared(
    own: pd.DataFrame,
    features: Sequence[str] | None,
    metric: str | None,
    types: dict[str, Any],
    name: str,
    assumed: list[str],
) -> pd.DataFrame:
    """Return the columns of a table of features that are compared; add what was assumed."""
    coding = {column: coding_of(own[column], types) for column in own}
    if metric == "gower":
        chosen = [column for column in own if coding[column] != "cyclic"]
    else:
        chosen = [column for column in own.select_dtypes("number") if coding[column] == "numeric"]
    constant = [column for column in chosen if metric is None and (own[column] == own[column].iloc[0]).all()]
    chosen = [column for column in chosen if column not in constant]
    if features is not None:
        chosen = _present(own, features, name)
    elif not chosen:
        raise ValueError(
            f"{name} has no column of numbers to compare objects by; name the columns by features=…, or compare all of "
            "them by metric='gower'. A list of pairs that several raters judged is read with aggregate='mean'."
        )
    else:
        others = [column for column in own if column not in [*chosen, *constant]]
        assumed += [f"Not compared, because not numeric: {quote(others)}; metric gower takes them."] if others else []
        assumed += [f"Not compared, because the same for all objects: {quote(constant)}."] if constant else []
    compared = own[chosen]
    gaps = np.argwhere(compared.isna().to_numpy())
    if len(gaps) and metric in (None, "euclidean", "seuclidean"):
        row, at = gaps[0]
        more = f" (and {count(len(gaps) - 1, 'more cell')})" if len(gaps) > 1 else ""
        raise ValueError(
            f"{name}: {chosen[at]} of {own.index[row]} is missing{more}; fill it, compare by metric='gower' or "
            "'nan_euclidean', which pass over missing cells, or choose other columns."
        )
    if metric is None:
        assumed.append(
            f"Assumed: {name} is a table of features. Objects are compared by the Euclidean distance of "
            f"{count(len(chosen), 'column')}, each divided by its standard deviation; metric euclidean takes the "
            "columns as they are."
        )
    if metric == "gower":
        return pd.DataFrame({column: as_typed(compared[column], types) for column in compared})
    return compared


def coding_of(column: pd.Series[Any], types: Mapping[str, Any]) -> str:
    """Return how a column is compared: "numeric", "nominal", "ordinal" or "cyclic"."""
    kind = _type_of(column, types).kind
    return kind if kind in ("nominal", "ordinal", "cyclic") else "numeric"


def _type_of(column: pd.Series[Any], types: Mapping[str, Any]) -> Any:
    name = str(column.name)
    if types.get(name) is not None:
        return feature_type(types[name], name)
    try:
        return inferred_type(column, name)
    except ValueError:  # numbers or text: only a declaration can say
        return feature_type("nominal", name)


def as_typed(column: pd.Series[Any], types: Mapping[str, Any]) -> pd.Series[Any]:
    """Return a column that was declared nominal or ordinal as categories, any other as it is."""
    name, coding = str(column.name), coding_of(column, types)
    if name not in types or coding not in ("nominal", "ordinal") or not column.notna().any():
        return column
    levels = _type_of(column, types).learn(column, name).levels
    return column.astype(pd.CategoricalDtype(list(levels), ordered=coding == "ordinal"))


def _present(frame: pd.DataFrame, wanted: Sequence[str], where: str) -> list[Any]:
    unknown = [name for name in wanted if name not in frame.columns]
    if unknown:
        raise ValueError(f"{where} has no column {quote(unknown)}; it has {quote(frame.columns)}.")
    return list(wanted)


def joined(tables: list[pd.DataFrame], objects: pd.Index) -> pd.DataFrame:
    """Return tables of the same objects side by side."""
    names = [name for table in tables for name in table.columns]
    repeated = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if repeated:
        raise ValueError(f"{quote(repeated)} is a column of two tables; rename it in one of them, or leave it out.")
    return pd.concat([pd.DataFrame(index=objects), *(table.set_axis(objects, axis=0) for table in tables)], axis=1)
