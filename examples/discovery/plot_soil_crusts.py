"""
Soil crusts after rain
======================

Deserts wear a crust of microbes which sleep until it rains. Swenson and others (Nature Communications 9, 2018) wetted
crusts of four stages of succession in the laboratory and counted 466 kinds of microbes at five times, from 3 minutes to
two days later: 19 samples. scikit-bio, which is free software, ships the table.

The experimenters have set the time, so it is known. What else orders the samples?
"""

from importlib.resources import files

import numpy as np
import pandas as pd
from matplotlib import pyplot

from unmask import ConditionalMDS
from unmask.dissimilarities import Metric
from unmask.inspection import name_axes, partial_dbrda
from unmask.plotting import plot_map

path = files("skbio.stats.ordination.tests") / "data" / "soils" / "microbes.tsv"
counts = pd.read_csv(path, sep="\t", index_col=0).T  # a row for each sample, with names like 49p5hr_latemid
samples = counts.index.to_series().str.split("_", expand=True).set_axis(["time", "stage"], axis=1)
samples["stage"] = pd.Categorical(samples["stage"], ["early", "earlymid", "latemid", "late"])
samples["succession"] = samples["stage"].cat.codes + 1
samples["hours"] = samples["time"].map({"3min": 0.05, "9hr": 9.0, "18hr": 18.0, "42hr": 42.0, "49p5hr": 49.5})

shares = counts.div(counts.sum(axis=1), axis=0)
dissimilarities = Metric("braycurtis").fit_transform(shares)
mds = ConditionalMDS(metric="precomputed", random_state=0)
plain = mds.fit_transform(dissimilarities)
given = mds.fit_transform(dissimilarities, known=samples[["time"]])  # five categories: growth is no straight line

figure, axes = pyplot.subplots(1, 2, figsize=(11.5, 6), layout="constrained")
labels = samples["time"].str.replace("p", ".").str.replace("(hr|min)", r" \1", regex=True)
drawing = {"color": samples["stage"], "labels": labels, "arrows": samples[["hours", "succession"]]}
for ax, (title, U) in zip(axes, {"Nothing known": plain, "Given the time": given}.items(), strict=True):
    plot_map(pd.DataFrame(U, index=samples.index, columns=["", ""]), ax=ax, title=title, **drawing)

# %%
# With nothing known, samples are in the order of time. Given the time, they are in that of succession, from early
# crusts to late ones. Correlations with the best direction of each map, and p-values that are corrected for the number
# of features and directions one has looked at:


def name_directions(U):
    """Return how a map goes along with the hours and with the stage of succession."""
    named = name_axes(np.asarray(U), samples[["hours", "succession"]].reset_index(drop=True))
    best = named.xs("best", level="direction")[["correlation", "p_corrected"]]
    return pd.concat({feature: best.loc[feature] for feature in best.index})


orthogonal = ConditionalMDS(metric="precomputed", orthogonal=True, random_state=0)
maps = {
    "nothing known": plain,
    "given the time": given,
    "given the time, orthogonal": orthogonal.fit_transform(dissimilarities, known=samples[["time"]]),
    "given the time, partial db-RDA": partial_dbrda(dissimilarities, samples[["time"]]).embedding,
    "given the stage": mds.fit_transform(dissimilarities, known=samples[["stage"]]),
}
table = pd.DataFrame({name: name_directions(U) for name, U in maps.items()}).T
table.round(3)

# %%
# - The other way round, given the stage, the time that the soil has been wet is what remains.
# - On these data the simplest rival, partial distance-based redundancy analysis, finds as much as conditional scaling
#   does, and more if the map of the latter is not kept orthogonal to the time.
# - Succession is hidden from plain scaling because a few kinds of microbes bloom after rain. With the square roots of
#   the shares, which let these count less, it can be seen with nothing known as well:

roots = Metric("braycurtis").fit_transform(np.sqrt(shares))
maps = {
    "nothing known": mds.fit_transform(roots),
    "given the time": mds.fit_transform(roots, known=samples[["time"]]),
    "given the time, orthogonal": orthogonal.fit_transform(roots, known=samples[["time"]]),
}
table_of_roots = pd.DataFrame({name: name_directions(U) for name, U in maps.items()}).T
table_of_roots.round(3)
