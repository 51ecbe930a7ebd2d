"""Transformers that prescribe dissimilarities: any of them can be conditioned by an estimator behind it."""

from ._geodesic import DisconnectedGraphWarning, Geodesic
from ._network import NetworkDissimilarity

__all__ = ["DisconnectedGraphWarning", "Geodesic", "NetworkDissimilarity"]
