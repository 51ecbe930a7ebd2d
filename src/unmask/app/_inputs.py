"""What people drop on the page, read by the worker: what is in the files, and the study that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..checking import quote
from ..discovery import Discovery, study_from_files
from ..io import read_data, read_dissimilarities, read_table
from ..problem import FEATURE_TYPES, type_from_text
from ._describe import type_name
from ._files import Kept
from ._guard import MOST_ROWS
from ._pictures import thumbnail

if TYPE_CHECKING:
    import pandas as pd

    from ._requests import Message
    from ._worker import Talk

METRICS = ("euclidean", "seuclidean", "cityblock", "cosine", "correlation", "braycurtis", "gower")
USES = ("compare", "known", "colour", "ignore")
MAIN = ("dissimilarities", "features")  # roles of the one file that says how objects differ

# Values of a column that are shown, columns that are listed, and missing cells that are named.
SHOWN, LISTED, NAMED = 4, 200, 5

# Share of the memory of this machine that reading a file may take.
MEMORY = 0.5


class Corrections(BaseModel):
    """What a user changed of what was found in files."""

    model_config = ConfigDict(extra="forbid")

    roles: dict[str, str] = {}  # by file
    uses: dict[str, str] = {}  # by column: compare, known, colour or ignore
    types: dict[str, str] = {}  # by column
    metric: str | None = None
    labels: str | None = None  # the column that names the objects
    alike: bool = False  # whether larger numbers mean that two objects are more alike
    rater: str | None = None  # the column that names the raters of a list of pairs

    def use(self, column: Any, otherwise: str) -> str:
        """Return what a column is for."""
        return self.uses.get(str(column), otherwise)

    @property
    def declared(self) -> dict[str, Any]:
        """The types that were declared, by column."""
        return {name: type_from_text(text) for name, text in self.types.items()}


@dataclass(frozen=True)
class Part:
    """A file that was dropped: what it was taken for, and what is in it."""

    file: str
    kept: Kept
    role: str
    table: pd.DataFrame | None = None
    study: Discovery | None = None
    raters: tuple[str, ...] = ()  # columns of a list of pairs that may name the raters
    pairs: bool = False  # whether pairs are judged several times
    detected: tuple[str, ...] = field(default=())

    @property
    def rows(self) -> int:
        """Number of its rows, or of the objects of a study."""
        whole = self.table if self.study is None else self.study.material.objects
        return 0 if whole is None else len(whole)

    def described(self, corrections: Corrections) -> Message:
        """Return what the page shows of it."""
        frame = None if self.role == "dissimilarities" else self.table
        columns = [] if frame is None else [_column(self, column, corrections) for _, column in frame.items()][:LISTED]
        objects = [] if self.table is None else [str(label) for label in self.table.index[:SHOWN]]
        return {
            "file": self.file,
            "name": self.kept.name,
            "role": self.role,
            "rows": self.rows,
            "columns": columns,
            "objects": objects,
            "detected": ", ".join(self.detected),
            "raters": list(self.raters),
        }


def _column(part: Part, column: pd.Series[Any], corrections: Corrections) -> Message:
    kind = type_name(column, corrections.declared.get(str(column.name)))
    is_number = kind in ("numeric", "spline")
    otherwise = "colour" if part.role != "features" or not is_number else "compare"
    values = [_rounded(value) for value in column.dropna().unique()[:SHOWN]]
    missing = int(column.isna().sum())
    use = corrections.use(column.name, otherwise)
    return {"name": str(column.name), "type": kind, "missing": missing, "values": values, "use": use}


def _rounded(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# ---- reading


def detect(_: Talk, files: Sequence[tuple[str, Kept]], corrections: Corrections) -> Message:
    """Return what files are taken for, what is in them, and what is wrong."""
    parts: list[Part] = []
    problems: list[Message] = []
    described = []
    with limited_memory():
        for file, kept in files:
            has_main = any(part.role in MAIN for part in parts)
            try:
                part = _read_one(file, kept, corrections, has_main)
                described.append(part.described(corrections))
            except (ValueError, ImportError) as problem:  # also of a package that is missing, with the way to it
                place = {"row": getattr(problem, "row", None), "column": getattr(problem, "column", None)}
                problems.append({"file": file, **place, "text": getattr(problem, "what", str(problem))})
                part = Part(file, kept, corrections.roles.get(file) or ("table" if has_main else "features"))
                described.append(part.described(corrections))
            parts.append(part)
            problems += _missing(part, corrections)
    tables = [part.table for part in parts if part.table is not None and part.role != "dissimilarities"]
    return {
        "title": PurePath(parts[0].kept.name).stem if parts else "",
        "parts": described,
        "problems": problems,
        "choices": {
            "metrics": list(METRICS),
            "types": [form for kind in FEATURE_TYPES.values() for form in kind.forms],
            "labels": [str(name) for table in tables for name in table],
        },
    }


def make_study(_: Talk, files: Sequence[tuple[str, Kept]], corrections: Corrections, title: str) -> Discovery:
    """Return the study that files make."""
    with limited_memory():
        parts = [part for part in _sorted(files, corrections) if part.role != "pictures"]
        pictures = {PurePath(kept.name).stem: thumbnail(kept.path, kept.name) for _, kept in files if kept.is_picture}
        study = parts[0].study if parts and parts[0].study else _study(parts, corrections, title, pictures)
        _require_few(parts[0].kept.name, len(study.material.objects))
    return study


def pictures_of(_: Talk, material: Any) -> tuple[dict[Any, bytes], list[str]]:
    """Return the pictures of a study by label, drawn anew (a loaded study may hold any bytes), and why some cannot."""
    drawn, problems = {}, []
    with limited_memory():
        for label, data in material.pictures.items():
            try:
                drawn[label] = thumbnail(data, f"the picture of {label}")
            except ValueError as problem:
                problems.append(str(problem))
    return drawn, problems


def _sorted(files: Sequence[tuple[str, Kept]], corrections: Corrections) -> list[Part]:
    """Return the files with their roles, without reading tables; the one that says how objects differ comes first."""
    parts: list[Part] = []
    for file, kept in files:
        role = corrections.roles.get(file) or (
            "table" if any(part.role in ("auto", *MAIN) for part in parts) else "auto"
        )
        _require_role(role)
        study = None
        if kept.is_picture or kept.path.suffix == ".zip":
            role = "pictures" if kept.is_picture else "study"
            study = None if kept.is_picture else _load(kept)
        parts.append(Part(file, kept, role, study=study))
    saved = [part for part in parts if part.study]
    if saved and len(parts) > 1:
        raise ValueError(f"{saved[0].kept.name} is a study, which has its tables; drop it alone.")
    main = [part for part in parts if part.role in ("auto", "study", *MAIN)]
    if len(main) != 1:
        raise ValueError(
            f"{len(main)} files say how objects differ; there must be one: a table of dissimilarities, or of features."
        )
    return sorted(parts, key=lambda part: part is not main[0])


def _study(parts: list[Part], corrections: Corrections, title: str, pictures: dict[str, bytes]) -> Discovery:
    """Return a study of the first file, with the tables of the others beside it."""
    main, *beside = parts
    read = _read_one(main.file, main.kept, corrections, False)
    own = None if read.role == "dissimilarities" else read.table
    tables = {
        part.file: read_table(part.kept.path, index=corrections.labels, name=part.kept.name).table for part in beside
    }
    known = {str(name) for table in tables.values() for name in table if corrections.use(name, "colour") == "known"}
    known_files = [part.kept.path for part in beside if known & {str(name) for name in tables[part.file]}]
    own_known = [] if own is None else [str(name) for name in own if corrections.use(name, "") == "known"]
    columns = sorted(known) if known_files else own_known
    study = study_from_files(
        main.kept.path,
        known=known_files,
        table=[part.kept.path for part in beside if part.kept.path not in known_files],
        columns=columns or None,
        features=_compared(own, corrections),
        metric=corrections.metric if own is not None else None,
        types=corrections.declared,
        kind=read.role,
        read_as={"index": corrections.labels, **_read_as(read, corrections)},
        ignore=[name for name, use in corrections.uses.items() if use == "ignore"],
        pictures=pictures or None,
        title=title or PurePath(main.kept.name).stem,
        names={str(part.kept.path): part.kept.name for part in parts},
    )
    for name in own_known if known_files else ():
        study.adopt(name, column=name, kind=corrections.declared.get(name))
    return study


def _compared(own: pd.DataFrame | None, corrections: Corrections) -> list[str] | None:
    """Return the columns to compare objects by, if the user chose any otherwise than is usual."""
    if own is None or not corrections.uses.keys() & {str(name) for name in own}:
        return None
    part = Part("", Kept(PurePath(), ""), "features", own)  # type: ignore[arg-type]
    described = [_column(part, column, corrections) for _, column in own.items()]
    return [column["name"] for column in described if column["use"] == "compare"]


def _read_one(file: str, kept: Kept, corrections: Corrections, has_main: bool) -> Part:
    """Read one file: the first that can be says how objects differ; tables that follow stand beside it."""
    role = corrections.roles.get(file)
    _require_role(role)
    if kept.is_picture:
        return Part(file, kept, "pictures")
    if kept.path.suffix == ".zip":
        part = Part(file, kept, "study", study=_load(kept))
    elif role == "dissimilarities" or (role is None and not has_main and corrections.labels is None):
        part = _read_main(file, kept, role, corrections)
    else:
        table = read_table(kept.path, index=corrections.labels, name=kept.name).table
        part = Part(file, kept, role or ("table" if has_main else "features"), table)
    _require_few(kept.name, part.rows)
    return part


def _read_main(file: str, kept: Kept, role: str | None, corrections: Corrections) -> Part:
    if role is None and not corrections.alike and corrections.rater is None:
        with suppress(ValueError):
            read: Any = read_data(kept.path, name=kept.name)
            if not hasattr(read, "dissimilarities"):
                return Part(file, kept, "features", read.table)
            return Part(file, kept, "dissimilarities", read.dissimilarities, detected=read.detected)
    pairs = Part(file, kept, "dissimilarities", pairs=True)
    for part in (Part(file, kept, "dissimilarities"), pairs):
        try:
            read = read_dissimilarities(kept.path, name=kept.name, **_read_as(part, corrections))
        except ValueError as problem:
            refusal = problem
            continue
        raters = _columns_of(kept) if part.pairs else ()
        return Part(file, kept, "dissimilarities", read.dissimilarities, None, raters, part.pairs, read.detected)
    if role is None and "ratings" not in str(refusal):
        read_data(kept.path, name=kept.name)  # says better what is wrong
    raise refusal


def _read_as(part: Part, corrections: Corrections) -> dict[str, Any]:
    """Return how dissimilarities are read: pairs that were judged several times by their mean."""
    if part.role != "dissimilarities":
        return {}
    similarity = {"similarity": "reverse"} if corrections.alike else {}
    several = part.pairs or corrections.rater is not None
    rater = {"rater": corrections.rater} if corrections.rater else {}
    return {**similarity, **({"aggregate": "mean"} if several else {}), **rater}


def _columns_of(kept: Kept) -> tuple[str, ...]:
    with suppress(ValueError):
        table = read_table(kept.path, name=kept.name).table
        return tuple(str(name) for name in (table.index.name, *table.columns) if name is not None)
    return ()


def _missing(part: Part, corrections: Corrections) -> list[Message]:
    """Return the missing cells of columns that objects are compared by: the distance of two objects needs them all."""
    if part.role != "features" or part.table is None or corrections.metric == "gower":
        return []
    used = [name for name in part.table if _column(part, part.table[name], corrections)["use"] == "compare"]
    frame = part.table[used]
    places = np.argwhere(frame.isna().to_numpy())
    if not len(places):
        return []
    cells = ", ".join(f"{used[at]} of {frame.index[row]}" for row, at in places[:NAMED])
    more = f" and {len(places) - NAMED:,} more cells" if len(places) > NAMED else ""
    verb = "is" if len(places) == 1 else "are"
    way = "fill the cells, compare by gower, which passes over them, or do not compare by these columns"
    return [{"file": part.file, "row": None, "column": None, "text": f"{cells}{more} {verb} missing; {way}."}]


def _require_role(role: Any) -> None:
    if role not in (None, "auto", "table", *MAIN):
        raise ValueError(f"{role!r} is nothing that a file can be; choose one of {quote([*MAIN, 'table'])}.")


def _require_few(name: str, n: int) -> None:
    if n > MOST_ROWS:
        raise ValueError(
            f"{name} has {n:,} rows, and the workbench shows at most {MOST_ROWS:,} objects; take a sample, or fit them "
            "in Python."
        )


def _load(kept: Kept) -> Discovery:
    # It may be of anybody: what it names elsewhere on this machine is not opened.
    return Discovery.load(kept.path, name=kept.name, elsewhere=False)


@contextmanager
def limited_memory(share: float = MEMORY) -> Iterator[None]:
    """Limit the memory that this process may take in addition, where the system can."""
    try:
        import os
        import resource

        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
        most = used + int(share * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        set_limit: Callable[[int, tuple[int, int]], None] = resource.setrlimit
        before = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError):
        yield
        return
    set_limit(resource.RLIMIT_AS, (most if before[1] < 0 else min(most, before[1]), before[1]))
    try:
        yield
    finally:
        set_limit(resource.RLIMIT_AS, before)
