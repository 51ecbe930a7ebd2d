"""The methods one would otherwise use, on the same data."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..checking import EstimatedKnownWarning
from ..inspection import compare, neighbourhood_scores
from ._html import NOTHING, Column, Html, clip, count, items, join, name_of, note, number, paragraph, table
from ._section import Section
from ._subject import LeftOut, Subject

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
    "umap": "UMAP, told nothing",
}
# Parameters of a step that leave conditional scaling as it is by default.
DEFAULTS = {"n_components", "random_state", "known_types"}


def rivals(subject: Subject) -> Section:
    """Compare the last map with those of other methods."""
    return Section("rivals", "Would a simpler method have done?", subject.attempt(lambda: _rivals(subject)))


def _rivals(subject: Subject) -> Html:
    step = subject.last
    if not step.n_components:
        raise LeftOut("Other methods are left out: they need at least one dimension.")
    methods = [name for name in subject.settings.rivals if name != "conditional-mds" or not _is_plain(subject)]
    subject.require_few("The comparison with other methods", f"{count(len(methods), 'further map')}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimatedKnownWarning)  # the page says so
        found = compare(
            subject.dissimilarities,
            subject.study.known_of(step),
            n_components=step.n_components,
            methods=methods,
            known_types=dict(step.known_types) or None,
            random_state=subject.settings.seed,
        )
    made = found["leak"].notna()
    absent = found["note"].str.startswith("ImportError: ")
    rest = _listed("Methods that made no map:", found[~made & ~absent]) + _listed("Said by the methods:", found[made])
    return join(
        [_words(subject), *_estimated(subject), _table(subject, found[made]), *rest, *_not_installed(found[absent])]
    )


def _estimated(subject: Subject) -> list[Html]:
    """Say that missing cells of known features are estimates."""
    known = subject.study.known_of(subject.last)
    gaps = 0 if known is None else int(known.isna().to_numpy().sum())
    if not gaps:
        return []
    are = "is" if gaps == 1 else "are"
    return [
        note(f"{count(gaps, 'missing cell')} of the known features {are} estimated, and all methods use the estimates.")
    ]


def _is_plain(subject: Subject) -> bool:
    """Tell whether the last step is conditional scaling with its defaults already."""
    step = subject.last
    chosen = set(step.params) - ({"adjust"} if not step.adjusted else set())
    return step.estimator == "mds" and chosen <= DEFAULTS and subject.study.material.weights is None


def _words(subject: Subject) -> Html:
    told = "A leak near 0 means that the map does not repeat what was known. " if subject.last.known else ""
    return paragraph(
        "Every method was given the same dissimilarities and, where it can use them, the same known features. "
        f"{told}Trustworthiness says how far neighbours on the map are neighbours in the data (1 is best); a map that "
        "leaves out what is known need not have a high one, because it is meant to bring together what differs only in "
        "that. Stress can be compared only between methods that minimise it."
    )


def _table(subject: Subject, found: pd.DataFrame) -> Html:
    step = subject.last
    names = ["This study's last map", *(name_of(RIVALS.get(name, name)) for name in found.index)]
    scores = {
        "Stress": [number(value) for value in (step.stress, *found["stress"])],
        "Leak": [f"{value:.2f}" for value in (step.leak, *found["leak"])],
        "Trustworthiness": [_score(value) for value in (_trustworthiness(subject), *found["trustworthiness"])],
    }
    columns = [Column(heading, cells, numeric=True) for heading, cells in scores.items()]
    return table("Methods on the same data", [Column("Method", names), *columns], "rivals-table")


def _score(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else NOTHING


def _trustworthiness(subject: Subject) -> float:
    if subject.missing_pairs:
        return np.nan
    nearest = min(5, (subject.n - 1) // 2)  # as in compare
    scores = neighbourhood_scores(subject.dissimilarities, subject.last.embedding, n_neighbors=nearest)
    return float(scores["trustworthiness"].iloc[0])


def _not_installed(found: pd.DataFrame) -> list[Html]:
    """Name the methods whose packages are not there."""
    if found.empty:
        return []
    names = ", ".join(RIVALS.get(str(name), str(name)).partition(",")[0] for name in found.index)
    return [note(f"Not compared, because not installed: {names}. pip install 'unmask[compare]' adds them.")]


def _listed(words: str, found: pd.DataFrame) -> list[Html]:
    """Return the notes of some methods, if there are any."""
    said = [join([name_of(name), ": ", clip(text, 300)]) for name, text in found["note"].items() if text]
    return [note(words), items(said)] if said else []
