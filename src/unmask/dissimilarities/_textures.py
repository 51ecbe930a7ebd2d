"""Dissimilarities between images of random texture, from how well one image's model predicts the other's pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from .._typing import Array, IntArray
from ..checking import (
    labels_of,
    name_object,
    numbers,
    require_choice,
    require_flag,
    require_integer,
    require_jobs,
)
from ..kernels import OneBlasThread, Workers, resolve_threads
from ._base import DTYPES, DissimilarityTransformer

if TYPE_CHECKING:
    import pandas as pd

# Fewest pixels per image: half of them train the model, and half give the residuals.
MIN_PIXELS = 40


# ---- models of a pixel given its causal neighbourhood


def _tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(min_samples_leaf=10, random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    # Not its histogram-based sibling: predictions, of which there are N squared, take that one five times as long.
    return GradientBoostingRegressor(subsample=0.5, random_state=seed)


MODELS: dict[str, Callable[[int], Any]] = {"tree": _tree, "boosting": _boosting}


def _make_model(model: Any, seed: int) -> Any:
    """Return an unfitted regressor; a seed that the user left open is set, so that a fit can be repeated."""
    if isinstance(model, str):
        return MODELS[model](seed)
    copy = clone(model)
    names = [name for name, value in copy.get_params().items() if value is None]
    return copy.set_params(**{name: seed for name in names if name.rpartition("__")[2] == "random_state"})


# ---- divergences: the mean of the two Kullback-Leibler divergences between two samples of residuals


@dataclass(frozen=True)
class Histogram:
    """Common bins that hold about the same number of the two samples' residuals together."""

    n_bins: int

    def divergence(self, own: Array, other: Array) -> float:
        """Compare shares of the bins, with half a residual added to each (the Jeffreys prior): none is then empty."""
        both = np.concatenate([own, other])
        edges = np.unique(np.quantile(both, np.arange(1, self.n_bins) / self.n_bins))
        edges = edges[edges < both.max()]  # ties can make bins coincide, or leave nothing above the last edge
        p, q = (np.bincount(np.searchsorted(edges, r), minlength=len(edges) + 1) + 0.5 for r in (own, other))
        p, q = p / p.sum(), q / q.sum()
        return float(np.sum((p - q) * np.log(p / q)) / 2)


class Normal:
    """Normal distributions with the samples' means and variances."""

    def divergence(self, own: Array, other: Array) -> float:
        """Return (v/w + w/v - 2 + (m - n)^2 (1/v + 1/w)) / 4 for means m, n and variances v, w."""
        v, w = own.var(), other.var()
        if min(v, w) == 0:
            raise ValueError(
                "a model predicts an image without any error, so that the divergence of normal residuals is infinite; "
                "use density='histogram'."
            )
        return float((v / w + w / v - 2 + (own.mean() - other.mean()) ** 2 * (1 / v + 1 / w)) / 4)


# ---- pixels and their neighbourhoods


@dataclass(frozen=True)
class Pixels:
    """Some pixels of an image: each one's causal neighbourhood (a row) and its value."""

    rows: Array
    values: Array

    def residuals(self, model: Any) -> Array:
        """Return what a model leaves unexplained of these pixels."""
        return np.asarray(self.values - np.asarray(model.predict(self.rows)).reshape(-1))


def _causal_offsets(window: int) -> IntArray:
    """Return the steps (down, right) to the pixels that come before a pixel in raster order, up to `window` away."""
    across = range(-window, window + 1)
    before = [(down, right) for down in range(-window, 1) for right in across if (down, right) < (0, 0)]
    return np.asarray(before)


def _split_pixels(image: Array, window: int, most: int, seed: int) -> tuple[Pixels, Pixels]:
    """Return the pixels that train an image's model and those that test models, drawn without replacement.

    The draw depends on the seed and the image's size alone: a fitted image that comes back is judged by the same
    pixels, whatever other images come with it.
    """
    height, width = image.shape
    inner = (height - window, width - 2 * window)
    drawn = np.random.default_rng(seed).permutation(inner[0] * inner[1])[:most]
    down, right = np.unravel_index(drawn, inner)
    down, right = down + window, right + window
    steps = _causal_offsets(window)
    half = len(drawn) // 2
    train, test = (
        Pixels(image[down[part, None] + steps[:, 0], right[part, None] + steps[:, 1]], image[down[part], right[part]])
        for part in (slice(None, half), slice(half, None))
    )
    return train, test


