"""t-SNE that leaves out what is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from .._typing import Array
from ..engines import CostEngine
from ..kernels import Cost, Pairs, Workers
from ..problem import KnownSpace, Neighbours, make_cost
from ..progress import Callback
from ..solvers import Objective, SearchSettings, Start, run_stage
from ._adjustment import Decision
from ._base import ConditionalMap
from ._fitted_map import FittedMap
from ._fitting import Data, Search, Task
from ._least_cost import LeastCost, engine_of

MOST_OBJECTS = 5000
# Student's kernel has its own unit, 1; a map that starts below it is free to arrange itself.
START_SIZE = 0.1
# Of the exaggeration that would draw all objects into one place, half led to divergences within 5% of the best of 18
# settings on twelve problems, 0.5% above it on average; without it some were 27% above, with three quarters 9%.
SHARE_OF_COLLAPSE, MOST_EXAGGERATION = 0.5, 12.0
# The powers of the exaggeration that are used one after the other. From the full one straight to none, some maps fly
# apart, and the divergence is up to 5% higher.
STEPS_DOWN = (1.0, 2 / 3, 1 / 3)
DENSE_BELOW = 500  # objects; from here on eigenvalues are found by iteration


@dataclass(frozen=True)
class NeighbourCost(LeastCost):
    """The Kullback-Leibler divergence of t-SNE, from small starts, with early exaggeration."""

    most_starts, complete = 1, "t-SNE"

    def make_cost(self, data: Data, pairs: Pairs, workers: Workers) -> Cost:
        n = data.dissimilarities.n
        if n > MOST_OBJECTS:
            raise ValueError(
                f"X holds {n} objects and ConditionalTSNE computes every pair in every iteration, for at most "
                f"{MOST_OBJECTS}; map a sample, or use ConditionalMDS or ConditionalIsomap."
            )
        neighbours = Neighbours(float(self.estimator.perplexity))
        return make_cost(data.dissimilarities, None, neighbours, "student", "kullback-leibler", workers)

    def starts(self, objective: Objective, task: Task) -> list[Start]:
        starts = super().starts(objective, task)
        return starts if task.saved.init == "given" else [_made_small(objective, start) for start in starts]

    def prepared(
        self, objective: Objective, starts: list[Start], settings: SearchSettings
    ) -> tuple[list[Start], dict[str, Any]]:
        """Follow the starts for a while with the attraction exaggerated, less and less."""
        factor = self._exaggeration(objective)
        if factor <= 1.0:
            return starts, {"early_exaggeration_": factor}
        early, gathered = replace(settings, max_iter=int(self.estimator.early_iter)), []
        steps = [_exaggerated(objective, factor**power) for power in STEPS_DOWN]
        for start in starts:
            theta = start.theta
            for step in [] if start.saved else steps:
                theta = run_stage("exaggeration", step, theta, early).solution.theta
            gathered.append(start._replace(theta=theta))
        return gathered, {"early_exaggeration_": factor}

    def _exaggeration(self, objective: Objective) -> float:
        structure, asked = objective.structure, self.estimator.early_exaggeration
        if self.estimator.early_iter == 0 or structure.p == 0 or asked == 1.0:
            return 1.0
        collapse = collapse_at(engine_of(objective).cost.targets, structure.space, structure.p)
        if isinstance(asked, str):
            return max(1.0, min(SHARE_OF_COLLAPSE * collapse, MOST_EXAGGERATION))
        if asked >= collapse:
            raise ValueError(
                f"early_exaggeration={asked!r} would draw all objects into one place, as does every one from "
                f"{collapse:.3g} on; use less, or 'auto'."
            )
        return float(asked)

    def describe(self, search: Search, task: Task, decision: Decision) -> tuple[FittedMap, dict[str, Any]]:
        fitted, attributes = super().describe(search, task, decision)
        return fitted, {**attributes, "kl_divergence_": attributes["cost_"]}


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalTSNE(ConditionalMap):
    """t-SNE given what is already known: the known features need no room on the map.

    The similarities of low dimension, Student's kernel as a share of all pairs, are taken in ``[U, VB]``; coordinates
    ``U`` and coefficients ``B`` are learned together. What the known features explain of the neighbourhoods is
    explained by ``VB``, and ``U`` shows the rest. Without known features this is exact t-SNE.

    The gradient is exact, every pair is computed in every iteration: at most 5000 objects are taken. Fast
    approximations of t-SNE work in the two or three dimensions of the map itself and have no place for ``VB``.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    perplexity : float, default=30.0
        About how many neighbours an object has.
    early_exaggeration : "auto" or float, default="auto"
        By how much the attraction of neighbours is multiplied at first, so that they find each other; it falls to 1 in
        three steps. ``"auto"`` is half of what would draw all objects into one place, at most 12; 1 leaves this out.
    early_iter : int, default=100
        Most iterations of each step.
    metric, metric_params, known_types
        As in :class:`ConditionalMDS`.
    coef : {"auto", "full", "diagonal", "grouped"} or list of lists, default="diagonal"
        Structure of the coefficients, as in :class:`ConditionalMDS`. By default each feature acts by one number, and
        the levels of a nominal one are equally far from each other: with more coefficients the divergence is lower,
        and the map repeats more of what is known.
    orthogonal : bool, default=True
        Keep the map uncorrelated with the known features. Other than with the stress, room on the map costs t-SNE
        nothing, and without this it would repeat what is known.
    adjust
        Whether the map is shown adjusted for what is known, as in :class:`ConditionalMDS`; with ``orthogonal=False``.
    init : {"auto", "closed-form", "random"}, tuple (U0, B0), str or path, default="auto"
        Where to start: the closed form (with nothing known, principal components), made small; or random coordinates;
        or those given, which stay as they are; or a file of an :class:`unmask.Checkpoint`, which is continued.
    n_init : "auto" or int, default="auto"
        Number of starts, one by default.
    max_iter : int, default=1000
        Most iterations after these steps.
    tol : float, default=2e-6
        Stop when the divergence falls by less than this share of what it was at the start, three times in a row.
    n_jobs, random_state, verbose
        As in :class:`ConditionalMDS`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map.
    cost_, kl_divergence_ : float
        The Kullback-Leibler divergence.
    early_exaggeration_ : float
        What the attraction of neighbours was multiplied by at first.
    adjusted_, free_embedding_, adjusted_embedding_, n_free_, coef_, shared_coef_, importance_, leak_, \
