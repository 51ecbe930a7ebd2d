"""Names of metrics, and the families they belong to. A new metric is a new entry here."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from ._aitchison import Aitchison, RobustAitchison
from ._dtw import DynamicTimeWarping
from ._family import Family
from ._gower import Gower
from ._named import (
    ALIASES,
    SCIPY,
    Function,
    Haversine,
    JensenShannon,
    Mahalanobis,
    Named,
    NanEuclidean,
    StandardizedEuclidean,
)
from ._wasserstein import Wasserstein, WassersteinHistogram

FAMILIES: dict[str, Callable[[str, dict[str, Any]], Family]] = {
    **dict.fromkeys((*SCIPY, *ALIASES), Named),
    "mahalanobis": Mahalanobis,
    "seuclidean": StandardizedEuclidean,
    "haversine": Haversine,
    "jensenshannon": JensenShannon,
    "nan_euclidean": NanEuclidean,
    "aitchison": Aitchison,
    "robust_aitchison": RobustAitchison,
    "dtw": DynamicTimeWarping,
    "gower": Gower,
    "wasserstein": Wasserstein,
    "wasserstein_histogram": WassersteinHistogram,
}
NAMES = tuple(sorted(FAMILIES))


def make_family(metric: Any, metric_params: Any) -> Family:
    """Return a family that has learnt nothing yet, for a metric given by name or as a function."""
    if metric_params is not None and not isinstance(metric_params, dict):
        raise ValueError(f"metric_params={metric_params!r} must be a dict, for example {{'p': 3}}, or None.")
    params = metric_params or {}
    if callable(metric):
        return Function(metric, params)
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(
            "metric='precomputed' leaves nothing to compute: X holds dissimilarities already; pass it to an estimator "
            "such as ConditionalMDS(metric='precomputed')."
        )
    if not isinstance(metric, str) or metric not in FAMILIES:
        raise ValueError(f"metric={metric!r} is not known; {_suggestion(metric)}")
    return FAMILIES[metric](metric, params)


def _suggestion(metric: Any) -> str:
    plain = "".join(letter for letter in str(metric).lower() if letter.isalnum() or letter == "_")
    if plain in ("geodesic", "isomap"):
        return "shortest paths among neighbours are made by a transformer, metric=Geodesic() of unmask.dissimilarities."
    near = get_close_matches(plain, [*NAMES, "precomputed"], n=3) if isinstance(metric, str) else ()
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"give one of {', '.join(NAMES)}, or a function of two rows."
