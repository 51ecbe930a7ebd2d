"""How good the last map is: the number of dimensions, pair by pair, object by object, and other methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
from markupsafe import Markup

from ..discovery import LeftOut
from ..inspection import neighbourhood_scores
from ..plotting import plot_scree, plot_shepard
from ._maps import Paint, map_figure, map_picture
from ._page import Cards, Figure, Folded, Heading, Items, Note, Part, Table
from ._pictures import CHART, SQUARE, draw
from ._subject import Subject
from ._text import NOTHING, clip, count, hidden, name_of, number, percent

# Rows of a table before the rest are only counted.
MOST_ROWS = 20
MOST_PAIRS = 10
# What each method is, for those who do not know its name.
RIVALS = {
    "conditional-mds": "Conditional scaling with its defaults",
    "conditional-mds-diagonal": "Conditional scaling, each feature by itself",
    "conditional-mds-adjusted": "Conditional scaling, adjusted for the known features",
    "conditional-classical-mds": "Conditional classical scaling (closed form)",
    "mds-then-regress": "Scaling first, then regressing the known features out",
    "partial-dbrda": "Partial distance-based redundancy analysis",
    "mds": "Metric scaling without known features",
    "isomap": "Isomap without known features",
    "tsne": "t-SNE without known features",
}


def quality(subject: Subject) -> Sequence[Part]:
    """Show how many dimensions there are, and how well pairs and objects fit."""
    options = subject.options
    parts: dict[str, tuple[bool, Callable[[Subject], list[Part]]]] = {
        "How many dimensions?": (options.scree, _scree),
        "Pair by pair": (True, _pairs),
        "Object by object": (True, _points),
        "How sure the places are": (options.resamples > 0, _places),
    }
    made = [(title, make) for title, (asked, make) in parts.items() if asked]
    return [Cards([[Heading(title), *subject.attempt(partial(make, subject))] for title, make in made])]


def _scree(subject: Subject) -> list[Part]:
    curve = subject.scree
    elbow, most = curve.attrs["elbow"], len(curve) - 1
    picture = Figure(
        [draw(lambda ax: plot_scree(curve, ax=ax), CHART)],
        f"Stress against the number of dimensions, from 0 to {most}; the curve bends most at {elbow}.",
        f"The stress of maps of 0, 1, 2 … dimensions, given the same known features. It always falls. It bends most at "
        f"{count(elbow, 'dimension')}; the last map has {subject.last.n_components}.",
    )
    columns: dict[str, Sequence[object]] = {
        "Dimensions": [str(p) for p in curve.index],
        "Stress": [number(value) for value in curve["stress"]],
        "Accounted for": [percent(1 - value) for value in curve["stress"]],
    }
    return [picture, _folded("scree", "Stress by number of dimensions", columns)]


def _folded(identity: str, title: str, columns: dict[str, Sequence[object]], left: str = "") -> Folded:
    return Folded(title, [Table(identity, title, columns, list(columns)[1:], left)])


def _pairs(subject: Subject) -> list[Part]:
    """Show the Shepard diagram and the pairs that fit least well."""
    pairs = subject.pairs
    sample = len(pairs.dissimilarities)
    some = f" Shown are the pairs of {sample:,} objects, picked at random." if sample < subject.n else ""
    picture = Figure(
        [draw(lambda ax: plot_shepard(pairs.fit, pairs.dissimilarities, ax=ax), SQUARE)],
        "Fitted distances against dissimilarities, a point per pair, with a line where there is no error.",
        "Shepard's diagram: each pair's distance in the fit against its dissimilarity. Pairs above the line came out "
        f"too far apart, pairs below it too close.{some}",
    )
    rows = pairs.table()
    rows = rows[rows["weight"] > 0]
    worst = rows.iloc[np.argsort(-rows["residual"].abs().to_numpy(), kind="stable")[:MOST_PAIRS]]
    named = zip(worst["i"], worst["j"], strict=True)
    columns: dict[str, Sequence[object]] = {
        "Pair": [Markup("{} and {}").format(name_of(i), name_of(j)) for i, j in named],
        "Aim": [number(value) for value in worst["disparity"]],
        "Distance": [number(value) for value in worst["distance"]],
    }
    return [picture, _folded("pairs", f"The {len(worst)} pairs that fit least well", columns)]


def _points(subject: Subject) -> list[Part]:
    """Show each object's part of the stress."""
    stress = subject.last.stress_per_point
    total = max(float(stress.sum()), np.finfo(float).tiny)
    times = (stress * (subject.n / total)).rename("times the average").set_axis(subject.objects)
    order = np.argsort(-times.to_numpy(), kind="stable")[:MOST_ROWS]
    columns: dict[str, Sequence[object]] = {
        "Object": [name_of(subject.objects[at]) for at in order],
        "Times average": [f"{times.iloc[at]:.2f}" for at in order],
        "Share": [percent(stress.iloc[at] / total) for at in order],
    }
    left = hidden(subject.n, len(order), "object")
    listed = _folded("points", "Part of the stress, largest first", columns, left)
    if not subject.last.n_components:
        return [listed]
    picture = map_figure(
        subject,
        subject.last.embedding,
        Paint(str(times.name), times),
        "The last map, each object coloured by its part of the stress.",
        "The last map, coloured by each object's part of the stress; 1 is the average. Trust the places of those far "
        "above it least.",
    )
    return [picture, listed]


