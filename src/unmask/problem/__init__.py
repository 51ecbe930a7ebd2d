"""Coding known features, weights, structures: everything that makes a frozen problem.

Three modules are used by themselves: ``leak`` (what a map repeats of the known features), ``chance`` and ``linalg``.
"""

from ._blocks import Cells, CommonBlock
from ._costs import Distance, Loss, Neighbours, make_cost
from ._graph import WeightGraph, make_graph
from ._known import Feature, KnownFeatures, check_known, known_table
from ._levels import LEVELS, TIES, Curve, make_level, ranked
from ._pairs import SCHEMES, Equal, Scheme, build_pairs, register_scheme, warn_of_few_pairs
from ._problem import KnownSpace, Problem, Structure, check_dimension, make_structure
from ._types import (
    FEATURE_TYPES,
    declares_error,
    feature_type,
    inferred_type,
    type_as_text,
    type_from_text,
    types_with_levels,
    without_errors,
)
from ._types._base import FeatureType
from ._types._kinds import Cyclic, LevelType, Nominal, Numeric, Ordinal, Spline

__all__ = [
    "FEATURE_TYPES",
    "LEVELS",
    "SCHEMES",
    "TIES",
    "Cells",
    "CommonBlock",
    "Curve",
    "Cyclic",
    "Distance",
    "Equal",
    "Feature",
    "FeatureType",
    "KnownFeatures",
    "KnownSpace",
    "LevelType",
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
