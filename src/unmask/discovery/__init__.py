"""The loop: fit, look, name, condition, again."""

from ..checking import UnfinishedMapWarning
from ._actions import Adoption, Forgetting, Step
from ._load import read_tables
from ._study import Discovery

__all__ = ["Adoption", "Discovery", "Forgetting", "Step", "UnfinishedMapWarning", "read_tables"]
