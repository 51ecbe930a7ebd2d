"""Features proposed for adoption: one small function for each way of saying where their values come from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from .._typing import Array
from ..checking import KnownFeatureWarning, align_rows, find_labels, is_pandas, quote, require_choice, require_integer
from ..problem import Cyclic, check_known
from ._circle import fit_circle
from ._clusters import group_numbers
from ._curve import along_curve, along_line
from ._material import Material, tidy
from ._records import Step
from ._values import as_code, plain

OTHERS = "other"


@dataclass(frozen=True)
class Proposal:
    """A feature before it is adopted: values not yet checked, their type, and what is saved about their source."""

    values: Any
    kind: Any
    source: dict[str, Any]


# What a way returns: values, their type, and how it is to be written down.
Found = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Context:
    """What a proposal may refer to: the tables of the study and the last step, if there is one."""

    material: Material
    step: Step | None
    axes: tuple[int, int] | None = None  # of the map, where two were chosen

    def map_for(self, way: str) -> pd.DataFrame:
        """Return the map of the last step, or the axes of it that were chosen."""
        if self.step is None:
            raise ValueError(f"adopt({way}=…) refers to a map but nothing has been fitted; call fit first.")
        if self.step.n_components == 0:
            raise ValueError(f"adopt({way}=…) refers to a map but the last one has no dimensions; fit one that has.")
        return self.step.embedding if self.axes is None else self.step.embedding.iloc[:, list(self.axes)]


def make_proposal(context: Context, ways: Mapping[str, Any]) -> Proposal:
    """Return the feature that is proposed in the one way that was used; ``axes`` may go with it."""
    used = [way for way in _WAYS if ways.get(way) is not None]
    if len(used) != 1:
        given = f"{' and '.join(used)} were given" if used else "none was given"
        raise ValueError(f"adopt takes exactly one of {', '.join(_WAYS)}; {given}.")
    (way,) = used
    axes = ways.get("axes")
    if axes is None:
        values, kind, saved = _WAYS[way](context, ways[way])
        return Proposal(values, kind, {way: saved})
    if way != "along":
        raise ValueError(f"axes={axes!r} says where along=… was drawn, and {way} was given; leave it out.")
    plane = _checked_axes(axes, context.map_for(way).shape[1])
    values, kind, saved = _along(replace(context, axes=plane), ways[way])
    return Proposal(values, kind, {way: saved, "axes": list(plane)})


def _checked_axes(axes: Any, p: int) -> tuple[int, int]:
    """Return two different axes of a map."""
    plane = list(axes) if isinstance(axes, list | tuple | np.ndarray) else []
    are_numbers = all(isinstance(axis, Integral) and not isinstance(axis, bool) for axis in plane)
    if len(plane) != 2 or not are_numbers or not all(0 <= axis < p for axis in plane) or plane[0] == plane[1]:
        raise ValueError(f"axes={axes!r} must be two axes of the map, counted from 0; it has {p}.")
    return int(plane[0]), int(plane[1])


def check_written(context: Context, source: Mapping[str, Any]) -> None:
    """Raise unless what was saved about the source of a feature is what one of the ways saves."""
    require_choice("source", next(iter(source), None), tuple(_WAYS))
    (way, detail), *others = source.items()
    if way in ("values", "groups") and isinstance(detail, str) and detail == "given" and not others:
        return
    if way == "groups" and not others:  # finding them on the map again would take long
        require_integer("groups", detail, 2)
    elif way == "values" or make_proposal(context, source).source != source:
        raise ValueError(f"{way}={detail!r} is not what a study says about the source of a feature")


def checked_values(values: Any, name: str, kind: Any, objects: pd.Index) -> pd.Series[Any]:
    """Return the values as a feature that can be known: one per object, not all the same, and of their type."""
    if len(values) != len(objects):
        raise ValueError(f"values has {len(values)} entries but there are {len(objects)} objects; pass one per object.")
    column = values if is_pandas(values) else pd.Series(list(values))
    feature = tidy(column, objects, name, "values")
    types = None if kind is None else {name: kind}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KnownFeatureWarning)
        coded = check_known(feature.to_frame(), len(objects), objects, "auto", types=types)
    if coded.n_kept == 0:
        raise ValueError(f"{name!r} is the same for all objects, which says nothing about them; adopt something else.")
    return feature


# ---- the ways


def _from_values(context: Context, given: Any) -> Found:
    return in_order(given, context.material.objects), None, "given"


def in_order(given: Any, objects: pd.Index) -> Any:
    """Return a Series, or a dictionary from labels, in the order of the objects; a sequence has that order."""
    if isinstance(given, Mapping):
        return _by_label(given, objects)
    if is_pandas(given) and hasattr(given, "columns"):
        raise ValueError(f"values is a table of {given.shape[1]} columns; adopt them one by one, each under its name.")
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise ValueError(f"values={given!r} must be a Series, a dictionary from labels, or a list, one per object.")
    if is_pandas(given):
        return align_rows(given, objects, "values")
    if np.ndim(np.asarray(given, dtype=object)) != 1:
        raise ValueError(f"values has {np.ndim(np.asarray(given))} dimensions; pass one value per object.")
    return given


def _by_label(given: Mapping[Any, Any], objects: pd.Index) -> list[Any]:
    named = dict(zip(own_labels(given, objects, "values"), given.values(), strict=True))
    missing = [label for label in objects if label not in named]
    if missing:
        raise ValueError(f"values says nothing about {quote(missing)}; give every object a value, or None.")
    return [named[label] for label in objects]


def own_labels(labels: Any, objects: pd.Index, what: str) -> list[Any]:
    """Return labels as the objects have them: text may stand for whole numbers, as in files."""
    labels = list(labels)
    at = _places(labels, objects)
    strangers = [label for label, place in zip(labels, at, strict=True) if place < 0]
    if strangers:
        raise ValueError(f"{what} names {quote(strangers)}, which are not among the objects; correct the labels.")
    return [objects[place] for place in at]


def _places(labels: list[Any], objects: pd.Index) -> Any:
    return find_labels(objects, pd.Index(labels, dtype=object, tupleize_cols=False))


def _from_groups(context: Context, given: Any) -> Found:
    """Return the group of each object: as listed, or as Ward's method finds so many groups on the map."""
    if isinstance(given, Integral) and not isinstance(given, bool):
        U = context.map_for("groups").to_numpy()
        n_groups = require_integer("groups", given, 2)
        if n_groups >= len(U):
            raise ValueError(f"groups={n_groups} but there are {len(U)} objects; ask for fewer.")
        return ([f"group {g + 1}" for g in group_numbers(U, n_groups)], "nominal", n_groups)
    if not isinstance(given, Mapping):
        raise ValueError(
            f"groups={given!r} must be a number of groups to find on the map, or a dictionary from the name of a group "
            "to the labels in it."
        )
    objects = context.material.objects
    member: dict[Any, Any] = {}
    for group, labels in given.items():
        own = own_labels(labels, objects, f"groups[{group!r}]")
        twice = [label for label in own if label in member]
        if twice:
            raise ValueError(f"groups has {quote(twice)} in two groups; put every object into one.")
        member |= dict.fromkeys(own, str(group))
    return ([member.get(label, OTHERS) for label in objects], "nominal", "given")


