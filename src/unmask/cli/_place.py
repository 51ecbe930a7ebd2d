"""The command that puts new objects on a finished map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._fitting import PLACED, labelled, picture_of, say_written, show_imputed
from ._folder import open_folder
from ._inputs import SavedStudy, open_study, read_beside, tell
from ._options import Saving, StudyPath, known_option
from ._output import Outcome, Output, progress

if TYPE_CHECKING:
    import pandas as pd

    from ..discovery import Discovery, Step

# Maps fitted again agree to rounding; more than this share of their size is another map.
SAME = 1e-6

NewPath = Annotated[
    Path,
    typer.Argument(
        metavar="NEW", help="New objects, one a row: dissimilarities to the fitted ones, by label, or features."
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
    from ..io import read_table

    folder = open_folder(saving, ["placed", "imputed"], [PLACED])
    saved = open_study(study)
    chosen = _chosen(saved.study, step)
    file = read_table(new)
    tell(output, file)
    rows = file.table
    features = _known_of(output, chosen, rows, known, saved)
    with progress(output, "Fitting again", None):
        fitted = _fit_again(saved.study, chosen)
    fitted.set_output(transform="pandas")
    placed = fitted.transform(_differences(output, saved, rows), known=features)
    placed = placed.set_axis(list(chosen.embedding.columns), axis=1)
    if folder is not None:
        folder.table("placed", placed)
        folder.table("imputed", chosen.imputed if len(chosen.imputed) else None)
        folder.picture(PLACED, _picture(chosen, placed))
    show_imputed(output.say, chosen)
    output.show(placed, f"placed on the map, {chosen.title}", most=len(placed))
    document = {"step": chosen.number, "known": list(chosen.known), "placed": labelled(placed)}
    return Outcome({**document, "imputed": chosen.imputed, "written": say_written(output, folder)})


# ---- the map


def _chosen(study: Discovery, number: int | None) -> Step:
    """Return the step whose map is meant, the last one by default."""
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
    """Return the estimator of a step, fitted as it was."""
    from ..estimators import refit

    weights: dict[str, Any] = {} if study.weights is None else {"weights": study.weights}
    data, known = study.material.data.fitted, study.known_of(step)
    mds = refit(study.estimator_of(step), data, n_free=step.n_free, known=known, **weights)
    _require_same(step, mds.embedding_)
    return mds


def _require_same(step: Step, again: Any) -> None:
    saved = step.embedding.to_numpy()
    size = float(abs(saved).max(initial=0.0)) or 1.0
    difference = float(abs(saved - again).max(initial=0.0)) / size
    if difference > SAME:
        raise ValueError(
            f"fitting step {step.number} again led to another map (a difference of {difference:.1%}), perhaps because "
            "other versions of packages made it; fit it anew, and place on that."
        )


# ---- the new objects


def _known_of(
    output: Output, step: Step, rows: pd.DataFrame, path: Path | None, saved: SavedStudy
) -> pd.DataFrame | None:
    """Return the known features of the new objects: from their own file, or from NEW if the fit had them in DATA."""
    if not step.known:
        if path is not None:
            raise ValueError(f"--known {path}: the map was fitted with nothing known; leave this out.")
        return None
    names = list(step.known)
    if path is not None:
        return read_beside(output, path, rows.index, columns=names)
    if saved.record.get("known_in_data", saved.record.get("known")) == names and set(names) <= set(rows.columns):
        return rows[names]
    raise ValueError(f"the map was fitted given {', '.join(names)}; pass these of the new objects with --known FILE.")


def _differences(output: Output, saved: SavedStudy, rows: pd.DataFrame) -> Any:
    """Return the dissimilarities of the new objects to the fitted ones."""
    import numpy as np
    import pandas as pd

    if saved.metric is None:
        if saved.record.get("similarity"):
            output.note(f"Taken for dissimilarities, as {saved.record['similarity']} made them of similarities.")
        return rows
    from ..dissimilarities import Metric

    study, names = saved.study, saved.features
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise ValueError(
            f"the new objects have no feature {missing[0]!r}, by which the fitted ones were compared; add this column."
        )
    output.note(f"Compared by the metric {saved.metric} of {len(names)} features.")
    if study.material.data.params["metric"] == saved.metric:  # by the estimator itself
        return rows[names]
    metric = Metric(saved.metric).fit(study.table[names])
    return pd.DataFrame(np.asarray(metric.transform(rows[names])), index=rows.index, columns=study.material.objects)


def _picture(step: Step, placed: pd.DataFrame) -> Any:
    import pandas as pd

    both = pd.concat([step.embedding, placed])
    kind = ["fitted"] * len(step.embedding) + ["new"] * len(placed)
    color = pd.Series(pd.Categorical(kind, categories=["fitted", "new"]), index=both.index, name="objects")
    return picture_of(both, f"{len(placed)} new objects, {step.title}", color.to_numpy())
