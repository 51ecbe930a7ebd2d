"""Maps without groups or without an order, to compare a map with: each kind stands for one way of chance."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from .._typing import Array
from ._circle import fit_circle
from ._clusters import best_grouping, group_numbers
from ._fitting import ESTIMATORS, takes
from ._material import Material
from ._records import Step

# One start, and not to the last digit: only the shape of such maps is looked at.
QUICK = {"init": "closed-form", "n_init": 1, "tol": 1e-5}
# Parameters of a fit that mean nothing where there are no more than 300 objects, and where nothing is known.
FOR_MANY = ("n_landmarks",)
ABOUT_KNOWN = ("coef", "known_types", "orthogonal", "adjust")


def even_box(U: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Yield points spread evenly over the box around the map, in its principal axes: any cloud has some groups."""
    low, high = U.min(axis=0), U.max(axis=0)
    while True:
        yield rng.uniform(low, high, size=U.shape)


def even_disc(U: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Yield points spread evenly over an ellipse as wide as the map: a full disc is round, too."""
    width = 2 * U[:, :2].std(axis=0)  # the standard deviation of a disc of radius 1 is 1/2
    while True:
        angle, radius = rng.uniform(0, 2 * np.pi, len(U)), np.sqrt(rng.uniform(size=len(U)))
        yield width * (radius * [np.cos(angle), np.sin(angle)]).T


def even_ring(U: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Yield points spread evenly along the circle or arc of the map: on a ring, neighbours seem to be groups."""
    if U.shape[1] < 2:
        yield from even_box(U, rng)
    circle = fit_circle(U)
    start, span = (0.0, 360.0) if circle.is_closed else (circle.gap[0], circle.span)
    while True:
        angle = np.radians(start + span * rng.uniform(size=len(U)))
        ring = (rng.permutation(circle.radii) * [np.cos(angle), np.sin(angle)]).T
        yield np.column_stack([ring, rng.permutation(U)[:, 2:]])


def scattered_groups(U: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Yield the groups of the map, whole, in other places: three groups are always on a circle."""
    groups = group_numbers(U, best_grouping(U).n_groups)
    centres = np.array([U[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
    within = U - centres[groups]
    low, high = U.min(axis=0), U.max(axis=0)
    while True:
        yield within + rng.uniform(low, high, size=centres.shape)[groups]


def maps_of_noise(material: Material, step: Step, n_objects: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield maps of so many objects, with their dissimilarities in random order: a map of noise is round and even.

    They are fitted as the map was, but quickly, and with nothing known: noise has nothing to do with it.
    """
    params = {name: value for name, value in step.params.items() if name not in (*ABOUT_KNOWN, *FOR_MANY)}
    params |= QUICK if takes(step.estimator, "callback") else {}
    while True:
        D = material.among(rng.choice(len(material.objects), n_objects, replace=False)).to_numpy(dtype=np.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mds = ESTIMATORS[step.estimator](metric="precomputed", **params).fit(_shuffled(D, rng))
        yield np.asarray(mds.embedding_, dtype=np.float64)


def _shuffled(D: Array, rng: np.random.Generator) -> Array:
    i, j = np.triu_indices(len(D), 1)
    noise = np.zeros_like(D)
    noise[i, j] = noise[j, i] = rng.permutation(D[i, j])
    return noise
