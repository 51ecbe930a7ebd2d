"""Reading a map: small, named tables."""

from ._correlations import average_canonical_correlation, canonical_correlations
from ._permutation import dimension_test, permutation_test
from ._resampling import Stability, bootstrap, jackknife
from ._scree import choose_n_components, elbow, scree

__all__ = [
    "Stability",
    "average_canonical_correlation",
    "bootstrap",
    "canonical_correlations",
    "choose_n_components",
    "dimension_test",
    "elbow",
    "jackknife",
    "permutation_test",
    "scree",
]
