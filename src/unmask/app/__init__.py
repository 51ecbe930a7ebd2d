"""The workbench: discover features by looking, in the browser and in notebooks. No mathematics lives here."""

from ._server import serve
from ._session import Session

__all__ = ["Session", "serve"]
