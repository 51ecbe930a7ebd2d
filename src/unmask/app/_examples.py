"""Studies that a newcomer can begin with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..discovery import Discovery


@dataclass(frozen=True)
class Example:
    """A data set: its name, what it is, how many objects it has, and how a study of it begins."""

    name: str
    text: str
    objects: int
    begin: Callable[[], Discovery]


def _kinship() -> Discovery:
    from ..datasets import load_kinship

    return Discovery(load_kinship().dissimilarities, title="Kinship terms")


def _wine() -> Discovery:
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True).data
    return Discovery(wine, table=wine, metric="seuclidean", title="Wine")


def _cars() -> Discovery:
    from ..datasets import make_car_brands

    cars = make_car_brands(random_state=0)
    return Discovery(cars.dissimilarities, table=cars.features, title="Car brands")


def _faces() -> Discovery:
    from ..datasets import make_drawn_faces

    faces = make_drawn_faces(random_state=0)
    return Discovery(faces.dissimilarities, pictures=faces.pictures, title="Twenty faces")


EXAMPLES = {
    example.name: example
    for example in (
        Example("kinship", "Fourteen kinship terms, as people sorted them: what did they go by?", 14, _kinship),
        Example("wine", "Wines by thirteen measurements: which cultivars are there, and what else?", 178, _wine),
        Example("faces", "Twenty drawn faces, by how unlike they look: what makes the difference?", 20, _faces),
        Example("cars", "Simulated judgements of car brands that differ in several ways.", 30, _cars),
    )
}


def example_maps(talk: Any) -> dict[str, Any]:
    """Return the first map of each example in closed form, which takes a moment: one row per object."""
    maps = {}
    for example in EXAMPLES.values():
        if talk.is_to_stop:  # for something that somebody waits for; it begins again
            break
        study = example.begin()
        study.fit(2, estimator="classical")
        maps[example.name] = np.asarray(study.embedding, dtype=np.float32)
    return maps
