"""Several vectors for one word: its occurrences, clustered by the words around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans

from .._typing import Array, IntArray
from ..kernels import OneBlasThread

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class WordSenses:
    """The senses of a word, most frequent first.

    Attributes
    ----------
    vectors : DataFrame of shape (n_senses, n_components)
        Mean direction of the words around the occurrences of each sense.
    counts : Series of length n_senses
        How many occurrences have each sense.
    typical : DataFrame of shape (n_senses, n_words)
        Words of the text that are nearest to what distinguishes a sense from the others, nearest first.
    occurrences : ndarray of shape (n_occurrences,)
        The sense of each occurrence, from 0, in the order of the text; -1 where no other frequent word is around.
    """

    vectors: pd.DataFrame
    counts: pd.Series
    typical: pd.DataFrame
    occurrences: IntArray


def unit(vectors: Array) -> Array:
    """Return vectors at length 1; a vector 0 stays 0."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length == 0, 1.0, length))


def context_vectors(
    words: IntArray, documents: IntArray, code: int, vectors: Array, weights: Array, window: int
) -> Array:
    """Return the weighted sum of the vectors of the words around each place of one word, in its document."""
    places = np.flatnonzero(words == code)
    sums = np.zeros((len(places), vectors.shape[1]))
    for offset in (*range(-window, 0), *range(1, window + 1)):
        beside = places + offset
        inside = (beside >= 0) & (beside < len(words))
        beside = np.where(inside, beside, places)
        counted = inside & (documents[beside] == documents[places]) & (words[beside] >= 0) & (words[beside] != code)
        around = words[beside[counted]]
        sums[counted] += weights[around, None] * vectors[around]
    return sums


def cluster_contexts(contexts: Array, n_senses: int, random_state: int | None) -> tuple[IntArray, Array]:
    """Return the sense of each occurrence, the most frequent first, and the mean direction of each sense."""
    seen = contexts.any(axis=1)
    directions = unit(contexts[seen])
    with OneBlasThread():
        found = KMeans(n_senses, n_init=10, random_state=random_state).fit(directions)
    order = np.argsort(-np.bincount(found.labels_, minlength=n_senses), kind="stable")
    senses = np.full(len(contexts), -1)
    senses[seen] = np.argsort(order)[found.labels_]
    return senses, unit(found.cluster_centers_[order])
