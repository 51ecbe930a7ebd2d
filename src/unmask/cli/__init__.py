"""The command line: thin, no mathematics."""

from ._app import app

__all__ = ["app"]
