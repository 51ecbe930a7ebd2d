"""
Handwriting, given the digit
============================

scikit-learn ships 1797 handwritten digits of 8 by 8 pixels. A map of such images shows which digit is which, and that
is known. What else is there? The map is asked for everything but the digit. What it shows is recognised by looking at
the images, is measured, joins the known features, and the next map is drawn.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits

from unmask import ConditionalMDS
from unmask.inspection import name_axes
from unmask.plotting import plot_map

digits = load_digits()
some = np.random.default_rng(0).permutation(len(digits.images))[:500]
images = digits.images[some]
# Blurred, strokes that miss each other by a pixel are near each other all the same.
pixels = gaussian_filter(images, sigma=(0, 1, 1)).reshape(len(images), -1)
known = pd.DataFrame({"digit": pd.Categorical(digits.target[some])})

mds = ConditionalMDS(orthogonal=True, n_init=4, random_state=0)
plain = mds.fit_transform(pixels)
given = mds.fit_transform(pixels, known=known)

figure, axes = pyplot.subplots(1, 2, figsize=(13, 6.6), layout="constrained")
pictures = {"images": list(16 - images), "image_size": 22, "max_images": 150, "max_labels": 0}
for ax, (title, U) in zip(axes, {"Nothing known": plain, "Given the digit": given}.items(), strict=True):
    plot_map(pd.DataFrame(U, columns=["", ""]), ax=ax, title=title, **pictures)

# %%
# On the left, digits gather by what they are. On the right they are mixed, and from one side to the other they move
# within their frames. With that place measured and known as well:


def place(images):
    """Return how far to the right the ink of each image is, in pixels."""
    return (images * np.arange(8)).sum(axis=(1, 2)) / images.sum(axis=(1, 2))


again = mds.fit_transform(pixels, known=known.assign(place=place(images)))

# %%
# What is left are slants and pens. Both can be measured, too. The slant is what the ink moves to the right for every
# pixel that it rises. As all digits fill their frames, thick strokes show in the amount of ink; and twice the ink
# over the length of its outline is the width of a stroke, roughly (at this resolution, thin strokes are grey).


def slant(images):
    """Return the slope of the regression of the ink's place on its height."""
    ink = images / images.sum(axis=(1, 2), keepdims=True)
    y, x = np.mgrid[7:-1:-1, :8]
    x, y = (axis - (ink * axis).sum(axis=(1, 2), keepdims=True) for axis in (x, y))
    return (ink * x * y).sum(axis=(1, 2)) / (ink * y * y).sum(axis=(1, 2))


def thickness(images):
    """Return the width of strokes in pixels: the ink over half the length of its outline."""
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    steps = np.hypot(np.diff(framed, axis=1)[:, :, 1:], np.diff(framed, axis=2)[:, 1:])
    return 2 * images.sum(axis=(1, 2)) / steps.sum(axis=(1, 2))


measured = pd.DataFrame(
    {
        "place": place(images),
        "slant": slant(images),
        "ink": images.sum(axis=(1, 2)),
        "thickness": thickness(images),
    }
)
# A seven leans by nature. What counts is how an image differs from others of its digit.
measured -= measured.groupby(known["digit"], observed=True).transform("mean")
arrows = measured[["slant", "thickness"]]
ax = plot_map(pd.DataFrame(again, columns=["", ""]), arrows=arrows, title="Given the digit and its place", **pictures)
ax.figure.set_size_inches(7.4, 7.4)

# %%
# How much of each a map has: its correlation with the best direction.


def found(U):
    """Return the correlation of each measured feature with the direction of a map it goes with most."""
    return name_axes(U, measured).xs("best", level="direction")["correlation"]


maps = {"nothing known": plain, "given the digit": given, "given the digit and its place": again}
table = pd.DataFrame({name: found(U) for name, U in maps.items()}).T[list(measured)]
table.round(2)

# %%
# ``orthogonal=True`` keeps the maps uncorrelated with the digit. Without it they are not: the leak is far above chance,
# because a slanted one and a slanted zero differ from upright ones in different ways, which a sum of features cannot
# say, and the map of what is left is partly a map of digits again.

loose = ConditionalMDS(n_init=4, random_state=0).fit(pixels, known=known.assign(place=place(images)))
found(loose.embedding_).to_frame("without orthogonal").T[list(measured)].assign(leak=loose.leak_).round(2)
