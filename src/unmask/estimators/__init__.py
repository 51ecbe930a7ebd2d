"""scikit-learn estimators: the only room that talks to users about parameters."""

from ._conditional_classical import ConditionalClassicalMDS
from ._conditional_isomap import ConditionalIsomap
from ._conditional_mds import ConditionalMDS
from ._conditional_tsne import ConditionalTSNE
from ._fitted import aims_of, labels_of_fit, stages_of, transformer_of
from ._general_mds import GeneralMDS
from ._imputed import imputed_frame
from ._spectral_map import SpectralMap

__all__ = [
    "ConditionalClassicalMDS",
    "ConditionalIsomap",
    "ConditionalMDS",
    "ConditionalTSNE",
    "GeneralMDS",
    "SpectralMap",
    "aims_of",
    "imputed_frame",
    "labels_of_fit",
    "stages_of",
    "transformer_of",
]
