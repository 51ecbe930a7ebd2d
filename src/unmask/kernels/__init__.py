"""The passes over all pairs: compiled (``fused``), and in plain NumPy (``plain``) what a fit does once.

Modules of compiled code are attributes that are imported when they are first used: importing the compiler takes longer
than all the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import _costs as plain_costs
from . import _plain as plain
from ._costs import Cost, Form, PairFunction
from ._pairs import Edges, Pairs, ReferenceSums, Rule, SampledPairs, Weighting, power_of_two_near
from ._sources import (
    LARGE,
    MOST_SQUARED,
    SHARED_FROM,
    STRIP,
    TILE,
    ArraySource,
    Source,
    Sums,
    Survey,
    Which,
    empty_square,
    join_surveys,
    read_entries,
    rectangle,
    square_array,
    strip_height,
    strip_reader,
    strips,
    survey_pairs,
)
from ._workers import OneBlasThread, Workers, each, elsewhere, resolve_threads

__all__ = [
    "LARGE",
    "MOST_SQUARED",
    "SHARED_FROM",
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
    "Rule",
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
    "join_surveys",
    "plain",
    "plain_costs",
    "power_of_two_near",
    "read_entries",
    "rectangle",
    "resolve_threads",
    "square_array",
    "strip_height",
    "strip_reader",
    "strips",
    "survey_pairs",
]

_COMPILED = {"features", "fused", "general", "lbfgs", "likelihood", "placing", "references"}


def __getattr__(name: str) -> Any:
    if name not in _COMPILED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = import_module(f"._{name}", __name__)
    return module
