"""Where the pass over pairs runs. Every engine offers one protocol; solvers work with any of them."""

from __future__ import annotations

from collections.abc import Callable

from ..kernels import Edges, Pairs, SampledPairs, Workers
from ._costs import CostEngine
from ._edges import EdgeEngine
from ._levels import LevelEngine
from ._sampled import SampledEngine
from ._table import Engine, TableEngine

__all__ = [
    "ENGINES",
    "CostEngine",
    "EdgeEngine",
    "Engine",
    "LevelEngine",
    "SampledEngine",
    "TableEngine",
    "make_engine",
    "register_engine",
]

Suits = Callable[[Pairs | Edges, str], bool]  # (pairs, level)
Make = Callable[..., Engine]  # (pairs, workers, level, ties)
ENGINES: list[tuple[Suits, Make]] = []


def register_engine(suits: Suits, make: Make) -> None:
    """Offer an engine for the pairs and measurement levels that suit it; the one registered last is asked first."""
    ENGINES.insert(0, (suits, make))


def make_engine(pairs: Pairs | Edges, workers: Workers, level: str = "ratio", ties: str = "primary") -> Engine:
    """Return the engine that suits the pairs and the measurement level of their dissimilarities."""
    for suits, make in ENGINES:
        if suits(pairs, level):
            return make(pairs, workers, level, ties)
    raise AssertionError("the table engine suits all")


register_engine(lambda *_: True, lambda pairs, workers, *_: TableEngine(pairs, workers))
register_engine(lambda _, level: level != "ratio", LevelEngine)
register_engine(lambda pairs, _: isinstance(pairs, Edges), lambda edges, _, level, __: EdgeEngine(edges, level))
register_engine(
    lambda pairs, _: isinstance(pairs, SampledPairs), lambda pairs, workers, *_: SampledEngine(pairs, workers)
)
