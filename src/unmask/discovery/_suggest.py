"""Suggestions what a map could show: external columns, groups of objects, or an order along a circle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any

import numpy as np
import pandas as pd

from .._typing import Array
from ..problem.chance import holm
from ..progress import Tell
from ._circle import fit_circle
from ._clusters import best_grouping
from ._columns import compare_columns
from ._material import Material
from ._places import find_places, mean_places, permutations_of
from ._records import Step
from ._references import even_box, even_disc, even_ring, maps_of_noise, scattered_groups
from ._values import as_code

# Fewer places than this show no structure that could be told from chance.
LEAST_PLACES = 8
# Of more, so many are looked at for groups and orders.
MOST_PLACES = 300
# Columns are compared with the map by at most so many objects, picked at random.
MOST_COMPARED = 5000
# Beyond this, further references could only make a p-value larger.
CERTAINLY_CHANCE = 0.1

# Kinds of references of a structure.
MOST_REFERENCES = 3

Reference = Callable[[], Iterator[Array]]


@dataclass(frozen=True)
class Suggestion:
    """A row of the table: what the map could show, and the call that adopts it."""

    kind: str
    what: str
    strength: float
    p_value: float
    arguments: dict[str, Any]  # of adopt; empty if it cannot be adopted
    direction: Array | None = None
    note: str = ""

    @property
    def code(self) -> str:
        """The call that adopts it."""
        if not self.arguments:
            return ""
        name, *ways = self.arguments.items()
        return f"adopt({', '.join([as_code(name[1]), *(f'{way}={as_code(given)}' for way, given in ways)])})"


@dataclass(frozen=True)
class View:
    """The map that suggestions are made for, and the maps of noise that it is compared with."""

    material: Material
    known: pd.DataFrame
    step: Step
    rng: np.random.Generator
    n_references: int
    tell: Tell
    noise_maps: list[Array] = field(default_factory=list)
    compared: list[int] = field(default_factory=lambda: [0])

    def next(self) -> None:
        """Say that another column or reference is looked at; there are no more of them than that, but may be less."""
        most = self.material.table.shape[1] + 2 * MOST_REFERENCES * self.n_references
        self.tell("suggest", self.compared[0], most)
        self.compared[0] += 1

    @property
    def points(self) -> Array:
        return self.step.embedding.to_numpy()

    def places(self) -> tuple[Array, str]:
        """Return the places on the map (a sample if there are many), in principal axes, and what to say of that."""
        places, note = mean_places(self.points, find_places(self.points, self.known)), ""
        if len(places) > MOST_PLACES:
            note = f"looked for among {MOST_PLACES} of {len(places):,} places"
            places = places[np.sort(self.rng.choice(len(places), MOST_PLACES, replace=False))]
        centred = places - places.mean(axis=0)
        return np.asarray(centred @ np.linalg.svd(centred, full_matrices=False)[2].T), note

    def noise(self, n_objects: int) -> Iterator[Array]:
        """Yield maps of noise, kept to be used twice: making them takes most of the time."""
        source = maps_of_noise(self.material, self.step, n_objects, self.rng)
        for at in count():
            if at == len(self.noise_maps):
                self.noise_maps.append(next(source))
            yield self.noise_maps[at]

    def p_value(self, statistic: Callable[[Array], float], U: Array, references: list[Reference]) -> float:
        """Return the largest p-value against several kinds of maps without the structure.

        Each kind is one way in which the structure could arise by chance; it must stand out from all of them.
        """
        observed, largest = statistic(U), 0.0
        for reference in references:
            largest = max(largest, self._share(statistic, observed, reference()))
            if largest > CERTAINLY_CHANCE:
                break
        return largest

    def _share(self, statistic: Callable[[Array], float], observed: float, others: Iterator[Array]) -> float:
        """Return the p-value against other maps, of which no more are made once it is certainly large."""
        beaten = 0
        for tried, other in enumerate(islice(others, self.n_references), start=1):
            self.next()
            beaten += statistic(other) >= observed
            if beaten > CERTAINLY_CHANCE * (1 + self.n_references):
                return (1 + beaten) / (1 + tried)
        return (1 + beaten) / (1 + self.n_references)


def suggest(
    material: Material, known: pd.DataFrame, step: Step, n_permutations: int, n_references: int, seed: int, tell: Tell
) -> pd.DataFrame:
    """Return a table of what the map of a step could show."""
    rng = np.random.default_rng(seed)
    view = View(material, known, step, rng, n_references, tell)
    families = [_columns(view, n_permutations), _structures(view)]
    tested = sum(any(np.isfinite(s.p_value) for s in family) for family in families)
    return _table([s for family in families for s in family], tested, list(step.embedding.columns))


def _columns(view: View, n_permutations: int) -> list[Suggestion]:
    """Return suggestions for the external columns that are not known yet."""
    table = view.material.table
    table = table[[name for name in table.columns if name not in view.known.columns]]
    if table.shape[1] == 0:
        return []
    embedding, places, note = view.step.embedding, find_places(view.points, view.known), ""
    if len(table) > MOST_COMPARED:
        some = np.sort(view.rng.choice(len(table), MOST_COMPARED, replace=False))
        embedding, table, places = (
            embedding.iloc[some],
            table.iloc[some],
            np.unique(places[some], return_inverse=True)[1],
        )
        note = f"compared by {MOST_COMPARED:,} of the {len(view.points):,} objects"
    orders = permutations_of(places, n_permutations, view.rng)
    suggestions = []
    for column in compare_columns(embedding, table, orders, view.next):
        arguments = {} if column.note else {"name": column.name, "column": column.name}
        told = (column.strength, column.p_value, arguments, column.direction, column.note or note)
        suggestions.append(Suggestion("column", column.name, *told))
    return suggestions


# ---- structures of the map itself


def _structures(view: View) -> list[Suggestion]:
    """Return groups, and an order along a circle or an arc, with p-values corrected for looking for both."""
    U, note = view.places()
    if len(U) < max(LEAST_PLACES, U.shape[1] + 3):
        return []
    structures = [_groups(view, U), *([_order(view, U)] if U.shape[1] > 1 else [])]
    corrected = holm(np.array([s.p_value for s in structures]))
    return [replace(s, p_value=p, note=note) for s, p in zip(structures, corrected, strict=True)]


def _groups(view: View, U: Array) -> Suggestion:
    best = best_grouping(U)
    references: list[Reference] = [
        lambda: even_box(U, view.rng),
        lambda: even_ring(U, view.rng),
        lambda: view.noise(len(U)),
    ]
    p_value = view.p_value(lambda other: best_grouping(other).silhouette, U, references)
    arguments = {"name": "groups", "groups": best.n_groups}
    return Suggestion("groups", f"{best.n_groups} groups", best.silhouette, p_value, arguments)


def _order(view: View, U: Array) -> Suggestion:
    circle = fit_circle(U)
    references: list[Reference] = [
        lambda: even_disc(U, view.rng),
        lambda: scattered_groups(U, view.rng),
        lambda: view.noise(len(U)),
    ]
    p_value = view.p_value(lambda other: fit_circle(other).strength, U, references)
    shape, what = ("circle", "order around a circle") if circle.is_closed else ("arc", "order along an arc")
    return Suggestion("order", what, circle.strength, p_value, {"name": "order", "along": shape})


# ---- the table


def _table(suggestions: list[Suggestion], n_families: int, axes: list[str]) -> pd.DataFrame:
    """Return the suggestions, the surest first; p-values are corrected for the number of families of questions."""
    rows = []
    for s in suggestions:
        direction = np.full(len(axes), np.nan) if s.direction is None else s.direction
        p_value = np.minimum(1.0, s.p_value * n_families)  # NaN stays NaN
        rows.append((s.kind, s.what, s.strength, p_value, s.code, s.arguments, s.note, *direction))
    columns = ["kind", "what", "strength", "p_value", "adopt", "arguments", "note", *(f"cos_{axis}" for axis in axes)]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["p_value", "strength"], ascending=[True, False], kind="stable", ignore_index=True)
