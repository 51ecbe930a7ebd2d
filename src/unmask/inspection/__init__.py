"""Scores, tests and tables that help to read a map."""

from ._axes import name_axes
from ._compare import Task, compare
from ._compare import method_names as method_names
from ._correlations import (
    abs_correlations,
    average_canonical_correlation,
    canonical_correlations,
    leak,
    recovery,
)
from ._dimensions import choose_n_components, dimension_test, elbow, scree
from ._gplvm import gplvm_score
from ._leak import ON_THE_MAP as ON_THE_MAP  # between rooms
from ._leak import leak_report
from ._permutation import permutation_test
from ._procrustes import procrustes
from ._resampling import Stability, bootstrap, jackknife
from ._rivals import dbrda_test, mds_then_regress, partial_dbrda
from ._scores import neighbourhood_scores
from ._shepard import shepard, stress_per_point

__all__ = [
    "Stability",
    "Task",
    "abs_correlations",
    "average_canonical_correlation",
    "bootstrap",
    "canonical_correlations",
    "choose_n_components",
    "compare",
    "dbrda_test",
    "dimension_test",
    "elbow",
    "gplvm_score",
    "jackknife",
    "leak",
    "leak_report",
    "mds_then_regress",
    "name_axes",
    "neighbourhood_scores",
    "partial_dbrda",
    "permutation_test",
    "procrustes",
    "recovery",
    "scree",
    "shepard",
    "stress_per_point",
]
