"""Transformers that prescribe dissimilarities: any of them can be conditioned by an estimator behind it."""

from ._geodesic import DisconnectedGraphWarning, Geodesic
from ._metric import Metric
from ._network import NetworkDissimilarity
from ._similarities import similarity_to_dissimilarity
from ._textures import TextureDissimilarity
from ._words import UnknownWordWarning, WordDissimilarity

__all__ = [
    "DisconnectedGraphWarning",
    "Geodesic",
    "Metric",
    "NetworkDissimilarity",
    "TextureDissimilarity",
    "UnknownWordWarning",
    "WordDissimilarity",
    "similarity_to_dissimilarity",
]
