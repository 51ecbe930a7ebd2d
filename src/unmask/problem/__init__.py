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
from ._codings import Cyclic, Feature, Nominal, Numeric, Ordinal, Spline, feature_type
from ._costs import DISTANCES, LOSSES, TARGETS, Distance, Loss, Neighbours, make_cost
from ._known import KnownFeatures, check_known, known_table, nothing_known
from ._leak import (
    LinearLeak,
    NeighbourLeak,
    PermutedMaps,
    Trait,
    beside_chance,
    leak_p_value,
    leak_reference,
    leaking_directions,
    linear_leak,
    neighbour_leak,
    told_by_neighbours,
    traits_of,
)
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
    "LinearLeak",
    "Loss",
    "MonotoneBlock",
    "MovingBlock",
    "NeighbourLeak",
    "Neighbours",
    "Nominal",
    "Numeric",
    "Ordinal",
    "PermutedMaps",
    "Problem",
    "Spline",
    "Structure",
    "Trait",
    "beside_chance",
    "build_pairs",
    "canonical_correlations",
    "check_dimension",
    "check_known",
    "coef_blocks",
    "feature_type",
    "known_table",
    "leak_p_value",
    "leak_reference",
    "leaking_directions",
    "linear_leak",
    "make_cost",
    "make_level",
    "neighbour_leak",
    "nothing_known",
    "orthonormal_basis",
    "ranked",
    "symmetric_root",
    "told_by_neighbours",
    "traits_of",
    "warn_of_few_pairs",
]
