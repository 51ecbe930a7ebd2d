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
    """The data of a command.

    Attributes
    ----------
    path : Path
        The file of data.
    objects : Index
        Labels of the objects.
    square : DataFrame or None
        The square table of dissimilarities; None of many objects, which have features, or a file that is not read.
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
        Weights of the pairs, from their ratings.
    similarity : str or None
        What the similarities were that the dissimilarities were made of.
    """

    path: Path
    objects: pd.Index
    square: pd.DataFrame | None
    known: pd.DataFrame | None
    known_types: dict[str, Any] = field(default_factory=dict)
    features: pd.DataFrame | None = None
    metric: str | None = None
    columns_of_data: list[str] = field(default_factory=list)
    weights: pd.DataFrame | None = None
    similarity: str | None = None

    @property
    def dissimilarities(self) -> pd.DataFrame:
        """The square table, for a command that needs all pairs; raise where it would be too large."""
        import pandas as pd

        from ..kernels import MOST_SQUARED

        if self.square is not None:
            return self.square
        n = len(self.objects)
        if n > MOST_SQUARED or self.features is None:
            raise ValueError(
                f"{self.path} has {n:,} objects, and this command needs a table of all their pairs, which is too "
                "large; give it a random sample of the objects, such as 2,000. unmask fit takes all of them."
            )
        from ..dissimilarities import Metric

        values = Metric(self.metric).fit(self.features).dissimilarities_
        return pd.DataFrame(values, index=self.objects, columns=self.objects)

    @property
    def data(self) -> dict[str, Any]:
        """What a study is made of: a table, or features with their metric, or a file."""
        if self.square is not None:
            return {"dissimilarities": self.square}
        if self.features is None:
            return {"dissimilarities": self.path}
        return {"dissimilarities": self.features, "metric": self.metric}

    @property
    def record(self) -> dict[str, Any]:
        """What is written down for placing new objects later."""
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
        """Raise if there are weights, which a command would ignore."""
        if self.weights is not None:
            raise ValueError(f"--rating-weights: {command} takes no weights; leave this out.")


def read_input(output: Output, path: Path, given: Given, reading: Reading) -> Input:
    """Read the data and what is known, and note what was detected in the files."""
    n = _stays_in_file(path, reading)
    file = None if n else _read_data(path, reading)
    if file is not None:
        tell(output, file)
    types = types_of(given.types)
    if file is None or hasattr(file, "dissimilarities"):
        if given.known is None and given.columns is not None:
            raise ValueError(
                f"--columns {','.join(given.columns)} names known features, but {path} holds dissimilarities; did you "
                f"mean --known FILE --columns {','.join(given.columns)}, with the table that has them?"
            )
        if file is None:
            import pandas as pd

            output.note(f"{path}: NumPy array; {n:,} x {n:,} square, taken for dissimilarities, which stay in the file")
        objects = pd.RangeIndex(n) if file is None else file.dissimilarities.index
        known = read_beside(output, given.known, objects, reading.labels, names_in(given.columns))
        if file is None:
            return Input(path, objects, None, known, types)
        weights = file.weights(reading.rating_weights) if reading.rating_weights else None
        return Input(path, objects, file.dissimilarities, known, types, weights=weights, similarity=reading.similarity)
    return _from_features(output, path, file.table, given, reading, types)


def _stays_in_file(path: Path, reading: Reading) -> int:
    """Return the number of objects of a table of dissimilarities that is too large to be read; 0 of any other file."""
    import numpy as np

    from ..kernels import LARGE

    _require_one_kind(reading)
    asked = reading.metric or reading.features or reading.symmetrize or reading.similarity or reading.aggregate
    if asked or reading.shape not in ("auto", "square") or path.suffix != ".npy" or not path.is_file():
        return 0
    if path.stat().st_size <= LARGE:
        return 0
    table = np.load(path, mmap_mode="r")
    square = table.ndim == 2 and table.shape[0] == table.shape[1] and table.dtype in (np.float32, np.float64)
    return len(table) if square else 0


