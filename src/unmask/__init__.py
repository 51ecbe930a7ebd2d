"""unmask: see what the known features hide.

Maps of objects from their pairwise dissimilarities, given features that are already known, so that the map shows only
what is not yet known.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checking import (
        AdjustmentWarning,
        KnownFeatureWarning,
        LeakWarning,
        MapWarning,
        MissingDissimilarityWarning,
        UnfinishedWarning,
    )
    from .estimators import (
        ConditionalClassicalMDS,
        ConditionalGPLVM,
        ConditionalIsomap,
        ConditionalMDS,
        ConditionalTSNE,
        ConditionalUMAP,
        GeneralMDS,
        Posterior,
        SpectralMap,
    )
    from .problem import Cyclic, Distance, Loss, Neighbours, Nominal, Numeric, Ordinal, Spline
    from .progress import Checkpoint, Progress, ProgressBar

    __version__: str

__all__ = [
    "AdjustmentWarning",
    "Checkpoint",
    "ConditionalClassicalMDS",
    "ConditionalGPLVM",
    "ConditionalIsomap",
    "ConditionalMDS",
    "ConditionalTSNE",
    "ConditionalUMAP",
    "Cyclic",
    "Distance",
    "GeneralMDS",
    "KnownFeatureWarning",
    "LeakWarning",
    "Loss",
    "MapWarning",
    "MissingDissimilarityWarning",
    "Neighbours",
    "Nominal",
    "Numeric",
    "Ordinal",
    "Posterior",
    "Progress",
    "ProgressBar",
    "SpectralMap",
    "Spline",
    "UnfinishedWarning",
    "__version__",
]

# Where each name lives. It is imported when it is asked for: scikit-learn alone takes seconds, and `unmask --help` or a
# part of the package needs none of it.
_HOMES = {
    ".checking": (
        "AdjustmentWarning",
        "KnownFeatureWarning",
        "MapWarning",
        "LeakWarning",
        "MissingDissimilarityWarning",
        "UnfinishedWarning",
    ),
    ".estimators": (
        "ConditionalClassicalMDS",
        "ConditionalGPLVM",
        "ConditionalIsomap",
        "ConditionalMDS",
        "ConditionalTSNE",
        "ConditionalUMAP",
        "GeneralMDS",
        "Posterior",
        "SpectralMap",
    ),
    ".problem": ("Cyclic", "Distance", "Loss", "Neighbours", "Nominal", "Numeric", "Ordinal", "Spline"),
    ".progress": ("Checkpoint", "Progress", "ProgressBar"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from its room."""
    if name == "__version__":
        from importlib.metadata import version

        return version("unmask")
    if name in _HOME:
        return getattr(import_module(_HOME[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what can be asked for, imported or not."""
    return sorted({*globals(), *__all__})
