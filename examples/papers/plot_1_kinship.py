"""
Kinship terms
=============

Students sorted words for relatives into groups; how many of them did *not* put two words together is the
dissimilarity of the two. Section 3 of the arXiv paper (figures 1 to 7) and section 4.1 of the TPAMI paper (figures 1
and S1) find out, one after the other, by which features the students sorted: each feature that is recognised on a map
joins the known ones, and the next map shows what is left.

Both papers publish pictures and what their author read off them, no numbers. Here, each reading has become a number.
"""

import os
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib import pyplot
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from unmask import ConditionalIsomap, ConditionalMDS, LeakWarning
from unmask.datasets import load_kinship
from unmask.dissimilarities import Geodesic
from unmask.plotting import plot_map, plot_radviz

# Uniform starts of which the last table shows the shares.
STARTS = 200 if os.environ.get("UNMASK_GALLERY") == "full" else 40

kin = load_kinship()
terms = kin.dissimilarities.index
gender = kin.known["gender"].map({1: "male", 2: "female"})
degree, generation = kin.known["degree"], kin.known["generation"]

PAIRS = {
    "grandparent": ("Grandmother", "Grandfather"),
    "parent": ("Mother", "Father"),
    "pibling": ("Aunt", "Uncle"),
    "sibling": ("Sister", "Brother"),
    "child": ("Daughter", "Son"),
    "nibling": ("Niece", "Nephew"),
    "grandchild": ("Granddaughter", "Grandson"),
}

# %%
# Tables 1 and 2: the data
# ------------------------
# Gender (1 male, 2 female) and degree of kinship are in the published table 1. The generation, from -2 for
# grandparents to 2 for grandchildren, and its absolute value, the generation difference, are found in the course of
# the analysis.

kin.known.join(kin.dissimilarities)

# %%
# Figure 1: nothing known
# -----------------------
# Metric scaling. Men and women are apart; what else there is to see is not obvious, as the paper says.


def scale(*given, weights=None, n_components=2):
    """Return a fitted conditional scaling of the terms, given these features."""
    mds = ConditionalMDS(n_components, metric="precomputed", weights=weights, random_state=0)
    return mds.fit(kin.dissimilarities, known=kin.known[list(given)] if given else None)


def as_table(embedding):
    """Return a map with the terms as its index, and axes without names."""
    return pd.DataFrame(embedding, index=terms, columns=["", ""])


figure_1 = scale()
ax = plot_map(as_table(figure_1.embedding_), color=gender, title="Nothing known")

# %%
# Figure S1 of TPAMI: three dimensions in one picture
# ---------------------------------------------------
# RadViz of metric scaling in three dimensions. Gender and degree can be recognised, the generation cannot.

three = pd.DataFrame(scale(n_components=3).embedding_, index=terms, columns=["z1", "z2", "z3"])
ax = plot_radviz(three, color=gender, labels=terms)

# %%
# Figure 2: given gender
# ----------------------
# The seven pairs that differ in gender alone nearly coincide, and the degree of kinship grows along the arrow.

# sphinx_gallery_thumbnail_number = 3
figure_2 = scale("gender")
ax = plot_map(
    as_table(figure_2.embedding_), color=degree.astype(str), arrows=kin.known[["degree"]], title="Given gender"
)

# %%
# Figure 3: given gender and degree
# ---------------------------------
# Siblings, who differ by no generation, are on the left, and grandparents and grandchildren, who differ by two, on
# the right. (TPAMI's figure 1c is this map too; there it is read as a circle, as figure 5 below.)

figure_3 = scale("gender", "degree")
difference = kin.known["generation_difference"].rename("generations apart")
ax = plot_map(
    as_table(figure_3.embedding_),
    color=difference.astype(str),
    arrows=difference.to_frame(),
    title="Given gender, degree",
)

# %%
# Figure 4: given gender, degree and generation difference
# --------------------------------------------------------
# What is left is older against younger.

