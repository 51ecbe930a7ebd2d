"""
Facial expressions
==================

Thirty women rated how unlike each other 13 photographs of faces are (Abelson and Sermat 1962). Other people had rated
the same photographs on three scales: pleasant to unpleasant (PU), attention to rejection (AR) and tension to sleep
(TS; Engen et al. 1958). Section 4.2 of the TPAMI paper takes one or two of the scales as known and asks how much of
the others conditional scaling finds: tables 1, 2 and S2.

The data are published tables but not part of this package. Run the script with the folder that holds
``faces_dissimilarities.csv`` and ``faces_scales.csv`` as its argument, or name it in the environment variable
``UNMASK_FACES``.

.. important::
   The published numbers come out, to 0.03, with the **square roots** of the dissimilarities, which the paper does not
   mention, and not with the dissimilarities themselves.
"""

import os
import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.exceptions import ConvergenceWarning

from unmask import ConditionalMDS
from unmask.inspection import abs_correlations, average_canonical_correlation

# Random starts among which table S2 is looked for. All other fits keep the best of about 128.
STARTS = 60
# Random starts over which the spread of table 1 is shown.
SPREAD = 40

folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["UNMASK_FACES"])
raw = pd.read_csv(folder / "faces_dissimilarities.csv", index_col=0)
scales = pd.read_csv(folder / "faces_scales.csv", index_col=0)
root = np.sqrt(raw)

SETS = [list(known) for size in (1, 2) for known in combinations(scales.columns, size)]
NAMES = ["{" + ", ".join(known) + "}" for known in SETS]

# %%
# AR and TS are correlated (the paper gives 0.18, 0.15 and 0.75 as absolute values):

scales.corr().round(2)

# %%
# Table 1: what is found of the unknown scales
# --------------------------------------------
# Conditional scaling has three features in all, as many as there are scales: the known ones and 3 minus as many
# learned ones. The score is the average canonical correlation (ACC) of these three with the unknown scales. For
# metric scaling it is the ACC of three dimensions with all three scales.


def fit(dissimilarities, known, n_components=None, **options):
    """Return conditional scaling of the photographs, given these scales; three features in all by default."""
    n_components = 3 - len(known) if n_components is None else n_components
    mds = ConditionalMDS(n_components, metric="precomputed", random_state=0, **options)
    return mds.fit(dissimilarities, known=scales[known] if known else None)


def score(mds, known):
    """Return the average canonical correlation of the map and the known scales with the unknown scales."""
    unknown = [scale for scale in scales if scale not in known]
    return average_canonical_correlation(np.column_stack([mds.embedding_, scales[known]]), scales[unknown])


table_1 = pd.DataFrame({"published": [0.71, 0.85, 0.94, 0.91, 0.89, 0.91, 0.94]}, index=["metric MDS", *NAMES])
fits = [fit(root, known) for known in [[], *SETS]]
table_1["here, square roots"] = [score(mds, known) for mds, known in zip(fits, [[], *SETS], strict=True)]
table_1["here, raw"] = [score(fit(raw, known), known) for known in [[], *SETS]]
table_1.round(2)

# %%
# With square roots, every number is within 0.015 of the published one but for {TS}, which is 0.03 better. With the
# raw dissimilarities, metric scaling would be *better* than conditional scaling given PU, and the published pattern
# is gone.
#
# One warning belongs to the first row. Metric scaling has two other solutions here that are nearly as good as the best,
# and they find much more of the scales:


def local_minima(known, n_components, seeds):
    """Return the fits that single random starts end in, one for each value of the stress."""
    ends = {}
    for seed in range(seeds):
        mds = ConditionalMDS(n_components, metric="precomputed", init="random", n_init=1, random_state=seed)
        mds.fit(root, known=scales[known] if known else None)
        ends.setdefault(round(mds.stress_, 5), mds)
    return [ends[stress] for stress in sorted(ends)]


pd.DataFrame(
    [(mds.stress_, score(mds, [])) for mds in local_minima([], 3, STARTS)[:4]],
    columns=["stress", "ACC"],
    index=["best", "second", "third", "fourth"],
).round(4)

# %%
# So the scores depend on where the search began. Of single random starts, each followed until it converges, the
# ACC of the one with the lowest stress, and quartiles of all:


def spread(known):
    """Return the ACC of the start with the lowest stress, and quartiles over all starts."""
    found = []
    for seed in range(SPREAD):
        mds = ConditionalMDS(3 - len(known), metric="precomputed", init="random", n_init=1, random_state=seed)
        mds.fit(root, known=scales[known] if known else None)
        found.append((mds.stress_, score(mds, known)))
    low, middle, high = np.quantile([acc for _, acc in found], [0.25, 0.5, 0.75])
    return {"lowest stress": min(found)[1], "lower quartile": low, "median": middle, "upper quartile": high}


