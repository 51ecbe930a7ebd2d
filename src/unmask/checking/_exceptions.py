"""Warnings of the library; each can be filtered or turned into an error by its class."""

from __future__ import annotations

import sys
import warnings


class MissingDissimilarityWarning(UserWarning):
    """Some pairs have no dissimilarity and take no part in the fit."""


class EstimatedKnownWarning(UserWarning):
    """Missing cells of known features were replaced by estimates."""


class RedundantKnownWarning(UserWarning):
    """Some known columns carry no information of their own and were left out."""


class ImputedKnownWarning(UserWarning):
    """A missing number was estimated that lies outside the data, or that the dissimilarities do not determine."""


class FewPairsWarning(UserWarning):
    """Some objects have too few dissimilarities to be held in place."""


class SmallNeighbourhoodWarning(UserWarning):
    """The neighbourhood of curvilinear weights could not shrink as far as it should."""


class LeakWarning(UserWarning):
    """The map repeats what is known, more than chance would make it.

    A random map is warned of in 1 of 20 cases, one fitted to much noise more often: docs/adjusted.md has numbers.
    """


class AdjustmentWarning(UserWarning):
    """The map was adjusted for what is known, and this is worth a word."""


class IgnoredTargetWarning(UserWarning):
    """A target ``y`` was passed to an estimator that has no use for one."""


class SquareFeaturesWarning(UserWarning):
    """A table that looks like dissimilarities was taken for features."""


class UnfinishedMapWarning(UserWarning):
    """A fit was interrupted, and its map is what it had by then."""


class PosteriorWarning(UserWarning):
    """A posterior will take long, or its draws are not yet to be relied on."""


class UnfinishedTestWarning(UserWarning):
    """A test was interrupted, and its result is from what was done by then."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code, however many calls of this library or scikit-learn lie between."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("unmask", "sklearn"):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
