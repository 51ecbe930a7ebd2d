"""What was found: how many dimensions, what the known features do, how good the fit is and how sure the places are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..discovery import LeftOut
from ..plotting import plot_importance, plot_scree, plot_shepard
from ._html import Column, Html, clip_apart, count, element, join, name_of, note, number, paragraph, percent, table
from ._maps import Paint, map_figure, map_picture
from ._pictures import CHART, SQUARE, draw, figure_element
from ._section import beside, more, section
from ._subject import Subject

if TYPE_CHECKING:
    import pandas as pd

# Rows of a table before the rest are only counted.
MOST_ROWS = 20
MOST_PAIRS = 10
LONGEST_NAME = 20
WHICH_TEST = (
    "Importances are sizes, not tests. The test to report with this map is permutation_test (unmask test): whether a "
    "feature has a part in the map's distances, given the other known features. The test to report for the "
    "dissimilarities themselves, without a map, is dbrda_test (unmask dbrda): what share of their squares the feature "
    "explains linearly. Their p-values can differ."
)


# ---- how many dimensions


@section("scree", "How many dimensions?")
def dimensions(subject: Subject) -> Html:
    """Show the stress for every number of dimensions."""
    curve = subject.scree
    elbow, most = curve.attrs["elbow"], len(curve) - 1
    picture = figure_element(
        [draw(lambda ax: plot_scree(curve, ax=ax), CHART)],
        f"Stress against the number of dimensions, from 0 to {most}; the curve bends most at {elbow}.",
        "What is left unexplained by maps of 0, 1, 2 … dimensions, given the same known features. It always falls; "
        "after the elbow further dimensions pay little.",
    )
    columns = [
        Column("Dimensions", [str(p) for p in curve.index]),
        Column("Stress", [number(value) for value in curve["stress"]], numeric=True),
        Column("Accounted for", [percent(1 - value) for value in curve["stress"]], numeric=True),
    ]
    said = f"The curve bends most at {count(elbow, 'dimension')}; the last map has {subject.last.n_components}."
    return beside(picture, paragraph(said), table("Stress by number of dimensions", columns, "scree-table"))


# ---- what is known


@section("importance", "What the known features do")
def importances(subject: Subject) -> Html:
    """Show how much each known feature counts, with intervals if there are any."""
    if not subject.last.known:
        return note("The last map was given no known features.")
    importance, remark = _importance_table(subject)
    shown = importance.sort_values("standardized", ascending=False, kind="stable").iloc[:MOST_ROWS]
    intervals = "low" in shown
    columns = [
        Column("Feature", [name_of(name) for name in shown.index]),
        Column("Importance", [number(value) for value in shown["standardized"]], numeric=True),
    ]
    if intervals:
        ends = zip(shown["low"], shown["high"], strict=True)
        ranges = [f"{number(low)} to {number(high)}" for low, high in ends]
        columns.append(Column(f"{subject.stability.level:.0%} interval", ranges, numeric=True))
    listed = join([table("Importance", columns, "importance-table"), more(len(importance), len(shown), "feature")])
    return join([beside(_importance_picture(subject, shown, intervals), listed), remark, paragraph(WHICH_TEST)])


def _importance_picture(subject: Subject, shown: pd.DataFrame, intervals: bool) -> Html:
    named = shown.set_axis(clip_apart(shown.index, LONGEST_NAME), axis=0)
    height = float(np.clip(1.0 + 0.32 * len(shown), 1.8, 7.0))
    caption = "How much one standard deviation of a feature adds to the distances, in the units of the dissimilarities."
    if intervals:
        spread = subject.stability
        caption += f" Bars: intervals from {spread.n_resamples} resamples of the errors, for these objects."
    return figure_element(
        [draw(lambda ax: plot_importance(named, ax=ax), (CHART[0], height))],
        f"Importance of {count(len(shown), 'known feature')}, the largest at the top.",
        caption,
    )


def _importance_table(subject: Subject) -> tuple[pd.DataFrame, Html]:
    """Return importances with intervals, or without and why."""
    plain = subject.last.importance
    if not subject.options.resamples:
        return plain, Html("")
    try:
        return subject.stability.importance, Html("")
    except LeftOut as reason:
        return plain, subject.without(str(reason))
    except Exception as error:  # whatever keeps the fits from being repeated, importances are there
        return plain, subject.without(f"Intervals could not be made ({type(error).__name__}: {error})")


# ---- how good the fit is


@section("quality", "How good the fit is")
def quality(subject: Subject) -> Html:
    """Show the fitted distances, and which objects fit least well."""
    parts = [element("h3", "Pair by pair"), subject.attempt(lambda: _shepard(subject))]
    parts += [element("h3", "Object by object"), subject.attempt(lambda: _points(subject))]
    return join(parts)


def _shepard(subject: Subject) -> Html:
    pairs = subject.pairs
    sample = len(pairs.dissimilarities)
    some = f" Shown are the pairs of {sample:,} objects, picked at random." if sample < subject.n else ""
    picture = figure_element(
        [draw(lambda ax: plot_shepard(pairs.fit, pairs.dissimilarities, ax=ax), SQUARE)],
        "Fitted distances against dissimilarities, a point per pair, with a line where there is no error.",
        "Shepard's diagram: each pair's distance in the fit against its dissimilarity. On the line they agree; pairs "
        f"above it came out too far apart, pairs below it too close.{some}",
    )
    rows = pairs.table()
    rows = rows[rows["weight"] > 0]
    worst = rows.iloc[np.argsort(-rows["residual"].abs().to_numpy(), kind="stable")[:MOST_PAIRS]]
    columns = [
        Column("Pair", [join(map(name_of, pair), " and ") for pair in zip(worst["i"], worst["j"], strict=True)]),
        Column("Aim", [number(value) for value in worst["disparity"]], numeric=True),
        Column("Distance", [number(value) for value in worst["distance"]], numeric=True),
    ]
    return beside(picture, table(f"The {len(worst)} pairs that fit least well", columns, "pairs"))


def _points(subject: Subject) -> Html:
    stress = subject.last.stress_per_point
    total = max(float(stress.sum()), np.finfo(float).tiny)
    times = (stress * (subject.n / total)).rename("times the average").set_axis(subject.objects)
    order = np.argsort(-times.to_numpy(), kind="stable")[:MOST_ROWS]
    columns = [
        Column("Object", [name_of(subject.objects[at]) for at in order]),
        Column("Times average", [f"{times.iloc[at]:.2f}" for at in order], numeric=True),
        Column("Share", [percent(stress.iloc[at] / total) for at in order], numeric=True),
    ]
    title = "Part of the stress, largest first"
    listed = join([table(title, columns, "points"), more(subject.n, len(order), "object")])
    if not subject.last.n_components:
        return listed
    picture = map_figure(
        subject,
        subject.last.embedding,
        Paint(str(times.name), times),
        "The last map, each object coloured by its part of the stress.",
        "The last map, coloured by each object's part of what is left unexplained; 1 is the average. Trust the places "
        "of those far above it least.",
    )
    return beside(picture, listed)


# ---- how sure the places are


@section("sureness", "How sure the places are")
def sureness(subject: Subject) -> Html:
    """Show how far the objects' places may be off."""
    if subject.last.n_components < 2:
        raise LeftOut("Ellipses are left out: they need a map of two dimensions.")
    spread, step = subject.stability, subject.last
    picture = figure_element(
        [map_picture(subject, step.embedding, Paint(), spread)],
        f"Map {step.number} with an ellipse around each object.",
        f"The last map. An ellipse holds {spread.level:.0%} of the places that an object takes when dissimilarities "
        "are made anew with the errors of the fit. Where ellipses overlap, neighbours may change places.",
    )
    half = spread.objects["major"].to_numpy()
    order = np.argsort(-half, kind="stable")[:MOST_PAIRS]
    columns = [
        Column("Object", [name_of(spread.objects.index[at]) for at in order]),
        Column("Half-length", [number(value) for value in half[order]], numeric=True),
    ]
    words = paragraph(
        "Ellipses are about noise in the dissimilarities. They know nothing of other maps that fit as well, or of a "
        "wrong number of dimensions."
    )
    return beside(picture, words, table("The least certain places", columns, "places"))
