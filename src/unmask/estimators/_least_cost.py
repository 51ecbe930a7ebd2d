"""Costs other than the stress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .._typing import Array
from ..checking import require_range
from ..engines import CostEngine, Engine, TableEngine
from ..kernels import Cost, Form, Pairs, Workers
from ..problem import KnownFeatures, Problem, build_pairs, check_dimension, check_known
from ..solvers import (
    Objective,
    canonical_map,
    make_objective,
    ordered_axes,
    ordering_turn,
    principal_axes,
    principal_turn,
)
from ._adjustment import Decision
from ._fitted_map import FittedMap
from ._fitting import Data, Method, Needs, Search, Task, map_of
from ._fitting import Form as CanonicalForm

# A first step along the gradient is this share of the coordinates' size; a longer one is halved.
FIRST_STEP = 0.05
# The canonical form of a map: all turns, shifts and reflections that leave the cost as it is are used up.
CANONICAL: dict[Form, tuple[CanonicalForm, CanonicalForm]] = {
    Form.SQUARED: (canonical_map, principal_turn),
    Form.INNER: (principal_axes, principal_turn),
    Form.COLUMNS: (ordered_axes, ordering_turn),
}


@dataclass(frozen=True)
class LeastCost(Method):
    """Minimises a cost other than the stress."""

    quantity = printed = "cost"
    complete: ClassVar[str | None] = None  # what needs all dissimilarities

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        return Needs((type(self.estimator).__name__, "use ConditionalMDS"), complete=self.complete)

    def make_cost(self, data: Data, pairs: Pairs, workers: Workers) -> Cost:
        """Return the cost of the pairs."""
        raise NotImplementedError

    def check_known(self, data: Data, cost: Cost) -> KnownFeatures:
        """Return the known features as coded columns."""
        checked, options = data.dissimilarities, self.estimator
        return check_known(data.known, checked.n, checked.labels, options.coef, types=options.known_types)

    def make_problem(self, data: Data, p: int, seed: int, workers: Workers) -> tuple[Problem, Engine]:
        checked, name = data.dissimilarities, type(self.estimator).__name__
        if sparse.issparse(data.weights):
            raise ValueError(f"weights is a sparse matrix, which {name} does not take; pass weights.toarray().")
        require_range(checked.largest, 1e-150, 1e150)
        pairs: Any = build_pairs(checked, None, data.weights, workers)
        cost = self.make_cost(data, pairs, workers)
        known = self.check_known(data, cost)
        known.require_no_error(name)
        check_dimension(p, checked.n, known)
        problem = Problem(pairs, known, p, orthogonal=bool(self.estimator.orthogonal))
        return problem, CostEngine(TableEngine(pairs, workers), cost, workers)

    def start_objective(self, objective: Objective) -> Objective:
        # The closed form and the size of a random start go by the dissimilarities, whatever the cost is.
        return Objective(engine_of(objective).base, objective.structure)

    def calibrated(self, problem: Problem, objective: Objective, theta: Array) -> Objective:
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

    def unit(self, objective: Objective) -> float:
        engine = engine_of(objective)
        return float(engine.total / engine.unit)

    def forms(self, objective: Objective) -> tuple[CanonicalForm, CanonicalForm]:
        return CANONICAL[engine_of(objective).cost.form]

    def describe(self, search: Search, task: Task, decision: Decision) -> tuple[FittedMap, dict[str, Any]]:
        import pandas as pd

        engine = engine_of(search.stage.objective)
        distance = "cityblock" if engine.cost.form == Form.COLUMNS else "euclidean"
        fitted = map_of(self, search, task, decision, distance=distance)
        points = pd.Series(engine.point_stress(fitted.Z) / 2, index=fitted.labels, name="cost")
        cost = float(points.sum())
        return fitted, {
            "cost_": cost,
            "shown_cost_": fitted.shown_total(engine, 2 * cost) / 2,
            "cost_per_point_": points,
        }


def engine_of(objective: Objective) -> Any:
    """Return the engine of an objective that was made here."""
    return objective.engine
