"""Who draws the maps: functions of a module, features and what is known.

Each returns the map if its stress is to be measured, the stress itself if that takes more than the map, or nothing:
UMAP, t-SNE and Isomap minimise something else.

Everybody has one thread: threads that wait for each other on a busy machine would count as work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..data import Array

EXACT, STOCHASTIC = "unmask, exact", "unmask, stochastic"
GIVEN = "unmask, stochastic, 3 dimensions given 2 features"
ISOMAP = "unmask, Isomap with 100 landmarks"
PAIRS = 100  # of each object, for PyMDE


@dataclass(frozen=True)
class Contender:
    """A name, what draws a map, the module it needs, and how many objects to draw first, not timed, to compile all."""

    name: str
    draw: Callable[[Any, Array, Array], Array | float | None]
    module: str = "unmask"
    warm_up: tuple[int, ...] = (400,)


def _exact(unmask: Any, X: Array, _: Array) -> Any:
    return unmask.ConditionalMDS(2, solver="lbfgs", n_init=1, n_jobs=1, random_state=0).fit_transform(X)


def _stochastic(unmask: Any, X: Array, _: Array) -> Any:
    return unmask.ConditionalMDS(2, solver="stochastic", n_jobs=1, random_state=0).fit_transform(X)


def _given(unmask: Any, X: Array, known: Array) -> Any:
    mds = unmask.ConditionalMDS(3, solver="stochastic", n_jobs=1, random_state=0).fit(X, known=known)
    return mds.stress_


def _isomap(unmask: Any, X: Array, _: Array) -> None:
    unmask.ConditionalIsomap(2, n_landmarks=100, n_init=1, n_jobs=1, random_state=0).fit(X)


def _sklearn(manifold: Any, X: Array, _: Array) -> Any:
    return manifold.MDS(2, n_init=1, init="classical_mds", random_state=0, normalized_stress=False).fit_transform(X)


def _pymde(pymde: Any, X: Array, most: int) -> Any:
    """Draw by its recipe for distances, with the stress for its loss, from at most so many pairs."""
    import torch

    torch.manual_seed(0)
    centred = pymde.Centered()
    mde = pymde.preserve_distances(
        torch.tensor(X), embedding_dim=2, loss=pymde.losses.Quadratic, constraint=centred, max_distances=most
    )
    return mde.embed().numpy()


def _pymde_all(pymde: Any, X: Array, _: Array) -> Any:
    return _pymde(pymde, X, 50_000_000)  # its default


def _pymde_some(pymde: Any, X: Array, _: Array) -> Any:
    return _pymde(pymde, X, PAIRS * len(X))


def _umap(umap: Any, X: Array, _: Array) -> None:
    umap.UMAP(n_jobs=1, random_state=0).fit(X)


def _opentsne(opentsne: Any, X: Array, _: Array) -> None:
    opentsne.TSNE(n_jobs=1, random_state=0).fit(X)


CONTENDERS = {
    one.name: one
    for one in (
        # Up to 3,000 objects the stochastic solver is the exact one, up to 4,096 UMAP compares all pairs, and from
        # 20,000 on Isomap looks for neighbours in another way.
        Contender(STOCHASTIC, _stochastic, warm_up=(4000,)),
        Contender(EXACT, _exact),
        Contender(GIVEN, _given, warm_up=(4000,)),
        Contender(ISOMAP, _isomap, warm_up=(400, 20_000)),
        Contender("scikit-learn MDS", _sklearn, "sklearn.manifold"),
        Contender("PyMDE, at most 50 million pairs", _pymde_all, "pymde"),
        Contender(f"PyMDE, {PAIRS} pairs an object", _pymde_some, "pymde"),
        Contender("umap-learn", _umap, "umap", (400, 4500)),
        Contender("openTSNE", _opentsne, "openTSNE"),
    )
}
