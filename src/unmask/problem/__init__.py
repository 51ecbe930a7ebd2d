"""Coding known features, weights, structures, penalties: everything that makes a frozen problem.

Two modules of it are used by themselves: ``leak`` (what a map repeats of what is known) and ``linalg``.
"""

from ._blocks import Cells, coef_blocks
from ._codings import Cyclic, Feature, Nominal, Numeric, NumericCoding, Ordinal, Spline, feature_type
from ._costs import Distance, Loss, Neighbours, make_cost
from ._graph import EdgeGraph, TableGraph, WeightGraph
from ._known import KnownFeatures, check_known, known_table, nothing_known
from ._levels import LEVELS, TIES, Curve, make_level, ranked
from ._penalties import LeakPenalty
from ._problem import Problem, check_dimension, check_room
from ._structures import KnownSpace, Structure
from ._weights import SCHEMES, build_pairs, warn_of_few_pairs

__all__ = [
    "LEVELS",
    "SCHEMES",
    "TIES",
    "Cells",
    "Curve",
    "Cyclic",
    "Distance",
    "EdgeGraph",
    "Feature",
    "KnownFeatures",
    "KnownSpace",
    "LeakPenalty",
    "Loss",
    "Neighbours",
    "Nominal",
    "Numeric",
    "NumericCoding",
    "Ordinal",
    "Problem",
    "Spline",
    "Structure",
    "TableGraph",
    "WeightGraph",
    "build_pairs",
    "check_dimension",
    "check_known",
    "check_room",
    "coef_blocks",
    "feature_type",
    "known_table",
    "make_cost",
    "make_level",
    "nothing_known",
    "ranked",
    "warn_of_few_pairs",
]
