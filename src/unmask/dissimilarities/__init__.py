"""Transformers that prescribe dissimilarities: any of them can be conditioned by an estimator behind it."""

from ._drill import Drill
from ._entropy import MaximumEntropyUnfolding
from ._geodesic import Geodesic
from ._kernel import KernelDissimilarity
from ._landmarks import LandmarkRows
from ._laplacian import LaplacianEigenmaps
from ._laplacian import SparseSpectral as SparseSpectral
from ._locally_linear import AcyclicLocallyLinear, LocallyLinear
from ._metric import Metric
from ._metric import is_compiled as is_compiled
from ._network import NetworkDissimilarity
from ._on_demand import LARGE_UNCOMPILED as LARGE_UNCOMPILED
from ._on_demand import OnDemand
from ._similarities import similarity_to_dissimilarity
from ._textures import TextureDissimilarity
from ._transformers import compare as compare
from ._transformers import compare_new as compare_new
from ._transformers import fitted_labels as fitted_labels
from ._transformers import float_type as float_type
from ._transformers import keep_objects as keep_objects
from ._transformers import make_transformer
from ._transformers import rows_of_new as rows_of_new
from ._transformers import set_input_tags as set_input_tags
from ._variance import MaximumVarianceUnfolding
from ._words import WordDissimilarity

__all__ = [
    "AcyclicLocallyLinear",
    "Drill",
    "Geodesic",
    "KernelDissimilarity",
    "LandmarkRows",
    "LaplacianEigenmaps",
    "LocallyLinear",
    "MaximumEntropyUnfolding",
    "MaximumVarianceUnfolding",
    "Metric",
    "NetworkDissimilarity",
    "OnDemand",
    "TextureDissimilarity",
    "WordDissimilarity",
    "make_transformer",
    "similarity_to_dissimilarity",
]
