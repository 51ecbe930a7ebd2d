"""
Textile fabrics
===============

Section 4.3 of the TPAMI paper takes 30 photographs of two slightly different fabrics, turns some of them by 90
degrees and contracts all of them, by up to half, from side to side and from top to bottom. Given the fabric and the
turn, conditional scaling is to find the two contractions: tables 3 and 4, figure S2.

The photographs are not free to ship. In their place stand simulated fabrics: random fields whose threads differ by a
tenth in their widths. With them the pattern of table 3 comes out, with a score
of conditional scaling somewhat below the published one; table 4 comes out once the map is rescaled and turned.
Photographs of grass and gravel show at the end what is different if textures differ a lot.
"""

import os
import warnings
from functools import cache

import numpy as np
import pandas as pd
from matplotlib import pyplot
from scipy.ndimage import gaussian_filter
from skimage import data
from skimage.transform import resize
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from unmask import ConditionalClassicalMDS, ConditionalMDS
from unmask.dissimilarities import Geodesic, TextureDissimilarity
from unmask.inspection import abs_correlations, average_canonical_correlation, scree
from unmask.plotting import plot_map, plot_scree

try:
    from umap import UMAP
except ImportError:  # its row of the table is then empty
    UMAP = None

# Sets of 30 images that are drawn; tables show the mean. The paper has one set.
FULL = os.environ.get("UNMASK_GALLERY") == "full"
REPETITIONS = 12 if FULL else 3
SIZE = 64  # pixels; the paper has 250
STARTS = 16
WIDTHS, DIFFERENCE = np.array([2.0, 2.2]), 0.1  # of threads across and down, in pixels; share by which fabrics differ

# %%
# The images
# ----------
# A fabric is white noise, smoothed by a bell curve whose widths across and down are those of its threads. The second
# fabric has slightly wider threads across and narrower ones down. Turning a piece exchanges its widths, and contracting
# it by a share makes them smaller by that share, which is exact for such fields.


@cache
def draw_fabrics(seed):
    """Return 30 images of two fabrics, and the features that made them: two hidden ones and two known ones."""
    rng = np.random.RandomState(seed)
    contraction = rng.uniform(0.0, 0.5, (30, 2))
    known = np.column_stack([rng.randint(0, 2, 30), np.repeat([0, 1], 15)])
    images = []
    for (turned, second), less in zip(known, contraction, strict=True):
        widths = WIDTHS * (1 + second * DIFFERENCE * np.array([1, -1]))
        across, down = (widths[::-1] if turned else widths) * (1 - less)
        field = gaussian_filter(rng.standard_normal((SIZE, SIZE)), (down, across), mode="wrap")
        images.append(0.5 + 0.15 * (field - field.mean()) / field.std())
    columns = ["horizontal contraction", "vertical contraction", "rotation", "fabric"]
    return np.array(images), pd.DataFrame(np.column_stack([contraction, known]), columns=columns)


def show(images):
    """Draw 30 images."""
    axes = pyplot.subplots(3, 10, figsize=(9, 3), layout="constrained")[1]
    for ax, image in zip(axes.flat, images, strict=True):
        ax.imshow(image, cmap="gray", vmin=0, vmax=1)
        ax.set_axis_off()


images, features = draw_fabrics(0)
show(images)

# %%
# Two kinds of dissimilarity, and one more
# ----------------------------------------
# KL is the divergence between models of the textures, ED the Euclidean distance between pixels, both as in the paper.
# The root of the divergence, which behaves more like a distance, is added.


@cache
def dissimilarities(draw, seed):
    """Return the three kinds of dissimilarity of the images that are drawn with a seed."""
    images, _ = draw(seed)
    divergence = TextureDissimilarity(window=2, random_state=0).fit_transform(images)
    pixels = images.reshape(len(images), -1)
    return {
        "KL": divergence,
        "root of KL": np.sqrt(divergence),
        "ED": np.linalg.norm(pixels[:, None] - pixels[None], axis=2),
    }


# %%
# The methods
# -----------
# Two known features and two learned ones against four learned ones. The learning rate of t-SNE is scikit-learn's
# automatic one without its lower limit of 50, at which thirty points fly apart.


def conditional(D, n_components, known=None):
    """Map by conditional scaling."""
    mds = ConditionalMDS(n_components, metric="precomputed", n_init=STARTS, random_state=0)
    return mds.fit(D, known=known).embedding_


def isomap(D, n_components):
    """Map by Isomap with 10 neighbours."""
    paths = Geodesic(10, metric="precomputed").fit_transform(D)
    return ConditionalClassicalMDS(n_components, metric="precomputed").fit_transform(paths)


def tsne(D, n_components):
    """Map by t-SNE."""
    reducer = TSNE(
        n_components,
        perplexity=10,
        learning_rate=len(D) / 48,
        metric="precomputed",
        init="random",
        method="exact",
        random_state=0,
    )
    with threadpool_limits(1):  # for thirty points, threads cost more than they save
        return reducer.fit_transform(np.array(D))


