"""A study as a Python script that makes its maps again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..checking import quote
from ..problem import FEATURE_TYPES
from ._fitting import parameters_of
from ._records import Action, Adoption, Amendment, Forgetting, Step
from ._values import as_code

if TYPE_CHECKING:
    from ._study import Discovery

WIDTH = 100


def script_of(study: Discovery, path: str) -> str:
    """Return the script; a study is saved at the path."""
    body = [line for action in study.actions for line in ("", *_lines(action))]
    head = f"Make the maps of the study{f' {study.title}' if study.title else ''} again."
    types = [kind.__name__ for kind in FEATURE_TYPES.values() if any(f"{kind.__name__}(" in line for line in body)]
    imports = ["import pandas as pd", ""] if any("pd." in line for line in body) else []
    imports += [f"from unmask import {', '.join(sorted(types))}"] if types else []
    imports += ["from unmask.discovery import Discovery"]
    begin = [f"saved = Discovery.load({as_code(path)})", "study = saved.branch()", "study.go(0)", "maps = {}"]
    return "\n".join([f'"""{_one_line(head)}"""', "", *imports, "", *begin, *body]) + "\n"


def _one_line(text: str) -> str:
    """Return text on one line and without quotation marks, safe in a comment or docstring."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.replace("\\", "/").replace('"', "'").split())


def _lines(action: Action) -> Iterator[str]:
    if isinstance(action, Step):
        yield f"# Step {action.number}: {_one_line(action.title)}."
        if not action.finished:
            yield "# This fit was interrupted; here it goes on to its end, and the map is another one."
        unknown = [n for n in action.params if n not in ("n_components", *parameters_of(action.estimator))]
        if unknown:
            raise ValueError(f"estimator={action.estimator!r} has no parameter {quote(unknown)}; no script is written.")
        yield from _call("step = study.fit", {"estimator": action.estimator, **action.params})
        yield "maps[step.number] = step.embedding"
        yield 'print(f"step {step.number}: stress {step.stress:.6f}")'
        return
    yield f"# {_one_line(action.text)}."
    given: dict[str, Any] = {"name": action.name}
    by_file = False  # values that only the saved study has
    if isinstance(action, Adoption):
        by_file = "given" in action.source.values()
        given |= {} if by_file else action.source
    elif isinstance(action, Amendment):
        by_file = bool(action.cells)
        given |= {} if action.rename is None else {"rename": action.rename}
    if not isinstance(action, Forgetting) and action.kind is not None:
        given["kind"] = action.kind
    given |= {"why": action.why} if action.why else {}
    yield from _call(f"study.{action.action}", given, *[f"values=saved.tree[{action.id - 1}].values"] * by_file)


def _call(function: str, given: dict[str, Any], *code: str) -> Iterator[str]:
    """Return a call, on several lines if it is long; ``code`` are further arguments as code."""
    arguments = [*(f"{name}={as_code(value)}" for name, value in given.items()), *code]
    line = f"{function}({', '.join(arguments)})"
    yield from [line] if len(line) <= WIDTH else [f"{function}(", *(f"    {a}," for a in arguments), ")"]
