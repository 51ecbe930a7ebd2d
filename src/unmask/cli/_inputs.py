"""Reading what a command is given: data, what is known, an external table, or a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._folder import MARK, read_mark
from ._options import Given, Reading, names_in
from ._output import Output
from ._types import types_of
from ._words import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from ..discovery import Discovery

DEFAULT_METRIC = "euclidean"


@dataclass(frozen=True)
class Input:
    """Dissimilarities and what belongs to them.

    Attributes
    ----------
    path : Path
        The file of data.
    dissimilarities : DataFrame
        A square table.
    known : DataFrame or None
        What is known, in the same order.
    known_types : dict
        Declared types of its columns.
    features : DataFrame or None
        The features that were compared, if the file holds a table of them.
    metric : str or None
        How they were compared.
    columns_of_data : list of str
        Known features that are columns of the file of data itself.
    weights : DataFrame or None
        Weights of the pairs, from the spread among raters.
    similarity : str or None
        What the similarities were that the dissimilarities were made of.
    """

    path: Path
    dissimilarities: pd.DataFrame
    known: pd.DataFrame | None
    known_types: dict[str, Any] = field(default_factory=dict)
    features: pd.DataFrame | None = None
    metric: str | None = None
    columns_of_data: list[str] = field(default_factory=list)
    weights: pd.DataFrame | None = None
    similarity: str | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What placing new objects has to know."""
        features = None if self.features is None else list(self.features.columns)
        return {
            "file": str(self.path),
            "metric": self.metric,
            "features": features,
            "known": [] if self.known is None else list(self.known.columns),
            "known_in_data": self.columns_of_data,
            "similarity": self.similarity,
        }

    def require_no_weights(self, command: str) -> None:
        """Raise where weights would be left out."""
        if self.weights is not None:
            raise ValueError(f"--spread-weights: {command} takes no weights; leave this out.")


def read_input(output: Output, path: Path, given: Given, reading: Reading) -> Input:
    """Read the data and what is known, and say what was found out about the files."""
    found = _read_data(path, reading)
    tell(output, found)
    types = types_of(given.types)
    if hasattr(found, "dissimilarities"):
        if given.known is None and given.columns is not None:
            raise ValueError(
                f"--columns {','.join(given.columns)} names known features, but {path} holds dissimilarities; did you "
                f"mean --known FILE --columns {','.join(given.columns)}, with the table that has them?"
            )
        D = found.dissimilarities
        known = _read_known(output, given, reading, D.index)
        return Input(path, D, known, types, weights=_spread(path, found, reading), similarity=reading.similarity)
    return _from_features(output, path, found.table, given, reading, types)


def _read_data(path: Path, reading: Reading) -> Any:
    from ..io import read_data, read_dissimilarities, read_ratings, read_table

    _require_one_kind(reading)
    if reading.metric is not None or reading.features is not None:
        return read_table(path, index=reading.labels, **reading.wishes)
    if reading.aggregate is not None:
        return read_ratings(path, aggregate=reading.aggregate, rater=reading.rater, **reading.wishes)
    if reading.shape != "auto" or reading.symmetrize is not None or reading.similarity is not None:
        return read_dissimilarities(
            path, shape=reading.shape, symmetrize=reading.symmetrize, **_alike(reading), **reading.wishes
        )
    found = read_data(path, **reading.wishes)
    if hasattr(found, "table") and reading.index is not None:
        return read_table(path, index=reading.labels, **reading.wishes)
    return found


def _require_one_kind(reading: Reading) -> None:
    """Raise where options say different things about what DATA holds."""
    kinds = {
        "--metric and --features are for a table of features": reading.metric or reading.features,
        "--form, --symmetrize and --similarity for a table of dissimilarities or similarities": reading.shape != "auto"
        or reading.symmetrize
        or reading.similarity,
        "--aggregate for a list of judged pairs": reading.aggregate,
    }
    if sum(map(bool, kinds.values())) > 1:
        raise ValueError(f"{', '.join(kinds)}; use those for what DATA holds.")
    alone = [name for name, used in (("--rater", reading.rater), ("--spread-weights", reading.spread_weights)) if used]
    if alone and reading.aggregate is None:
        raise ValueError(f"{alone[0]} is for a list of judged pairs; say with --aggregate what becomes of them.")


def _alike(reading: Reading) -> dict[str, Any]:
    """Return which similarities are read, if any are: METHOD or METHOD:NUMBER."""
    if reading.similarity is None:
        return {}
    method, colon, number = reading.similarity.partition(":")
    try:
        return {"similarity": method, "pseudocount": float(number) if colon else None}
    except ValueError:
        raise ValueError(f"--similarity {reading.similarity}: {number!r} is no number to add to every cell.") from None


def _spread(path: Path, found: Any, reading: Reading) -> pd.DataFrame | None:
    if not reading.spread_weights:
        return None
    if found.weights is None:
        raise ValueError(f"--spread-weights: no pair in {path} was judged differently by two; leave this out.")
    weights: pd.DataFrame = found.weights
    return weights


