"""
Every method, plain and given what is known
===========================================

A method is three stages: a graph of neighbours (or none), the dissimilarities it prescribes, and an embedding that
draws them. Any transformer of :mod:`unmask.dissimilarities` goes with any estimator, and every estimator takes what is
known: that makes each method conditional.

Points are scattered over a slightly bent pipe and measured by 30 noisy instruments. How far along the pipe a point
lies is known. What is to be found is where it lies *around* the pipe; so the right map, given what is known, is a ring.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.preprocessing import FunctionTransformer

from unmask import ConditionalClassicalMDS, ConditionalMDS, ConditionalUMAP
from unmask.dissimilarities import (
    AcyclicLocallyLinear,
    Drill,
    Geodesic,
    KernelDissimilarity,
    LaplacianEigenmaps,
    LocallyLinear,
    MaximumEntropyUnfolding,
    MaximumVarianceUnfolding,
    Metric,
)
from unmask.inspection import average_canonical_correlation

rng = np.random.default_rng(0)
along, around = rng.uniform(0, 5, 140), rng.uniform(0, 2 * np.pi, 140)
radius = 10 + np.cos(around)
pipe = np.column_stack([radius * np.sin(along / 10), radius * np.cos(along / 10), np.sin(around)])
instruments = np.linalg.qr(rng.normal(size=(30, 3)))[0].T
measured = pipe @ instruments + rng.normal(scale=0.05, size=(140, 30))

# %%
# A transformer and an estimator make a method. The same chain draws both maps; only what is known differs. The settings
# are chosen so that each method shows what it can do: with 8 neighbours and its default ridge, LLE does not find the
# ring, and neither does DRILL.

straight = Metric("euclidean")
scaling = ConditionalMDS(metric="precomputed", n_init=4, random_state=0)
methods = {
    "classical MDS": (straight, ConditionalClassicalMDS(metric="precomputed")),
    "metric MDS": (straight, scaling),
    "Sammon's mapping": (straight, ConditionalMDS(metric="precomputed", weights="sammon", n_init=4, random_state=0)),
    "ordinal MDS": (straight, ConditionalMDS(metric="precomputed", level="ordinal", n_init=2, random_state=0)),
    "curvilinear": (straight, ConditionalMDS(metric="precomputed", weights="curvilinear", n_init=2, random_state=0)),
    "UMAP": (FunctionTransformer(), ConditionalUMAP(random_state=0)),  # takes the measurements themselves
    "Isomap": (Geodesic(n_neighbors=8), scaling),
    "kernel PCA": (KernelDissimilarity("rbf"), scaling),
    "Laplacian eigenmaps": (LaplacianEigenmaps(n_neighbors=8), scaling),
    "LLE": (LocallyLinear(n_neighbors=12, ridge=0.01), scaling),
    "acyclic LLE": (AcyclicLocallyLinear(n_neighbors=8), scaling),
    "max. variance unfolding": (MaximumVarianceUnfolding(n_neighbors=8), scaling),
    "max. entropy unfolding": (MaximumEntropyUnfolding(n_neighbors=8), scaling),
    "DRILL": (Drill(n_neighbors=16, penalty=0.001), scaling),
}


def draw(transformer, estimator):
    """Return the maps of a method with nothing known and given the place along."""
    D = transformer.fit_transform(measured)
    return [estimator.fit_transform(D, known=known) for known in (None, along[:, None])]


maps = {name: draw(*chain) for name, chain in methods.items()}

# %%
# The number in a corner is the average canonical correlation of the map with the place around the pipe (its sine and
# cosine); 1 is a ring in the right order.

ring = np.column_stack([np.cos(around), np.sin(around)])
found = {name: [average_canonical_correlation(places, ring) for places in pair] for name, pair in maps.items()}
for side, values in zip(("nothing known", "given the place along"), zip(*found.values(), strict=True), strict=True):
    print(f"{side}: {np.sum(np.array(values) > 0.9)} of {len(values)} maps above 0.9")

fig, axes = pyplot.subplots(7, 5, figsize=(8, 12.6), layout="constrained", width_ratios=(1, 1, 0.1, 1, 1))
for ax in axes[:, 2]:
    ax.set_axis_off()  # a gap between the two halves
for number, (name, pair) in enumerate(maps.items()):
    row, first = number % 7, 3 * (number // 7)
    axes[row, first].set_title(name, loc="left", fontsize="medium", fontweight="bold")
    for ax, places, r in zip(axes[row, first : first + 2], pair, found[name], strict=True):
        dots = ax.scatter(*places.T, c=around, cmap="twilight", vmin=0, vmax=2 * np.pi, s=12, linewidths=0)
        middle = (places.min(axis=0) + places.max(axis=0)) / 2
        half = 0.57 * np.max(np.ptp(places, axis=0) / (1, 0.8)) * np.array([1, 0.8])
        ax.set(xlim=middle[0] + half[0] * np.array([-1, 1]), ylim=middle[1] + half[1] * np.array([-1, 1]))
        ax.set(box_aspect=0.8, xticks=[], yticks=[])
        ax.spines[:].set_color("0.8")
        ax.text(0.97, 0.03, f"{r:.2f}", transform=ax.transAxes, ha="right", va="bottom", fontsize="small", color="0.3")
for column, label in zip((0, 1, 3, 4), 2 * ("nothing known", "given the place along"), strict=True):
    axes[0, column].annotate(label, (0.5, 1.2), xycoords="axes fraction", ha="center")
fig.get_layout_engine().set(rect=(0, 0, 1, 0.985))  # room for the words above
bar = fig.colorbar(dots, ax=axes, location="bottom", shrink=0.4, aspect=40, pad=0.01, ticks=[])
bar.set_label("place around the pipe (not known)")

# %%
# What to make of it
# ------------------
# With nothing known most methods draw a strip: the pipe seen from the side, its front and its back on top of each
# other. UMAP, curvilinear scaling and maximum entropy unfolding tear it open instead, each at a place of its own.
#
# Conditioning does not depend on the method. It needs dissimilarities to which a known feature adds in squares, or
# nearly. The pipe is an easy case: it is bent by half a radian only. Of pipes twice as long and bent by two radians,
# the place along accounts for the length but not for the bend, which then takes up a dimension that the ring needs.
