"""
Textile fabrics
===============

Section 4.3 of the TPAMI paper takes 30 photographs of two slightly different fabrics, turns some of them by 90
degrees and contracts all of them, by up to half, from side to side and from top to bottom. Given the fabric and the
turn, conditional scaling is to find the two contractions: tables 3 and 4, figure S2.

The photographs of fabrics are not free to ship. In their place stand two textures that come with scikit-image, grass
and gravel (512 by 512 pixels each), cut into pieces that do not overlap. The pieces have to be small: 64 by 64 pixels
after contraction, where the paper has 250 by 250. A third texture, brick, is added at the end.
"""

import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot
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
REPETITIONS = 3
SIZE = 64
STARTS = 16

# %%
# The images
# ----------


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


def draw_images(textures, seed):
    """Return 30 images of these textures, and the features that made them."""
    rng = np.random.default_rng(seed)
    pieces = [piece for texture in textures for piece in cut(texture, 30 // len(textures), rng)]
    features = pd.DataFrame(
        {
            "horizontal contraction": rng.uniform(0, 0.5, 30),
            "vertical contraction": rng.uniform(0, 0.5, 30),
            "rotation": rng.integers(0, 2, 30),
        }
    )
    for texture in textures[1:]:  # one column fewer than there are textures
        features[f"texture: {texture}"] = np.repeat([name == texture for name in textures], 30 // len(textures)) * 1
    changes = zip(features["rotation"], *features.iloc[:, :2].to_numpy().T, strict=True)
    return np.array([change(piece, *how) for piece, how in zip(pieces, changes, strict=True)]), features


images, features = draw_images(["grass", "gravel"], seed=0)
figure, axes = pyplot.subplots(3, 10, figsize=(9, 3), layout="constrained")
for ax, image in zip(axes.flat, images, strict=True):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set_axis_off()

# %%
# Two kinds of dissimilarity, and one more
# ----------------------------------------
# KL is the divergence between models of the textures, ED the Euclidean distance between pixels, both as in the paper.
# The root of the divergence, which behaves more like a distance, is added.


def dissimilarities(images):
    """Return the three kinds of dissimilarity of the images."""
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


def study(textures):
    """Return the mean scores of some sets of images: a row for each dissimilarity."""
    tables = []
    for seed in range(REPETITIONS):
        images, features = draw_images(textures, seed)
        rows = {kind: scores(D, features) for kind, D in dissimilarities(images).items()}
        tables.append(pd.DataFrame(rows | {"random numbers": random_scores(features, seed)}).T)
    return sum(tables) / REPETITIONS


two = study(["grass", "gravel"])
published = pd.DataFrame(
    [[0.66, 0.65, 0.65, 0.58, 0.99], [0.24, 0.26, 0.27, 0.30, 0.61]], ["KL", "ED"], [*RIVALS, "conditional MDS"]
)
table_3 = pd.concat({"published": published, "here": two}).rename_axis(["", "dissimilarity"])
table_3.round(2).astype(object).fillna("")

# %%
# With KL, all five methods come close to the published numbers: conditional scaling stays a few hundredths below the
# paper's 0.99. Two things may explain the gap. Images are a fifteenth of the paper's in area, so that their
# divergences are less exact (images of 128 by 128 pixels, cut with overlaps, reach 0.96 with the root of KL). And
# gravel looks the same when it is turned, while grass does not: the effect of rotation depends on the texture, which
# the model, a sum of the two, cannot say.
#
# Read the two last columns with the last row. Scores that count the known features begin far above 0: random numbers
# reach 0.6 beside two known features, about as much as ED does here and in the paper. The stricter "contractions
# alone" leaves the known features out. Distances between pixels show next to nothing of the contractions; that the
# other four methods do better with them here than in the paper is due to the texture, which differs more than in the
# paper: their maps show it.
#
# Table 4: the two learned dimensions
# -----------------------------------
# Absolute correlations with the underlying features, of the set of images that is shown above. The last two rows are
# of a map that is kept uncorrelated with the known features (``orthogonal=True``), of the root of KL.

# sphinx_gallery_thumbnail_number = 2
kinds = dissimilarities(images)
known = features.iloc[:, 2:]
plain = ConditionalMDS(2, metric="precomputed", n_init=STARTS, random_state=0).fit(kinds["KL"], known=known)
apart = ConditionalMDS(2, metric="precomputed", orthogonal=True, n_init=STARTS, random_state=0)
apart = apart.fit(kinds["root of KL"], known=known)
published = np.array([[0.43, 0.87, 0.05, 0.14], [0.86, 0.46, 0.03, 0.08]])
tables = {
    "published": published,
    "here": abs_correlations(plain.embedding_, features).to_numpy(),
    "here, root of KL, orthogonal": abs_correlations(apart.embedding_, features).to_numpy(),
}
pd.concat(
    {name: pd.DataFrame(table, ["1st dimension", "2nd dimension"], features.columns) for name, table in tables.items()}
).round(2)

# %%
# This table does not come out as published. The fabrics of the paper differ slightly, grass and gravel differ a lot,
# more than any contraction, and much of the texture stays in the first dimension, probably because the difference
# itself depends on the contraction. Its leak shows that (``leak_``, the average canonical correlation with the known
# features), and ``orthogonal=True`` takes it out:

pd.Series({"here": plain.leak_, "here, root of KL, orthogonal": apart.leak_}, name="leak").round(2).to_frame()

# %%
# The second of the two maps, with some of the images at their points:

ax = plot_map(
    pd.DataFrame(apart.embedding_, columns=["", ""]),
    max_labels=0,
    color=features["vertical contraction"],
    arrows=features.iloc[:, :2],
    images=list(images),
    image_size=28,
    title="Given texture and rotation",
)

# %%
# Figure S2: how many dimensions
# ------------------------------
# The paper chooses p = 2 by its scree plot. Here the elbow is at 1: the second contraction adds little to the stress
# beside what is left of the texture.

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
# A third texture
# ---------------
# With brick as a third texture (ten pieces of each), five columns stand for the four features.

study(["grass", "gravel", "brick"]).round(2)

# %%
# The contractions are not found. Brick is no random texture, which is the likely reason: a piece is bright or has a
# joint across it, and joints are farther apart than the neighbourhood from which a pixel is predicted. Brick with one
# of the other two gives an ACC of about 0.7 (root of KL), not much more than random numbers; grass and gravel stand
# in the tables above because this pair alone behaves like fabric. The method asks for a texture that is the same all
# over an image.
