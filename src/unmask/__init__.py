"""unmask: see what the known features hide.

Maps of objects from their pairwise dissimilarities, given features that are already known, so that the map shows only
what is not yet known.
"""

from importlib.metadata import version as _version

from .checking import MissingDissimilarityWarning, RedundantKnownWarning
from .estimators import ConditionalClassicalMDS, ConditionalIsomap, ConditionalMDS

__version__ = _version("unmask")

__all__ = [
    "ConditionalClassicalMDS",
    "ConditionalIsomap",
    "ConditionalMDS",
    "MissingDissimilarityWarning",
    "RedundantKnownWarning",
    "__version__",
]
