"""Multidimensional scaling with any of many costs, given what is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..checking import require_range
from ..engines import CostEngine, TableEngine
from ..kernels import Form, Weighting
from ..problem import Problem, build_pairs, check_dimension, check_known, make_cost
from ._base import ConditionalMap
from ._fit import Method, of_search
from ._fitted_map import FittedMap
from ._reading import Data, Inputs, Needs, read
from ._search import Search, Task, search


def read_cost(estimator: GeneralMDS, inputs: Inputs) -> tuple[Data, Problem, Any, Form]:
    """Return the data, the problem of a cost of three functions, its engine, and the form of the cost."""
    name, weights, workers = type(estimator).__name__, inputs.weights, inputs.workers
    data = read(estimator, inputs, Needs((name, "use ConditionalMDS")))
    checked = data.dissimilarities
    if sparse.issparse(weights):
        raise ValueError(f"weights is a sparse matrix, which {name} does not take; pass weights.toarray().")
    require_range(checked.largest, 1e-150, 1e150)
    pairs: Any = build_pairs(checked, None, weights, workers)
    cost = make_cost(
        checked,
        pairs.W.astype(np.float64) if pairs.weighting == Weighting.ARRAY else None,
        estimator.target,
        estimator.distance,
        estimator.loss,
        workers,
        distance_parameter=estimator.distance_parameter,
        loss_parameter=estimator.loss_parameter,
    )
    coef = estimator.coef
    if cost.form == Form.COLUMNS:
        if coef not in ("auto", "diagonal"):
            raise ValueError(
                f"coef={coef!r} with distance={estimator.distance!r}: a sum over axes has no way to let features act "
                "together; use coef='diagonal'."
            )
        coef = "diagonal"
    coded = check_known(data.known, checked.n, checked.labels, coef, types=estimator.known_types)
    for feature in coded.features if cost.form == Form.COLUMNS else ():
        if not feature.coding.is_number:
            raise ValueError(
                f"known: {feature.name!r} is {feature.coding.kind}, and distance={estimator.distance!r} takes numeric "
                "features only; use distance='euclidean'."
            )
    coded.require_no_error(name)
    check_dimension(inputs.p, checked.n, coded)
    problem = Problem(pairs, coded, inputs.p, orthogonal=bool(estimator.orthogonal))
    return data, problem, CostEngine(TableEngine(pairs, workers), cost, workers), cost.form


def describe_cost(fitted: FittedMap, task: Task, found: Search) -> tuple[FittedMap, dict[str, Any]]:  # noqa: ARG001
    """Return the map, and the cost and its parts by the names of the attributes."""
    import pandas as pd

    points = pd.Series(found.engine.point_stress(fitted.Z) / 2, index=fitted.labels, name="cost")
    cost = float(points.sum())
    shown = fitted.shown_total(found.engine, 2 * cost) / 2
    attributes = {"cost_": cost, "shown_cost_": shown, "cost_per_point_": points, **of_search(found, "cost")}
    return replace(fitted, widths=None), attributes


@dataclass(eq=False, repr=False, kw_only=True)
class GeneralMDS(ConditionalMap):
    """Multidimensional scaling by three functions of your choice, given what is already known.

    Coordinates ``U`` for what is unknown and coefficients ``B`` for the known features ``V`` minimise ::

        sum over i<j of  w_ij loss(distance(z_i, z_j), target_ij),    z_i = (u_i, B'v_i).

    Metric MDS is the default. ``target="inner", distance="inner"`` is classical scaling, ``loss="sammon"`` Sammon's
    mapping, ``loss="huber"`` or ``"absolute"`` robust MDS, and ``target="neighbours", distance="student",
    loss="kullback-leibler"`` exact t-SNE (:class:`ConditionalTSNE` takes many objects). For the squared loss of
    Euclidean distances :class:`ConditionalMDS` is faster and does more.

    Time of a pass and memory grow with N squared; each new combination of functions is compiled once a session.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map; 0 fits the coefficients alone.
    target : {"dissimilarity", "squared", "inner", "neighbours"}, Neighbours or callable, default="dissimilarity"
        What is to be matched: the dissimilarities, their squares, the inner products they imply, how likely two objects
        are neighbours (``Neighbours(perplexity)``), or a function of the square array of dissimilarities.
    distance : {"euclidean", "squared", "cityblock", "inner", "student"} or Distance, default="euclidean"
        What matches it. ``"cityblock"`` is smoothed where coordinates are equal, and takes numeric known features only,
        each with a coefficient of its own. ``"student"`` is the share of ``1 / (1 + d^2)`` among all pairs.
    loss : {"squared", "absolute", "huber", "sammon", "logarithmic", "kullback-leibler"} or Loss, default="squared"
        The cost of a mismatch. ``"absolute"`` is smoothed near zero.
    distance_parameter, loss_parameter : float, optional
        Where the city-block distance is smoothed, in the units of the map; where Huber's loss turns straight, below
        what the absolute one is smoothed, the least target of Sammon's and the least fitted value of the logarithmic
        one, in the units of the target. By default shares of the median.
    metric, metric_params, coef, known_types, orthogonal, adjust, init, n_init, n_jobs, random_state, verbose
        As in :class:`ConditionalMDS`.
    max_iter : int, default=1000
        Most iterations from each start.
    tol : float, default=1e-8
        Stop when the cost falls by less than this share of what it was at the first start, three times in a row.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map, in its principal axes; with ``"cityblock"`` only the order and the signs of the axes are fixed.
    cost_, shown_cost_, cost_per_point_, cost_path_
        The cost in the units of target and loss; and as ``stress_`` and so on of :class:`ConditionalMDS`.
    starts_
        And all other attributes of :class:`ConditionalMDS` that are not about the stress.

    References
    ----------
    A. T. Bui, "Dimension reduction with prior information for knowledge discovery", IEEE TPAMI, 2024, for the
    conditional form.

    Examples
    --------
    >>> from unmask import GeneralMDS
    >>> from unmask.datasets import load_kinship
    >>> kin = load_kinship()
    >>> robust = GeneralMDS(metric="precomputed", loss="huber", random_state=0)
    >>> robust.fit_transform(kin.dissimilarities, known=kin.known[["gender"]]).shape
    (14, 2)
    """

    __metadata_request__fit = {"weights": True, "callback": True}
    _method = Method(read_cost, search, describe_cost)

    orthogonal: bool = False
    target: Any = "dissimilarity"
    distance: Any = "euclidean"
    loss: Any = "squared"
    distance_parameter: float | None = None
    loss_parameter: float | None = None
    init: Any = "auto"
    n_init: Any = "auto"
    max_iter: int = 1000
    tol: float = 1e-8
    random_state: Any = None
    verbose: int = 0
