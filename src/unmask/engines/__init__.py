"""Where the pass over pairs runs. Every engine offers one protocol; the solvers do not know which one they have."""

from __future__ import annotations

from ..kernels import Pairs, Workers
from ..problem import Edges
from ._edges import EdgeEngine
from ._memory import MemoryEngine
from ._protocol import Engine

__all__ = ["EdgeEngine", "Engine", "MemoryEngine", "make_engine"]


def make_engine(pairs: Pairs | Edges, workers: Workers) -> Engine:
    """Return the engine that suits the pairs."""
    return EdgeEngine(pairs) if isinstance(pairs, Edges) else MemoryEngine(pairs, workers)