def umap(D, n_components):
    """Map by UMAP, or by nothing where it is not installed."""
    if UMAP is None:
        return np.zeros((len(D), n_components))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of seeds that cost threads
        return UMAP(n_components=n_components, metric="precomputed", random_state=0).fit_transform(np.array(D))


RIVALS = {"metric MDS": conditional, "Isomap": isomap, "t-SNE": tsne, "UMAP": umap}

# %%
# Table 3: what is found of all features
# --------------------------------------
# The average canonical correlation (ACC) of all underlying features with the learned ones, to which conditional
# scaling adds the known ones.


def scores(D, features):
    """Return the ACC of every method; of conditional scaling, also that of the map alone with the contractions."""
    known = features.iloc[:, 2:]
    found = {name: average_canonical_correlation(make(D, features.shape[1]), features) for name, make in RIVALS.items()}
    U = conditional(D, 2, known)
    found["conditional MDS"] = average_canonical_correlation(np.column_stack([U, known]), features)
    found["contractions alone"] = average_canonical_correlation(U, features.iloc[:, :2])
    return found


def random_scores(features, seed=0):
    """Return the same scores for maps of random numbers."""
    rng = np.random.default_rng(seed)
    known = features.iloc[:, 2:]
    nothing, two = rng.standard_normal(features.shape), rng.standard_normal((len(features), 2))
    found = dict.fromkeys(RIVALS, average_canonical_correlation(nothing, features))
    found["conditional MDS"] = average_canonical_correlation(np.column_stack([two, known]), features)
    found["contractions alone"] = average_canonical_correlation(two, features.iloc[:, :2])
    return found


def study(draw, repetitions=REPETITIONS):
    """Return the mean scores of some sets of images: a row for each dissimilarity."""
    tables = []
    for seed in range(repetitions):
        _, features = draw(seed)
        rows = {kind: scores(D, features) for kind, D in dissimilarities(draw, seed).items()}
        tables.append(pd.DataFrame(rows | {"random numbers": random_scores(features, seed)}).T)
    return sum(tables) / repetitions


PUBLISHED_3 = pd.DataFrame(
    [[0.66, 0.65, 0.65, 0.58, 0.99], [0.24, 0.26, 0.27, 0.30, 0.61]], ["KL", "ED"], [*RIVALS, "conditional MDS"]
)


def beside_published(found):
    """Return scores below the published ones."""
    table = pd.concat({"published": PUBLISHED_3, "here": found}).rename_axis(["", "dissimilarity"])
    return table.round(2).astype(object).fillna("")


beside_published(study(draw_fabrics))

# %%
# The published pattern comes out: with KL, conditional scaling scores highest by far, though below the published 0.99,
# and all others find about three fifths; with distances between pixels (ED), no method finds much more than random
# numbers do (last row). What is missing to 0.99 is not due to the size of the images: those of 128 by 128 pixels give
# the same to 0.01.
#
# Read the two last columns with the last row. Scores that count the known features begin far above 0: *random numbers*
# reach nearly 0.6 beside two known features, about what ED does here and in the paper, and 0.3 in four dimensions. So
# the published rise of ED from 0.24 to 0.61 is no finding: it is what knowing two of four features gives. The stricter
# "contractions alone" leaves the known features out.
#
# Table 4: the two learned dimensions
# -----------------------------------
# Absolute correlations with the underlying features, of the set of images that is shown above. Which dimension is the
# first, and how far a map is turned, is not in the data. So the table also shows the map with both dimensions scaled to
# the same spread and then turned, by the one angle that brings its contractions nearest to the published ones, and the
# mean over several sets, each treated in this way. The paper mentions neither step; both favour agreement.

# sphinx_gallery_thumbnail_number = 2
PUBLISHED_4 = np.array([[0.43, 0.87, 0.05, 0.14], [0.86, 0.46, 0.03, 0.08]])


def given_two(D, known, **options):
    """Return conditional scaling in two dimensions."""
    return ConditionalMDS(2, metric="precomputed", n_init=STARTS, random_state=0, **options).fit(D, known=known)


def turned(U, features):
    """Return the correlations of a map that is scaled to equal spread and turned to come nearest to table 4."""
    spheres = U / U.std(axis=0)
    angles = np.radians(np.arange(180))
    turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    found = [abs_correlations(spheres @ turn, features).to_numpy() for turn in turns]
    return min(found, key=lambda table: np.sum((table - PUBLISHED_4)[:, :2] ** 2))


def as_table_4(tables, features):
    """Return tables of correlations below the published one."""
    named = {"published": PUBLISHED_4} | tables
    rows = ["1st dimension", "2nd dimension"]
    return pd.concat({name: pd.DataFrame(t, rows, features.columns) for name, t in named.items()}).round(2)


def turned_set(seed):
    """Return table 4 of a set of images, turned."""
    _, features = draw_fabrics(seed)
    return turned(given_two(dissimilarities(draw_fabrics, seed)["KL"], features.iloc[:, 2:]).embedding_, features)


