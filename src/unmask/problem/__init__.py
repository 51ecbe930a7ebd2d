"""Checking and aligning input, coding known features, weights, structures: everything that makes a frozen problem."""

from ._dissimilarities import Dissimilarities, check_dissimilarities, numbers
from ._exceptions import MissingDissimilarityWarning, RedundantKnownWarning, warn_user
from ._known import KnownFeatures, check_known, known_table, nothing_known
from ._labels import align_columns, align_rows, is_pandas, quote
from ._linalg import canonical_correlations, orthonormal_basis, symmetric_root
from ._penalties import LeakPenalty
from ._problem import Problem, check_dimension
from ._structures import DenseBlock, DiagonalBlock, KnownSpace, Structure, coef_blocks
from ._weights import SCHEMES, Edges, build_pairs

__all__ = [
    "SCHEMES",
    "DenseBlock",
    "DiagonalBlock",
    "Dissimilarities",
    "Edges",
    "KnownFeatures",
    "KnownSpace",
    "LeakPenalty",
    "MissingDissimilarityWarning",
    "Problem",
    "RedundantKnownWarning",
    "Structure",
    "align_columns",
    "align_rows",
    "build_pairs",
    "canonical_correlations",
    "check_dimension",
    "check_dissimilarities",
    "check_known",
    "coef_blocks",
    "is_pandas",
    "known_table",
    "nothing_known",
    "numbers",
    "orthonormal_basis",
    "quote",
    "symmetric_root",
    "warn_user",
]
