"""Multidimensional scaling with any of many costs, given what is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._typing import Array
from ..checking import Dissimilarities, require_range
from ..engines import CostEngine, Engine, TableEngine
from ..kernels import Cost, Form, Pairs, Weighting, Workers
from ..problem import KnownFeatures, Problem, build_pairs, check_dimension, check_known, make_cost
from ..progress import Callback
from ..solvers import (
    Objective,
    Stage,
    canonical_map,
    make_objective,
    ordered_axes,
    ordering_turn,
    principal_axes,
    principal_turn,
)
from ._adjustment import Decision
from ._searching import SearchingMap

# A first step along the gradient is this share of the coordinates' size; a longer one is halved.
FIRST_STEP = 0.05
# How a map is written down once: all turns, shifts and reflections that leave the cost as it is are used up.
CANONICAL: dict[Form, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    Form.SQUARED: (canonical_map, principal_turn),
    Form.INNER: (principal_axes, principal_turn),
    Form.COLUMNS: (ordered_axes, ordering_turn),
}


@dataclass(eq=False, repr=False, kw_only=True)
class CostMap(SearchingMap):
    """Base of the estimators that minimise a cost other than the stress."""

    _QUANTITY = "cost"
    _PRINTED = "cost"

    def _make_cost(self, checked: Dissimilarities, pairs: Pairs, workers: Workers) -> Cost:
        """Return what is minimised."""
        raise NotImplementedError

    def _check_known(self, known: Any, checked: Dissimilarities, cost: Cost) -> KnownFeatures:
        return check_known(known, checked.n, checked.labels, self.coef, types=self.known_types)

    def _make_problem(
        self, checked: Dissimilarities, known: Any, weights: Any, p: int, workers: Workers
    ) -> tuple[Problem, Engine]:
        pairs = self._pairs(checked, weights, workers)
        cost = self._make_cost(checked, pairs, workers)
        coded = self._check_known(known, checked, cost)
        coded.require_no_error(type(self).__name__)
        check_dimension(p, checked.n, coded)
        problem = Problem(pairs, coded, p, orthogonal=bool(self.orthogonal))
        return problem, CostEngine(TableEngine(pairs, workers), cost, workers)

    @property
    def _needs_square(self) -> tuple[str, str] | None:
        return type(self).__name__, "use ConditionalMDS"

    def _pairs(self, checked: Dissimilarities, weights: Any, workers: Workers) -> Pairs:
        if weights is not None and sparse.issparse(weights):
            raise ValueError("weights is a sparse matrix, which GeneralMDS does not take; pass weights.toarray().")
        require_range(checked.largest, 1e-150, 1e150)
        pairs = build_pairs(checked, None, weights, workers)
        assert isinstance(pairs, Pairs)
        return pairs

    def _stress_of(self, objective: Objective) -> Objective:
        # The closed form and the size of a random start go by the dissimilarities, whatever the cost is.
        return Objective(engine_of(objective).base, objective.structure)

    def _calibrated(self, problem: Problem, objective: Objective, theta: Array) -> Objective:
        point = objective(theta)
        if not np.isfinite(point.value):
            raise FloatingPointError(
                f"the cost at the start is {point.value}; dissimilarities or weights span too many orders of magnitude."
            )
        slope = float(np.linalg.norm(point.gradient))
        unit = FIRST_STEP * float(np.linalg.norm(point.theta)) / slope if slope > 0 else 1.0
        total = max(abs(point.value), np.finfo(float).tiny)
        engine = engine_of(objective)
        return make_objective(problem, CostEngine(engine.base, engine.cost, engine.workers, unit, unit * total))

    def _unit(self, objective: Objective) -> float:
        engine = engine_of(objective)
        return engine.total / engine.unit

    def _canonical(self, problem: Problem, objective: Objective) -> Callable[[Array], Array]:
        return CANONICAL[engine_of(objective).cost.form][0]

    def _report_fit(
        self, stage: Stage, problem: Problem, checked: Dissimilarities, decision: Decision, workers: Workers
    ) -> None:
        import pandas as pd

        structure, theta, engine = stage.objective.structure, stage.solution.theta, engine_of(stage.objective)
        Z = structure.lift(theta)
        self._labels, self._scale, self._fitted = checked.labels, engine.scale, Z / engine.scale
        self._fitted_distance = "cityblock" if engine.cost.form == Form.COLUMNS else "euclidean"
        canonical, turn_of = CANONICAL[engine.cost.form]
        self._report_map(
            canonical(structure.unknown(theta)),
            structure.gram(theta),
            known=problem.known,
            checked=checked,
            decision=decision,
            moved=structure.moved(theta),
            turn_of=turn_of,
        )
        self.cost_per_point_ = pd.Series(engine.point_stress(Z) / 2, index=checked.labels, name="cost")
        self.cost_ = float(self.cost_per_point_.sum())
        self.shown_cost_ = self._of_shown(engine, Z, 2.0, self.cost_)


@dataclass(eq=False, repr=False, kw_only=True)
class GeneralMDS(CostMap):
    """Multidimensional scaling by three functions of your choice, given what is already known.

    Coordinates ``U`` for what is unknown and coefficients ``B`` for the known features ``V`` minimise ::

        sum over i<j of  w_ij loss(distance(z_i, z_j), target_ij),    z_i = (u_i, B'v_i).

    Metric MDS is the default; ``target="inner", distance="inner"`` is classical scaling, ``loss="sammon"`` Sammon's
    mapping, ``loss="huber"`` or ``"absolute"`` robust MDS, and ``target="neighbours", distance="student",
    loss="kullback-leibler"`` exact t-SNE (see :class:`ConditionalTSNE`, which also starts as t-SNE does). For the
    squared loss of Euclidean distances :class:`ConditionalMDS` is faster and does more.

    Time of a pass and memory grow with N squared. The functions are compiled, which takes some tenths of a second for
    each new combination in a session.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map; 0 fits the coefficients alone.
    target : {"dissimilarity", "squared", "inner", "neighbours"}, Neighbours or callable, default="dissimilarity"
        What is to be matched: the dissimilarities, their squares, the inner products they imply, how likely two objects
        are to be neighbours (``Neighbours(perplexity)``), or what a function makes of the square array of
        dissimilarities.
    distance : {"euclidean", "squared", "cityblock", "inner", "student"} or Distance, default="euclidean"
        What matches it. ``"cityblock"`` is smoothed where coordinates are equal, and needs numeric known features, each
        of which acts by a number of its own. ``"student"`` is the share of ``1 / (1 + d^2)`` among all pairs. In the
        cost of ``"inner"`` an object with itself counts half a pair.
    loss : {"squared", "absolute", "huber", "sammon", "logarithmic", "kullback-leibler"} or Loss, default="squared"
        What a mismatch costs. ``"absolute"`` is smoothed near zero.
    distance_parameter, loss_parameter : float, optional
        Where the city-block distance is smoothed, in the units of the map; where Huber's loss turns straight, below
        what the absolute one is smoothed, the least target of Sammon's and the least fitted value of the logarithmic
        one, in the units of the target. By default a hundredth, a tenth and a hundredth of the median, the least
        positive target, and a millionth of the median. What the others have no use for is refused.
    metric, metric_params, coef, known_types, orthogonal, adjust
        As in :class:`ConditionalMDS`.
    init : {"auto", "closed-form", "random"}, tuple (U0, B0), str or path, default="auto"
        Where to start; a file of an :class:`unmask.Checkpoint` continues that fit.
    n_init : "auto" or int, default="auto"
        Number of starts; ``"auto"`` makes as many as :class:`ConditionalMDS`: 128 for a dozen objects, and fewer the
        more there are.
    max_iter : int, default=1000
        Most iterations from each start.
    tol : float, default=1e-8
        Stop when the cost falls by less than this share of what it was at the first start, three times in a row.
    n_jobs, random_state, verbose
        As in :class:`ConditionalMDS`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map, in its principal axes; with ``"cityblock"`` only the order and the signs of the axes are fixed.
    cost_ : float
        The cost, in the units of target and loss.
    cost_per_point_ : Series
        Each object's share: half of each pair it is in.
    cost_path_ : ndarray
        The cost at the best start and after each iteration.
    starts_ : DataFrame
        Every start and where it led.
    adjusted_, free_embedding_, adjusted_embedding_, n_free_, coef_, shared_coef_, importance_, leak_, \
leak_reference_, free_leak_, knn_leak_, n_iter_, converged_, stop_reason_, known_summary_, known_redundant_, \
level_positions_, known_imputed_, object_names_
        As in :class:`ConditionalMDS`.

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

    __metadata_request__fit = {"weights": True}

    target: Any = "dissimilarity"
    distance: Any = "euclidean"
    loss: Any = "squared"
    distance_parameter: float | None = None
    loss_parameter: float | None = None
    tol: float = 1e-8

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        known: Any = None,
        weights: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn the map and the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), or (n_objects, n_features)
            Dissimilarities (``metric="precomputed"``, in any form that :class:`ConditionalMDS` takes; NaN where
            missing, if the target allows), or features.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), optional
            Known features, one row per object.
        weights : array-like of shape (n_objects, n_objects), optional
            Weights of the pairs; 0 leaves a pair out.
        callback : callable or list of callables, optional
            Hears how far the fit is, as an :class:`unmask.Progress`, after every iteration; returns True to stop it.

        Returns
        -------
        self : GeneralMDS
        """
        self._search_and_report(X, y, known, weights, callback)
        return self

    def _make_cost(self, checked: Dissimilarities, pairs: Pairs, workers: Workers) -> Cost:
        weights = pairs.W.astype(np.float64) if pairs.weighting == Weighting.ARRAY else None
        return make_cost(
            checked,
            weights,
            self.target,
            self.distance,
            self.loss,
            workers,
            distance_parameter=self.distance_parameter,
            loss_parameter=self.loss_parameter,
        )

    def _check_known(self, known: Any, checked: Dissimilarities, cost: Cost) -> KnownFeatures:
        if cost.form != Form.COLUMNS:
            return super()._check_known(known, checked, cost)
        if self.coef not in ("auto", "diagonal"):
            raise ValueError(
                f"coef={self.coef!r} with distance={self.distance!r}: a sum over axes has no way to let features act "
                "together; use coef='diagonal'."
            )
        coded = check_known(known, checked.n, checked.labels, "diagonal", types=self.known_types)
        other = [feature for feature in coded.features if not feature.coding.is_number]
        if other:
            raise ValueError(
                f"known: {other[0].name!r} is {other[0].coding.kind}, and distance={self.distance!r} takes numeric "
                "features only; use distance='euclidean'."
            )
        return coded


def engine_of(objective: Objective) -> CostEngine:
    """Return the engine of an objective that was made here."""
    assert isinstance(objective.engine, CostEngine)
    return objective.engine
