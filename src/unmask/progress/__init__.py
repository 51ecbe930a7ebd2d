"""Progress of a fit: callbacks, a bar with the time left, and checkpoints."""

from ._bar import ProgressBar, TimeLeft
from ._checkpoint import Checkpoint, SavedFit, SavedStart
from ._watching import (
    Callback,
    Listener,
    Progress,
    Stopped,
    Tell,
    Watch,
    current_watch,
    listeners_of,
    series,
    unwatched,
    watching,
    without_late_bars,
)

__all__ = [
    "Callback",
    "Checkpoint",
    "Listener",
    "Progress",
    "ProgressBar",
    "SavedFit",
    "SavedStart",
    "Stopped",
    "Tell",
    "TimeLeft",
    "Watch",
    "current_watch",
    "listeners_of",
    "series",
    "unwatched",
    "watching",
    "without_late_bars",
]
