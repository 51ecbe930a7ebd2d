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
from ._codings import Cyclic, Feature, Nominal, Numeric, NumericCoding, Ordinal, Spline, feature_type
from ._costs import DISTANCES, LOSSES, TARGETS, Distance, Loss, Neighbours, make_cost
from ._graph import EdgeGraph, TableGraph, WeightGraph
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
from ._linalg import basis_by_group, canonical_correlations, orthonormal_basis, symmetric_root
from ._pairs import build_pairs, warn_of_few_pairs
from ._penalties import LeakPenalty
from ._problem import Problem, check_dimension, check_room
from ._schemes import SCHEMES, Equal, Scheme, register_scheme
from ._structures import KnownSpace, Structure

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
    "EdgeGraph",
    "Equal",
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
    "NumericCoding",
    "Ordinal",
    "PermutedMaps",
    "Problem",
    "Scheme",
    "Spline",
    "Structure",
    "TableGraph",
    "Trait",
    "WeightGraph",
    "basis_by_group",
    "beside_chance",
    "build_pairs",
    "canonical_correlations",
    "check_dimension",
    "check_known",
    "check_room",
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
    "register_scheme",
    "symmetric_root",
    "told_by_neighbours",
    "traits_of",
    "warn_of_few_pairs",
]