@dataclass(eq=False, repr=False, kw_only=True)
class TextureDissimilarity(DissimilarityTransformer):
    """Compare images of random texture by models that predict a pixel from the pixels before it.

    Two photographs of one fabric differ in every pixel, and yet show the same. A stationary random texture is described
    by how a pixel depends on its neighbourhood, wherever it lies. So a regression model is fitted to each image that
    predicts a pixel from its *causal neighbourhood*: the pixels above and to the left, which come before it in raster
    order. The residuals of image i's model on image i have some distribution, those of the same model on image j
    another; if both images have the same texture, it is the same. The dissimilarity of i and j is the mean of four
    Kullback-Leibler divergences: between these two distributions, in both directions, for the model of i and for that
    of j. It is at least 0, and 0 for an image and itself.

    Half of the pixels of an image train its model. The other half gives the residuals, of its own model as of the
    others', because residuals on the pixels that a model was fitted to are too small to compare with.

    The idea of comparing textures by supervised models and Kullback-Leibler divergences is that of Bui and Apley
    (2019); the way in which it is computed here, described above, is our own.

    For N images, time grows with N models and N squared predictions for a sample of pixels, memory with N times
    `max_pixels` times 2 `window` (`window` + 1).

    Parameters
    ----------
    window : int, default=2
        How far the neighbourhood reaches up, left and right: 1 has 4 pixels, 2 has 12, 3 has 24. It should be as
        large as the texture's grain.
    model : {"tree", "boosting"} or regressor, default="tree"
        The model of a pixel: a regression tree with at least 10 pixels per leaf, gradient-boosted trees, or any
        regressor of scikit-learn, of which each image has a clone. Where its ``random_state`` is None, it is set.
    density : {"histogram", "normal"}, default="histogram"
        How the distributions of residuals are described. ``"histogram"``: shares of `n_bins` bins, common to the two
        distributions compared and of about equal content, half a residual added to each bin so that none is empty.
        It sees any difference in shape but not how far out the outermost residuals lie. ``"normal"``: mean and variance
        only, without bound.
    n_bins : int, default=20
        Number of bins; not used by ``density="normal"``.
    root : bool, default=False
        Return the square root. A divergence grows with the square of a small change in the texture, and a map whose
        distances should grow with the change itself is better made from the square root.
    standardize : bool, default=True
        Subtract each image's mean and divide by its standard deviation first, so that brightness and contrast are
        ignored. False lets them count.
    max_pixels : int, default=10000
        Most pixels of an image to use, drawn at random; the others serve as neighbours only.
    random_state : int, RandomState or None, default=None
        Seed of the drawing and of the models.
    n_jobs : int, optional
        Threads; None and -1 mean every core. The result does not depend on it.
    verbose : int, default=0
        1 shows the progress, on the standard error stream.
    dtype : {"float64", "float32"}, default="float64"
        Type of the result.

    Attributes
    ----------
    dissimilarities_ : ndarray of shape (n_images, n_images)
        The dissimilarities.
    models_ : list of regressors
        The model of each image.
    residual_deviations_ : ndarray of shape (n_images,)
        Standard deviation of each model's residuals on its own image (with `standardize`: near 1 means that the
        neighbourhood does not help to predict a pixel).

    References
    ----------
    A. T. Bui and D. W. Apley, "An exploratory analysis approach for understanding variation in stochastic textured
    surfaces", Computational Statistics & Data Analysis 137, 2019.

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
    model: Any = "tree"
    density: str = "histogram"
    n_bins: int = 20
    root: bool = False
    standardize: bool = True
    max_pixels: int = 10_000
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    dtype: str = "float64"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def fit(self, X: Any, y: Any = None) -> TextureDissimilarity:
        """Fit a model to each image and apply it to all.

        Parameters
        ----------
        X : array-like of shape (n_images, height, width), list or Series of 2-D arrays
            Images of grey levels. In a list or a Series, whose index labels them, their sizes may differ.
        y : ignored
            Present by convention.

        Returns
        -------
        self : TextureDissimilarity
        """
        self._check_parameters()
        images, self._labels = self._read(X)
        if len(images) < 2:
            raise ValueError(f"X has n_samples={len(images)} images; a dissimilarity needs at least 2.")
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with self._task_runner(2 * len(images)) as run:
            self.models_, self._tests = self._learn(images, run)
            self._own = [test.residuals(model) for model, test in zip(self.models_, self._tests, strict=True)]
            half = self._compare(self.models_, self._own, self._tests, run)
        self.residual_deviations_ = np.array([own.std() for own in self._own])
        self.dissimilarities_ = self._finish(half + half.T)
        return self

    def transform(self, X: Any) -> Array:
        """Return the dissimilarities of new images to the fitted ones.

        The models of the fitted images are applied to the new ones, and the other way round.

        Parameters
        ----------
        X : array-like of shape (n_new, height, width), list or Series of 2-D arrays

        Returns
        -------
        ndarray or DataFrame of shape (n_new, n_images)
        """
        check_is_fitted(self)
        images, labels = self._read(X)
        with self._task_runner(2 * len(images) + len(self.models_)) as run:
            models, tests = self._learn(images, run)
            own = [test.residuals(model) for model, test in zip(models, tests, strict=True)]
            there = self._compare(models, own, self._tests, run)
            back = self._compare(self.models_, self._own, tests, run)
        return self._labelled(self._finish(there + back.T), labels)

    # ---- reading input

    def _check_parameters(self) -> None:
        require_integer("window", self.window, 1)
        if isinstance(self.model, str):
            require_choice("model", self.model, MODELS)
        elif isinstance(self.model, type) or not is_regressor(self.model):
            raise ValueError(
                f"model={self.model!r} must be 'tree', 'boosting' or a regressor of scikit-learn such as "
                "LinearRegression()."
            )
        require_choice("density", self.density, ("histogram", "normal"))
        require_integer("n_bins", self.n_bins, 2)
        require_flag("root", self.root)
        require_flag("standardize", self.standardize)
        require_integer("max_pixels", self.max_pixels, MIN_PIXELS)
        require_jobs(self.n_jobs)
        require_integer("verbose", self.verbose, 0)
        require_choice("dtype", self.dtype, DTYPES)

    def _read(self, X: Any) -> tuple[list[Array], pd.Index | None]:
        """Return the images as arrays of numbers (standardised if `standardize` is set) and their labels."""
        if hasattr(X, "columns") or getattr(X, "ndim", 3) == 2:
            raise ValueError(
                "X is a table, but must hold images: an array of shape (n_images, height, width), or a list or Series "
                "of 2-D arrays. Of a single image x, pass [x]."
            )
        if not len(X):
            raise ValueError("X has n_samples=0 images; pass at least one.")
        labels = labels_of(X)
        return [self._read_image(image, name_object(labels, at)) for at, image in enumerate(X)], labels

    def _read_image(self, image: Any, name: str) -> Array:
        shape = np.shape(image)
        if len(shape) != 2:
            raise ValueError(
                f"X: {name} has shape {shape} but an image must have (height, width): one grey level per pixel."
            )
        values = numbers(image, f"X: {name}").astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"X: {name} has NaN or infinite pixels; every pixel must be a finite number.")
        whole = max(shape[0] - self.window, 0) * max(shape[1] - 2 * self.window, 0)
        if whole < MIN_PIXELS:
            raise ValueError(
                f"X: {name} has {shape[0]} x {shape[1]} pixels, of which {whole} have a whole neighbourhood with "
                f"window={self.window}; at least {MIN_PIXELS} are needed: pass larger images or a smaller window."
            )
        if not self.standardize:
            return values
        deviation = values.std()
        if not deviation > 0 or np.ptp(values) == 0:
            raise ValueError(f"X: all pixels of {name} are equal, which is no texture; leave it out.")
        return np.asarray((values - values.mean()) / deviation)

    # ---- the work

    @contextmanager
    def _task_runner(self, steps: int) -> Iterator[Callable[[Callable[[int], None], int], None]]:
        """Give a function that runs numbered tasks on all threads and shows the progress."""
        pools = ThreadpoolController()
        progress = _progress(steps, self.verbose)
        with OneBlasThread(), Workers(resolve_threads(self.n_jobs)) as workers, progress as advance:

            def run(task: Callable[[int], None], count: int) -> None:
                def step(index: int) -> None:
                    # Some regressors would start threads within each of ours; OpenMP's limit holds for one of ours.
                    with pools.limit(limits=1, user_api="openmp"):
                        task(index)
                    advance()

                workers.run(step, count)

            yield run

    def _learn(self, images: list[Array], run: Callable[..., None]) -> tuple[list[Any], list[Pixels]]:
        """Return each image's model, and the pixels on which models are tested."""
        models: list[Any] = [None] * len(images)
        tests: list[Any] = [None] * len(images)

        def learn(at: int) -> None:
            pixels, tests[at] = _split_pixels(images[at], int(self.window), int(self.max_pixels), self._seed)
            models[at] = _make_model(self.model, self._seed).fit(pixels.rows, pixels.values)

        run(learn, len(images))
        return models, tests

    def _compare(
        self, models: Sequence[Any], own: Sequence[Array], tests: Sequence[Pixels], run: Callable[..., None]
    ) -> Array:
        """Return half the divergence of each model's residuals on its own image and on each of the others."""
        density = Histogram(int(self.n_bins)) if self.density == "histogram" else Normal()
        half = np.empty((len(models), len(tests)))

        def compare(at: int) -> None:
            # One image at a time: rows of a larger product would be rounded differently, and a fitted image that
            # comes back would not be exactly 0 away from itself.
            half[at] = [density.divergence(own[at], test.residuals(models[at])) / 2 for test in tests]

        run(compare, len(models))
        return half

    def _finish(self, D: Array) -> Array:
        return np.asarray((np.sqrt(D) if self.root else D).astype(self.dtype))


@contextmanager
def _progress(steps: int, verbose: int) -> Iterator[Callable[[], None]]:
    """Give a function to call after each step; with `verbose` it moves a bar on the standard error stream."""
    if not verbose:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("textures", total=steps)
        yield lambda: bar.advance(task)
