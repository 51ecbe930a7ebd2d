"""The methods one would otherwise use, on the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..inspection import neighbourhood_scores
from ._html import NOTHING, Column, Html, clip, count, items, join, name_of, note, number, paragraph, table
from ._section import section
from ._subject import Subject

if TYPE_CHECKING:
    import pandas as pd

# What each method is, for those who have not heard of it.
RIVALS = {
    "conditional-mds": "Conditional scaling with its defaults",
    "conditional-mds-diagonal": "Conditional scaling, each feature by itself",
    "conditional-mds-adjusted": "Conditional scaling, adjusted for the known features",
    "conditional-classical-mds": "Conditional classical scaling (closed form)",
    "mds-then-regress": "Scaling first, then regressing the known features out",
    "partial-dbrda": "Partial distance-based redundancy analysis",
    "mds": "Metric scaling, told nothing",
    "isomap": "Isomap, told nothing",
    "tsne": "t-SNE, told nothing",
}


@section("rivals", "Would a simpler method have done?")
def rivals(subject: Subject) -> Html:
    """Compare the last map with those of other methods."""
    reading, asked = subject.reading, subject.options.rivals
    subject.require_few("The comparison with other methods", count(len(reading.other_methods(asked)), "further map"))
    scores = reading.rivals(asked, random_state=subject.options.seed)
    made = scores["leak"].notna()
    parts = [_words(subject), _estimated(subject), _free_fit(subject), _table(subject, scores[made])]
    parts += [_notes("Methods that made no map:", scores[~made])]
    return join([*parts, _notes("Said by the methods:", scores[made])])


def _estimated(subject: Subject) -> Html:
    """Say that missing cells of known features are estimates."""
    known = subject.reading.known
    gaps = 0 if known is None else int(known.isna().to_numpy().sum())
    are = "is" if gaps == 1 else "are"
    words = f"{count(gaps, 'missing cell')} of the known features {are} estimated, and all methods use the estimates."
    return note(words) if gaps else Html("")


def _free_fit(subject: Subject) -> Html:
    """Say which stress of the last map is listed, where it was fitted with more dimensions than are drawn."""
    (drawn, _), *others = subject.last.stresses
    free = "; ".join(f"{what}: {number(stress)}" for what, stress in others[:1])
    return note(f"The stress of this study's last map is that of the {drawn} ({free}).") if drawn else Html("")


def _words(subject: Subject) -> Html:
    told = (
        "A leak near 0 means that the map does not repeat what was known; beside it is what 19 of 20 random maps stay "
        "below, where it is not 0 by construction. "
    ) * bool(subject.last.known)
    return paragraph(
        "Every method was given the same dissimilarities and, where it can use them, the same known features. "
        f"{told}Trustworthiness says how far neighbours on the map are neighbours in the data (1 is best); a map that "
        "leaves out what is known need not have a high one, because it is meant to bring together what differs only in "
        "that. Stress can be compared only between methods that minimise it."
    )


def _table(subject: Subject, scores: pd.DataFrame) -> Html:
    step = subject.last
    (_, stress), *_ = step.stresses  # of what is drawn, as the other numbers of this map are
    names = ["This study's last map", *(name_of(RIVALS.get(name, name)) for name in scores.index)]
    trust = (_trustworthiness(subject), *scores["trustworthiness"])
    own = step.leak, np.nan if step.uncorrelated else step.leak_reference
    leaks = [own, *zip(scores["leak"], scores["leak_reference"], strict=True)]
    columns = [
        Column("Method", names),
        Column("Stress", [number(value) for value in (stress, *scores["stress"])], numeric=True),
        Column("Leak (chance)", [_beside_chance(*pair) for pair in leaks], numeric=True),
        Column("Trustworthiness", [f"{x:.2f}" if np.isfinite(x) else NOTHING for x in trust], numeric=True),
    ]
    return table("Methods on the same data", columns, "rivals-table")


def _beside_chance(leak: float, reference: float) -> str:
    return f"{leak:.2f}" + ("" if np.isnan(reference) else f" ({reference:.2f})")


def _trustworthiness(subject: Subject) -> float:
    if subject.missing_pairs:
        return np.nan
    nearest = min(5, (subject.n - 1) // 2)  # as in compare
    kept = neighbourhood_scores(subject.dissimilarities, subject.last.embedding, n_neighbors=nearest)
    return float(kept["trustworthiness"].iloc[0])


def _notes(words: str, scores: pd.DataFrame) -> Html:
    """Return the notes of some methods, if there are any."""
    said = [join([name_of(name), ": ", clip(text, 300)]) for name, text in scores["note"].items() if text]
    return join([note(words), items(said)]) if said else Html("")
