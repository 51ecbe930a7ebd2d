"""unmask: see what the known features hide.

Maps of objects from their pairwise dissimilarities, given features that are already known, so that the map shows only
what is not yet known.
"""

from importlib.metadata import version as _version

from .checking import (
    FewPairsWarning,
    MissingDissimilarityWarning,
    RedundantKnownWarning,
    SmallNeighbourhoodWarning,
)
from .estimators import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    ConditionalTSNE,
    GeneralMDS,
    SpectralMap,
)
from .problem import Cyclic, Distance, Loss, Neighbours, Nominal, Numeric, Ordinal, Spline

__version__ = _version("unmask")

__all__ = [
    "ConditionalClassicalMDS",
    "ConditionalIsomap",
    "ConditionalMDS",
    "ConditionalTSNE",
    "Cyclic",
    "Distance",
    "FewPairsWarning",
    "GeneralMDS",
    "Loss",
    "MissingDissimilarityWarning",
    "Neighbours",
    "Nominal",
    "Numeric",
    "Ordinal",
    "RedundantKnownWarning",
    "SmallNeighbourhoodWarning",
    "SpectralMap",
    "Spline",
    "__version__",
]