leak_reference_, free_leak_, knn_leak_, cost_per_point_, cost_path_, starts_, n_iter_, converged_, stop_reason_, \
object_names_
        As in :class:`GeneralMDS`.

    References
    ----------
    L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine Learning Research 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask import ConditionalTSNE
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0, 1], 30)
    >>> X = np.column_stack([8 * group, rng.normal(size=60), rng.normal(size=60)])
    >>> tsne = ConditionalTSNE(perplexity=8, random_state=0).fit(X, known=group[:, None])
    >>> bool(tsne.leak_ < 0.5)  # the map does not repeat the groups
    True
    """

    __metadata_request__fit = {"callback": True}
    _takes_missing = False
    _method = NeighbourCost

    perplexity: float = 30.0
    early_exaggeration: Any = "auto"
    early_iter: int = 100
    coef: Any = "diagonal"
    orthogonal: bool = True
    init: Any = "auto"
    n_init: Any = "auto"
    max_iter: int = 1000
    tol: float = 2e-6
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        known: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn the map and the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), or (n_objects, n_features)
            Dissimilarities (``metric="precomputed"``), none missing, or features.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), optional
            Known features, one row per object.
        callback : callable or list of callables, optional
            Called with an :class:`unmask.Progress` after every iteration; returning True stops the fit.

        Returns
        -------
        self : ConditionalTSNE
        """
        return self._fit(X, y, known, None, callback)


def _made_small(objective: Objective, start: Start) -> Start:
    Z = objective.structure.lift(start.theta) / objective.engine.scale
    return start._replace(theta=start.theta * (START_SIZE / max(float(Z.std(axis=0).max()), 1e-300)))


def collapse_at(targets: Array, space: KnownSpace | None, p: int) -> float:
    """Return the exaggeration from which on not all p axes of a map can grow out of one place.

    Near it Student's kernel is 1 - d^2, and the exaggerated divergence is, but for a constant, the sum over pairs of
    ``(exaggeration target - 1 / number of pairs) d^2``. An axis u of length 1 grows if this is negative: if the
    exaggeration times ``u'Lu``, L the Laplacian of the targets, is less than 2 / (n - 1).
    """
    n = len(targets)
    held = np.full((n, 1), n**-0.5)  # no axis is constant, and none is along what it must be uncorrelated with
    if space is not None:
        held = np.column_stack([held, space.Q])
    degrees = targets.sum(axis=0)[:, None]
    above_all = 2.0 * float(degrees.max())

    def apply(x: Array) -> Array:
        x = x.reshape(n, -1)
        along = held @ (held.T @ x)
        pulled = degrees * (x - along) - targets @ (x - along)
        return np.asarray(pulled - held @ (held.T @ pulled) + above_all * along)

    if n < DENSE_BELOW:
        values = np.linalg.eigvalsh(apply(np.eye(n)))[:p]
    else:
        start = np.random.default_rng(0).standard_normal(n)
        operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
        values = eigsh(operator, k=p, which="SA", tol=1e-2, v0=start, return_eigenvectors=False)
    return 2.0 / ((n - 1) * max(float(np.max(values)), 1e-300))


def _exaggerated(objective: Objective, factor: float) -> Objective:
    """Return the same objective with the attraction of neighbours multiplied, but not the repulsion of all.

    The divergence is ``sum of p log p - sum of p log k + log K`` for kernels k with the sum K: neighbours attract by
    the second term, and all repel by the third. Multiplying p alone would multiply both, since the p sum to 1.
    """
    engine = engine_of(objective)
    cost = replace(engine.cost, targets=factor * engine.cost.targets, gathering=factor - 1.0)
    return Objective(CostEngine(engine.base, cost, engine.workers, engine.unit, engine.total), objective.structure)
