"""The loop: fit, look, name, condition, again."""

from ..checking import UnfinishedWarning as UnfinishedWarning
from ..progress import Stopped
from ._files import InputFile, Origin, study_from_files
from ._files import coding_of as coding_of
from ._fitting import ESTIMATORS as ESTIMATORS
from ._fitting import PACKAGES as PACKAGES
from ._fitting import parameters_of as parameters_of
from ._material import Material
from ._proposals import Preview, along_curve
from ._reading import FittedPairs as FittedPairs
from ._reading import LeftOut as LeftOut
from ._reading import Reading
from ._records import Action as Action
from ._records import Adoption, Amendment, Forgetting, Step
from ._records import Change as Change
from ._study import Discovery

__all__ = [
    "Adoption",
    "Amendment",
    "Discovery",
    "Forgetting",
    "InputFile",
    "Material",
    "Origin",
    "Preview",
    "Reading",
    "Step",
    "Stopped",
    "along_curve",
    "study_from_files",
]
