"""Cost of a map against the number of objects, beside the peers on the same data: ``make bench-scale``."""

from .usage import cpu, forget_peak, memory

__all__ = ["cpu", "forget_peak", "memory"]
