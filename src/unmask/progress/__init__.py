"""Progress of a fit: callbacks, a bar with the time left, and checkpoints.

A fit reports to a `Watch` (``with watching(callback) as watch``), and what it calls reports to ``current_watch()``. A
series of fits reports how many are done: ``with series(callback) as report: … report("permutations", done, total)``.
A bar appears by itself after 3 seconds on a terminal or in a notebook, and shows the outermost work.
"""

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
    "watching",
    "without_late_bars",
]