figure_4 = scale("gender", "degree", "generation_difference")
ax = plot_map(
    as_table(figure_4.embedding_),
    color=generation,
    arrows=kin.known[["generation"]],
    title="Given gender, degree, generation difference",
)

# %%
# Figure 5: Sammon weights
# ------------------------
# The generation difference is no linear function of the generation, but the two could be one curved feature. With
# weights that let small dissimilarities count more, the terms lie around a circle on which the generations follow
# each other, but for the siblings: from grandparents through parents to grandchildren, who are close to the
# grandparents again. The dashed arrow is that way round.


def angles(embedding):
    """Return for each pair its angle around the centre, measured from the grandparents, away from the grandchildren."""
    places = pd.DataFrame(embedding, index=terms)
    middles = pd.DataFrame({name: places.loc[list(pair)].mean() for name, pair in PAIRS.items()}).T
    angle = np.arctan2(middles[1], middles[0])
    turned = (angle - angle["grandparent"]) % (2 * np.pi)
    # The circle is opened between grandparents and grandchildren, who then are at its two ends.
    return turned if turned["grandchild"] > np.pi else -turned % (2 * np.pi)


def draw_way_round(ax, embedding):
    """Draw an arrow from the grandparents the long way round to the grandchildren."""
    places = pd.DataFrame(embedding, index=terms)
    first, last = (places.loc[list(PAIRS[name])].mean() for name in ("grandparent", "grandchild"))
    start, end = np.arctan2(first[1], first[0]), np.arctan2(last[1], last[0])
    step = (end - start) % (2 * np.pi)
    turn = np.linspace(start, start + (step if step > np.pi else step - 2 * np.pi), 100)
    radius = 0.28 * np.linalg.norm(embedding, axis=1).max()
    x, y = radius * np.cos(turn), radius * np.sin(turn)
    ax.plot(x, y, color="0.6", linestyle="--", linewidth=1, zorder=0)
    ax.annotate(
        "", (x[-1], y[-1]), (x[-3], y[-3]), arrowprops={"arrowstyle": "-|>", "color": "0.6", "mutation_scale": 14}
    )


figure_5 = scale("gender", "degree", weights="sammon")
ax = plot_map(as_table(figure_5.embedding_), color=generation, title="Given gender, degree; Sammon weights")
draw_way_round(ax, figure_5.embedding_)

# %%
# Figures 6 and 7: conditional Isomap
# -----------------------------------
# Shortest paths over the k nearest neighbours take the place of the dissimilarities. The map changes with k.

NEIGHBOURS = (3, 4, 5, 6)


def isomaps(weights):
    """Return the fitted conditional Isomaps for each number of neighbours."""
    known = kin.known[["gender", "degree"]]
    return {
        k: ConditionalIsomap(2, n_neighbors=k, metric="precomputed", weights=weights, random_state=0).fit(
            kin.dissimilarities, known=known
        )
        for k in NEIGHBOURS
    }


def draw_isomaps(fits):
    """Draw the maps side by side; the two terms of a pair, which coincide, share a point and a label."""
    figure, axes = pyplot.subplots(2, 2, figsize=(8.4, 7.6))
    figure.subplots_adjust(left=0.07, right=0.97, bottom=0.16, top=0.95, hspace=0.25, wspace=0.2)
    older = [generation[pair[0]] for pair in PAIRS.values()]
    for ax, (k, isomap) in zip(axes.flat, fits.items(), strict=True):
        places = as_table(isomap.embedding_)
        middles = pd.DataFrame({name: places.loc[list(pair)].mean() for name, pair in PAIRS.items()}).T
        plot_map(middles, ax=ax, title=f"k = {k}")
        draw_way_round(ax, isomap.embedding_)
        points = ax.scatter(middles.iloc[:, 0], middles.iloc[:, 1], c=older, s=45, zorder=3)
    bar = figure.colorbar(points, cax=figure.add_axes((0.3, 0.07, 0.4, 0.02)), orientation="horizontal")
    bar.set_ticks(range(-2, 3))
    bar.set_label("generation")
    bar.outline.set_visible(False)


