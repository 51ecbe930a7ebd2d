"""The commands that make a map: fit and isomap."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

from ._fitting import OTHERS, TABLES, document_of, fit_map, say_written, show_step, write_study
from ._folder import open_folder
from ._inputs import Input, read_beside, read_input
from ._options import DataPath, Given, Keeping, Neighbors, Reading, Saving, Search, TablePath, fitting_option
from ._output import Outcome, Output
from ._paint import Painting

# Names of files that say nothing about what is in them.
EVERY_FILE = ("data", "dissimilarities", "distances", "matrix", "similarities", "table")
ClosedForm = Annotated[bool, fitting_option("--closed-form", help="Conditional classical scaling, without a search.")]
Landmarks = Annotated[
    int | None,
    fitting_option("--landmarks", min=2, help="Of many objects, paths from so many of them, picked at random, only."),
]
Radius = Annotated[float | None, fitting_option("--radius", min=0.0, help="Neighbours are those within this distance.")]


class Files(NamedTuple):
    """What a map is made from, and what is written."""

    data: Path
    given: Given
    keeping: Keeping
    reading: Reading
    saving: Saving
    painting: Painting
    table: Path | None


def fit(
    output: Output,
    data: DataPath,
    given: Given,
    search: Search,
    keeping: Keeping,
    reading: Reading,
    saving: Saving,
    painting: Painting,
    table: TablePath = None,
    closed_form: ClosedForm = False,
) -> Outcome:
    """Map objects from their dissimilarities, or from a table of features, given what is known.

    Ctrl-C ends the search: the best map so far is printed and written, marked unfinished, and the exit code is 130.
    """
    estimator = "classical" if closed_form else "mds"
    files = Files(data, given, keeping, reading, saving, painting, table)
    return _make_map(output, files, estimator, search.params)


def isomap(
    output: Output,
    data: DataPath,
    given: Given,
    search: Search,
    keeping: Keeping,
    reading: Reading,
    saving: Saving,
    painting: Painting,
    table: TablePath = None,
    neighbors: Neighbors = None,
    radius: Radius = None,
    landmarks: Landmarks = None,
) -> Outcome:
    """Map objects on a curved surface: dissimilarities along paths through near neighbours, given what is known.

    Ctrl-C ends the search: the best map so far is printed and written, marked unfinished, and the exit code is 130.
    """
    params = search.params
    if neighbors is not None:
        params["n_neighbors"] = neighbors
    if radius is not None:
        params |= {"radius": radius, "n_neighbors": neighbors}
    if landmarks is not None:
        params["n_landmarks"] = landmarks
    return _make_map(output, Files(data, given, keeping, reading, saving, painting, table), "isomap", params)


def study_of(source: Input, beside: Any) -> Any:
    """Return a study of the data; features, and columns of `beside`, may explain its maps."""
    from ..discovery import Discovery

    return Discovery(
        **source.data,
        known=source.known,
        table=_joined(source.features, beside),
        known_types=source.known_types or None,
        title=_title(source.path),
        weights=source.weights,
    )


def _title(path: Path) -> str:
    """Return the title of a study: the name of its file, or of the folder if the file has a name that says nothing."""
    return path.parent.name if path.stem.lower() in EVERY_FILE and path.parent.name else path.stem


def _joined(features: Any, beside: Any) -> Any:
    if features is None or beside is None:
        return beside if features is None else features
    twice = [name for name in beside.columns if name in features.columns]
    if twice:
        raise ValueError(f"--table: {twice[0]!r} is a column of DATA too; rename one of them, or leave it out.")
    return features.join(beside)


def _make_map(output: Output, files: Files, estimator: str, params: dict[str, Any]) -> Outcome:
    """Read the data, fit one map, show it and write it."""
    data, given, keeping, reading, saving, painting, table = files
    folder = open_folder(saving, TABLES, OTHERS)
    source = read_input(output, data, given, reading)
    beside = read_beside(output, table, source.objects, reading.labels)
    paint = painting.read(source, beside, given, reading, saving)
    study = study_of(source, beside)
    step = fit_map(output, study, estimator, params, keeping)
    if folder is not None:  # first, for whoever reads the output may stop reading
        write_study(output, folder, study, paint, data=source.record)
    show_step(output, step)
    written = say_written(output, folder)
    if not step.finished:
        where = f"; what there is was written to {folder.path}" if folder is not None else ""
        on = f"; --resume {keeping.checkpoint} goes on with it" if keeping.checkpoint is not None else ""
        output.alert(f"Stopped: the map is unfinished{where}{on}.")
    return Outcome({**document_of(step), "data": source.record, "written": written}, step.finished)