def _along(context: Context, given: Any) -> Found:
    """Return the coordinate along a line or a curve on the map, or the angle around the circle fitted to it."""
    U = context.map_for("along").to_numpy()
    if isinstance(given, str) and given in ("circle", "arc"):
        if U.shape[1] < 2:
            raise ValueError(f"along={given!r} needs a map of two dimensions but the last one has one.")
        circle = fit_circle(U)
        return (circle.along, Cyclic(360) if given == "circle" else None, given)
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) < 2:
        raise ValueError(
            f"along={given!r} must be (start, end) or the corners of a curve, each the label of an object or a point "
            "of the map, or 'circle' or 'arc'."
        )
    ends = [plain(_own_end(end, context.material.objects), "along", "give labels or points.") for end in given]
    corners = np.array([_point(context, end) for end in ends])
    if not np.any(np.diff(corners, axis=0)):
        raise ValueError(f"along={as_code(ends)} begins and ends in the same place; choose two places.")
    return (along_line(U, corners) if len(ends) == 2 else along_curve(U, corners), None, ends)


def _own_end(end: Any, objects: pd.Index) -> Any:
    """Return the label of an object as the objects have it, an array as a list, and anything else as it is."""
    if isinstance(end, list | np.ndarray):
        return np.asarray(end).tolist() if isinstance(end, np.ndarray) else end
    (at,) = _places([end], objects)
    return objects[at] if at >= 0 else end


def _point(context: Context, end: Any) -> Array:
    """Return a place on the map: of an object, or given by its coordinates."""
    embedding = context.map_for("along")
    if not isinstance(end, list) and end in embedding.index:
        return np.asarray(embedding.to_numpy()[embedding.index.get_loc(end)])
    p, is_point = embedding.shape[1], isinstance(end, list | tuple)
    if is_point and len(end) == p and all(isinstance(x, int | float) and np.isfinite(x) for x in end):
        return np.array(end, dtype=np.float64)
    raise ValueError(
        f"along names {as_code(end)}, which is neither the label of an object ({quote(embedding.index)}) nor a point "
        f"of the map ({p} numbers)."
    )


def _from_axis(context: Context, given: Any) -> Found:
    embedding = context.map_for("from_axis")
    axis = require_integer("from_axis", given, 0)
    if axis >= embedding.shape[1]:
        raise ValueError(
            f"from_axis={axis} but the map has {embedding.shape[1]} axes, counted from 0; choose one of them."
        )
    return (embedding.iloc[:, axis], None, axis)


def _from_column(context: Context, given: Any) -> Found:
    table = context.material.table
    if str(given) not in table.columns:
        raise ValueError(
            f"column={given!r} is not in the table of the study; it has {quote(table.columns) or 'no columns'}."
        )
    return (table[str(given)], None, str(given))


_WAYS: dict[str, Callable[[Context, Any], Found]] = {
    "values": _from_values,
    "along": _along,
    "from_axis": _from_axis,
    "column": _from_column,
    "groups": _from_groups,
}