figure_6 = isomaps(None)
draw_isomaps(figure_6)

# %%
# With Sammon weights:

figure_7 = isomaps("sammon")
draw_isomaps(figure_7)

# %%
# Published and here
# ------------------
# How far apart the two terms of a pair are, as a share of the median distance; how well a feature is ordered along
# its arrow (the absolute Spearman correlation with the terms' places along it) or along the circle; and, for the
# circle, how many of the seven pairs would have to be taken out for the rest to stand in order.


def farthest_pair(embedding):
    """Return the largest distance of the two terms of a pair as a share of the median distance of any two terms."""
    places = pd.DataFrame(embedding, index=terms)
    apart = max(np.linalg.norm(places.loc[one] - places.loc[other]) for one, other in PAIRS.values())
    return apart / np.median(pdist(embedding))


def along_arrow(embedding, feature):
    """Return how well a feature is ordered along the direction in which it rises fastest (that of least squares)."""
    slope = np.linalg.lstsq(embedding, feature - feature.mean(), rcond=None)[0]
    return abs(spearmanr(embedding @ slope, feature).statistic)


def along_circle(embedding):
    """Return how well the generation is ordered along the circle, opened between grandparents and grandchildren."""
    angle = angles(embedding)
    return abs(spearmanr(angle, [generation[PAIRS[name][0]] for name in angle.index]).statistic)


def out_of_place(embedding):
    """Return the names of the fewest pairs without which the generations are in order around the circle."""
    around = list(angles(embedding).sort_values().index)
    for n in range(len(around) - 1, 0, -1):
        for kept in combinations(around, n + 1):
            older = [generation[PAIRS[name][0]] for name in kept]
            if older == sorted(older):
                return [name for name in around if name not in kept]
    return around


readings = [
    ("1", "pairs coincide", "no", f"{farthest_pair(figure_1.embedding_):.2f} of the median distance"),
    ("2", "pairs coincide", "yes", f"{farthest_pair(figure_2.embedding_):.2f} of the median distance"),
    ("2", "degree along a direction", "yes", f"{along_arrow(figure_2.embedding_, degree):.2f}"),
    ("3", "pairs coincide", "yes", f"{farthest_pair(figure_3.embedding_):.2f} of the median distance"),
    ("3", "generation difference along an axis", "yes", f"{along_arrow(figure_3.embedding_, difference):.2f}"),
    ("4", "generation along a direction", "yes", f"{along_arrow(figure_4.embedding_, generation):.2f}"),
    ("1c*", "generation along a circle", "yes", f"{along_circle(figure_3.embedding_):.2f}"),
    ("5", "generation along a circle", "yes", f"{along_circle(figure_5.embedding_):.2f}"),
]
pd.DataFrame(readings, columns=["figure", "what one sees", "published", "here"]).set_index("figure")

# %%
# (*) of TPAMI; the map of figure 3.
#
# Pairs coincide where the papers say so. Degree, generation difference and generation rise along their arrows, though
# not without exceptions: the correlations are below 1. The two circles hold in part only. The order around them, pair
# by pair:

PUBLISHED = {
    "1c*": "in order",
    "5": "in order",
    "6, k = 3": "not in order",
    "6, k = 4": "not in order",
    "6, k = 5": "in order but for siblings",
    "6, k = 6": "in order but for siblings",
    "7, k = 3": "not in order",
    "7, k = 4": "in order",
    "7, k = 5": "in order",
    "7, k = 6": "in order",
}
fits = {"1c*": figure_3, "5": figure_5}
fits |= {f"6, k = {k}": fit for k, fit in figure_6.items()} | {f"7, k = {k}": fit for k, fit in figure_7.items()}
pd.DataFrame(
    {
        "published": PUBLISHED,
        "out of place here": {name: ", ".join(out_of_place(fit.embedding_)) or "none" for name, fit in fits.items()},
        "generation along the circle": {name: f"{along_circle(fit.embedding_):.2f}" for name, fit in fits.items()},
        "stress": {name: f"{fit.stress_:.4f}" for name, fit in fits.items()},
    }
).rename_axis("figure")

