"""What was found in short, what to be careful about, and what is needed to repeat the study."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from markupsafe import Markup

from ..discovery import PACKAGES, Action, Adoption, Step
from ..problem.leak import leak_in_words
from ._known import features_table, on_the_map
from ._page import Beside, Code, Folded, Items, Note, Part, Table
from ._steps import METHODS, pictures_of
from ._subject import Subject
from ._text import NOTHING, change_in_words, clean, clip, count, given, hidden, name_of, names_of, number, percent

MOST_CAUTIONS, MOST_OPEN = 30, 5
LONGEST_CAUTION = 600
MOST_HISTORY = 40
FEW_OBJECTS = 10
# What the warnings of a fit mean to somebody who has not read the code.
PLAIN_WORDS = {
    "AdjustmentWarning": "The map was adjusted for the known features",
    "ConvergenceWarning": "The search stopped before it had settled, so that a better map may exist",
    "KnownFeatureWarning": "Known features were left out, or could not be estimated well",
    "LeakWarning": "The map repeats the known features",
    "MapWarning": "The map may not mean what it seems",
    "UnfinishedWarning": "The fit was interrupted, and its map is what it had by then",
}
REMEDY = (
    "Fit it with adjust=True (on the command line --adjust yes), which takes that off the map and leaves the fit as it "
    "is; or with fewer dimensions."
)


def findings(subject: Subject) -> Sequence[Part]:
    """Return the last map, the findings in a few sentences, the test of each known feature, and the cautions."""
    (picture, *_) = subject.attempt(lambda: pictures_of(subject, subject.last))
    words = [_sentences(subject), *_leak(subject), *subject.attempt(lambda: features_table(subject))]
    return [Beside(picture, words), *_shown_cautions(cautions(subject))]


def tiles(subject: Subject) -> list[tuple[str, str]]:
    """Return the main numbers with their names."""
    steps, last = len(subject.study.steps), subject.last
    many = steps > 1
    shares = [(f"accounted for{what and ', '}{what}", percent(1 - stress)) for what, stress in last.stresses]
    return [
        ("objects", f"{subject.n:,}"),
        ("maps" if many else "map", f"{steps:,}"),
        ("known to the last map" if many else "known", count(len(last.known), "feature")),
        *shares,
    ]


def _sentences(subject: Subject) -> Markup:
    first, last = subject.study.steps[0], subject.last
    words = Markup("The first map ({}) accounts for {} of the squared dissimilarities. ").format(
        given(first), _shares(first)
    )
    if last is not first:
        words += Markup("The known features and the last map ({}) together account for {}. ").format(
            given(last), _shares(last)
        )
    return words + ("The last map shows how the objects differ beyond the known features." if last.known else "")


def _shares(step: Step) -> str:
    """Return what a map accounts for, and beside it what is accounted for without a map or with more dimensions."""
    (_, first), *others = step.stresses
    beside = "; ".join(f"{what}: {percent(1 - value)}" for what, value in others)
    return f"{percent(1 - first)}{f' ({beside})' if beside else ''}"


def _leak(subject: Subject) -> list[Part]:
    """Say whether the last map repeats the known features, and what was or can be done about it."""
    step = subject.last
    if not step.known or not step.n_components:
        return []
    features = "; ".join(f"{name}, {how}" for name, how in on_the_map(subject).items())
    listed = f" Feature by feature it shows {features}." if features else ""
    leak = f"its leak is {leak_in_words(step.leak, step.leak_reference)}"
    if step.adjusted:
        begin = (
            f"The last map is adjusted: as it was fitted, its leak was {step.free_leak:.2f}, and what the known "
            "features predict was taken off it, so that its leak is 0 by construction."
        )
    elif step.uncorrelated:
        begin = "The last map is uncorrelated with the known features by construction (orthogonal=True)."
    elif step.leak > step.leak_reference:
        begin = f"The last map repeats the known features: {leak}. {REMEDY}"
    elif features:
        begin = f"Along its axes the last map repeats the known features no more than chance: {leak}."
    else:
        begin = f"It repeats none of the known features beyond chance: {leak}."
    if step.uncorrelated and not listed and subject.made("leaks") is not None:
        listed = " Neighbours on it do not tell the known features beyond chance."
    return [begin + listed]


# ---- cautions


def _shown_cautions(listed: list[Markup]) -> list[Part]:
    if not listed:
        return [Note("Nothing was found to warn of.")]
    rest = listed[MOST_OPEN:MOST_CAUTIONS]
    folded = [Folded(f"{count(len(rest), 'more caution')}", [Items(rest, "careful")])] if rest else []
    left = hidden(len(listed), MOST_CAUTIONS, "caution")
    return [Items(listed[:MOST_OPEN], "careful"), *folded, *[Note(left)] * bool(left)]


def cautions(subject: Subject) -> list[Markup]:
    """Return warnings in plain words: of the data, of the fits, of the last map, and of this page."""
    parts = (_of_last, _of_data, _of_steps, _of_intervals)
    listed = [caution for part in parts for caution in part(subject)]
    listed += [_caution("Left out", reason) for reason in subject.left_out]
    return listed + [_caution("While this page was made", text) for text in subject.remarks]


def _caution(what: str, why: str | Markup) -> Markup:
    return Markup("<b>{}.</b> {}").format(what, why if isinstance(why, Markup) else clip(why, LONGEST_CAUTION))


def _of_data(subject: Subject) -> Iterator[Markup]:
    if subject.missing_pairs:
        share = percent(subject.missing_pairs / subject.n_pairs)
        missing = f"{subject.missing_pairs:,} of {subject.n_pairs:,} pairs ({share}) have no dissimilarity"
        yield _caution("Missing pairs", f"{missing}; their distances on a map were not measured.")
    if subject.n < FEW_OBJECTS:
        yield _caution("Few objects", f"Among {subject.n} objects almost any pattern can be chance.")


def _of_steps(subject: Subject) -> Iterator[Markup]:
    warned: dict[str, list[str]] = {}
    for step in subject.study.steps:
        for warning in step.warnings:
            if step is subject.last and warning.startswith("LeakWarning") and subject.made("leaks") is not None:
                continue  # the table of this page is among the cautions of the last map
            warned.setdefault(warning, []).append(str(step.number))
    for warning, numbers in warned.items():
        category, _, message = warning.partition(": ")
        if category != "MissingDissimilarityWarning":  # is among the cautions of the data
            where = f"Map{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:10])}{' …' if len(numbers) > 10 else ''}"
            yield _caution(where, f"{PLAIN_WORDS.get(category, 'The fit warned')}: {message}")


def _of_last(subject: Subject) -> Iterator[Markup]:
    last = subject.last
    features = "; ".join(f"{name}, {how}" for name, how in on_the_map(subject).items())
    if features or last.leak > last.leak_reference:
        leak = "" if last.uncorrelated else f"; its leak is {leak_in_words(last.leak, last.leak_reference)}"
        yield _caution("The last map shows known features", f"{features or 'Along its axes'}{leak}.")
    waiting = [action.name for action in subject.after(last.number) if isinstance(action, Adoption)]
    if waiting:
        later = Markup("Adopted after the last map, which was not given: {}.").format(names_of(waiting))
        yield _caution("Not fitted yet", later)
    if last.n_components > 2:
        yield _caution("More than a picture", f"The last map has {last.n_components} dimensions; a picture shows two.")
    curve = subject.made("scree")
    if curve is not None and (elbow := curve.attrs["elbow"]) > last.n_components:
        text = f"The stress bends at {elbow} dimensions and the last map has {last.n_components}: more may be hidden."
        yield _caution("More dimensions", text)


def _of_intervals(subject: Subject) -> Iterator[Markup]:
    stability = subject.made("stability")
    if stability is not None:
        unsure = stability.importance.index[stability.importance["low"] <= 0]
        if len(unsure):
            yield _caution(
                "Perhaps nothing", Markup("Intervals of importance reach 0: {}.").format(names_of(list(unsure)))
            )


# ---- to repeat it


def record(subject: Subject) -> Sequence[Part]:
    """Return the data, the history, the versions and the script, each folded."""
    return [
        Folded("The data", [_data(subject)]),
        Folded("History", _history(subject)),
        Folded("Versions", [_versions(subject)]),
        Folded("The script", _script(subject)),
    ]


def _data(subject: Subject) -> Part:
    material = subject.study.material
    data, missing = material.data, material.data.missing_pairs
    pairs = clip(data.words, 200) if missing is None else f"{subject.n_pairs - missing:,} of {subject.n_pairs:,}"
    rows: list[tuple[str, object]] = [
        ("Objects", f"{subject.n:,}"),
        ("Pairs with a dissimilarity", pairs),
        ("Known from the start", names_of(list(material.known.columns)) or "nothing"),
        ("Recognised on the way", names_of([action.name for action in subject.adoptions]) or "nothing"),
    ]
    if material.table.shape[1]:
        rows.append(("Columns of the table", names_of(list(material.table.columns))))
    if material.weights is not None:
        rows.append(("Weights of the pairs", "given"))
    files = subject.study.origin.files if subject.study.origin else ()
    rows += [(f"File ({file.role})", clip(f"{file.name}, SHA-256 {file.sha256 or 'not taken'}", 200)) for file in files]
    return Table("data", "What was asked", {"": [name for name, _ in rows], "Value": [value for _, value in rows]})


def _history(subject: Subject) -> list[Part]:
    actions = subject.study.actions
    shown = actions[-MOST_HISTORY:]
    left = hidden(len(actions), len(shown), "action")
    lines = Items([_line(action) for action in shown], "history", len(actions) - len(shown) + 1)
    return [*[Note(left)] * bool(left), lines, _fits(subject)]


def _line(action: Action) -> Markup:
    if not isinstance(action, Step):
        return change_in_words(action)
    size = count(action.n_components, "dimension")
    return Markup("<b>Map {}</b>, {} in {}, {}: stress {}.").format(
        action.number, METHODS[action.estimator], size, given(action), action.stress_in_words
    )


def _fits(subject: Subject) -> Table:
    steps = subject.study.steps[-MOST_HISTORY:]
    others = [{name: value for name, value in step.params.items() if name != "n_components"} for step in steps]
    columns: dict[str, Sequence[object]] = {
        "Map": [f"{step.number}" for step in steps],
        "Given": [given(step) for step in steps],
        "Dimensions": [_dimensions(step) for step in steps],
        "Stress": [number(step.stress) for step in steps],
        "Leak": [f"{step.leak:.2f}" if step.known else NOTHING for step in steps],
        "Solver": [clip(step.solver) for step in steps],
        "Settled": ["interrupted" if not s.finished else "yes" if s.converged else "no" for s in steps],
        "Parameters": [clip(", ".join(f"{name}={value!r}" for name, value in params.items())) for params in others],
    }
    return Table("fits", "The fits", columns, ("Dimensions", "Stress", "Leak"))


def _dimensions(step: Step) -> str:
    """Return the number of dimensions shown, and of those fitted, which the stress is of, if there are more."""
    fitted = step.free_embedding.shape[1]
    return f"{step.n_components}{f' of {fitted} fitted' * (fitted > step.n_components)}"


def _versions(subject: Subject) -> Table:
    """List the versions of the packages that made the last map and this page."""
    now = {"python": platform.python_version()} | {name: version(name) for name in (*PACKAGES, "matplotlib")}
    made = subject.last.versions
    names = list(dict.fromkeys([*made, *now]))
    columns: dict[str, Sequence[object]] = {
        "Package": [clip(name) for name in names],
        "The last map": [clip(made.get(name, NOTHING)) for name in names],
        "This page": [now.get(name, NOTHING) for name in names],
    }
    return Table("versions", "What made the numbers", columns)


def _script(subject: Subject) -> list[Part]:
    code = subject.study.to_script(subject.options.saved_as)
    # Cleaned word by word, which keeps the spaces between them.
    shown = "\n".join(" ".join(map(clean, line.split(" "))) for line in code.splitlines())
    words = Markup("It makes the maps again, from the dissimilarities on, and needs {}, the saved study.").format(
        name_of(subject.options.saved_as)
    )
    return [words, Code("The script, in Python", shown)]
