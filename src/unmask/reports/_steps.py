"""The maps of a study: the first beside the last, and each with what was recognised on it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from markupsafe import Markup

from ..discovery import LeftOut, Step
from ..plotting import MOST_CONNECTIONS
from ..problem.leak import leak_in_words
from ._maps import Paint, map_figure, paint_of, pair_figure, shown_on
from ._page import Cards, Facts, Figure, Heading, Items, Note, Part
from ._subject import Subject
from ._text import change_in_words, clip, count, given, number, percent

METHODS = {"mds": "conditional scaling", "isomap": "conditional Isomap", "classical": "conditional classical scaling"}
# Maps of steps before the rest are only counted.
MOST_MAPS = 10


def before_and_after(subject: Subject) -> Sequence[Part]:
    """Show a map with nothing known beside the last map."""
    first, last = subject.study.steps[0], subject.last
    if not last.known:
        return [Note("There is no after yet: the last map was given no known features.")]
    if not last.n_components or not (first.known or first.n_components):
        raise LeftOut("The first and the last map are not compared: one of them has no dimensions.")
    before, added = first.embedding, ""
    if first.known:
        U = subject.fit_without_known().embedding_
        before = pd.DataFrame(U, index=subject.objects, columns=[f"axis{c + 1}" for c in range(U.shape[1])])
        added = " The first map is no step of the study: it was fitted for this page."
    few = subject.n <= MOST_CONNECTIONS
    lines = "A line joins each object's two places." if few else "Lines or arrows show where some of the objects went."
    paint = paint_of(subject, next((a.name for a in subject.adoptions if a.name in last.known), last.known[0]))
    caption = Markup(
        "Before: nothing known. After: {}. {} Objects that differ only in the known features have come together. The "
        "second map was turned to fit the first, which changes no distance. Labels without room are left out.{}{}"
    ).format(given(last), lines, added, paint.caption)
    alt = f"Two maps of {count(subject.n, 'object')}: with nothing known, and {clip(last.title)}.{paint.words}"
    return [pair_figure(subject, (before, last.embedding), ("nothing known", last.title), paint, alt, caption)]


def step_by_step(subject: Subject) -> Sequence[Part]:
    """Show every map, and what was recognised on it."""
    steps = subject.study.steps
    shown = steps if len(steps) <= MOST_MAPS else (steps[0], *steps[1 - MOST_MAPS :])
    parts: list[Part] = _changes(subject, 0)
    if len(shown) < len(steps):
        between = len(steps) - len(shown)
        parts.append(Note(f"Shown are the first map and the last {len(shown) - 1}; {between} between are left out."))
    return [*parts, Cards([_card(subject, step) for step in shown])]


def _changes(subject: Subject, number: int) -> list[Part]:
    lines = [change_in_words(action) for action in subject.after(number)]
    return [Items(lines, "then")] if lines else []


def _card(subject: Subject, step: Step) -> list[Part]:
    heading = Heading(Markup("Map {}: {}").format(step.number, given(step)))
    pictures = subject.attempt(lambda: pictures_of(subject, step))
    return [heading, *pictures, Facts(_facts(step)), *_changes(subject, step.number)]


def _facts(step: Step) -> list[tuple[str, object]]:
    dimensions = count(step.n_components, "dimension")
    lines: list[tuple[str, object]] = [("Method", f"{METHODS[step.estimator]}, {dimensions}")]
    for what, stress in step.stresses:
        lines.append((f"Stress{what and ', '}{what}", f"{number(stress)} ({percent(1 - stress)} accounted for)"))
    if step.stress_se:
        lines += [
            ("Estimated from random pairs, standard error", number(step.stress_se)),
            ("Solver", clip(step.solver, 200)),
        ]
    if step.known and step.n_components:
        leak = "0 by construction" if step.uncorrelated else leak_in_words(step.leak, step.leak_reference)
        lines.append(("Leak of the known features", leak))
    if not step.finished:
        lines.append(("State", "interrupted"))
    elif not step.converged:
        lines.append(("State", "not settled"))
    return lines


def pictures_of(subject: Subject, step: Step) -> Sequence[Part]:
    """Return a map; of the last one, if it has three dimensions or more, a second picture with the third."""
    if not step.n_components:
        return [Note("No dimensions: only the known features were fitted.")]
    paint = paint_of(subject, shown_on(subject, step))
    more = step.n_components > 2 and step is subject.last
    return [_picture(subject, step, axes, paint) for axes in ([0, 1][: step.n_components], *[[0, 2]] * more)]


def _picture(subject: Subject, step: Step, axes: list[int], paint: Paint) -> Figure:
    shown = f" Axes {axes[0] + 1} and {axes[1] + 1} of {step.n_components}." if step.n_components > 2 else ""
    near = "Along the line, near means similar" if len(axes) == 1 else "Near means similar"
    apart = ", apart from the known features" if step.known else ""
    return map_figure(
        subject,
        step.embedding.iloc[:, axes],
        paint,
        f"Map {step.number} of {count(subject.n, 'object')}, {clip(step.title)}.{shown}{paint.words}",
        Markup("{}{}.{}{}").format(near, apart, shown, paint.caption),
    )
