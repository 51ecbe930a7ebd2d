"""scikit-learn estimators: the only room that talks to users about parameters."""

from ._conditional_classical import ConditionalClassicalMDS
from ._conditional_gplvm import ConditionalGPLVM
from ._conditional_isomap import ConditionalIsomap
from ._conditional_mds import ConditionalMDS

# Between rooms, for no one else:
from ._fit import refit as refit
from ._fit import stages_of as stages_of
from ._fitted_map import aims_of as aims_of
from ._fitted_map import known_of as known_of
from ._fitted_map import known_part_of as known_part_of
from ._fitted_map import labels_of_fit as labels_of_fit
from ._fitted_map import transformer_of as transformer_of
from ._general_mds import GeneralMDS
from ._neighbour_maps import ConditionalTSNE, ConditionalUMAP
from ._parameters import INITS as INITS
from ._parameters import names_checkpoint as names_checkpoint
from ._posterior import Posterior
from ._random_fits import random_fits as random_fits
from ._random_fits import stress_of_known as stress_of_known
from ._reading import number_of_objects as number_of_objects
from ._reading import some_objects as some_objects
from ._spectral_map import SpectralMap

__all__ = [
    "ConditionalClassicalMDS",
    "ConditionalGPLVM",
    "ConditionalIsomap",
    "ConditionalMDS",
    "ConditionalTSNE",
    "ConditionalUMAP",
    "GeneralMDS",
    "Posterior",
    "SpectralMap",
]
