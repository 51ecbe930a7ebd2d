"""Features proposed for adoption: one small function for each source of their values, and a look at them before."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from .._typing import Array
from ..checking import (
    KnownFeatureWarning,
    align_rows,
    count,
    find_labels,
    is_missing,
    is_pandas,
    quote,
    require_integer,
)
from ..problem import Cyclic, KnownFeatures, check_known
from ..problem.linalg import orthonormal_basis
from ._circle import fit_circle
from ._clusters import group_numbers
from ._material import Material, own_labels, tidy
from ._records import Step
from ._values import as_code, plain

OTHERS = "other"
# From this share on a feature is as good as known already.
NEARLY_KNOWN = 0.9

# Values, their type, and the source as it is saved.
Proposal = tuple[Any, Any, dict[str, Any]]
# The same with the detail that is saved under the name of the source.
Found = tuple[Any, Any, Any]


def propose(material: Material, step: Step | None, ways: Mapping[str, Any]) -> Proposal:
    """Return the feature that is proposed in the one way that was given; ``axes`` may go with it."""
    used = [way for way in _WAYS if ways.get(way) is not None]
    if len(used) != 1:
        given = f"{' and '.join(used)} were given" if used else "none was given"
        raise ValueError(f"adopt takes exactly one of {', '.join(_WAYS)}; {given}.")
    (way,), axes = used, ways.get("axes")
    of_map = way in ("along", "from_axis") or (way == "groups" and isinstance(ways[way], Integral))
    embedding = _map_for(way, step) if of_map else None
    if axes is None:
        values, kind, saved = _WAYS[way](ways[way], material, embedding)
        return values, kind, {way: saved}
    if way != "along" or embedding is None:
        raise ValueError(f"axes={axes!r} says where along=… was drawn, and {way} was given; leave it out.")
    plane = _checked_axes(axes, embedding.shape[1])
    values, kind, saved = _along(ways[way], material, embedding.iloc[:, plane])
    return values, kind, {way: saved, "axes": plane}


def _map_for(way: str, step: Step | None) -> pd.DataFrame:
    if step is None:
        raise ValueError(f"adopt({way}=…) refers to a map but nothing has been fitted; call fit first.")
    if step.n_components == 0:
        raise ValueError(f"adopt({way}=…) refers to a map but the last one has no dimensions; fit one that has.")
    return step.embedding


def _checked_axes(axes: Any, p: int) -> list[int]:
    """Return two different axes of a map."""
    plane = list(axes) if isinstance(axes, list | tuple | np.ndarray) else []
    are_numbers = all(isinstance(axis, Integral) and not isinstance(axis, bool) for axis in plane)
    if len(plane) != 2 or not are_numbers or not all(0 <= axis < p for axis in plane) or plane[0] == plane[1]:
        raise ValueError(f"axes={axes!r} must be two axes of the map, counted from 0; it has {p}.")
    return [int(axis) for axis in plane]


def checked_values(values: Any, name: str, kind: Any, objects: pd.Index) -> pd.Series[Any]:
    """Return the values as a feature that can be known: one per object, not all the same, and of their type."""
    if len(values) != len(objects):
        raise ValueError(f"values has {len(values)} entries but there are {len(objects)} objects; pass one per object.")
    column = values if is_pandas(values) else pd.Series(list(values))
    feature = tidy(column, objects, name, "values")
    if _coded(feature.to_frame(), {} if kind is None else {name: kind}).n_kept == 0:
        raise ValueError(f"{name!r} is the same for all objects, which says nothing about them; adopt something else.")
    return feature


def _coded(table: pd.DataFrame, types: Mapping[str, Any]) -> KnownFeatures:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KnownFeatureWarning)
        return check_known(table if table.shape[1] else None, len(table), table.index, "auto", types=types or None)


# ---- sources of values


def _from_values(given: Any, material: Material, _: Any) -> Found:
    if isinstance(given, Mapping):
        named = _by_label(given, material.objects)
        missing = [label for label in material.objects if label not in named]
        if missing:
            raise ValueError(f"values says nothing about {quote(missing)}; give every object a value, or None.")
        return [named[label] for label in material.objects], None, "given"
    return _in_order(given, material.objects), None, "given"


def _in_order(given: Any, objects: pd.Index) -> Any:
    """Return a Series in the order of the objects; a sequence has that order."""
    if is_pandas(given) and hasattr(given, "columns"):
        raise ValueError(f"values is a table of {given.shape[1]} columns; adopt them one by one, each under its name.")
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise ValueError(f"values={given!r} must be a Series, a dictionary from labels, or a list, one per object.")
    if is_pandas(given):
        return align_rows(given, objects, "values")
    if np.ndim(np.asarray(given, dtype=object)) != 1:
        raise ValueError(f"values has {np.ndim(np.asarray(given))} dimensions; pass one value per object.")
    return given


def _by_label(given: Any, objects: pd.Index) -> dict[Any, Any]:
    labels, cells = zip(*given.items(), strict=True) if len(given) else ((), ())
    return dict(zip(own_labels(labels, objects, "values"), cells, strict=True))


def _from_groups(given: Any, material: Material, embedding: pd.DataFrame | None) -> Found:
    """Return the group of each object: as listed, or as Ward's method finds so many groups on the map."""
    if embedding is not None and not isinstance(given, bool):
        n_groups = require_integer("groups", given, 2)
        if n_groups >= len(embedding):
            raise ValueError(f"groups={n_groups} but there are {len(embedding)} objects; ask for fewer.")
        return [f"group {g + 1}" for g in group_numbers(embedding.to_numpy(), n_groups)], "nominal", n_groups
    if not isinstance(given, Mapping):
        raise ValueError(
            f"groups={given!r} must be a number of groups to find on the map, or a dictionary from the name of a group "
            "to the labels in it."
        )
    member: dict[Any, Any] = {}
    for group, labels in given.items():
        own = own_labels(labels, material.objects, f"groups[{group!r}]")
        twice = [label for label in own if label in member]
        if twice:
            raise ValueError(f"groups has {quote(twice)} in two groups; put every object into one.")
        member |= dict.fromkeys(own, str(group))
    return [member.get(label, OTHERS) for label in material.objects], "nominal", "given"


