"""What was asked, and the maps: the first beside the last, and each with what was recognised on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..discovery import LeftOut, Step
from ..plotting import MOST_CONNECTIONS
from ..problem.leak import leak_in_words
from ._html import (
    Column,
    Html,
    clip,
    count,
    element,
    facts,
    join,
    name_of,
    names_of,
    note,
    number,
    paragraph,
    percent,
    table,
)
from ._maps import Paint, map_figure, paint_of, pair_pictures, shown_on
from ._pictures import figure_element
from ._section import METHODS, beside, given, more, section, told
from ._subject import Subject

if TYPE_CHECKING:
    import pandas as pd

# Rows of a table, and maps of steps, before the rest are only counted.
MOST_FEATURES = 20
MOST_MAPS = 10


@section("asked", "What was asked")
def asked(subject: Subject) -> Html:
    """Describe the data and the known features."""
    material = subject.study.material
    lines: list[tuple[str, object]] = [
        ("Objects", f"{subject.n:,}"),
        _pairs(subject),
        ("Known from the start", names_of(list(material.known.columns)) or "nothing"),
        ("Recognised on the way", names_of([a.name for a in subject.adoptions]) or "nothing"),
    ]
    if material.table.shape[1]:
        lines.append(("Columns of the external table", names_of(list(material.table.columns))))
    if material.weights is not None:
        lines.append(("Weights of the pairs", "given"))
    words = paragraph(
        "Objects that are more dissimilar are to lie farther apart. What is known about them is taken into account "
        "first; a map then shows what it leaves unexplained."
    )
    return join([words, facts(lines), _known_table(subject)])


def _pairs(subject: Subject) -> tuple[str, object]:
    data = subject.study.material.data
    if data.missing_pairs is None:
        return "Dissimilarities", clip(data.words, 200)
    return "Pairs with a dissimilarity", f"{subject.n_pairs - data.missing_pairs:,} of {subject.n_pairs:,}"


def _known_table(subject: Subject) -> Html:
    step = subject.last
    if not step.known:
        return note("The last map was given no known features.")
    features = subject.reading.coded().features
    shown = features[:MOST_FEATURES]
    origins = {a.name: a.origin for a in subject.adoptions}
    columns = [
        Column("Feature", [name_of(f.name) for f in shown]),
        Column("Type", [f"{f.coding.kind}{', declared' if f.declared else ''}" for f in shown]),
        Column("Values", [f"{subject.study.features[f.name].nunique():,}" for f in shown], numeric=True),
        Column("Missing", [f"{len(f.missing):,}" for f in shown], numeric=True),
        Column("Where from", [name_of(origins.get(f.name, "known from the start"), 200) for f in shown]),
    ]
    title = "Known features that the last map was given"
    return join([table(title, columns, "known"), more(len(features), len(shown), "feature"), _imputed_table(step)])


def _imputed_table(step: Step) -> Html:
    """List the missing cells of known features with their estimates."""
    if step.imputed.empty:
        return Html("")
    shown = step.imputed.head(MOST_FEATURES)
    columns = [
        Column("Object", [name_of(label) for label in shown["object"]]),
        Column("Feature", [name_of(name) for name in shown["feature"]]),
        Column("Estimated", [number(x) if isinstance(x, float) else name_of(x) for x in shown["value"]], numeric=True),
        Column("How sure", [_sure(cell) for cell in shown.to_dict("records")]),
        Column("Remark", list(shown["remark"])),
    ]
    title = "Missing cells, as the last map estimated them"
    return join([table(title, columns, "imputed"), more(len(step.imputed), len(shown), "cell")])


def _sure(cell: dict[Any, Any]) -> str:
    if cell["certainty"] == cell["certainty"]:  # of a level or an angle; NaN of a number
        return percent(cell["certainty"])
    if cell["lower"] == cell["lower"]:
        return f"95%: {number(cell['lower'])} to {number(cell['upper'])}"
    return "no interval"


# ---- before and after


@section("pair", "Before and after")
def before_and_after(subject: Subject) -> Html:
    """Show a map with nothing known beside the last map."""
    first, last = subject.study.steps[0], subject.last
    if not last.known:
        return note("There is no after yet: the last map was given no known features.")
    if not last.n_components or not (first.known or first.n_components):
        raise LeftOut("The first and the last map are not compared: one of them has no dimensions.")
    before = _plain_map(subject) if first.known else first.embedding
    paint = paint_of(subject, _first_known(subject))
    pictures = pair_pictures(subject, before, last.embedding, ("nothing known", last.title), paint)
    return figure_element(
        pictures,
        f"Two maps of {count(subject.n, 'object')}: with nothing known, and {clip(last.title)}.{paint.words}",
        join(["Before: nothing known. After: ", given(last), ". ", _pair_words(subject), paint.caption]),
    )


def _pair_words(subject: Subject) -> str:
    """Explain how to read two maps side by side."""
    few = subject.n <= MOST_CONNECTIONS
    lines = "A line joins each object's two places." if few else "Lines or arrows show where some of the objects went."
    added = (
        " The first map is no step of the study: it was fitted for this page." if subject.study.steps[0].known else ""
    )
    return (
        f"{lines} Objects that differ in nothing but what became known have come together; how the others still differ "
        "is what the second map is about. It was turned to fit the first, which changes no distance. Labels for which "
        f"there was no room are left out.{added}"
    )


def _first_known(subject: Subject) -> str:
    """Return the feature to colour by: the first that was recognised, else the first that was known."""
    last = subject.last.known
    return next((a.name for a in subject.adoptions if a.name in last), last[0])


def _plain_map(subject: Subject) -> pd.DataFrame:
    import pandas as pd

    U = subject.fit_without_known().embedding_
    return pd.DataFrame(U, index=subject.objects, columns=[f"axis{c + 1}" for c in range(U.shape[1])])


# ---- every map


@section("steps", "Step by step")
def step_by_step(subject: Subject) -> Html:
    """Show every map, and what was recognised on it."""
    steps = subject.study.steps
    shown = steps if len(steps) <= MOST_MAPS else (steps[0], *steps[1 - MOST_MAPS :])
    parts = [element("p", told(action), class_="then") for action in subject.after(0)]
    if len(shown) < len(steps):
        hidden = len(steps) - len(shown)
        parts.append(note(f"Shown are the first map and the last {len(shown) - 1}; {hidden} between are left out."))
    return join([*parts, *(_step(subject, step) for step in shown)])


def _step(subject: Subject, step: Step) -> Html:
    heading = element("h3", f"Map {step.number}: ", given(step))
    pictures = subject.attempt(lambda: _pictures(subject, step))
    done = [element("p", told(action), class_="then") for action in subject.after(step.number)]
    return join([heading, beside(pictures, facts(_facts(step)), *done)])


def _estimated(step: Step) -> str:
    """Say of a stress that it was estimated from some of the pairs."""
    return f" (estimated from random pairs, standard error {number(step.stress_se)})" if step.stress_se else ""


def _stresses(step: Step) -> list[tuple[str, float]]:
    return [(f", {what}" if what else "", value) for what, value in step.stresses]


def _facts(step: Step) -> list[tuple[str, object]]:
    lines: list[tuple[str, object]] = [
        ("Method", METHODS[step.estimator]),
        ("Dimensions", step.n_components),
        *((f"Stress{of}", f"{number(value)}{_estimated(step)}") for of, value in _stresses(step)),
        *((f"Accounted for{of}", percent(1 - value)) for of, value in _stresses(step)),
    ]
    if step.stress_se:
        lines.append(("Solver", clip(step.solver, 200)))
    if step.known and step.n_components:
        leak = "0 by construction" if step.uncorrelated else leak_in_words(step.leak, step.leak_reference)
        lines.append(("Leak of what was known", leak))
    if not step.finished:
        lines.append(("State", "interrupted"))
    elif not step.converged:
        lines.append(("State", "not settled"))
    return lines


def _pictures(subject: Subject, step: Step) -> Html:
    """Return a map; of the last one, if it has three dimensions or more, a second picture with the third."""
    if not step.n_components:
        return note("No dimensions: what is known is all that was fitted.")
    paint = paint_of(subject, shown_on(subject, step))
    first = _picture(subject, step, list(range(min(2, step.n_components))), paint)
    if step.n_components < 3 or step is not subject.last:
        return first
    return join([first, _picture(subject, step, [0, 2], paint)])


def _picture(subject: Subject, step: Step, axes: list[int], paint: Paint) -> Html:
    shown = f" Axes {axes[0] + 1} and {axes[1] + 1} of {step.n_components}." if step.n_components > 2 else ""
    near = "Along the line, near means similar" if len(axes) == 1 else "Near means similar"
    apart = ", apart from what is known" if step.known else ""
    return map_figure(
        subject,
        step.embedding.iloc[:, axes],
        paint,
        f"Map {step.number} of {count(subject.n, 'object')}, {clip(step.title)}.{shown}{paint.words}",
        join([f"{near}{apart}.", shown, paint.caption]),
    )