# %%
# Why the order differs
# ---------------------
# The author's R package ``cml`` makes one start, of uniform random numbers, and stops as soon as the stress falls by
# less than 0.00001. Here the same from many starts, and each of them followed until it converges. "In order" is the
# share of maps with no pair out of place; "but for siblings" that of maps with no other pair out of place.


def from_uniform_starts(dissimilarities, weights):
    """Return the shares of maps in order, and the stress of those, stopped as ``cml`` does and converged."""
    known = kin.known[["gender", "degree"]]
    early, late = {"solver": "smacof", "tol": 1e-5}, {}
    rows = []
    for how, options in {"stopped": early, "converged": late}.items():
        for seed in range(STARTS):
            start = np.random.default_rng(seed).uniform(size=(14, 2)), np.eye(2)
            mds = ConditionalMDS(2, metric="precomputed", weights=weights, init=start, n_init=1, **options)
            mds.fit(dissimilarities, known=known)
            wrong = out_of_place(mds.embedding_)
            rows.append((how, not wrong, wrong in ([], ["sibling"]), mds.stress_, np.nan if wrong else mds.stress_))
    columns = ["", "in order", "but for siblings", "lowest stress", "lowest stress in order"]
    table = pd.DataFrame(rows, columns=columns).groupby("", sort=False)
    found = pd.concat([table[columns[1:3]].mean(), table[columns[3:]].min()], axis=1)
    return {(column, how): found.loc[how, column] for column in found for how in found.index}


def paths(k):
    """Return the shortest paths over k nearest neighbours as a table with labels."""
    return Geodesic(k, metric="precomputed").fit_transform(kin.dissimilarities)


cases = {"1c": (kin.dissimilarities, None), "5": (kin.dissimilarities, "sammon")}
cases |= {f"7, k = {k}": (paths(k), "sammon") for k in NEIGHBOURS[1:]}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", LeakWarning)
    shares = pd.DataFrame({name: from_uniform_starts(*case) for name, case in cases.items()}).T
shares.rename_axis("figure").round(4).astype(object).fillna("none")

# %%
# Where this page and the papers differ
# -------------------------------------
# - The order around the circle is nowhere perfect: siblings stand behind niblings instead of before them, in figures
#   1c and 5 and in figure 7 for k = 5 and 6 too, which the papers call correct. All other pairs of these figures are
#   in order. For 1c and 5 the cause may be a search that was stopped too early: about one in six single starts then
#   shows the published order, at a stress some 10 % (figure 1c) or 2 % (figure 5) above the lowest, and no map that has
#   converged does. For figure 7 with k = 6 the published order is that of a local minimum, to which nearly half of the
#   starts lead; the lowest stress belongs to another map. For k = 5 no map, converged or not, has the published order;
#   in nearly all, only siblings are out of place.
# - Figure 7 for k = 4 is published as in order. Here niblings stand between piblings and grandparents where the stress
#   is lowest, and no map, stopped or converged, is in order, with siblings or without. What was tried and changes
#   nothing: an edge if either or only if both count the other among their nearest, equal dissimilarities as equally
#   near or in the order of the table, and weights from the dissimilarities instead of the paths. With weights of
#   1 / path squared, one of 40 stopped maps is in order. The cause is not known.
# - The other readings hold, with the numbers of the two tables. The maps of figures 3 and 5 have the lowest stress that
#   ``cml`` finds in 200 random starts (0.014288 and 0.019868).
