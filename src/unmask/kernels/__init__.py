"""The passes over all pairs: compiled (``fused``) and, for few objects, in plain NumPy (``plain``)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import _costs as plain_costs
from . import _plain as plain
from ._costs import Cost, Form, PairFunction
from ._each import each, elsewhere
from ._pairs import Edges, Pairs, ReferenceSums, SampledPairs, Sums, Survey, Weighting, power_of_two_near
from ._sources import (
    LARGE,
    MOST_SQUARED,
    STRIP,
    TILE,
    ArraySource,
    Source,
    Which,
    empty_square,
    read_entries,
    reads_by_number,
    rectangle,
    smallest_positive,
    square_array,
    strip_height,
    strip_reader,
    strips,
)
from ._workers import OneBlasThread, Workers, resolve_threads

__all__ = [
    "LARGE",
    "MOST_SQUARED",
    "STRIP",
    "TILE",
    "ArraySource",
    "Cost",
    "Edges",
    "Form",
    "OneBlasThread",
    "PairFunction",
    "Pairs",
    "ReferenceSums",
    "SampledPairs",
    "Source",
    "Sums",
    "Survey",
    "Weighting",
    "Which",
    "Workers",
    "each",
    "elsewhere",
    "empty_square",
    "features",
    "fused",
    "general",
    "lbfgs",
    "likelihood",
    "once",
    "passes_over",
    "placing",
    "plain",
    "plain_costs",
    "power_of_two_near",
    "read_entries",
    "reads_by_number",
    "rectangle",
    "references",
    "resolve_threads",
    "smallest_positive",
    "square_array",
    "strip_height",
    "strip_reader",
    "strips",
]


def fused() -> ModuleType:
    """Return the compiled passes; importing the compiler takes longer than all the rest, so it waits until needed."""
    from . import _fused

    return _fused


# Up to this many objects, what is read once or twice a fit is read without compiled code: compiling it would take
# seconds, and it saves less than a millisecond.
FEW = 100


def once(source: Source) -> Any:
    """Return the passes for what a fit does once: the plain ones for few objects, even if others are compiled."""
    return plain if source.n <= FEW and isinstance(source, ArraySource) else passes_over(source)


def passes_over(source: Source) -> Any:
    """Return the passes for what a fit does all the time: the compiled ones, unless the source has its own."""
    return getattr(source, "passes", None) or fused()


def features() -> ModuleType:
    """Return the compiled comparison of features, imported when needed as the passes are."""
    from . import _features

    return _features


def general() -> ModuleType:
    """Return the compiled passes of general costs, imported when needed as the others are."""
    from . import _general

    return _general


def placing() -> ModuleType:
    """Return the compiled placing of new objects, imported when needed as the others are."""
    from . import _placing

    return _placing


def references() -> ModuleType:
    """Return the compiled pass of all objects against some references, imported when needed as the others are."""
    from . import _references

    return _references


def lbfgs() -> ModuleType:
    """Return what limited-memory BFGS does with its past steps, imported when needed as the passes are."""
    from . import _lbfgs

    return _lbfgs


def likelihood() -> ModuleType:
    """Return the compiled pass of a likelihood, imported when needed as the others are."""
    from . import _likelihood

    return _likelihood
