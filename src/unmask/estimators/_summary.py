"""A fit in words: what was asked, what was found, whether it is good, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..problem import types_with_levels
from ..problem.leak import NeighbourLeak, leak_in_words
from ._adjustment import costs_of_adjusting, neighbours_in_words
from ._random_fits import RandomFits, random_fits

# Two starts found the same minimum if their stresses differ by less than this share, or by less than can be seen.
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


# ---- the rows


def title_of(estimator: Any) -> str:
    """Return what was fitted, in one line."""
    n, p = estimator.embedding_.shape
    what = f"a map of {n} objects in {p} dimension{'s' * (p != 1)}" if p else f"{n} objects, without a map"
    return f"{type(estimator).__name__}: {what}, given {_names(estimator._map.known.feature_names) or 'nothing'}"


def summarise(estimator: Any) -> Summary:
    """Return the summary of a fit, beside fits of random data, which take a while."""
    facts = Facts(estimator)
    cautions = [Row(CAUTIONS, "", _clean(text)) for text in facts.cautions() or ["none"]]
    rows = [*facts.asked(), *facts.found(), *facts.quality(), *cautions, Row(NEXT, "", next(facts.advice()))]
    return Summary(title_of(estimator), tuple(rows))


def key_rows(estimator: Any) -> list[Row]:
    """Return the numbers that need no further computation."""
    facts = Facts(estimator)
    return [*facts.found(), Row(FOUND, facts.quantity, facts.shown_value), *facts.drawn(), *facts.leak()]


class Facts:
    """The facts of a fit that several rows need, and the rows made of them."""

    def __init__(self, estimator: Any) -> None:
        self.of, self.known = estimator, estimator._map.known
        self.p, self.free = estimator.embedding_.shape[1], estimator.n_free_
        self.quantity = "stress" if hasattr(estimator, "stress_") else "cost"
        self.value = float(getattr(estimator, f"{self.quantity}_"))
        self.unfinished = not getattr(estimator, "converged_", True)
        self.leaks = estimator.leak_ > estimator.leak_reference_
        # Where the starts ended; a closed form has none.
        self.ends = estimator.starts_[self.quantity].to_numpy() if hasattr(estimator, "starts_") else np.empty(0)
        lowest = self.ends.min(initial=np.inf)
        self.at_best = int(np.sum(self.ends - lowest <= max(SAME * abs(lowest), UNSEEN)))
        of_free = f" of the free fit with {self.free} dimensions" if self.p < self.free else ""
        self.shown_value = f"{self.value:.3g}{of_free}"

    @cached_property
    def chance(self) -> RandomFits:
        """Fits of random data."""
        return random_fits(self.of)

    @cached_property
    def neighbours(self) -> dict[str, NeighbourLeak]:
        """How well neighbours on the map predict each known feature; empty without a map."""
        table = self.of.knn_leak_ if self.p else self.of.knn_leak_[:0]
        return {str(name): NeighbourLeak(*row) for name, row in table.iterrows()}

    @cached_property
    def predicted(self) -> list[str]:
        """Known features that neighbours predict better than by chance."""
        return [name for name, leak in self.neighbours.items() if leak.above_chance]

    def asked(self) -> Iterator[Row]:
        of, table = self.of, self.of.known_summary_
        known = [f"{name} ({feature.type}, {feature.source})" for name, feature in table.iterrows()]
        yield Row(ASKED, "estimator", type(of).__name__)
        yield Row(ASKED, "objects", str(len(of.embedding_)))
        yield Row(ASKED, "known", _names(known, "; ") or "nothing")
        yield Row(ASKED, "dimensions", f"{self.p}" if self.p == self.free else f"{self.p} shown of {self.free} fitted")
        if self.known.features and self.p:
            wish = " (adjust='auto')" if of.adjust == "auto" else ""
            text = f"no{wish}: the map as it was fitted"
            if of.adjusted_:
                held = f"; {of.shown_share_:.0%} of what is left is shown" if of.shown_share_ < 0.995 else ""
                text = f"yes{wish}: what the known features predict was taken off, and the fit is as it was{held}"
            yield Row(ASKED, "adjusted", text)

    def found(self) -> Iterator[Row]:
        """Yield how much each known feature and the map contribute to the distances."""
        axes = np.std(self.of.embedding_.astype(np.float64), axis=0, ddof=1)
        if self.p:
            lengths = ", ".join(f"{size:.3g}" for size in axes[:MOST_NAMES])
            yield Row(FOUND, "map", f"{np.linalg.norm(axes):.3g}, along its axes {lengths} (standard deviations)")
        largest = self.of.importance_["standardized"].sort_values(ascending=False).head(MOST_NAMES)
        parts = ", ".join(f"{_clean(name)} {size:.3g}" for name, size in largest.items())
        if parts:
            yield Row(FOUND, "importance", f"{parts} (standard deviations, in the units of the map)")

    def quality(self) -> Iterator[Row]:
        """Yield how good the fit is, each number beside its value by chance."""
        yield Row(GOOD, self.quantity, self._beside_random())
        yield from self.drawn()
        yield from self.leak()
        kinds = self.of.known_summary_["type"]
        for name, leak in list(self.neighbours.items())[:MOST_NAMES]:
            if not np.isnan(leak.score):
                yield Row(GOOD, "neighbours", neighbours_in_words(_clean(name), kinds[name], leak))
        if len(self.ends) == 1:
            yield Row(GOOD, "starts", "1: other minima were not looked for")
        elif len(self.ends):
            same = f"of which {self.at_best} found the lowest minimum; the highest: {self.ends.max():.3g}"
            yield Row(GOOD, "starts", f"{len(self.ends)}, {same}")

    def drawn(self) -> Iterator[Row]:
        """Yield the stress of the dimensions shown, if more were fitted."""
        if self.p < self.free:
            value = getattr(self.of, f"shown_{self.quantity}_")
            what = f"{self.quantity} of the {self.p} drawn, with what the known features predict"
            yield Row(GOOD, "dimensions", f"{what}: {value:.3g}")

    def leak(self) -> Iterator[Row]:
        of = self.of
        if self.known.features and self.p:
            text = leak_in_words(of.leak_, of.leak_reference_)
            if of._map.uncorrelated:
                before = f" ({of.free_leak_:.2f} before adjusting)" if of.adjusted_ else ""
                text = f"{of.leak_:.2f} by construction{before}; the neighbours are the evidence"
            yield Row(GOOD, "leak", text)

    def _beside_random(self) -> str:
        chance = self.chance
        if chance.why_none:
            return f"{self.shown_value}; not compared with random data, because {chance.why_none}"
        if self.value >= chance.lowest:
            verdict = "no better than chance" if self.value >= chance.median else "perhaps no better than chance"
        else:
            verdict = "hardly better than chance" if self.value > POOR * chance.median else "better than chance"
        few = len(self.of.embedding_) > chance.n_objects
        between = f" between {chance.n_objects} of the objects, and more between all" if few else ""
        return (
            f"{self.shown_value}, {verdict}: the same dissimilarities in random order have {chance.median:.3g}"
            f"{between} (the lowest of {len(chance.values)}: {chance.lowest:.3g})"
        )

    def cautions(self) -> list[str]:
        """Return what deserves a second look."""
        of, cells, texts = self.of, self.of.known_imputed_, []
        if self.unfinished:
            texts.append(f"the best start stopped because {of.stop_reason_}, before it settled")
        if self.leaks:
            texts.append("the map repeats what is known (see leak)")
        if self.predicted:
            texts.append(f"neighbours on the map tell {_names(self.predicted)}")
        for name, reason in of.known_redundant_.head(MOST_NAMES).items():
            texts.append(f"known column {name} was left out: {reason}")
        if len(cells):
            remarks = [f"{cell.feature} of {cell.object}, {cell.remark}" for cell in cells.itertuples() if cell.remark]
            listed = f": {_names(remarks)}" if remarks else ""
            texts.append(f"{len(cells)} missing known cells were estimated (known_imputed_){listed}")
        return [*texts, *(costs_of_adjusting(self.known) if of.adjusted_ else ())]

    def advice(self) -> Iterator[str]:
        """Yield what to do next: first about the first thing that is wrong, last how to go on."""
        of, many, chance = self.of, len(self.ends), self.chance
        if self.unfinished:
            yield f"Fit again with more iterations than max_iter={of.max_iter}."
        if not self.p:
            yield "Fit with n_components=2 to see what the known features leave."
        if self.leaks:
            yield "Fit again with adjust=True: it takes what is known off the map and leaves the fit as it is."
        for name in self.predicted:
            look = f"Look at the map coloured by {_clean(name)}, which neighbours on it still tell"
            if of.known_summary_.loc[name, "type"] in types_with_levels():
                yield f"{look}: its levels differ in more than their places, in spread or shape; map each by itself."
            yield f"{look}: its effect is not linear; declare it Spline(), or another type, in known_types."
        if not chance.why_none and self.value >= chance.lowest:
            yield (
                "Trust on this map only what features from elsewhere confirm (unmask.inspection.name_axes): by its "
                f"{self.quantity} it could be one of random data; or try other dimensions (choose_n_components)."
            )
        if many >= ENOUGH_STARTS and self.at_best == 1:
            yield f"Fit again with more starts (n_init={2 * many}): only one of {many} found this minimum."
        if not chance.why_none and self.value > POOR * chance.median:
            yield "Try one more dimension (unmask.inspection.choose_n_components): this map leaves many pairs out."
        yield "Look at the map (plot), name what you recognise, add it to known, and fit again."


def _names(names: Iterable[object], separator: str = ", ") -> str:
    listed = [_clean(name) for name in names]
    more = [f"{len(listed) - MOST_NAMES} more"] if len(listed) > MOST_NAMES else []
    return separator.join(listed[:MOST_NAMES] + more)


def _clean(text: object) -> str:
    """Return a text from the data on one line, without what steers a terminal."""
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