def _read_known(output: Output, given: Given, reading: Reading, labels: Any) -> pd.DataFrame | None:
    from ..io import read_known

    if given.known is None:
        return None
    found = read_known(given.known, labels, columns=names_in(given.columns), index=reading.labels)
    tell(output, found)
    return found.table


def read_beside(output: Output, path: Path | None, labels: Any, index: str | bool | None = None) -> Any:
    """Read an external table of the same objects."""
    from ..io import read_known

    if path is None:
        return None
    found = read_known(path, labels, index=index)
    tell(output, found)
    return found.table


def columns_elsewhere(source: Input, given: Given, reading: Reading) -> Iterator[pd.DataFrame]:
    """Return the files as they are, with the columns that the fit was not given."""
    from ..io import read_known

    if given.known is not None:
        yield read_known(given.known, source.dissimilarities.index, index=reading.labels).table
    if source.features is not None:
        yield _read_data(source.path, reading).table


def tell(output: Output, found: Any) -> None:
    """Say what was found out about a file."""
    output.note(f"{found.path}: {'; '.join(found.detected)}")


# ---- tables of features


def _from_features(
    output: Output, path: Path, table: pd.DataFrame, given: Given, reading: Reading, types: dict[str, Any]
) -> Input:
    own = [] if given.known is not None else names_in(given.columns) or []
    require_columns(path, table, own, "--columns")
    known = table[own] if own else _read_known(output, given, reading, table.index)
    wanted = names_in(reading.features)
    if wanted is None:
        features = table.drop(columns=own)
    else:
        require_columns(path, table, wanted, "--features")
        features = table[wanted]
    metric = reading.metric or DEFAULT_METRIC
    if reading.metric is None:
        _require_numbers(path, features)
        output.note(
            f"Assumed: {path} is a table of features, and objects differ by the Euclidean distance of its "
            f"{features.shape[1]} columns as they are; --metric seuclidean divides each by its standard deviation."
        )
    D = compare_features(output, features, metric)
    return Input(path, D, known, types, features, metric, own)


def require_columns(path: Path, table: pd.DataFrame, names: list[str], option: str) -> None:
    """Raise on a name that no column has."""
    from ..checking import quote

    strangers = [name for name in names if name not in table.columns]
    if strangers:
        raise ValueError(
            f"{option}: {path} has no column {quote(strangers)}{did_you_mean(strangers[0], table.columns)}; it has "
            f"{quote(table.columns)}. Columns of another file are named by --known."
        )


def _require_numbers(path: Path, features: pd.DataFrame) -> None:
    from pandas.api import types

    from ..checking import quote

    texts = [name for name, kind in features.dtypes.items() if not types.is_numeric_dtype(kind)]
    if texts:
        raise ValueError(
            f"{path}: {quote(texts)} {'holds' if len(texts) == 1 else 'hold'} text, which has no Euclidean distance; "
            "name the columns to compare with --features, make it known with --columns, or compare mixed columns with "
            "--metric gower. A list of pairs that several raters judged is read with --aggregate mean."
        )
    gaps = [name for name in features.columns if features[name].isna().any()]
    if gaps:
        raise ValueError(
            f"{path}: {quote(gaps)} has missing cells; --metric nan_euclidean or --metric gower compares what is "
            "there, and --features leaves columns out."
        )


def compare_features(output: Output, features: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the dissimilarities of the rows of a table."""
    import pandas as pd

    from ..dissimilarities import Metric

    values = Metric(metric, verbose=int(output.shows_progress)).fit_transform(features)
    return pd.DataFrame(values, index=features.index, columns=features.index)


# ---- studies


@dataclass(frozen=True)
class SavedStudy:
    """A study that was written, the path that was given for it, where it is, and what it was made from."""

    study: Discovery
    path: Path
    place: Path
    record: dict[str, Any]

    @property
    def metric(self) -> str | None:
        """How features were compared; None for a study of dissimilarities."""
        metric = self.record.get("metric")
        return metric if isinstance(metric, str) else None

    @property
    def features(self) -> list[str]:
        """The features that were compared: columns of the table of the study."""
        names = self.record.get("features")
        if not isinstance(names, list) or not set(names) <= set(self.study.table.columns):
            raise ValueError(f"{self.path}: {MARK} and the study do not belong together; fit again.")
        return names


def is_study(path: Path) -> bool:
    """Tell a study from a file of data."""
    return path.is_dir() or path.suffix.lower() == ".zip"


def open_study(path: Path) -> SavedStudy:
    """Read a study from the folder of a fit, from its own folder, or from a zip file."""
    from ..discovery import Discovery

    mark = read_mark(path)
    data = mark.get("data")
    inside = path / "study"
    place = inside if mark and inside.is_dir() else path
    return SavedStudy(Discovery.load(place), path, place, data if isinstance(data, dict) else {})
