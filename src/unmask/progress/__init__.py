"""How far a fit is: who watches it, what is told of it, the time left, and the journal by which it can be resumed."""

from ._bar import ProgressBar, position_of, without_late_bars
from ._journal import Journal, Run, RunKey
from ._series import Stopped, Tell, series
from ._time_left import TimeLeft
from ._watching import (
    Callback,
    CallbackSupportMixin,
    Listener,
    Progress,
    Watch,
    current_watch,
    listeners_of,
    watching,
)

__all__ = [
    "Callback",
    "CallbackSupportMixin",
    "Journal",
    "Listener",
    "Progress",
    "ProgressBar",
    "Run",
    "RunKey",
    "Stopped",
    "Tell",
    "TimeLeft",
    "Watch",
    "current_watch",
    "listeners_of",
    "position_of",
    "series",
    "watching",
    "without_late_bars",
]