def _places(subject: Subject) -> list[Part]:
    """Show how far the objects' places may be off."""
    if subject.last.n_components < 2:
        raise LeftOut("Ellipses are left out: they need a map of two dimensions.")
    spread, step = subject.stability, subject.last
    picture = Figure(
        [map_picture(subject, step.embedding, Paint(), spread)],
        f"Map {step.number} with an ellipse around each object.",
        f"An ellipse holds {spread.level:.0%} of the places that an object takes when dissimilarities are made anew "
        "with the errors of the fit. It knows nothing of other maps that fit as well, or of too few dimensions.",
    )
    half = spread.objects["major"].to_numpy()
    order = np.argsort(-half, kind="stable")[:MOST_PAIRS]
    columns: dict[str, Sequence[object]] = {
        "Object": [name_of(spread.objects.index[at]) for at in order],
        "Half-length": [number(value) for value in half[order]],
    }
    return [picture, _folded("places", "The least certain places", columns)]


# ---- other methods


def rivals(subject: Subject) -> Sequence[Part]:
    """Compare the last map with those of other methods."""
    reading, asked = subject.reading, subject.options.rivals
    subject.require_few("The comparison with other methods", count(len(reading.other_methods(asked)), "further map"))
    scores = reading.rivals(asked, random_state=subject.options.seed)
    made = scores["leak"].notna()
    parts = [_words(subject), *_remarks(subject), _rivals_table(subject, scores[made])]
    parts += _notes("Methods that made no map:", scores[~made])
    return [*parts, *_notes("Remarks of the methods:", scores[made])]


def _words(subject: Subject) -> str:
    leak = (
        "A leak near 0 means that the map does not repeat the known features; in brackets is the value that 19 of 20 "
        "random maps stay below. "
    ) * bool(subject.last.known)
    return (
        "Every method had the same dissimilarities and, where it can use them, the same known features. "
        f"{leak}Trustworthiness: how far neighbours on the map are neighbours in the data (1 is best); it need not be "
        "high on a map without the known features. Compare stress only between methods that minimise it."
    )


def _remarks(subject: Subject) -> list[Part]:
    """Return notes about estimated cells, and about the stress of a map with fewer dimensions than were fitted."""
    known, notes = subject.reading.known, []
    gaps = 0 if known is None else int(known.isna().to_numpy().sum())
    if gaps:
        are = "is" if gaps == 1 else "are"
        cells = count(gaps, "missing cell")
        notes.append(Note(f"{cells} of the known features {are} estimated, and all methods use the estimates."))
    (drawn, _), *others = subject.last.stresses
    if drawn:
        free = "; ".join(f"{what}: {number(stress)}" for what, stress in others[:1])
        notes.append(Note(f"The stress of this study's last map is that of the {drawn} ({free})."))
    return notes


def _rivals_table(subject: Subject, scores: pd.DataFrame) -> Table:
    step = subject.last
    (_, stress), *_ = step.stresses  # of the dimensions drawn, as the other numbers of this map are
    own = step.leak, np.nan if step.uncorrelated else step.leak_reference
    leaks = [own, *zip(scores["leak"], scores["leak_reference"], strict=True)]
    trust = (_trustworthiness(subject), *scores["trustworthiness"])
    columns: dict[str, Sequence[object]] = {
        "Method": ["This study's last map", *(name_of(RIVALS.get(name, name)) for name in scores.index)],
        "Stress": [number(value) for value in (stress, *scores["stress"])],
        "Leak (chance)": [f"{leak:.2f}" + ("" if np.isnan(by) else f" ({by:.2f})") for leak, by in leaks],
        "Trustworthiness": [f"{x:.2f}" if np.isfinite(x) else NOTHING for x in trust],
    }
    return Table("methods", "Methods on the same data", columns, list(columns)[1:])


def _trustworthiness(subject: Subject) -> float:
    if subject.missing_pairs:
        return np.nan
    nearest = min(5, (subject.n - 1) // 2)  # as in compare
    kept = neighbourhood_scores(subject.dissimilarities, subject.last.embedding, n_neighbors=nearest)
    return float(kept["trustworthiness"].iloc[0])


def _notes(words: str, scores: pd.DataFrame) -> list[Part]:
    """Return the notes of some methods, if there are any."""
    notes = scores["note"].items()
    lines = [Markup("{}: {}").format(name_of(name), clip(text, 300)) for name, text in notes if text]
    return [Note(words), Items(lines)] if lines else []