spreads = pd.DataFrame({name: spread(known) for name, known in zip(table_1.index, [[], *SETS], strict=True)}).T
spreads.insert(0, "published", table_1["published"])
spreads.round(2)

# %%
# By the rule of the lowest stress the score rises from 0.72 with nothing known to 0.85 given {PU}, as published. That
# gain depends on the start: the medians are 0.84 with nothing known and 0.82 given {PU}. The scores given {AR} and
# {AR, TS} hardly depend on it: their quartiles agree.
#
# Table 2: the first dimension of the map
# ---------------------------------------
# Absolute correlations of the first dimension with the scales: low with the known ones, high with an unknown one.

PUBLISHED_2 = [
    [0.18, 0.72, 0.91],
    [0.93, 0.02, 0.31],
    [0.92, 0.14, 0.15],
    [0.07, 0.04, 0.38],
    [0.03, 0.52, 0.13],
    [0.93, 0.07, 0.16],
]
here = pd.concat([abs_correlations(mds.embedding_[:, :1], scales) for mds in fits[1:]]).to_numpy()
table_2 = pd.concat(
    {"published": pd.DataFrame(PUBLISHED_2, NAMES, scales.columns), "here": pd.DataFrame(here, NAMES, scales.columns)},
    axis=1,
)
table_2.round(2)

# %%
# Where one dimension is learned the numbers agree to 0.02. Of two, the first depends on how the map is turned, here
# into its principal axes. That changes the correlations and not the ACC; {PU} differs for this reason, and {TS} is
# another solution altogether, as its ACC shows.
#
# Table S2: the coefficients
# --------------------------
# All three scales are known, standardised or as they are. The paper does not say how many dimensions were learned
# besides; one reproduces its numbers. ``B`` can be multiplied by any rotation without changing a distance; the
# published matrix is turned into its symmetric form, in which ``coef_`` is reported, before the two are compared.

PUBLISHED_S2 = {
    "standardised": [[1.03, -0.03, 0.02], [-0.06, 0.85, -0.26], [0.03, -0.20, 0.95]],
    "as they are": [[0.43, -0.01, 0.01], [-0.02, 0.35, -0.12], [0.00, -0.07, 0.43]],
}


def symmetric(B):
    """Return the symmetric positive matrix that makes the same distances as B."""
    values, vectors = np.linalg.eigh(B @ B.T)
    return vectors * np.sqrt(values) @ vectors.T


def as_table(B):
    """Return coefficients with the scales as their labels."""
    return pd.DataFrame(np.asarray(B), scales.columns, scales.columns)


minima = local_minima(list(scales), 1, STARTS)
published = symmetric(np.array(PUBLISHED_S2["as they are"]))
apart = [np.abs(mds.coef_.to_numpy() - published).max() for mds in minima]
nearest = minima[int(np.argmin(apart))]
deviations = scales.std().to_numpy()
blocks = {}
for coding, unit in {"standardised": deviations, "as they are": np.ones(3)}.items():
    blocks[coding, "published"] = as_table(PUBLISHED_S2[coding])
    blocks[coding, "published, symmetric"] = as_table(symmetric(np.array(PUBLISHED_S2[coding])))
    for name, mds in {"here, nearest": nearest, "here, best": minima[0]}.items():
        # Standardising multiplies B by the standard deviations from the left.
        blocks[coding, f"{name} ({mds.stress_:.4f})"] = as_table(symmetric(unit[:, None] * mds.coef_.to_numpy()))
pd.concat(blocks).round(2)

# %%
# Of the dozen local minima that the random starts end in, "nearest" is the one whose coefficients come closest to the
# published ones, to 0.012 for scales as they are. Its stress (in brackets) is hardly higher than the best, so that
# the paper probably reports this one. Of 0, 1, 2 and 3 learned dimensions only 1 comes so close. The paper's reading
# holds for both: AR counts least, and PU has next to nothing to do with the others.
#
# Figure 6: stress against iterations
# -----------------------------------
# The panel of this example, {PU} known: conditional SMACOF as published from a random start, and the default solver.

figure, ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
for solver, label in {"smacof": "SMACOF, as published", "lbfgs": "default (L-BFGS)"}.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 100 iterations, converged or not
        mds = fit(root, ["PU"], solver=solver, init="random", n_init=1, max_iter=100, tol=0.0)
    ax.semilogy(mds.stress_path_, label=label)
ax.set(xlabel="iteration", ylabel="normalised stress")
ax.spines[["top", "right"]].set_visible(False)
legend = ax.legend(frameon=False)

# %%
# As the paper says of its curves, nearly all of the fall is in the first few iterations.
