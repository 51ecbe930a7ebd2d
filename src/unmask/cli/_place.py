"""The command that puts new objects on a finished map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._fit import picture_of, show_imputed
from ._folder import open_folder
from ._options import Saving, StudyPath, known_option
from ._output import Outcome, Output, labelled

if TYPE_CHECKING:
    import pandas as pd

    from ..discovery import Discovery, Step

# Maps fitted again agree to rounding; a difference of more than this share of the size means another map.
SAME = 1e-6

NewPath = Annotated[
    Path,
    typer.Argument(
        metavar="NEW", help="New objects, one per row: dissimilarities to the fitted ones, by label, or features."
    ),
]
KnownOfNew = Annotated[Path | None, known_option("--known", metavar="FILE", help="Known features of the new objects.")]
StepNumber = Annotated[int | None, typer.Option("--step", min=1, help="Which map of the study; by default the last.")]


def place(
    output: Output,
    study: StudyPath,
    new: NewPath,
    saving: Saving,
    known: KnownOfNew = None,
    step: StepNumber = None,
) -> Outcome:
    """Place new objects on a map that was fitted; the map itself does not change.

    The map is fitted again from the study, which must lead to the same numbers.
    """
    from ..discovery import Discovery
    from ..io import read_table

    folder = open_folder(saving)
    saved = Discovery.load(study)
    chosen = _chosen(saved, step)
    file = read_table(new)
    output.note(f"{file.path}: {'; '.join(file.detected)}")
    features = _known_of_new(output, saved, chosen, file.table, known)
    fitted = _fit_again(saved, chosen).set_output(transform="pandas")
    placed = fitted.transform(_compared(output, saved, file.table), known=features)
    placed = placed.set_axis(list(chosen.embedding.columns), axis=1)
    if folder is not None:
        folder.table("placed", placed)
        folder.picture("placed.png", _picture(chosen, placed))
    show_imputed(output, chosen.imputed)
    output.show(placed, f"placed on the map, {chosen.title}", most=len(placed))
    written = [] if folder is None else folder.say_written(output)
    document = {"step": chosen.number, "known": list(chosen.known), "placed": labelled(placed)}
    return Outcome({**document, "imputed": chosen.imputed, "written": written})


def _chosen(study: Discovery, number: int | None) -> Step:
    """Return the step whose map is meant, by default the last one."""
    wanted = study.step.number if number is None else number
    if wanted > study.step.number:
        raise ValueError(f"--step {wanted}: the study has {study.step.number} steps; choose one of them.")
    step = study.steps[wanted - 1]
    if not step.finished:
        raise ValueError(
            f"step {wanted} was stopped and its map is unfinished; fit it to its end before placing on it."
        )
    return step


def _fit_again(study: Discovery, step: Step) -> Any:
    """Return the estimator of a step, fitted as it was; raise if it comes to another map."""
    from ..estimators import refit

    weights: dict[str, Any] = {} if study.material.weights is None else {"weights": study.material.weights}
    data, known = study.material.data.fitted, study.known_of(step)
    mds = refit(study.estimator_of(step), data, n_free=step.n_free, known=known, **weights)
    saved = step.embedding.to_numpy()
    difference = abs(saved - mds.embedding_).max(initial=0.0) / (abs(saved).max(initial=0.0) or 1.0)
    if difference > SAME:
        raise ValueError(
            f"fitting step {step.number} again led to another map (a difference of {difference:.1%}), perhaps because "
            "other versions of packages made it; fit it anew, and place on that."
        )
    return mds


def _known_of_new(
    output: Output, study: Discovery, step: Step, rows: pd.DataFrame, path: Path | None
) -> pd.DataFrame | None:
    """Return the known features of the new objects: from their own file, or from NEW if DATA held them too."""
    from ..io import read_known

    names = list(step.known)
    if path is not None and not names:
        raise ValueError(f"--known {path}: nothing was known to this map; leave this out.")
    if path is not None:
        file = read_known(path, rows.index, columns=names)
        output.note(f"{file.path}: {'; '.join(file.detected)}")
        return file.table
    in_data = [] if study.origin is None else study.origin.known_in_data
    if not set(names) <= {*in_data} & {*rows.columns}:
        raise ValueError(
            f"the map was fitted given {', '.join(names)}; pass these of the new objects with --known FILE."
        )
    return rows[names] if names else None


def _compared(output: Output, study: Discovery, rows: pd.DataFrame) -> Any:
    """Return the dissimilarities of the new objects to the fitted ones, or features that the estimator compares."""
    import numpy as np
    import pandas as pd

    from ..dissimilarities import Metric

    origin = study.origin
    if origin is None or origin.metric is None:
        if origin is not None and origin.similarity:
            output.note(f"Taken for dissimilarities, as {origin.similarity} made them of similarities.")
        return rows
    names = list(origin.features)
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise ValueError(
            f"the new objects have no feature {missing[0]!r}, by which the fitted ones were compared; add this column."
        )
    output.note(f"Compared by the metric {origin.metric} of {len(names)} features.")
    if study.material.data.params["metric"] == origin.metric:  # by the estimator itself
        return rows[names]
    metric = Metric(origin.metric).fit(study.table[names])
    return pd.DataFrame(np.asarray(metric.transform(rows[names])), index=rows.index, columns=study.material.objects)


def _picture(step: Step, placed: pd.DataFrame) -> Any:
    import pandas as pd

    both = pd.concat([step.embedding, placed])
    kind = ["fitted"] * len(step.embedding) + ["new"] * len(placed)
    color = pd.Series(pd.Categorical(kind, categories=["fitted", "new"]), index=both.index, name="objects")
    return picture_of(both, f"{len(placed)} new objects, {step.title}", color.to_numpy())
