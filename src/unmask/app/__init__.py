"""The workbench: discover features by looking, in the browser and in notebooks. No mathematics lives here."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._server import serve
    from ._session import Session
    from ._widget import Workbench, explore_fitted

__all__ = ["Session", "Workbench", "explore_fitted", "serve"]

# Each needs packages of its own, and the worker's process none of them.
_HOME = {
    "Session": "._session",
    "Workbench": "._widget",
    "explore_fitted": "._widget",
    "serve": "._server",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
