"""Reading a map: scores that answer what a careful analyst asks next."""

from ._correlations import average_canonical_correlation, canonical_correlations

__all__ = ["average_canonical_correlation", "canonical_correlations"]