kinds, known = dissimilarities(draw_fabrics, 0), features.iloc[:, 2:]
plain = given_two(kinds["KL"], known)
table_4 = {
    "here": abs_correlations(plain.embedding_, features).to_numpy(),
    "here, scaled and turned": turned(plain.embedding_, features),
    f"mean of {2 * REPETITIONS} sets": np.mean([turned_set(seed) for seed in range(2 * REPETITIONS)], axis=0),
}
as_table_4(table_4, features)

# %%
# Scaled and turned, each contraction has its dimension, with the published correlations to 0.1. The rows "here" show
# the map as it is. Correlations with the known features are higher than published: with 30 images, 0.15 on average is
# what chance gives one dimension, and those with the fabric are above that.
#
# The map of the root, with some of the images at their points:

root = given_two(kinds["root of KL"], known)
ax = plot_map(
    pd.DataFrame(root.embedding_, columns=["", ""]),
    max_labels=0,
    color=features["vertical contraction"],
    arrows=features.iloc[:, :2],
    images=list(images),
    image_size=28,
    title="Given fabric and rotation",
)

# %%
# Figure S2: how many dimensions
# ------------------------------
# The paper chooses p = 2 by its scree plot. So would one here: the stress falls no further behind two dimensions. (The
# line marks the sharpest bend, which is one earlier.)

estimator = ConditionalMDS(metric="precomputed", n_init=STARTS, random_state=0)
ax = plot_scree(scree(estimator, kinds["KL"], known, max_components=6))

# %%
# Figure 6: stress against iterations
# -----------------------------------
# The panel of this example: conditional SMACOF as published from a random start, and the default solver.

figure, ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
for solver, label in {"smacof": "SMACOF, as published", "lbfgs": "default (L-BFGS)"}.items():
    options = {"solver": solver, "init": "random", "n_init": 1, "max_iter": 100, "tol": 0.0, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 100 iterations, converged or not
        path = ConditionalMDS(2, metric="precomputed", **options).fit(kinds["KL"], known=known).stress_path_
    ax.semilogy(path, label=label)
ax.set(xlabel="iteration", ylabel="normalised stress")
ax.spines[["top", "right"]].set_visible(False)
legend = ax.legend(frameon=False)

# %%
# Textures that differ a lot
# --------------------------
# Pieces of two photographs that come with scikit-image, grass and gravel (512 by 512 pixels each), turned and
# contracted like the fabrics.


def cut(texture, number, rng):
    """Return pieces of a texture that do not overlap, twice as large as the images will be."""
    photograph = getattr(data, texture)() / 255.0
    across = photograph.shape[1] // (2 * SIZE)
    tiles = rng.permutation(across**2)[:number]
    return [
        photograph[2 * SIZE * row :, 2 * SIZE * column :][: 2 * SIZE, : 2 * SIZE]
        for row, column in zip(*divmod(tiles, across), strict=True)
    ]


def change(piece, turned, across, down):
    """Return a piece turned by 90 degrees or not, contracted by these shares, and cropped."""
    piece = np.rot90(piece) if turned else piece
    shape = (round(2 * SIZE * (1 - down)), round(2 * SIZE * (1 - across)))
    return resize(piece, shape, anti_aliasing=True)[:SIZE, :SIZE]


def draw_photographs(seed):
    """Return 30 images of grass and gravel, and the features that made them."""
    rng = np.random.default_rng(seed)
    pieces = cut("grass", 15, rng) + cut("gravel", 15, rng)
    features = pd.DataFrame(
        {
            "horizontal contraction": rng.uniform(0, 0.5, 30),
            "vertical contraction": rng.uniform(0, 0.5, 30),
            "rotation": rng.integers(0, 2, 30),
            "fabric": np.repeat([0, 1], 15),
        }
    )
    changes = zip(features["rotation"], *features.iloc[:, :2].to_numpy().T, strict=True)
    return np.array([change(piece, *how) for piece, how in zip(pieces, changes, strict=True)]), features


beside_published(study(draw_photographs, 6 if FULL else 1))

# %%
# Less of the contractions is found, and the other methods do better with ED than in the paper: pixels tell grass from
# gravel, and their maps show it. Table 4 does not come out at all:

_, features = draw_photographs(seed=0)
kinds, known = dissimilarities(draw_photographs, 0), features.iloc[:, 2:]
plain, apart = given_two(kinds["KL"], known), given_two(kinds["root of KL"], known, orthogonal=True)
maps = {"here": plain.embedding_, "here, root of KL, orthogonal": apart.embedding_}
as_table_4({name: abs_correlations(U, features).to_numpy() for name, U in maps.items()}, features)

# %%
# Grass and gravel differ more than any contraction makes them, and gravel looks the same when it is turned while
# grass does not. So the effects of fabric, turn and contraction depend on each other, which the model, a sum of them,
# cannot say, and much of the texture stays on the map. Its leak shows that (``leak_``, the average canonical
# correlation with the known features), and ``orthogonal=True`` takes it out:

pd.Series({"here": plain.leak_, "here, root of KL, orthogonal": apart.leak_}, name="leak").round(2).to_frame()

# %%
# What the method asks for, then, are fabrics that differ slightly, as the paper says of its own, and a texture that is
# the same all over an image.
