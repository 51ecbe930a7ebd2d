"""A study as a Python script that repeats the fits and makes the adopted features again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..checking import quote
from ..problem import FEATURE_TYPES
from ._data import ComparedFeatures, Data, TableInFile
from ._fitting import ESTIMATORS, Recipe
from ._history import saved_columns
from ._material import Material
from ._records import Action, Adoption, Amendment, Forgetting, Step
from ._values import as_code

if TYPE_CHECKING:
    from ._study import Discovery

WIDTH = 100


def script_of(study: Discovery, path: str) -> str:
    """Return the script."""
    material, actions, title = study.material, study.actions, study.title
    body = list(_body(material, actions, saved_columns(study.tree)))
    head = f"""Make the maps of the study{f" {title}" if title else ""} from its saved tables."""
    lines = [f'"""{_one_line(head)}"""', "", *_imports(actions, "\n".join(body)), ""]
    lines += [f"tables = read_tables({as_code(path)})", *_data(material.data), *body]
    return "\n".join(lines) + "\n"


def _data(data: Data) -> list[str]:
    """Return how the script comes to what the maps are made from, which it calls D."""
    if not isinstance(data, ComparedFeatures):
        return ['D = tables["dissimilarities"]']
    return ["# Features of many objects, compared by the metric when it is needed.", 'D = tables["features"]']


def _one_line(text: str) -> str:
    """Return text on one line and without quotation marks, safe in a comment or docstring."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.replace("\\", "/").replace('"', "'").split())


def _imports(actions: tuple[Action, ...], body: str) -> list[str]:
    """Return the imports that the body needs."""
    used = {ESTIMATORS[a.estimator].public.__name__ for a in actions if isinstance(a, Step)}
    used |= {kind.__name__ for kind in FEATURE_TYPES.values() if f"{kind.__name__}(" in body}
    lines = ["import pandas as pd", ""]
    lines += [f"from unmask import {', '.join(sorted(used))}"] if used else []
    curve = "along_curve, " if "along_curve(" in body else ""
    return [*lines, f"from unmask.discovery import {curve}read_tables"]


def _body(material: Material, actions: tuple[Action, ...], columns: dict[int, str]) -> Iterator[str]:
    index = "range(len(D))" if isinstance(material.data, TableInFile) else "D.index"
    yield 'known = tables["known"]' if material.known.shape[1] else f"known = pd.DataFrame(index={index})"
    yield "maps = {}"
    for action in actions:
        yield ""
        if isinstance(action, Step):
            yield from _fit(material, action)
        elif isinstance(action, Adoption):
            yield from _adoption(action, columns[action.id])
        elif isinstance(action, Amendment):
            yield from _amendment(action, columns[action.id])
        else:
            yield from _forgetting(action)


def _fit(material: Material, step: Step) -> Iterator[str]:
    yield f"# Step {step.number}: {_one_line(step.title)}."
    if not step.finished:
        yield "# This fit was interrupted; here it goes on to its end, and the map is another one."
    params: dict[str, Any] = {"n_components": step.n_components, **material.data.params}
    params |= {"known_types": dict(step.known_types)} if step.known_types else {}
    params |= {name: value for name, value in step.params.items() if name not in ("n_components", "known_types")}
    yield from _call(ESTIMATORS[step.estimator], params)
    given = ", known=known" if step.known else ""
    weights = ', weights=tables["weights"]' if material.weights is not None else ""
    yield f"mds.fit(D{given}{weights})"
    yield f"maps[{as_code(step.number)}] = pd.DataFrame(mds.embedding_, index=known.index)"
    yield f'print(f"step {step.number}: stress {{mds.stress_:.6f}}")'


def _call(recipe: Recipe, params: dict[str, Any]) -> Iterator[str]:
    """Return a call, on several lines if it is long; raise on a name that is not a parameter."""
    strangers = [name for name in params if name not in (*recipe.parameters, "metric", "metric_params")]
    if strangers:
        raise ValueError(f"{recipe.public.__name__} has no parameter {quote(strangers)}; no script is written.")
    function = f"mds = {recipe.public.__name__}"
    arguments = [f"{name}={as_code(value)}" for name, value in params.items()]
    line = f"{function}({', '.join(arguments)})"
    yield from [line] if len(line) <= WIDTH else [f"{function}(", *(f"    {a}," for a in arguments), ")"]


def _adoption(adoption: Adoption, column: str) -> Iterator[str]:
    why = f": {adoption.why}" if adoption.why else ""
    yield f"# Adopted {_one_line(f'{adoption.name}, {adoption.origin}{why}')}."
    name = as_code(adoption.name)
    (way, detail), *_ = adoption.source.items()
    if way == "column":
        yield f'known[{name}] = tables["table"][{as_code(detail)}]'
    elif way == "from_axis":
        yield f"known[{name}] = maps[{as_code(adoption.step)}][{as_code(detail)}]"
    elif way == "along" and not isinstance(detail, str):
        yield from _drawn(adoption, name, detail)
    else:
        yield f'known[{name}] = tables["adopted"][{as_code(column)}]'


def _drawn(adoption: Adoption, name: str, corners: Any) -> Iterator[str]:
    """Return what was read off a line or a curve, with the arithmetic of `adopt`."""
    places, axes = f"maps[{as_code(adoption.step)}]", adoption.source.get("axes")
    if axes:
        yield f"plane = {places}[{as_code(axes)}].set_axis([0, 1], axis=1)"
        places = "plane"
    points = [_point(corner, places, adoption) for corner in corners]
    if len(points) > 2:
        yield f"corners = [{', '.join(points)}]"
        yield f"known[{name}] = along_curve({places}, corners)"
        return
    for word, corner, point in zip(("start", "end"), corners, points, strict=True):
        yield f"{word} = {point if _is_label(corner, adoption) else f'pd.Series({point})'}"
    yield "way = (end - start) / ((end - start) ** 2).sum() ** 0.5"
    yield f"known[{name}] = {places} @ way - start @ way"


def _point(corner: Any, places: str, adoption: Adoption) -> str:
    if not _is_label(corner, adoption):
        return as_code(list(corner))
    # .loc would take a label that is a tuple for a row and a column
    is_tuple = isinstance(corner, tuple)
    return f"{places}.{f'iloc[list(D.index).index({as_code(corner)})]' if is_tuple else f'loc[{as_code(corner)}]'}"


def _is_label(corner: Any, adoption: Adoption) -> bool:
    return not isinstance(corner, list) and corner in adoption.values.index


def _amendment(amendment: Amendment, column: str) -> Iterator[str]:
    why = f": {amendment.why}" if amendment.why else ""
    yield f"# After the {_one_line(f'{amendment.text}{why}')}."
    if amendment.rename is not None:
        yield f"known = known.rename(columns={as_code({amendment.name: amendment.rename})})"
    if amendment.cells:
        yield f'known[{as_code(amendment.called)}] = tables["adopted"][{as_code(column)}]'


def _forgetting(forgetting: Forgetting) -> Iterator[str]:
    why = f": {forgetting.why}" if forgetting.why else ""
    yield f"# Put aside {_one_line(f'{forgetting.name}{why}')}."
    yield f"known = known.drop(columns={as_code(forgetting.name)})"
