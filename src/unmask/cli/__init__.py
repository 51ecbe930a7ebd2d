"""The command line: thin, no mathematics."""

from ._app import app
from ._commands import register_command
from ._output import Outcome, Output

__all__ = ["Outcome", "Output", "app", "register_command"]
