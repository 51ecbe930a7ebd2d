"""Dissimilarities between images of random texture, from how well one image's model predicts the other's pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_regressor
from sklearn.utils import check_random_state

from .._typing import Array
from ..checking import labels_of, name_object, numbers
from ..kernels import OneBlasThread, resolve_threads
from ._base import DissimilarityTransformer

# Fewest pixels per image: half of them train the model, and half give the residuals.
MIN_PIXELS = 40


@dataclass(eq=False, repr=False, kw_only=True)
class TextureDissimilarity(DissimilarityTransformer):
    """Compare images of random texture by models that predict a pixel from the pixels before it.

    For each image a regression model is fitted that predicts a pixel from its *causal neighbourhood*: the pixels above
    and to the left, which come before it in raster order. If images i and j have the same texture, the residuals of the
    model of i have the same distribution on both. The dissimilarity is the mean of four Kullback-Leibler divergences
    between these two distributions: in both directions, for the model of i and for that of j. Half of the pixels of an
    image train its model, the other half gives the residuals. The idea is that of Bui and Apley (2019).

    `X` holds images of grey levels: an array of shape (n_images, height, width), or a list or a Series of arrays, whose
    sizes may differ. The index of a Series labels the images.

    Parameters
    ----------
    window : int, default=2
        How far the neighbourhood reaches up, left and right (2: 12 pixels). It should be as large as the grain.
    model : regressor, optional
        A regressor of scikit-learn, which is cloned for each image; where its ``random_state`` is None, it is set. By
        default a regression tree with at least 10 pixels per leaf.
    density : {"histogram", "normal"}, default="histogram"
        How distributions of residuals are described. ``"histogram"``: shares of `n_bins` common bins of about equal
        content, half a residual added to each bin. ``"normal"``: mean and variance only.
    n_bins : int, default=20
        Number of bins; not used by ``density="normal"``.
    root : bool, default=False
        Return the square root, which grows with a small change in the texture and not with its square.
    standardize : bool, default=True
        Subtract each image's mean and divide by its standard deviation, so that brightness and contrast are ignored.
    max_pixels : int, default=10000
        Largest number of pixels used of an image, drawn at random.
    random_state : int, RandomState or None, default=None
        Seed of the drawing and of the models.
    n_jobs : int, optional
        Threads; None and -1 mean every core. The result does not depend on it.

    Attributes
    ----------
    models_ : list of regressors
        The model of each image.
    residual_deviations_ : ndarray of shape (n_images,)
        Standard deviation of each model's residuals on its own image; near 1 if the neighbourhood predicts nothing.

    References
    ----------
    A. T. Bui and D. W. Apley, "An exploratory analysis approach for understanding variation in stochastic textured
    surfaces", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import TextureDissimilarity
    >>> noise = np.random.default_rng(0).standard_normal((3, 50, 50))
    >>> stripes = noise[2] + np.roll(noise[2], 1, axis=1) + np.roll(noise[2], 2, axis=1)
    >>> D = TextureDissimilarity(window=1, random_state=0).fit_transform([noise[0], noise[1], stripes])
    >>> bool(D[0, 1] < D[0, 2] / 5)
    True
    """

    window: int = field(default=2, kw_only=False)
    model: Any = None
    density: str = "histogram"
    n_bins: int = 20
    root: bool = False
    standardize: bool = True
    max_pixels: int = 10_000
    random_state: Any = None
    n_jobs: int | None = None

    _RULES = {
        "window": 1,
        "density": ("histogram", "normal"),
        "n_bins": 2,
        "root": bool,
        "standardize": bool,
        "max_pixels": MIN_PIXELS,
        "n_jobs": None,
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags

    def _fit(self, X: Any) -> None:
        given = self.model is not None
        if given and (isinstance(self.model, type) or not (hasattr(self.model, "fit") and is_regressor(self.model))):
            raise ValueError(f"model={self.model!r} must be a regressor of scikit-learn, or None for a tree.")
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        images, self._labels = self._read(X)
        if len(images) < 2:
            raise ValueError(f"X has n_samples={len(images)} images; a dissimilarity needs at least 2.")
        self._learned = self._run(self._learn, images)
        self.models_ = [image.model for image in self._learned]
        self.residual_deviations_ = np.array([image.residuals.std() for image in self._learned])
        self.dissimilarities_ = self._compare(self._learned, self._learned)

    def _new(self, X: Any) -> tuple[Array, Any]:
        images, labels = self._read(X)
        return self._compare(self._run(self._learn, images), self._learned), labels

    def _read(self, X: Any) -> tuple[list[Array], Any]:
        """Return the images, standardised if `standardize` is set, and their labels."""
        if hasattr(X, "columns") or getattr(X, "ndim", 3) == 2 or not len(X):
            raise ValueError("X must hold images: shape (n_images, height, width), or a list or Series of 2-D arrays.")
        labels = labels_of(X)
        return [self._read_image(image, name_object(labels, at)) for at, image in enumerate(X)], labels

    def _read_image(self, image: Any, name: str) -> Array:
        shape = np.shape(image)
        if len(shape) != 2 or max(shape[0] - self.window, 0) * max(shape[1] - 2 * self.window, 0) < MIN_PIXELS:
            raise ValueError(
                f"X: {name} has shape {shape}; an image must have (height, width), and at least {MIN_PIXELS} pixels "
                f"with a whole neighbourhood (window={self.window})."
            )
        values = numbers(image, f"X: {name}").astype(np.float64)
        if not np.isfinite(values).all() or (self.standardize and np.ptp(values) == 0):
            raise ValueError(f"X: {name} has NaN or infinite pixels, or all its pixels are equal; leave it out.")
        return np.asarray((values - values.mean()) / values.std()) if self.standardize else values

    def _run(self, function: Callable[..., Any], *items: Iterable[Any]) -> list[Any]:
        with OneBlasThread():
            jobs = map(delayed(function), *items)
            return list(Parallel(n_jobs=resolve_threads(self.n_jobs), prefer="threads")(jobs))

    def _learn(self, image: Array) -> _Learned:
        """Fit the model of an image, and keep the pixels on which models are tested.

        The drawing depends on the seed and the image's size alone, so that a fitted image is 0 away from itself.
        """
        from sklearn.tree import DecisionTreeRegressor

        w = int(self.window)
        inner = (image.shape[0] - w, image.shape[1] - 2 * w)
        drawn = np.random.default_rng(self._seed).permutation(inner[0] * inner[1])[: self.max_pixels]
        down, right = np.unravel_index(drawn, inner)
        down, right = down + w, right + w
        before = np.array([(i, j) for i in range(-w, 1) for j in range(-w, w + 1) if (i, j) < (0, 0)])
        rows, values = image[down[:, None] + before[:, 0], right[:, None] + before[:, 1]], image[down, right]
        half = len(drawn) // 2
        model = DecisionTreeRegressor(min_samples_leaf=10) if self.model is None else clone(self.model)
        open_seeds = [n for n, v in model.get_params().items() if v is None and n.endswith("random_state")]
        model.set_params(**dict.fromkeys(open_seeds, self._seed)).fit(rows[:half], values[:half])
        return _Learned(model, rows[half:], values[half:])

    def _compare(self, rows: list[_Learned], columns: list[_Learned]) -> Array:
        def half(own: _Learned, images: list[_Learned]) -> list[float]:
            return [self._divergence(own.residuals, own.residuals_on(image)) / 2 for image in images]

        there = np.array(self._run(half, rows, repeat(columns)))
        back = there if rows is columns else np.array(self._run(half, columns, repeat(rows)))
        return np.asarray(np.sqrt(there + back.T) if self.root else there + back.T)

    def _divergence(self, own: Array, other: Array) -> float:
        """Return the mean of the two Kullback-Leibler divergences between two samples of residuals."""
        if self.density == "histogram":
            both = np.concatenate([own, other])
            edges = np.unique(np.quantile(both, np.arange(1, self.n_bins) / self.n_bins))
            edges = edges[edges < both.max()]  # ties can make bins coincide, or leave nothing above the last edge
            p, q = (np.bincount(np.searchsorted(edges, r), minlength=len(edges) + 1) + 0.5 for r in (own, other))
            p, q = p / p.sum(), q / q.sum()
            return float(np.sum((p - q) * np.log(p / q)) / 2)
        v, w = own.var(), other.var()
        if min(v, w) == 0:
            raise ValueError("a model predicts an image without any error; use density='histogram'.")
        return float((v / w + w / v - 2 + (own.mean() - other.mean()) ** 2 * (1 / v + 1 / w)) / 4)


class _Learned:
    """The model of an image, the pixels on which models are tested, and the model's residuals on them."""

    def __init__(self, model: Any, rows: Array, values: Array) -> None:
        self.model, self.rows, self.values = model, rows, values
        self.residuals = self.residuals_on(self)

    def residuals_on(self, image: _Learned) -> Array:
        return np.asarray(image.values - np.asarray(self.model.predict(image.rows)).reshape(-1))
