"""Warnings of the library; each can be filtered or turned into an error by its class."""

from __future__ import annotations


class MissingDissimilarityWarning(UserWarning):
    """Some pairs have no dissimilarity and take no part in the fit."""


class RedundantKnownWarning(UserWarning):
    """Some known columns carry no information of their own and were left out."""
