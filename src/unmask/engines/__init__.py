"""Where the pass over pairs runs. Every engine offers one protocol; the solvers do not know which one they have."""

from __future__ import annotations

from ..kernels import Edges, Pairs, Workers
from ._costs import CostEngine
from ._edges import EdgeEngine
from ._levels import LevelEngine
from ._protocol import Engine
from ._table import TableEngine

__all__ = ["CostEngine", "EdgeEngine", "Engine", "LevelEngine", "TableEngine", "make_engine"]


def make_engine(pairs: Pairs | Edges, workers: Workers, level: str = "ratio", ties: str = "primary") -> Engine:
    """Return the engine that suits the pairs and the measurement level of their dissimilarities."""
    if isinstance(pairs, Edges):
        if level != "ratio":
            raise ValueError(
                f"level={level!r} with sparse weights: transformed dissimilarities are kept as a square table, so that "
                "nothing would be saved; pass weights.toarray(), or level='ratio'."
            )
        return EdgeEngine(pairs)
    return TableEngine(pairs, workers) if level == "ratio" else LevelEngine(pairs, workers, level, ties)
