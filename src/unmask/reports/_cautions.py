"""What was found in short, and what to be careful about, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from ..discovery import Adoption, Step
from ..problem.leak import leak_in_words
from ._html import Html, clip, count, element, items, join, names_of, note, paragraph, percent
from ._repeats import features_on_the_map, leak_in_short, repeats_what_is_known
from ._section import Section, given, more
from ._subject import Subject

MOST_CAUTIONS = 30
LONGEST_CAUTION = 600
FEW_OBJECTS = 10
# What the warnings of a fit mean to somebody who has not read the code.
PLAIN_WORDS = {
    "AdjustmentWarning": "What is known was taken off the map",
    "ConvergenceWarning": "The search stopped before it had settled, so that a better map may exist",
    "KnownFeatureWarning": "Known features were left out, or could not be estimated well",
    "LeakWarning": "The map repeats what is known",
    "MapWarning": "The map may not mean what it seems",
    "UnfinishedWarning": "The fit was interrupted, and its map is what it had by then",
}


def in_short(subject: Subject, cautions: int) -> Section:
    """Sum up the findings in a few numbers and sentences."""
    last = subject.last
    tiles = [
        ("objects", f"{subject.n:,}"),
        ("maps" if len(subject.study.steps) > 1 else "map", f"{len(subject.study.steps):,}"),
        ("known to the last map" if len(subject.study.steps) > 1 else "known", count(len(last.known), "feature")),
        *((f"accounted for{what and ', '}{what}", percent(1 - value)) for what, value in _stresses(subject, last)),
    ]
    shown = element("dl", *(element("div", element("dt", n), element("dd", v)) for n, v in tiles), class_="tiles")
    link = element("a", count(cautions, "thing"), href="#cautions")
    careful = paragraph("There ", "is " if cautions == 1 else "are ", link, " to be careful about.") if cautions else ""
    explained = note(
        "Accounted for: the share of the sum of squared dissimilarities that the distances of the fit reproduce, which "
        "is 1 less the stress. Compare it with what is accounted for without a map."
    )
    parts = [shown, _sentences(subject), leak_in_short(subject), careful, explained]
    return Section("short", "In short", join(parts))


def _sentences(subject: Subject) -> Html:
    first, last = subject.study.steps[0], subject.last
    words: list[object] = [f"{count(subject.n, 'object')} were mapped by how dissimilar they are. The first map ("]
    words += [given(first), f") accounts for {_shares(subject, first)} of that. "]
    if last is not first:
        words += ["What is known and the last map (", given(last)]
        words.append(f") together account for {_shares(subject, last)}. ")
    if last.known:
        words.append("The last map shows how the objects differ beyond what is known about them.")
    return paragraph(*words)


def _shares(subject: Subject, step: Step) -> str:
    """Return what a map accounts for, and beside it what is accounted for without a map or with more dimensions."""
    (_, first), *others = _stresses(subject, step)
    beside = "; ".join(f"{what}: {percent(1 - value)}" for what, value in others)
    return f"{percent(1 - first)}{f' ({beside})' if beside else ''}"


def _stresses(subject: Subject, step: Step) -> list[tuple[str, float]]:
    """Return stresses and of what they are; without a map as in the scree of this page, if it has one."""
    curve = subject.made("scree")
    if curve is None or step is not subject.last or not step.n_components:
        return step.stresses
    alone = ("known features alone" if step.known else "0 dimensions", float(curve["stress"].iloc[0]))
    return [pair for pair in step.stresses if pair[0] != alone[0]] + [alone]


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
            if step is subject.last and warning.startswith("LeakWarning") and subject.made("leaks") is not None:
                continue  # what the table of this page says is among the cautions of the last map
            said.setdefault(warning, []).append(str(step.number))
    for warning, numbers in said.items():
        category, _, message = warning.partition(": ")
        if category != "MissingDissimilarityWarning":  # has been said of the data
            where = f"Map{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:10])}{' …' if len(numbers) > 10 else ''}"
            yield _caution(where, f"{PLAIN_WORDS.get(category, 'The fit warned')}: {message}")


def _of_last(subject: Subject) -> Iterator[Html]:
    last = subject.last
    features = features_on_the_map(subject)
    if features or repeats_what_is_known(subject):
        along = f"; its leak is {leak_in_words(last.leak, last.leak_reference)}" * (not last.uncorrelated)
        yield _caution("What was known is on the last map", f"{features or 'Along its axes'}{along}.")
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
