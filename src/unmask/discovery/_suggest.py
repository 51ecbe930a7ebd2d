"""What the directions, groups and orders of a map could be, the surest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import holm
from ._actions import Step
from ._circle import fit_circle
from ._clusters import best_grouping
from ._columns import Finding, compare_columns
from ._material import Material
from ._places import find_places, mean_places, permutations_of
from ._references import even_box, even_disc, even_ring, maps_of_noise, scattered_groups
from ._values import as_code

if TYPE_CHECKING:
    import pandas as pd

# Fewer places than this show no structure that could be told from chance.
LEAST_PLACES = 8
# Of more, so many are looked at for groups and orders.
MOST_PLACES = 300
# Beyond this, further references could only make a p-value larger.
CERTAINLY_CHANCE = 0.1

Reference = Callable[[], Iterator[Array]]


@dataclass(frozen=True)
class Suggestion:
    """A line of the table."""

    kind: str
    what: str
    strength: float
    p_value: float
    adopt: str
    direction: Array
    note: str = ""


@dataclass(frozen=True)
class View:
    """The map to look at: its step, its places, and what it was given."""

    material: Material
    known: pd.DataFrame
    step: Step
    rng: np.random.Generator
    n_references: int
    noise_maps: list[Array] = field(default_factory=list)

    @property
    def points(self) -> Array:
        return self.step.embedding.to_numpy()

    def places(self) -> Array:
        """Return the places, at most so many, in principal axes."""
        places = mean_places(self.points, find_places(self.points, self.known))
        if len(places) > MOST_PLACES:
            places = places[np.sort(self.rng.choice(len(places), MOST_PLACES, replace=False))]
        centred = places - places.mean(axis=0)
        return np.asarray(centred @ np.linalg.svd(centred, full_matrices=False)[2].T)

    def noise(self, number: int) -> Iterator[Array]:
        """Yield maps of noise, the same whenever they are asked for: they are what takes time."""
        source = maps_of_noise(self.material, self.step, number, self.rng)
        for at in count():
            if at == len(self.noise_maps):
                self.noise_maps.append(next(source))
            yield self.noise_maps[at]

    def p_value(self, statistic: Callable[[Array], float], U: Array, references: list[Reference]) -> float:
        """Return the largest p-value against several kinds of maps without the structure.

        Each kind stands for one way in which the structure may be nothing; it must be told from all of them.
        """
        observed, largest = statistic(U), 0.0
        for reference in references:
            largest = max(largest, self._share(statistic, observed, reference()))
            if largest > CERTAINLY_CHANCE:
                break
        return largest

    def _share(self, statistic: Callable[[Array], float], observed: float, others: Iterator[Array]) -> float:
        """Return the share of other maps that have as much of it; no more of them are made than it takes to know."""
        beaten = 0
        for tried, other in enumerate(islice(others, self.n_references), start=1):
            beaten += statistic(other) >= observed
            if beaten > CERTAINLY_CHANCE * (1 + self.n_references):
                return (1 + beaten) / (1 + tried)
        return (1 + beaten) / (1 + self.n_references)


def suggest(
    material: Material, known: pd.DataFrame, step: Step, n_permutations: int, n_references: int, seed: int
) -> pd.DataFrame:
    """Return a table of what the map of a step could show."""
    rng = np.random.default_rng(seed)
    view = View(material, known, step, rng, n_references)
    families = [_columns(view, n_permutations), _structures(view)]
    tested = sum(any(np.isfinite(s.p_value) for s in family) for family in families)
    rows = [_row(s, tested, step) for family in families for s in family]
    return _table(rows, step)


def _columns(view: View, n_permutations: int) -> list[Suggestion]:
    """Return external columns that are not known yet."""
    table = view.material.table
    table = table[[name for name in table.columns if name not in view.known.columns]]
    if table.shape[1] == 0:
        return []
    orders = permutations_of(find_places(view.points, view.known), n_permutations, view.rng)
    found = compare_columns(view.step.embedding, table, orders)
    return [_of_column(finding) for finding in found]


def _of_column(found: Finding) -> Suggestion:
    p_value = np.nan if found.p_value is None else found.p_value
    name = as_code(found.name)
    return Suggestion(
        "column", found.name, found.strength, p_value, f"adopt({name}, column={name})", found.direction, found.note
    )


# ---- structures of the map itself


def _structures(view: View) -> list[Suggestion]:
    """Return groups, and a circle or an arc, with p-values for both questions together."""
    U = view.places()
    if len(U) < max(LEAST_PLACES, U.shape[1] + 3):
        return []
    found = [_groups(view, U)]
    if U.shape[1] > 1:
        found.append(_order(view, U))
    both = holm(np.array([s.p_value for s in found]))
    return [Suggestion(s.kind, s.what, s.strength, p, s.adopt, s.direction) for s, p in zip(found, both, strict=True)]


def _groups(view: View, U: Array) -> Suggestion:
    best = best_grouping(U)
    references: list[Reference] = [
        lambda: even_box(U, view.rng),
        lambda: even_ring(U, view.rng),
        lambda: view.noise(len(U)),
    ]
    p_value = view.p_value(lambda other: best_grouping(other).silhouette, U, references)
    nowhere = np.full(U.shape[1], np.nan)
    adopt = f'adopt("groups", groups={best.number})'
    return Suggestion("groups", f"{best.number} groups", best.silhouette, p_value, adopt, nowhere)


def _order(view: View, U: Array) -> Suggestion:
    circle = fit_circle(U)
    references: list[Reference] = [
        lambda: even_disc(U, view.rng),
        lambda: scattered_groups(U, view.rng),
        lambda: view.noise(len(U)),
    ]
    p_value = view.p_value(lambda other: fit_circle(other).strength, U, references)
    shape = "circle" if circle.is_closed else "arc"
    what = "order around a circle" if circle.is_closed else "order along an arc"
    nowhere = np.full(U.shape[1], np.nan)
    return Suggestion("order", what, circle.strength, p_value, f'adopt("order", along="{shape}")', nowhere)


# ---- the table


def _row(s: Suggestion, tested: int, step: Step) -> dict[str, Any]:
    """Return a line; its p-value counts the families of questions that were asked."""
    line = {"kind": s.kind, "what": s.what, "strength": s.strength, "p_value": min(1.0, s.p_value * tested)}
    if np.isnan(s.p_value):
        line["p_value"] = np.nan
    axes = dict(zip((f"cos_{axis}" for axis in step.embedding.columns), s.direction, strict=True))
    return line | {"adopt": s.adopt if not s.note else "", "note": s.note, **axes}


def _table(rows: list[dict[str, Any]], step: Step) -> pd.DataFrame:
    import pandas as pd

    axes = [f"cos_{axis}" for axis in step.embedding.columns]
    columns = ["kind", "what", "strength", "p_value", "adopt", "note", *axes]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["p_value", "strength"], ascending=[True, False], kind="stable", ignore_index=True)
