"""Warnings of the library; each can be filtered or turned into an error by its class.

A search that stops before it has settled is scikit-learn's ``ConvergenceWarning``.
"""

from __future__ import annotations

import sys
import warnings


class LeakWarning(UserWarning):
    """The map repeats known features more than chance would make it; a random map does so in 1 of 20 cases."""


class AdjustmentWarning(UserWarning):
    """The map was adjusted for the known features because it repeated them, or adjusting it has a cost."""


class MissingDissimilarityWarning(UserWarning):
    """Some pairs have no dissimilarity and take no part in the fit."""


class KnownFeatureWarning(UserWarning):
    """Known columns were left out as redundant, or missing cells were replaced by estimates, some of them doubtful."""


class MapWarning(UserWarning):
    """The map may not mean what it seems.

    For example, objects have too few pairs or are equal, groups are not connected, words or a target were left out, or
    a table that looks like dissimilarities was taken for features.
    """


class UnfinishedWarning(UserWarning):
    """A fit or a test was interrupted; its result is what it had by then."""


class WrongPair(ValueError):  # noqa: N818  (it names what is wrong)
    """A dissimilarity that cannot be one; ``pair`` has the positions of the two objects."""

    def __init__(self, message: str, pair: tuple[int, int]) -> None:
        super().__init__(message, pair)
        self.pair = pair

    def __str__(self) -> str:
        return str(self.args[0])


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code, however many calls of this library or scikit-learn lie between."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("unmask", "sklearn"):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
