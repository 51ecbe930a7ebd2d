"""The loop: fit, look, name, condition, again."""

from ..checking import UnfinishedMapWarning as UnfinishedMapWarning
from ._actions import Action, Adoption, Forgetting, Step
from ._fitting import PACKAGES
from ._load import read_tables
from ._material import Material
from ._study import Discovery

__all__ = [
    "PACKAGES",
    "Action",
    "Adoption",
    "Discovery",
    "Forgetting",
    "Material",
    "Step",
    "read_tables",
]
