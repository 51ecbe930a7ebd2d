"""Coding known features, weights, structures, penalties: everything that makes a frozen problem."""

from ._known import KnownFeatures, check_known, known_table, nothing_known
from ._linalg import canonical_correlations, orthonormal_basis, symmetric_root
from ._penalties import LeakPenalty
from ._problem import Problem, check_dimension
from ._structures import DenseBlock, DiagonalBlock, KnownSpace, Structure, coef_blocks
from ._weights import SCHEMES, Edges, build_pairs

__all__ = [
    "SCHEMES",
    "DenseBlock",
    "DiagonalBlock",
    "Edges",
    "KnownFeatures",
    "KnownSpace",
    "LeakPenalty",
    "Problem",
    "Structure",
    "build_pairs",
    "canonical_correlations",
    "check_dimension",
    "check_known",
    "coef_blocks",
    "known_table",
    "nothing_known",
    "orthonormal_basis",
    "symmetric_root",
]
