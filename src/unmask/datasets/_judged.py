"""Simulated judgements: car brands of seven features, and drawn faces."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import Bunch, check_random_state

from .._typing import Array

FEATURES = ("quality", "safety", "value", "performance", "economy", "design", "technology")
WEIGHTS = np.array([90.0, 88.0, 83.0, 82.0, 81.0, 70.0, 68.0])


def make_car_brands(n: int = 30, *, noise: float = 0.2, known_noise: float = 0.05, random_state: Any = None) -> Bunch:
    """Simulate dissimilarities of car brands that arise from seven features of known weight.

    Features are uniform on (0, 1). The dissimilarity of two brands is the Euclidean distance of their weighted
    features plus normal noise proportional to it; the features are observed with proportional noise as well.

    Parameters
    ----------
    n : int, default=30
        Number of brands.
    noise : float, default=0.2
        Standard deviation of the dissimilarities' noise as a fraction of each; values below 0 become 0.
    known_noise : float, default=0.05
        Standard deviation of the observed features' noise as a fraction of each value.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Bunch
        ``dissimilarities`` (DataFrame n x n), ``known`` (DataFrame n x 7: features as observed), ``features``
        (DataFrame n x 7: the truth), ``coef`` (Series of 7: the true diagonal of B), ``noiseless`` (DataFrame n x n).

    Examples
    --------
    >>> from unmask.datasets import make_car_brands
    >>> cars = make_car_brands(n=10, random_state=0)
    >>> cars.dissimilarities.shape, cars.known.columns[0]
    ((10, 10), 'quality')
    """
    import pandas as pd

    rng = check_random_state(random_state)
    weights = WEIGHTS / WEIGHTS.sum()
    truth = rng.uniform(size=(n, len(FEATURES)))
    observed = truth * (1.0 + known_noise * rng.standard_normal(truth.shape))
    weighted = truth * weights
    squares = np.sum(weighted**2, axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * weighted @ weighted.T, 0.0))
    np.fill_diagonal(distances, 0.0)
    upper = np.triu(rng.standard_normal((n, n)), 1)
    noisy = np.maximum(distances * (1.0 + noise * (upper + upper.T)), 0.0)
    brands, names = [f"brand {i + 1}" for i in range(n)], list(FEATURES)
    return Bunch(
        dissimilarities=pd.DataFrame(noisy, brands, brands),
        known=pd.DataFrame(observed, brands, names),
        features=pd.DataFrame(truth, brands, names),
        coef=pd.Series(weights, index=names, name="coef"),
        noiseless=pd.DataFrame(distances, brands, brands),
        DESCR=make_car_brands.__doc__,
    )


def make_drawn_faces(n: int = 20, *, noise: float = 0.05, size: int = 96, random_state: Any = None) -> Bunch:
    """Draw simple faces, and simulate how unlike people find them.

    Smile, tilt and width are uniform on (-1, 1). The dissimilarity of two faces is the Euclidean distance of these,
    weighted 1, 0.8 and 0.6, plus normal noise proportional to it.

    Parameters
    ----------
    n : int, default=20
        Number of faces.
    noise : float, default=0.05
        Standard deviation of the noise as a fraction of each dissimilarity; values below 0 become 0.
    size : int, default=96
        Width and height of a picture in pixels.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Bunch
        ``dissimilarities`` (DataFrame n x n), ``features`` (DataFrame n x 3: the truth), ``pictures`` (dict from label
        to a PNG as bytes).

    Examples
    --------
    >>> from unmask.datasets import make_drawn_faces
    >>> faces = make_drawn_faces(random_state=0)
    >>> faces.features.columns.tolist(), faces.pictures["face 1"][1:4]
    (['smile', 'tilt', 'width'], b'PNG')
    """
    import pandas as pd

    rng = check_random_state(random_state)
    truth = rng.uniform(-1.0, 1.0, size=(n, 3))
    distances = pdist(truth * np.array([1.0, 0.8, 0.6]))
    noisy = np.maximum(distances * (1.0 + noise * rng.standard_normal(len(distances))), 0.0)
    labels = [f"face {i + 1}" for i in range(n)]
    return Bunch(
        dissimilarities=pd.DataFrame(squareform(noisy), index=labels, columns=labels),
        features=pd.DataFrame(truth, index=labels, columns=["smile", "tilt", "width"]),
        pictures={label: _draw(face, size) for label, face in zip(labels, truth, strict=True)},
        DESCR=make_drawn_faces.__doc__,
    )


def _draw(face: Array, size: int) -> bytes:
    """Return a face as a PNG."""
    from PIL import Image, ImageDraw

    big = 4 * size  # drawn large and made small: smooth lines
    smile, tilt, width = face
    canvas = Image.new("RGBA", (big, big), (255, 255, 255, 0))
    pen = ImageDraw.Draw(canvas)
    middle, half, line = big / 2, big * (0.30 + 0.10 * width), big // 40
    pen.ellipse((middle - half, 0.08 * big, middle + half, 0.92 * big), (255, 226, 173), (70, 50, 30), line)
    for side in (-1, 1):
        eye = middle + side * 0.45 * half
        pen.ellipse((eye - 0.04 * big, 0.34 * big, eye + 0.04 * big, 0.42 * big), (70, 50, 30))
    across = np.linspace(-1.0, 1.0, 25)
    mouth = [(middle + 0.5 * half * x, big * (0.68 - 0.10 * smile * (x * x - 0.5))) for x in across]
    pen.line(mouth, (150, 40, 40), 2 * line, "curve")
    target = io.BytesIO()
    turned = canvas.rotate(-25 * tilt, Image.Resampling.BICUBIC)
    turned.resize((size, size), Image.Resampling.LANCZOS).save(target, "PNG")
    return target.getvalue()
