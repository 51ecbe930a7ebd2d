"""Whether a map is adjusted for the known features, and what its user should know about that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..checking import AdjustmentWarning, LeakWarning, count, quote, warn_user
from ..problem import KnownFeatures, types_with_levels
from ..problem.leak import NeighbourLeak, leak_in_words
from ._fitted_map import Decision, FittedMap
from ._imputed import warn_of_imputed

# Adjusting takes q of the N - 1 degrees of freedom of each axis; beyond this share there is a warning.
LARGE_SHARE = 0.1
# A level with no more objects than this has its mean, and so nearly all that is to be seen of them, taken off.
SMALL_LEVEL = 2
# Features whose numbers are given in a warning.
MOST_LISTED = 5


def decide(fitted: FittedMap, adjust: Any) -> Decision:
    """Return whether a free map is adjusted; raise if ``adjust=True`` and some missing cells cannot be determined."""
    leak, known = fitted.leak, fitted.known
    wished = leak.directions if adjust == "auto" else adjust
    if not (wished and fitted.n_components and known.n_kept):
        return Decision(False, leak)
    if not (left := fitted.predicted_cells[2] if fitted.moved else []):
        return Decision(True, leak)
    named = quote(f"{feature} of {row if fitted.labels is None else fitted.labels[row]}" for feature, row in left)
    hindrance = (
        f"what missing cells of known predict cannot be taken off the map, since neither it nor the dissimilarities "
        f"determine them: {named}. Fill them, leave these objects or features out"
    )
    if adjust != "auto":
        raise ValueError(f"adjust=True, but {hindrance}, or use adjust=False.")
    return Decision(False, leak, hindrance)


def warn_of_map(fitted: FittedMap, adjust: Any) -> None:
    """Warn of doubtful cells, and of known features that the map repeats; ``adjust`` is the estimator's parameter."""
    if fitted.moved:
        warn_of_imputed(fitted.known_imputed)
    if fitted.decision is not None and (fitted.adjusted or fitted.decision.leak.directions):
        _warn_of_leak(fitted.decision, adjust, fitted.known)
    if fitted.uncorrelated:
        told = {name: leak for name, leak in fitted.neighbour_leak(stop_early=True).items() if leak.above_chance}
        if told:
            _warn_of_neighbours(told, {feature.name: feature.coding.kind for feature in fitted.known.features})


def _warn_of_leak(decision: Decision, adjust: Any, known: KnownFeatures) -> None:
    """Warn if a map leaks, or what adjusting it costs."""
    leak = leak_in_words(decision.leak.leak, decision.leak.reference)
    if decision.adjusted:
        if adjust == "auto":
            warn_user(
                f"the map repeated what is known: its leak was {leak}. So it is shown adjusted: what the known "
                "features predict was taken off. With adjust=False it is shown as it was fitted (free_embedding_).",
                AdjustmentWarning,
            )
        for cost in costs_of_adjusting(known):
            warn_user(cost, AdjustmentWarning)
        return
    first = "Use adjust=True, which takes off the map what the known features predict and leaves the fit as it is"
    first = f"It is not adjusted, since {decision.hindrance}" if decision.hindrance else first
    warn_user(
        f"the map repeats what is known: its leak is {leak}. {first}; or use fewer dimensions (n_components); or "
        "declare a feature Spline or another type if its effect is not linear.",
        LeakWarning,
    )


def _warn_of_neighbours(told: dict[str, NeighbourLeak], kinds: Mapping[str, str]) -> None:
    """Warn of known features that neighbours predict on a map whose linear leak is 0 by construction."""
    levels = [name for name in told if kinds[name] in types_with_levels()]
    numbers = [name for name in told if name not in levels]
    remedies = [f"map each level of {quote(levels)} by itself"] if levels else []
    remedies += [f"declare {quote(numbers)} as Spline() or another type"] if numbers else []
    listed = [neighbours_in_words(name, kinds[name], told[name]) for name in list(told)[:MOST_LISTED]]
    more = f" and {len(told) - MOST_LISTED} more" if len(told) > MOST_LISTED else ""
    warn_user(
        f"neighbours on the map {'; '.join(listed)}{more}. Its linear leak is 0 by construction, and still the map "
        "shows these features: in clusters, in spread or along a curve. Look at the map coloured by them; "
        f"{', and '.join(remedies)}.",
        LeakWarning,
    )


def neighbours_in_words(name: str, kind: str, leak: NeighbourLeak) -> str:
    """Return how well neighbours predict a feature, beside chance, in words."""
    how = "right" if kind in types_with_levels() else "correlation"
    verdict = "more than chance" if leak.above_chance else "no more than chance"
    chance = f"by chance {leak.baseline:.2f}, below {leak.reference:.2f} in 19 of 20 cases"
    return f"tell {name}: {leak.score:.2f} {how}, {verdict} ({chance})"


def costs_of_adjusting(known: KnownFeatures) -> Iterator[str]:
    """Yield the costs of adjusting a map of few objects, in sentences."""
    n, q = known.values.shape
    if q / (n - 1) > LARGE_SHARE:
        yield (
            f"the map is adjusted for {count(q, 'column')} of known features with {n} objects: about "
            f"{q / (n - 1):.0%} of what is to be seen is taken off by chance alone. Condition on fewer features or "
            "levels, or use adjust=False."
        )
    small = [
        f"{level} ({feature.name})"
        for feature in known.features
        for level, objects in zip(feature.coding.levels, feature.counts, strict=True)
        if objects <= SMALL_LEVEL
    ]
    if small:
        yield (
            f"the map is adjusted and some levels have no more than {SMALL_LEVEL} objects: {quote(small)}. They come "
            "to lie at or near the centre, whatever their dissimilarities are; join such levels, or leave the objects "
            "out."
        )
