"""Coding known features, weights, structures: everything that makes a frozen problem.

Two modules of it are used by themselves: ``leak`` (what a map repeats of what is known) and ``linalg``.
"""

from ._blocks import Cells, CommonBlock
from ._costs import Distance, Loss, Neighbours, make_cost
from ._graph import WeightGraph, make_graph
from ._known import Feature, KnownFeatures, check_known, known_table
from ._levels import LEVELS, TIES, Curve, make_level, ranked
from ._pairs import build_pairs, warn_of_few_pairs
from ._problem import Problem, check_dimension
from ._schemes import SCHEMES, Equal, Scheme, register_scheme
from ._structures import KnownSpace, Structure, make_structure
from ._types import (
    FEATURE_TYPES,
    Coding,
    Cyclic,
    FeatureType,
    LevelCoding,
    Nominal,
    Numeric,
    Ordinal,
    Spline,
    declares_error,
    feature_type,
    inferred_type,
    type_as_text,
    type_from_text,
    types_with_levels,
    without_errors,
)

__all__ = [
    "FEATURE_TYPES",
    "LEVELS",
    "SCHEMES",
    "TIES",
    "Cells",
    "Coding",
    "CommonBlock",
    "Curve",
    "Cyclic",
    "Distance",
    "Equal",
    "Feature",
    "FeatureType",
    "KnownFeatures",
    "KnownSpace",
    "LevelCoding",
    "Loss",
    "Neighbours",
    "Nominal",
    "Numeric",
    "Ordinal",
    "Problem",
    "Scheme",
    "Spline",
    "Structure",
    "WeightGraph",
    "build_pairs",
    "check_dimension",
    "check_known",
    "declares_error",
    "feature_type",
    "inferred_type",
    "known_table",
    "make_cost",
    "make_graph",
    "make_level",
    "make_structure",
    "ranked",
    "register_scheme",
    "type_as_text",
    "type_from_text",
    "types_with_levels",
    "warn_of_few_pairs",
    "without_errors",
]
