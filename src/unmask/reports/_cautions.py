"""What was found in short, and what to be careful about, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from ..discovery import Adoption
from ._html import Html, clip, count, element, items, join, names_of, note, paragraph, percent
from ._repeats import LEAK_WARNING, leak_in_short
from ._section import Section, given, more
from ._subject import Subject

MOST_CAUTIONS = 30
LONGEST_CAUTION = 600
FEW_OBJECTS = 10
# What the warnings of a fit mean to somebody who has not read the code.
PLAIN_WORDS = {
    "AdjustmentWarning": "What is known was taken off the map",
    "ConvergenceWarning": "The search stopped before it had settled, so that a better map may exist",
    "DisconnectedGraphWarning": "Some groups of objects were not connected",
    "FewPairsWarning": "Some objects have so few dissimilarities that their places are not certain",
    "ImputedKnownWarning": "Something that was missing could not be estimated well",
    "LeakWarning": "The map repeats what is known",
    "RedundantKnownWarning": "Some known features tell nothing that the others do not",
    "SmallNeighbourhoodWarning": "The neighbourhood could not shrink as far as it should",
    "UnfinishedMapWarning": "The fit was interrupted, and its map is what it had by then",
}


def in_short(subject: Subject, cautions: int) -> Section:
    """Sum up the findings in a few numbers and sentences."""
    last = subject.last
    tiles = [
        ("objects", f"{subject.n:,}"),
        ("maps" if len(subject.study.steps) > 1 else "map", f"{len(subject.study.steps):,}"),
        ("known to the last map" if len(subject.study.steps) > 1 else "known", count(len(last.known), "feature")),
        ("accounted for", percent(1 - last.stress)),
    ]
    shown = element("dl", *(element("div", element("dt", n), element("dd", v)) for n, v in tiles), class_="tiles")
    link = element("a", count(cautions, "thing"), href="#cautions")
    careful = paragraph("There ", "is " if cautions == 1 else "are ", link, " to be careful about.") if cautions else ""
    explained = note(
        "Accounted for: the share of the sum of squared dissimilarities that the distances of the fit reproduce, which "
        "is 1 less the stress."
    )
    parts = [shown, _sentences(subject), leak_in_short(subject), careful, explained]
    return Section("short", "In short", join(parts))


def _sentences(subject: Subject) -> Html:
    first, last = subject.study.steps[0], subject.last
    words: list[object] = [f"{count(subject.n, 'object')} were mapped by how dissimilar they are. The first map ("]
    words += [given(first), f") accounts for {percent(1 - first.stress)} of that. "]
    if last is not first:
        words += ["What is known and the last map (", given(last)]
        words.append(f") together account for {percent(1 - last.stress)}. ")
    if last.known:
        words.append("The last map shows how the objects differ beyond what is known about them.")
    return paragraph(*words)


# ---- cautions


def cautions(subject: Subject) -> list[Html]:
    """Return warnings in plain words: of the data, of the fits, of the last map, and of this page."""
    parts = (_of_data, _of_steps, _of_last, _of_scree, _of_intervals)
    listed = [caution for part in parts for caution in part(subject)]
    listed += [_caution("Left out", reason) for reason in subject.left_out]
    return listed + [_caution("While this page was made", text) for text in subject.heard]


def cautions_section(listed: list[Html]) -> Section:
    """Return the cautions as a section."""
    shown = items(listed[:MOST_CAUTIONS], class_="careful") if listed else paragraph("Nothing was found to warn of.")
    return Section("cautions", "What to be careful about", join([shown, more(len(listed), MOST_CAUTIONS, "caution")]))


def _caution(what: str, *why: object) -> Html:
    return join([element("b", f"{what}. "), *(w if isinstance(w, Html) else clip(w, LONGEST_CAUTION) for w in why)])


def _of_data(subject: Subject) -> Iterator[Html]:
    if subject.missing_pairs:
        share = percent(subject.missing_pairs / subject.n_pairs)
        missing = f"{subject.missing_pairs:,} of {subject.n_pairs:,} pairs ({share}) have no dissimilarity"
        yield _caution("Missing pairs", f"{missing}; what a map says about them was not measured.")
    if subject.n < FEW_OBJECTS:
        yield _caution("Few objects", f"Of {subject.n} objects almost any pattern can be chance.")


def _of_steps(subject: Subject) -> Iterator[Html]:
    said: dict[str, list[str]] = {}
    for step in subject.study.steps:
        for warning in step.warnings:
            if step is subject.last and warning.startswith(LEAK_WARNING):
                continue  # said in short
            said.setdefault(warning, []).append(str(step.number))
    for warning, numbers in said.items():
        category, _, message = warning.partition(": ")
        if category != "MissingDissimilarityWarning":  # has been said of the data
            where = f"Map{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:10])}{' …' if len(numbers) > 10 else ''}"
            yield _caution(where, f"{PLAIN_WORDS.get(category, 'The fit warned')}: {message}")


def _of_last(subject: Subject) -> Iterator[Html]:
    last = subject.last
    waiting = [action.name for action in subject.after(last.number) if isinstance(action, Adoption)]
    if waiting:
        yield _caution("Not fitted yet", Html("Adopted after the last map, which was not given: "), names_of(waiting))
    if last.n_components > 2:
        yield _caution("More than a picture", f"The last map has {last.n_components} dimensions; a picture shows two.")


def _of_scree(subject: Subject) -> Iterator[Html]:
    used, curve = subject.last.n_components, subject.made("scree")
    if curve is not None and (elbow := curve.attrs["elbow"]) > used:
        words = f"The stress bends at {elbow} and the last map has {used}: more may be hidden."
        yield _caution("More dimensions", words)


def _of_intervals(subject: Subject) -> Iterator[Html]:
    stability = subject.made("stability")
    if stability is not None:
        unsure = stability.importance.index[stability.importance["low"] <= 0]
        if len(unsure):
            yield _caution("Perhaps nothing", Html("Intervals of importance reach 0: "), names_of(list(unsure)))
