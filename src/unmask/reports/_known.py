"""The known features of the last map: what they do, how they test, and whether the map repeats them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..discovery import LeftOut, Step
from ..plotting import plot_importance, plot_leak
from ._maps import paint_of, pair_figure
from ._page import Beside, Figure, Folded, Note, Part, Table
from ._pictures import CHART, MAP, draw
from ._subject import Subject
from ._text import NOTHING, clip_apart, count, hidden, name_of, number, percent

# Rows of a table before the rest are only counted.
MOST_FEATURES = 20
LONGEST_NAME = 20
# A measure of the leak with a smaller p-value is above chance.
LEVEL = 0.05
WHICH_TEST = (
    "F and p are of dbrda_test (unmask dbrda): what the feature explains of the dissimilarities themselves, beyond the "
    "other known features. Report them for the data. For the map, report permutation_test (unmask test): whether the "
    "feature has a part in its distances. Their p-values can differ. Importances are sizes, not tests."
)


def features_table(subject: Subject) -> Sequence[Part]:
    """Return importance, its interval if there is one, and the test of each known feature."""
    if not subject.last.known:
        return [Note("The last map was given no known features.")]
    importance, notes = _importance(subject)
    shown = importance.sort_values("standardized", ascending=False, kind="stable").iloc[:MOST_FEATURES]
    columns: dict[str, Sequence[object]] = {
        "Feature": [name_of(name) for name in shown.index],
        "Importance": [number(value) for value in shown["standardized"]],
    }
    if "low" in shown:
        ends = zip(shown["low"], shown["high"], strict=True)
        columns[f"{subject.stability.level:.0%} interval"] = [f"{number(low)} to {number(high)}" for low, high in ends]
    tests = _tests(subject, notes)
    if tests is not None:
        found = tests.reindex(shown.index.map(str))
        columns["F"] = [number(value) for value in found["F"]]
        columns["p"] = [NOTHING if np.isnan(p) else f"{p:.3f}" for p in found["p_value"]]
    left = hidden(len(importance), len(shown), "feature")
    table = Table("importance", "What the known features do", columns, list(columns)[1:], left)
    return [table, *notes, *[Note(WHICH_TEST)] * (tests is not None)]


def _importance(subject: Subject) -> tuple[pd.DataFrame, list[Part]]:
    """Return importances with intervals, or without and why."""
    if not subject.options.resamples:
        return subject.last.importance, []
    try:
        return subject.stability.importance, []
    except LeftOut as reason:
        why = str(reason)
    except Exception as error:  # whatever keeps the fits from being repeated, importances are there
        why = f"Intervals could not be made ({type(error).__name__}: {error})"
    return subject.last.importance, [subject.without(why)]


def _tests(subject: Subject, notes: list[Part]) -> pd.DataFrame | None:
    try:
        return subject.tests.set_axis(subject.tests.index.map(str), axis=0)
    except ValueError as reason:  # missing pairs, too many features or objects
        notes.append(Note(f"There is no test of the dissimilarities: {reason}"))
        return None


def known_features(subject: Subject) -> Sequence[Part]:
    """Describe the known features: what they are, what they do, and whether the last map repeats them."""
    if not subject.last.known:
        return [Note("The last map was given no known features.")]
    importance, _ = _importance(subject)
    shown = importance.sort_values("standardized", ascending=False, kind="stable").iloc[:MOST_FEATURES]
    named = shown.set_axis(clip_apart(shown.index, LONGEST_NAME), axis=0)
    height = float(np.clip(1.0 + 0.32 * len(shown), 1.8, 7.0))
    caption = "How much one standard deviation of a feature adds to the distances, in the units of the dissimilarities."
    if "low" in shown:
        caption += f" Bars: intervals from {subject.stability.n_resamples} resamples of the errors, for these objects."
    picture = Figure(
        [draw(lambda ax: plot_importance(named, ax=ax), (CHART[0], height))],
        f"Importance of {count(len(shown), 'known feature')}, the largest at the top.",
        caption,
    )
    return [Beside(picture, [_types(subject), *_imputed(subject.last)]), *subject.attempt(lambda: _repeats(subject))]


def _types(subject: Subject) -> Table:
    features = subject.reading.coded().features
    shown = features[:MOST_FEATURES]
    origins = {action.name: action.origin for action in subject.adoptions}
    columns: dict[str, Sequence[object]] = {
        "Feature": [name_of(f.name) for f in shown],
        "Type": [f"{f.coding.kind}{', declared' if f.declared else ''}" for f in shown],
        "Values": [f"{subject.study.features[f.name].nunique():,}" for f in shown],
        "Missing": [f"{len(f.missing):,}" for f in shown],
        "Where from": [name_of(origins.get(f.name, "known from the start"), 200) for f in shown],
    }
    left = hidden(len(features), len(shown), "feature")
    return Table("types", "Known features that the last map was given", columns, ("Values", "Missing"), left)


def _imputed(step: Step) -> list[Part]:
    """List the missing cells of known features with their estimates."""
    if step.imputed.empty:
        return []
    shown = step.imputed.head(MOST_FEATURES)
    columns: dict[str, Sequence[object]] = {
        "Object": [name_of(label) for label in shown["object"]],
        "Feature": [name_of(name) for name in shown["feature"]],
        "Estimated": [number(x) if isinstance(x, float) else name_of(x) for x in shown["value"]],
        "How sure": [_certainty(cell) for cell in shown.to_dict("records")],
        "Remark": list(shown["remark"]),
    }
    left = hidden(len(step.imputed), len(shown), "cell")
    title = "Missing cells, as the last map estimated them"
    return [Folded(title, [Table("imputed", title, columns, ("Estimated",), left)])]


def _certainty(cell: dict[Any, Any]) -> str:
    if not np.isnan(cell["certainty"]):  # of a level or an angle; NaN of a number
        return percent(cell["certainty"])
    return "no interval" if np.isnan(cell["lower"]) else f"95%: {number(cell['lower'])} to {number(cell['upper'])}"


# ---- the leak


def on_the_map(subject: Subject) -> dict[str, str]:
    """Return the features that the last map shows beyond chance, each with how; empty if that was not computed."""
    leaks = subject.made("leaks")
    if leaks is None:
        return {}
    shown = leaks[(leaks["linear_p"] <= LEVEL) | (leaks["neighbours_p"] <= LEVEL)]
    return {str(name): "along a line" if p <= LEVEL else "along no line" for name, p in shown["linear_p"].items()}


def _repeats(subject: Subject) -> list[Part]:
    """Show for each known feature how much of it is left on the last map."""
    if not subject.last.n_components:
        raise LeftOut("The leak of the last map is not looked at: it has no dimensions.")
    report = subject.leaks
    height = 0.8 * len(report)
    picture = Figure(
        [draw(lambda ax: plot_leak(report, ax=ax), (MAP[0], 2.0 + height))],
        "What the map repeats of each known feature, beside what chance makes.",
        "Grey is what chance makes of each measure in 19 of 20 maps; a filled dot is above it.",
    )
    columns: dict[str, Sequence[object]] = {"Feature": [name_of(str(name)) for name in report.index]}
    for measure, heading in (("linear", "Along a line (chance)"), ("neighbours", "Neighbours (chance)")):
        pairs = zip(report[measure], report[f"{measure}_reference"], strict=True)
        columns[heading] = [f"{x:.2f} ({'by construction' if np.isnan(r) else f'{r:.2f}'})" for x, r in pairs]
    columns["In words"] = list(report["verdict"])
    table = Table("repeats", "What the last map repeats of the known features", columns, list(columns)[1:3])
    words = (
        "Along a line: how far the map varies along with the feature. Neighbours: how well an object's neighbours on "
        "the map tell its value, which sees clusters and rings too. In brackets the value that one map in twenty "
        "exceeds by chance."
    )
    return [Beside(picture, [table, words]), *_both_maps(subject)]


def _both_maps(subject: Subject) -> list[Part]:
    """Show the map as it was fitted beside the adjusted one."""
    step = subject.last
    if not step.adjusted:
        return []
    paint = paint_of(subject, step.known[0])
    words = "The last map as it was fitted, and adjusted for the known features."
    maps, titles = (step.free_embedding.iloc[:, :2], step.embedding.iloc[:, :2]), ("as it was fitted", "adjusted")
    return [pair_figure(subject, maps, titles, paint, words + paint.words, words + paint.caption)]