def _along(given: Any, material: Material, embedding: pd.DataFrame) -> Found:
    """Return the coordinate along a line or a curve on the map, or the angle around the circle fitted to it."""
    U = embedding.to_numpy()
    if isinstance(given, str) and given in ("circle", "arc"):
        if U.shape[1] < 2:
            raise ValueError(f"along={given!r} needs a map of two dimensions but the last one has one.")
        return fit_circle(U).along, Cyclic(360) if given == "circle" else None, given
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) < 2:
        raise ValueError(
            f"along={given!r} must be (start, end) or the corners of a curve, each the label of an object or a point "
            "of the map, or 'circle' or 'arc'."
        )
    places = [plain(_own_place(place, material.objects), "along", "give labels or points.") for place in given]
    corners = np.array([_point(place, embedding) for place in places])
    if not np.any(np.diff(corners, axis=0)):
        raise ValueError(f"along={as_code(places)} begins and ends in the same place; choose two places.")
    if len(places) > 2:
        return along_curve(U, corners), None, places
    start, end = corners
    unit = (end - start) / float(np.linalg.norm(end - start))
    return U @ unit - start @ unit, None, places


def _own_place(place: Any, objects: pd.Index) -> Any:
    """Return the label of an object as the objects have it, an array as a list, and anything else as it is."""
    if isinstance(place, list | np.ndarray):
        return np.asarray(place).tolist() if isinstance(place, np.ndarray) else place
    (at,) = find_labels(objects, pd.Index([place], dtype=object, tupleize_cols=False))
    return objects[at] if at >= 0 else place


def _point(place: Any, embedding: pd.DataFrame) -> Array:
    """Return a place on the map: of an object, or given by its coordinates."""
    if not isinstance(place, list) and place in embedding.index:
        return np.asarray(embedding.to_numpy()[embedding.index.get_loc(place)])
    p, is_point = embedding.shape[1], isinstance(place, list | tuple)
    if is_point and len(place) == p and all(isinstance(x, int | float) and np.isfinite(x) for x in place):
        return np.array(place, dtype=np.float64)
    raise ValueError(
        f"along names {as_code(place)}, which is neither the label of an object ({quote(embedding.index)}) nor a point "
        f"of the map ({p} numbers)."
    )


def _from_axis(given: Any, _: Material, embedding: pd.DataFrame) -> Found:
    axis = require_integer("from_axis", given, 0)
    if axis >= embedding.shape[1]:
        raise ValueError(
            f"from_axis={axis} but the map has {embedding.shape[1]} axes, counted from 0; choose one of them."
        )
    return embedding.iloc[:, axis], None, axis


def _from_column(given: Any, material: Material, _: Any) -> Found:
    table = material.table
    if str(given) not in table.columns:
        raise ValueError(
            f"column={given!r} is not in the table of the study; it has {quote(table.columns) or 'no columns'}."
        )
    return table[str(given)], None, str(given)


_WAYS: dict[str, Callable[[Any, Material, Any], Found]] = {
    "values": _from_values,
    "along": _along,
    "from_axis": _from_axis,
    "column": _from_column,
    "groups": _from_groups,
}


