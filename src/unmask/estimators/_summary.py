"""A fit in words: what was asked, what was found, whether it is good, and what to do next.

Functions from fitted attributes to rows; text and HTML are two renderings of the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..problem import types_with_levels
from ..problem.leak import NeighbourLeak, leak_in_words
from ._adjustment import costs_of_adjusting, neighbours_in_words
from ._random_fits import RandomFits, random_fits

# Two starts found the same minimum if their stresses differ by less than this share, or by what nobody can see.
SAME, UNSEEN = 1e-3, 1e-6
# Beyond this share of the random stress a map is better than chance, but leaves most of the data out.
POOR = 0.7
# From so many starts on it says something that only one of them found the best minimum.
ENOUGH_STARTS = 5
MOST_NAMES = 8
WIDTH = 12

ASKED, FOUND, GOOD, CAUTIONS, NEXT = "asked", "found", "is it good?", "warnings", "next"


class Row(NamedTuple):
    """A line of a summary: the part it belongs to, what it is about, and what is said."""

    part: str
    name: str
    text: str


@dataclass(frozen=True)
class Summary:
    """What a fit asked and found: ``print`` it, or let a notebook show it.

    Attributes
    ----------
    title : str
        What was fitted, in one line.
    rows : tuple of Row
        ``part``, ``name`` and ``text`` of each line.
    """

    title: str
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        lines, part = [self.title], ""
        for row in self.rows:
            lines += [row.part] if row.part != part else []
            lines.append(f"  {row.name:<{WIDTH}} {row.text}" if row.name else f"  {row.text}")
            part = row.part
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.title, self.rows)


def as_html(title: str, rows: Iterable[Row]) -> str:
    """Return a title and rows as a table; whatever came from the data is escaped."""
    cells, part = [], ""
    style = "text-align:left;vertical-align:top;padding:2px 8px"
    for row in rows:
        if row.part != part:
            cells.append(f'<tr><th colspan="2" style="{style}">{escape(row.part)}</th></tr>')
        part = row.part
        cells.append(f'<tr><td style="{style}">{escape(row.name)}</td><td style="{style}">{escape(row.text)}</td></tr>')
    return f"<div><strong>{escape(title)}</strong><table>{''.join(cells)}</table></div>"


# ---- what is said


def summarise(estimator: Any) -> Summary:
    """Return all there is to say about a fit; chance is asked, which takes some fits of random data."""
    chance = random_fits(estimator)
    rows = [*asked(estimator), *found(estimator), *quality(estimator, chance), *cautions(estimator)]
    return Summary(title_of(estimator), (*rows, Row(NEXT, "", next_step(estimator, chance))))


def title_of(estimator: Any) -> str:
    """Return what was fitted, in one line."""
    n, p = estimator.embedding_.shape
    what = f"a map of {n} objects in {p} dimension{'s' * (p != 1)}" if p else f"{n} objects, without a map"
    return f"{type(estimator).__name__}: {what}, given {_names(estimator._map.known.feature_names) or 'nothing'}"


def key_rows(estimator: Any) -> list[Row]:
    """Return the numbers that are ready at hand."""
    value = f"{_number(_value(estimator))}{_of_free_fit(estimator)}"
    return [*found(estimator), Row(FOUND, _quantity(estimator), value), *_drawn_rows(estimator), *_leak_rows(estimator)]


def asked(estimator: Any) -> Iterator[Row]:
    """Return what the fit was asked for."""
    n, p = estimator.embedding_.shape
    yield Row(ASKED, "estimator", type(estimator).__name__)
    yield Row(ASKED, "objects", str(n))
    yield Row(ASKED, "known", "; ".join(_clean(line) for line in _known_lines(estimator)) or "nothing")
    yield Row(ASKED, "dimensions", f"{p}" if p == estimator.n_free_ else f"{p} shown of {estimator.n_free_} fitted")
    if estimator._map.known.features and p:
        wish = " (adjust='auto')" if estimator.adjust == "auto" else ""
        no = f"no{wish}: the map as it was fitted"
        share = estimator.shown_share_
        held = f"; {share:.0%} of what is left is shown" if share < 0.995 else ""
        yes = f"yes{wish}: what the known features predict was taken off the map, and the fit is as it was{held}"
        yield Row(ASKED, "adjusted", yes if estimator.adjusted_ else no)


def _known_lines(estimator: Any) -> list[str]:
    table = estimator.known_summary_
    lines = [
        f"{name} ({kind}, {source})" for name, kind, source in zip(table.index, table.type, table.source, strict=True)
    ]
    return lines if len(lines) <= MOST_NAMES else [*lines[:MOST_NAMES], f"{len(lines) - MOST_NAMES} more"]


def found(estimator: Any) -> Iterator[Row]:
    """Return how much each known feature and the map make of the distances."""
    axes = np.std(estimator.embedding_.astype(np.float64), axis=0, ddof=1)
    if len(axes):
        lengths = ", ".join(_number(size) for size in axes[:MOST_NAMES])
        yield Row(
            FOUND, "map", f"{_number(float(np.linalg.norm(axes)))}, along its axes {lengths} (standard deviations)"
        )
    standardized = estimator.importance_["standardized"].sort_values(ascending=False)
    parts = [f"{_clean(name)} {_number(size)}" for name, size in standardized.head(MOST_NAMES).items()]
    if parts:
        yield Row(FOUND, "importance", f"{', '.join(parts)} (standard deviations, in the units of the map)")


def quality(estimator: Any, chance: RandomFits) -> Iterator[Row]:
    """Return how good the fit is, each number beside what chance makes of it."""
    yield Row(GOOD, _quantity(estimator), _beside_random(estimator, chance))
    yield from _drawn_rows(estimator)
    yield from _leak_rows(estimator)
    yield from _neighbour_rows(estimator)
    yield from _start_rows(estimator)


def _of_free_fit(estimator: Any) -> str:
    """Say of which fit a stress is, where an adjusted map shows only some of its dimensions."""
    few = estimator.embedding_.shape[1] < estimator.n_free_
    return f" of the free fit with {estimator.n_free_} dimensions" if few else ""


def _drawn_rows(estimator: Any) -> Iterator[Row]:
    p = estimator.embedding_.shape[1]
    if p < estimator.n_free_:
        value = getattr(estimator, f"shown_{_quantity(estimator)}_")
        drawn = f"{_quantity(estimator)} of the {p} drawn, with what the known features predict: {_number(value)}"
        yield Row(GOOD, "dimensions", drawn)


def _beside_random(estimator: Any, chance: RandomFits) -> str:
    value = _value(estimator)
    shown = f"{_number(value)}{_of_free_fit(estimator)}"
    if chance.why_none:
        return f"{shown}; not compared with random data, because {chance.why_none}"
    few = len(estimator.embedding_) > chance.n_objects
    what = f"the same dissimilarities in random order have {_number(chance.median)}"
    what += f" between {chance.n_objects} of the objects, and more between all" if few else ""
    lowest = f"the lowest of {len(chance.values)}: {_number(chance.lowest)}"
    return f"{shown}, {_verdict(value, chance)}: {what} ({lowest})"


def _verdict(value: float, chance: RandomFits) -> str:
    if value >= chance.lowest:
        return "no better than chance" if value >= chance.median else "perhaps no better than chance"
    return "hardly better than chance" if value > POOR * chance.median else "better than chance"


def _leak_rows(estimator: Any) -> Iterator[Row]:
    if not estimator._map.known.features or not estimator.embedding_.shape[1]:
        return
    if estimator._map.uncorrelated:
        before = f" ({estimator.free_leak_:.2f} before adjusting)" if estimator.adjusted_ else ""
        yield Row(GOOD, "leak", f"{estimator.leak_:.2f} by construction{before}; the neighbours are the evidence")
    else:
        yield Row(GOOD, "leak", leak_in_words(estimator.leak_, estimator.leak_reference_))


def _neighbour_rows(estimator: Any) -> Iterator[Row]:
    if not estimator.embedding_.shape[1]:
        return
    kinds = estimator.known_summary_["type"]
    for name, row in estimator.knn_leak_.head(MOST_NAMES).iterrows():
        if np.isnan(row["score"]):
            continue
        yield Row(GOOD, "neighbours", neighbours_in_words(_clean(name), kinds[name], NeighbourLeak(*row)))


def _start_rows(estimator: Any) -> Iterator[Row]:
    ends = _ends(estimator)
    if len(ends) == 1:
        yield Row(GOOD, "starts", "1: other minima were not looked for")
    elif len(ends):
        same, highest = _number_at_best(ends), _number(float(ends.max()))
        yield Row(GOOD, "starts", f"{len(ends)}, of which {same} found the lowest minimum; the highest: {highest}")


def cautions(estimator: Any) -> Iterator[Row]:
    """Return what deserves a second look."""
    said = [_clean(text) for text in _cautions(estimator)]
    yield from (Row(CAUTIONS, "", text) for text in said or ["none"])


def _cautions(estimator: Any) -> Iterator[str]:
    if not getattr(estimator, "converged_", True):
        yield f"the best start stopped because {estimator.stop_reason_}, before it settled"
    if estimator.leak_ > estimator.leak_reference_:
        yield "the map repeats what is known (see leak)"
    told = _told(estimator)
    if told:
        yield f"neighbours on the map tell {_names(told)}"
    for name, reason in estimator.known_redundant_.head(MOST_NAMES).items():
        yield f"known column {name} was left out: {reason}"
    cells = estimator.known_imputed_
    if len(cells):
        remarks = [f"{cell.feature} of {cell.object}, {cell.remark}" for cell in cells.itertuples() if cell.remark]
        said = f": {_names(remarks)}" if remarks else ""
        yield f"{len(cells)} missing known cells were estimated (known_imputed_){said}"
    if estimator.adjusted_:
        yield from costs_of_adjusting(estimator._map.known)


def next_step(estimator: Any, chance: RandomFits) -> str:
    """Return what to do next, in one plain sentence: the first thing that is wrong, or how to go on."""
    default = "Look at the map (plot), name what you recognise, add it to known, and fit again."
    return next(_things_to_mend(estimator, chance), default)


def _things_to_mend(estimator: Any, chance: RandomFits) -> Iterator[str]:
    if not getattr(estimator, "converged_", True):
        yield f"Fit again with more iterations than max_iter={estimator.max_iter}."
    if not estimator.embedding_.shape[1]:
        yield "Fit with n_components=2 to see what the known features leave."
    if estimator.leak_ > estimator.leak_reference_:
        yield "Fit again with adjust=True: it takes what is known off the map and leaves the fit as it is."
    yield from (_about_told(estimator, name) for name in _told(estimator))
    if len(chance.values) and _value(estimator) >= chance.lowest:
        yield (
            "Trust on this map only what features from elsewhere confirm (unmask.inspection.name_axes): by its "
            f"{_quantity(estimator)} it could be one of random data; or try other dimensions (choose_n_components)."
        )
    ends = _ends(estimator)
    if len(ends) >= ENOUGH_STARTS and _number_at_best(ends) == 1:
        yield f"Fit again with more starts (n_init={2 * len(ends)}): only one of {len(ends)} found this minimum."
    if len(chance.values) and _value(estimator) > POOR * chance.median:
        yield "Try one more dimension (unmask.inspection.choose_n_components): this map leaves much of the data out."


def _about_told(estimator: Any, name: str) -> str:
    look = f"Look at the map coloured by {_clean(name)}, which neighbours on it still tell"
    if estimator.known_summary_.loc[name, "type"] in types_with_levels():
        return f"{look}: its levels differ in more than their places, in spread or shape; map each level by itself."
    return f"{look}: its effect is not linear; declare it Spline(), or another type, in known_types."


# ---- small pieces


def _quantity(estimator: Any) -> str:
    return "stress" if hasattr(estimator, "stress_") else "cost"


def _value(estimator: Any) -> float:
    return float(getattr(estimator, f"{_quantity(estimator)}_"))


def _ends(estimator: Any) -> Any:
    """Return where the starts ended; none for a closed form."""
    return estimator.starts_[_quantity(estimator)].to_numpy() if hasattr(estimator, "starts_") else np.empty(0)


def _number_at_best(ends: Any) -> int:
    return int(np.sum(ends - ends.min() <= max(SAME * abs(ends.min()), UNSEEN)))


def _told(estimator: Any) -> list[str]:
    """Return the known features that neighbours on the map tell better than by chance."""
    if not estimator.embedding_.shape[1]:
        return []
    table = estimator.knn_leak_
    return [str(name) for name, row in table.iterrows() if NeighbourLeak(*row).above_chance]


def _number(value: float) -> str:
    return f"{value:.3g}"


def _names(names: Iterable[object]) -> str:
    listed = [_clean(name) for name in names]
    more = [f"{len(listed) - MOST_NAMES} more"] if len(listed) > MOST_NAMES else []
    return ", ".join(listed[:MOST_NAMES] + more)


def _clean(text: object) -> str:
    """Return a text from the data on one line, without what steers a terminal."""
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
