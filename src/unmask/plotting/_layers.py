"""Layers of a map besides its points: arrows of features, confidence ellipses, small pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ._input import check_table, one_per_object, require_varying
from ._labels import Labels, spread

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

ARROW_COLOR = "0.2"
# Longest side, in pixels, of a thumbnail as it is stored in the figure.
STORED_SIDE = 256


@dataclass(frozen=True)
class Arrows:
    """An arrow for each feature, in the direction in which it rises, longer the better the map predicts it."""

    centre: Array
    tips: Array
    names: list[str]
    reach: float  # length of an arrow whose multiple correlation is 1

    @classmethod
    def of(cls, points: Array, table: Any) -> Arrows:
        """Regress each feature on the map's axes.

        The arrow has the direction of the coefficients, in which the feature rises fastest, and a length of ``reach``
        times the multiple correlation R.
        """
        values, names = check_table(table, "arrows")
        require_varying(values, names, "arrows")
        centre = points.mean(axis=0)
        # Standard deviations only: the direction does not depend on a feature's units.
        z = (values - values.mean(axis=0)) / values.std(axis=0)
        slopes = np.linalg.lstsq(points - centre, z, rcond=None)[0]
        fitted = (points - centre) @ slopes
        correlation = np.sqrt(np.mean(fitted**2, axis=0))
        steep = np.linalg.norm(slopes, axis=0)
        directions = np.divide(slopes, steep, out=np.zeros_like(slopes), where=steep > 0)
        reach = float(np.max(np.ptp(points, axis=0))) / 2
        return cls(centre, centre + (reach * correlation * directions).T, names, reach)

    def draw(self, ax: Axes) -> None:
        """Draw the arrows and, dotted, the circle that a perfect correlation would reach."""
        from matplotlib.patches import Circle

        for tip in self.tips:
            style = {"arrowstyle": "-|>", "color": ARROW_COLOR, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", tuple(tip), tuple(self.centre), arrowprops=style | {"mutation_scale": 9}, zorder=4)
        circle = Circle(tuple(self.centre), self.reach, fill=False, linestyle=":", edgecolor="0.7", linewidth=0.8)
        circle.set_in_layout(False)
        ax.add_artist(circle)
        ax.update_datalim(self.tips)
        ax.autoscale_view()

    @property
    def labels(self) -> Labels:
        """Return the names of the features, at the tips."""
        return Labels(self.tips, self.names, ARROW_COLOR, "bold", needed=True)

    @property
    def lines(self) -> list[Array]:
        """Return the shafts, which labels keep clear of; they end a little before the tips, whose labels are near."""
        return [np.stack([self.centre, self.centre + 0.9 * (tip - self.centre)]) for tip in self.tips]


def covariances_of(given: Any, points: Array, index: pd.Index | None) -> Any:
    """Return covariances as given, or those of a bootstrap or jackknife for the axes drawn, in the objects' order.

    The latter hold for one map only: on a rotated map, or another one, covariances differ.
    """
    if not hasattr(given, "covariances"):
        return given
    rows = np.arange(len(given.objects))
    order = one_per_object("ellipses", given.objects.assign(row=rows), len(points), index)["row"].to_numpy()
    places = given.objects.iloc[order, : given.covariances.shape[1]].to_numpy()[:, :2]
    if places.shape != points.shape or np.abs(places - points).max() > 0.01 * np.ptp(points, axis=0).max():
        raise ValueError(
            "ellipses belong to another map than embedding, whose objects lie elsewhere; draw the map they were made "
            "for, which is in their objects, or fix random_state to find it again."
        )
    return given.covariances[order][:, :2, :2]


@dataclass(frozen=True)
class Ellipses:
    """An ellipse per object that contains the given share (`level`) of a normal distribution."""

    centres: Array
    covariances: Array
    level: float

    @classmethod
    def of(cls, points: Array, covariances: Any, centres: Any, level: Any) -> Ellipses:
        """Check covariance matrices, one per object."""
        given = np.asarray(covariances, dtype=np.float64)
        n = len(points)
        if given.shape != (n, 2, 2):
            raise ValueError(f"ellipses has shape {given.shape} but must have ({n}, 2, 2): a covariance per object.")
        if not isinstance(level, float) or not 0 < level < 1:
            raise ValueError(f"level={level!r} must be above 0 and below 1: the share of repetitions in an ellipse.")
        scale = np.abs(given).max(axis=(1, 2), initial=0.0)
        tolerance = 1e-8 * scale
        with np.errstate(invalid="ignore"):
            valid = np.isfinite(given).all(axis=(1, 2)) & (np.abs(given[:, 0, 1] - given[:, 1, 0]) <= tolerance)
            valid &= np.linalg.eigvalsh(np.nan_to_num(given))[:, 0] >= -tolerance
        if not valid.all():
            at = int(np.argmin(valid))
            raise ValueError(
                f"ellipses has {given[at].tolist()} for object {at}, which is no covariance matrix: it must be finite, "
                "symmetric and without negative eigenvalues."
            )
        middle = points if centres is None else np.asarray(centres, dtype=np.float64)
        if middle.shape != (n, 2) or not np.isfinite(middle).all():
            raise ValueError(f"centres has shape {middle.shape} but must be a finite table of shape ({n}, 2).")
        return cls(middle, given, float(level))

    @property
    def radius(self) -> float:
        """Return how many standard deviations the ellipses reach: the root of the chi-squared quantile, 2 degrees."""
        return float(np.sqrt(-2 * np.log1p(-self.level)))

    def draw(self, ax: Axes, colors: Array) -> None:
        """Draw the ellipses below the points, in their colours."""
        from matplotlib.collections import EllipseCollection

        lengths, axes = np.linalg.eigh(self.covariances)
        sides = 2 * self.radius * np.sqrt(np.maximum(lengths, 0.0))
        angles = np.degrees(np.arctan2(axes[:, 1, 1], axes[:, 0, 1]))  # of the longer axis
        drawn = EllipseCollection(
            sides[:, 1],
            sides[:, 0],
            angles,
            units="xy",
            offsets=self.centres,
            offset_transform=ax.transData,
            facecolors=np.column_stack([colors[:, :3], np.full(len(colors), 0.12)]),
            edgecolors=np.column_stack([colors[:, :3], np.full(len(colors), 0.7)]),
            linewidths=0.8 if len(colors) <= 300 else 0.3,
            zorder=2,
            rasterized=len(colors) > 2000,
        )
        ax.add_collection(drawn, autolim=False)
        half = self.radius * np.sqrt(np.einsum("nii->ni", self.covariances))
        ax.update_datalim(np.concatenate([self.centres - half, self.centres + half]))
        ax.autoscale_view()


@dataclass(frozen=True)
class Thumbnails:
    """Small pictures at the points of objects, far enough from each other not to overlap."""

    points: Array
    images: Sequence[Any]
    size: float
    most: int

    def draw(self, ax: Axes, colors: Array) -> Array:
        """Draw the pictures, framed in the colours of their points; return places that they cover.

        For limits that are settled: how far two pictures must be apart depends on them.
        """
        from matplotlib.offsetbox import AnnotationBbox, OffsetImage

        there = np.array([i for i, image in enumerate(self.images) if image is not None], dtype=int)
        side = self._side(ax)
        chosen = there[spread(self.points[there], self.most, 1.15 * side)] if len(there) else there
        for i in chosen:
            image = _read_image(self.images[i], i)
            picture = OffsetImage(image, zoom=self.size / max(image.shape[:2]), cmap="gray")
            frame = {"edgecolor": colors[i], "linewidth": 1.2, "facecolor": "white"}
            ax.add_artist(
                AnnotationBbox(picture, tuple(self.points[i]), pad=0.08, bboxprops=frame, annotation_clip=True)
            ).set_zorder(3.5)
        steps = np.linspace(-0.5, 0.5, 5) * side
        grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        return np.asarray((self.points[chosen][:, None] + grid).reshape(-1, 2))

    def _side(self, ax: Axes) -> float:
        """Return the longer side of a picture in the units of the map."""
        ends = ax.transData.inverted().transform([[0.0, 0.0], [self.size * ax.figure.dpi / 72, 0.0]])
        return float(ends[1, 0] - ends[0, 0])


def _read_image(image: Any, position: int) -> Array:
    """Return an image as an array, not larger than a thumbnail needs."""
    from matplotlib.image import imread

    try:
        pixels = np.asarray(imread(image) if isinstance(image, str | Path) else image)
    except (OSError, SyntaxError) as error:  # pillow raises either for what is no picture
        raise ValueError(f"images[{position}]={str(image)!r} cannot be read as a picture ({error}).") from error
    good = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))
    if not good or 0 in pixels.shape or pixels.dtype.kind not in "biuf":
        raise ValueError(
            f"images[{position}] has shape {pixels.shape} and type {pixels.dtype}; pass rows x columns of grey values, "
            "or rows x columns x 3 or 4 colours, or the path of a file."
        )
    step = max(1, max(pixels.shape[:2]) // STORED_SIDE)
    return pixels[::step, ::step]
