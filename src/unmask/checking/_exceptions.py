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


class FewPairsWarning(UserWarning):
    """Some objects have too few dissimilarities to be held in place."""


class SmallNeighbourhoodWarning(UserWarning):
    """The neighbourhood of curvilinear weights could not shrink as far as it should."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code, however many calls of this library or scikit-learn lie between."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("unmask", "sklearn"):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