def along_curve(places: Any, corners: Any) -> Array:
    """Return the position along a curve of straight pieces at its nearest point to each place.

    Parameters
    ----------
    places : array-like of shape (n_objects, n_axes)
        Coordinates of the objects.
    corners : array-like of shape (n_corners, n_axes)
        Beginning, bends and end of the curve.

    Returns
    -------
    ndarray of shape (n_objects,)
        Lengths along the curve, 0 at the first corner; of points that are equally near the first.

    Examples
    --------
    >>> from unmask.discovery import along_curve
    >>> along_curve([[1.0, 0.5], [3.0, 2.0], [-4.0, 0.0]], [[0.0, 0.0], [2.0, 0.0], [2.0, 5.0]])
    array([1., 4., 0.])
    """
    U = np.asarray(places, dtype=np.float64)
    bends = np.array([np.asarray(corner, dtype=np.float64) for corner in corners])
    nearest, found, before = np.full(len(U), np.inf), np.zeros(len(U)), 0.0
    for start, way in zip(bends[:-1], np.diff(bends, axis=0), strict=True):
        length = float(np.linalg.norm(way))
        if length == 0.0:
            continue
        on = np.clip((U - start) @ way / length**2, 0.0, 1.0)
        distance = np.linalg.norm(U - start - on[:, None] * way, axis=1)
        nearer = distance < nearest
        nearest[nearer], found[nearer] = distance[nearer], before + length * on[nearer]
        before += length
    return found


# ---- corrections


def corrected(column: pd.Series[Any], given: Any) -> tuple[pd.Series[Any], tuple[Any, ...]]:
    """Return a feature with new values, and the objects whose values changed.

    A dictionary or a Series may name some of the objects; anything else has a value for each, in order.
    """
    if given is None:
        return column, ()
    objects = column.index
    if isinstance(given, Mapping) or (is_pandas(given) and not hasattr(given, "columns")):
        new = _by_label(given, objects)
    else:
        listed = list(_in_order(given, objects))
        if len(listed) != len(objects):
            raise ValueError(
                f"values has {len(listed)} entries but there are {len(objects)} objects; pass one per object, or a "
                "dictionary from labels."
            )
        new = dict(zip(objects, listed, strict=True))
    cells = [new.get(label, value) for label, value in column.items()]
    changed = tuple(
        label
        for label, old, cell in zip(objects, column, cells, strict=True)
        if not ((is_missing(old) and is_missing(cell)) or old == cell)
    )
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(cells, dtype=_levels(column.dtype, cells, column.name)), index=objects), changed
    return pd.Series(cells, index=objects, dtype=object).infer_objects(), changed


def _levels(dtype: Any, cells: list[Any], name: Any) -> Any:
    """Return the categories of a feature, with new ones at the end; ordered categories allow none."""
    new = [cell for cell in dict.fromkeys(cells) if not is_missing(cell) and cell not in dtype.categories]
    if new and dtype.ordered:
        raise ValueError(
            f"values has {quote(new)}, which is no level of {name!r}; its levels are, in order, "
            f"{quote(dtype.categories)}: use one of them."
        )
    return pd.CategoricalDtype([*dtype.categories, *new], dtype.ordered)


# ---- previews


@dataclass(frozen=True)
class Preview:
    """A feature before it is adopted.

    Attributes
    ----------
    values : Series
        One per object.
    type : str
        Its type: the declared one, or the one its values have.
    kind : str or feature type, optional
        Its type as it would be declared; None to go by the values.
    r2 : float
        Share of its variance that a linear regression on the known features accounts for.
    r2_by_chance : float
        Mean of `r2` for a feature that is unrelated to the known ones.
    warnings : tuple of str
        What to consider before it is adopted.
    """

    values: pd.Series[Any] = field(repr=False)
    type: str
    kind: Any
    r2: float
    r2_by_chance: float
    warnings: tuple[str, ...] = ()


def preview(feature: pd.Series[Any], kind: Any, known: pd.DataFrame, types: Mapping[str, Any]) -> Preview:
    """Return a feature with how far it is known already."""
    own = _coded(feature.to_frame(), {} if kind is None else {str(feature.name): kind})
    given = _coded(known, types)
    present = np.ones(len(feature), dtype=bool)
    for described in (*own.features, *given.features):
        present[described.missing] = False
    Y = own.values[present] - own.values[present].mean(axis=0)
    basis = orthonormal_basis(given.values[present])
    r2 = float(np.sum((basis.T @ Y) ** 2) / np.sum(Y**2)) if np.any(Y) else float("nan")
    n_known, n, warned = basis.shape[1], len(Y), []
    if n_known >= n - 1:
        warned.append(f"the known features have {count(n_known, 'column')}, which tell any feature of {n} objects.")
    elif r2 >= NEARLY_KNOWN:
        warned.append(f"it is known already: the known features account for {r2:.0%} of it.")
    gaps = int(feature.isna().sum())
    if gaps:
        warned.append(f"{count(gaps, 'object')} without a value: every fit will estimate it.")
    if feature.nunique() == 2 and feature.value_counts().min() == 1:
        warned.append("it sets a single object apart from all others.")
    return Preview(feature, own.features[0].coding.kind, kind, r2, n_known / max(n - 1, 1), tuple(warned))