def _read_data(path: Path, reading: Reading) -> Any:
    from ..io import read_data, read_dissimilarities, read_table

    if reading.metric is not None or reading.features is not None:
        return read_table(path, index=reading.labels, **reading.format_options)
    if reading.shape != "auto" or reading.symmetrize or reading.similarity or reading.aggregate:
        return read_dissimilarities(
            path,
            shape=reading.shape,
            symmetrize=reading.symmetrize,
            similarity=reading.similarity,
            aggregate=reading.aggregate,
            rater=reading.rater,
            **reading.format_options,
        )
    file = read_data(path, **reading.format_options)
    if hasattr(file, "table") and reading.index is not None:
        return read_table(path, index=reading.labels, **reading.format_options)
    return file


def _require_one_kind(reading: Reading) -> None:
    """Raise if options contradict each other about what DATA holds."""
    kinds = {
        "--metric and --features are for a table of features": reading.metric or reading.features,
        "--form, --symmetrize, --similarity and --aggregate for dissimilarities or similarities": (
            reading.shape != "auto" or reading.symmetrize or reading.similarity or reading.aggregate
        ),
    }
    if sum(map(bool, kinds.values())) > 1:
        raise ValueError(f"{', '.join(kinds)}; use those for what DATA holds.")
    alone = [name for name, used in (("--rater", reading.rater), ("--rating-weights", reading.rating_weights)) if used]
    if alone and reading.aggregate is None:
        raise ValueError(f"{alone[0]} is for a list of rated pairs; combine the ratings with --aggregate mean.")


def read_beside(
    output: Output, path: Path | None, labels: Any, index: str | bool | None = None, columns: list[str] | None = None
) -> pd.DataFrame | None:
    """Read a table of the same objects, in the order of their labels; None if there is no file."""
    from ..io import read_known

    if path is None:
        return None
    file = read_known(path, labels, columns=columns, index=index)
    tell(output, file)
    return file.table


def columns_elsewhere(source: Input, given: Given, reading: Reading) -> Iterator[pd.DataFrame]:
    """Read the files again whole, with the columns that the fit was not given."""
    from ..io import read_known

    if given.known is not None:
        yield read_known(given.known, source.objects, index=reading.labels).table
    if source.features is not None:
        yield _read_data(source.path, reading).table


def tell(output: Output, file: Any) -> None:
    """Note what was detected in a file."""
    output.note(f"{file.path}: {'; '.join(file.detected)}")


# ---- tables of features


def _from_features(
    output: Output, path: Path, table: pd.DataFrame, given: Given, reading: Reading, types: dict[str, Any]
) -> Input:
    import pandas as pd

    from ..dissimilarities import Metric

    columns = names_in(given.columns)
    own = [] if given.known is not None else columns or []
    require_columns(path, table, own, "--columns")
    known = table[own] if own else read_beside(output, given.known, table.index, reading.labels, columns)
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
    comparing = Metric(metric)
    if comparing.on_demand(features).is_large:
        output.note(f"No table of all pairs is made: {len(features):,} objects are compared when it is needed.")
        return Input(path, features.index, None, known, types, features, metric, own)
    D = pd.DataFrame(comparing.fit(features).dissimilarities_, index=features.index, columns=features.index)
    return Input(path, features.index, D, known, types, features, metric, own)


def require_columns(path: Path, table: pd.DataFrame, names: list[str], option: str) -> None:
    """Raise if a table has no column of one of the names."""
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
            "--metric gower. A list of pairs that several raters judged is read with --aggregate mean --rater COLUMN."
        )
    gaps = [name for name in features.columns if features[name].isna().any()]
    if gaps:
        raise ValueError(
            f"{path}: {quote(gaps)} has missing cells; --metric nan_euclidean or --metric gower compares what is "
            "there, and --features leaves columns out."
        )


# ---- studies


@dataclass(frozen=True)
class SavedStudy:
    """A saved study: the path that was given for it, its own place, and a record of the data it was made from."""

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
    """Return whether a path is a saved study rather than a file of data."""
    return path.is_dir() or path.suffix.lower() == ".zip"


def open_study(path: Path) -> SavedStudy:
    """Read a study from the folder of a fit, from its own folder, or from a zip file."""
    from ..discovery import Discovery

    mark = read_mark(path)
    data = mark.get("data")
    inside = path / "study"
    place = inside if mark and inside.is_dir() else path
    return SavedStudy(Discovery.load(place), path, place, data if isinstance(data, dict) else {})
