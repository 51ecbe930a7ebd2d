"""Coding known features, weights, structures, penalties: everything that makes a frozen problem."""

from ._blocks import (
    Cells,
    CommonBlock,
    DenseBlock,
    DiagonalBlock,
    FunctionBlock,
    MonotoneBlock,
    MovingBlock,
    coef_blocks,
)
from ._codings import Cyclic, Feature, Nominal, Numeric, NumericCoding, Ordinal, Spline
from ._costs import DISTANCES, LOSSES, TARGETS, Distance, Loss, Neighbours, make_cost
from ._known import KnownFeatures, check_known, known_table, nothing_known
from ._levels import LEVELS, TIES, Curve, make_level, ranked
from ._linalg import canonical_correlations, orthonormal_basis, symmetric_root
from ._penalties import LeakPenalty
from ._problem import Problem, check_dimension
from ._structures import KnownSpace, Structure
from ._weights import SCHEMES, Edges, build_pairs, warn_of_few_pairs

__all__ = [
    "DISTANCES",
    "LEVELS",
    "LOSSES",
    "SCHEMES",
    "TARGETS",
    "TIES",
    "Cells",
    "CommonBlock",
    "Curve",
    "Cyclic",
    "DenseBlock",
    "DiagonalBlock",
    "Distance",
    "Edges",
    "Feature",
    "FunctionBlock",
    "KnownFeatures",
    "KnownSpace",
    "LeakPenalty",
    "Loss",
    "MonotoneBlock",
    "MovingBlock",
    "Neighbours",
    "Nominal",
    "Numeric",
    "NumericCoding",
    "Ordinal",
    "Problem",
    "Spline",
    "Structure",
    "build_pairs",
    "canonical_correlations",
    "check_dimension",
    "check_known",
    "coef_blocks",
    "known_table",
    "make_cost",
    "make_level",
    "nothing_known",
    "orthonormal_basis",
    "ranked",
    "symmetric_root",
    "warn_of_few_pairs",
]
