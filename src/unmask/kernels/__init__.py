"""The passes over all pairs: a plain NumPy twin (``plain``) and a compiled one (``fused``), same signatures."""

from __future__ import annotations

from types import ModuleType

from . import _plain as plain
from ._pairs import Pairs, Survey, Weighting, power_of_two_near
from ._workers import OneBlasThread, Workers, resolve_threads

__all__ = [
    "OneBlasThread",
    "Pairs",
    "Survey",
    "Weighting",
    "Workers",
    "fused",
    "plain",
    "power_of_two_near",
    "resolve_threads",
]


def fused() -> ModuleType:
    """Return the compiled passes; importing the compiler takes longer than all the rest, so it waits until needed."""
    from . import _fused

    return _fused
