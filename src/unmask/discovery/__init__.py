"""The loop: fit, look, name, condition, again."""

from ..checking import UnfinishedMapWarning as UnfinishedMapWarning
from ._actions import Action as Action
from ._actions import Adoption, Forgetting, Step
from ._fitting import PACKAGES as PACKAGES
from ._fitting import fit_alone as fit_alone
from ._load import read_tables
from ._material import Material
from ._study import Discovery

__all__ = [
    "Adoption",
    "Discovery",
    "Forgetting",
    "Material",
    "Step",
    "read_tables",
]
