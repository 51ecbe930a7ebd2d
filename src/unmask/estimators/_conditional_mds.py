"""Conditional multidimensional scaling by majorisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._typing import Array, IntArray
from ..checking import (
    Dissimilarities,
    SmallNeighbourhoodWarning,
    quote,
    refuse_target,
    require_choice,
    require_flag,
    require_number,
    warn_user,
    with_labels,
)
from ..engines import Engine, LevelEngine, MemoryEngine, make_engine
from ..kernels import ArraySource, OneBlasThread, Pairs, Weighting, Workers, resolve_threads
from ..problem import (
    LEVELS,
    SCHEMES,
    TIES,
    Curve,
    Edges,
    KnownFeatures,
    Problem,
    build_pairs,
    check_dimension,
    check_known,
    check_room,
    ranked,
    warn_of_few_pairs,
)
from ..solvers import (
    RULES,
    Attempt,
    Curvilinear,
    Settings,
    Stage,
    best_of,
    curvilinear,
    make_objective,
    was_cut_short,
    within_errors,
)
from ._adjustment import Decision, FreeMap, fit_free_map
from ._base import PlacingMap, squared_distances
from ._searching import SearchingMap

SOLVERS = ("auto", *RULES)


class ConditionalMDS(SearchingMap, PlacingMap):
    """Map objects from their dissimilarities, given what is already known about them.

    Coordinates ``U`` for what is unknown and coefficients ``B`` for the known features ``V`` are found together, by
    minimising the conditional stress::

        sum over i<j of  w_ij (delta_ij - d_ij)^2,    d_ij^2 = |u_i - u_j|^2 + |B'(v_i - v_j)|^2,

    so that the map shows only what the known features do not. Without known features this is metric
    multidimensional scaling.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map; 0 fits the coefficients alone.
    metric : str or callable, default="euclidean"
        How to compute dissimilarities from features, as in :func:`sklearn.metrics.pairwise_distances`;
        ``"precomputed"`` if `X` holds dissimilarities.
    metric_params : dict, optional
        Further arguments of the metric.
    coef : {"auto", "full", "diagonal", "grouped"} or list of lists, default="auto"
        Structure of the coefficients. ``"auto"``: full if all known features are numeric, grouped otherwise.
        ``"full"``: numeric and nominal features act together, through a symmetric matrix. ``"diagonal"``: each by a
        number of its own, so that the levels of a nominal feature are equally far from each other. ``"grouped"``: one
        block per feature, where a feature is a column, or, in a DataFrame with two levels of columns, all columns below
        one name; the levels of a nominal feature have free places. A list of lists of columns spells the blocks out.
        Cyclic, ordinal and spline features always act by themselves, whatever `coef` says: a circle of one size, or a
        place on a line.
    known_types : dict, optional
        Types of known features, by column: ``"numeric"``, ``"nominal"``, ``"ordinal"``, or :class:`Numeric` (with
        bounds, or by its logarithm), :class:`Nominal`, :class:`Ordinal`, :class:`Cyclic` or :class:`Spline`. By
        default ordered categories are ordinal, other categories, text and booleans nominal, and numbers numeric.
    known_error : dict, optional
        Standard deviations of the errors with which numeric features were measured, by column, in their own units. The
        values then move, at a price: one standard deviation costs the mean squared residual of the fit in which they
        are exact. See ``known_corrected_``.
    weights : {None, "sammon", "curvilinear"}, default=None
        Scheme for the weights of pairs. ``"sammon"`` is ``1 / (delta_ij * sum of delta)``, which lets small
        dissimilarities count more (a dissimilarity of 0 counts as the smallest positive one). ``"curvilinear"`` is
        ``exp(-(d_ij / radius)^2)`` with the fitted distance ``d_ij``, followed while the radius shrinks: what is near
        on the map counts. An array of weights is data: pass it to :meth:`fit`.
    level : {"ratio", "interval", "ordinal", "spline"}, default="ratio"
        Measurement level of the dissimilarities. Other than ratio, they are replaced by disparities, the admissible
        transformation that comes nearest to the distances: ``a + b delta``, any increasing one, or a smooth increasing
        one. No disparity is negative (smacof's interval level permits it).
    ties : {"primary", "secondary"}, default="primary"
        At the ordinal level: whether equal dissimilarities may have different disparities, or must keep equal ones.
    on_disconnected : {"error", "components"}, default="error"
        What to do if no dissimilarity that counts connects some groups of objects: raise an error, or map each group on
        its own, with common coefficients. The groups are then put side by side, and distances between them mean
        nothing.
    leak_penalty : float, default=0.0
        Price on what the map repeats of the known features: this times the part of the map's sum of squares that they
        explain, in the units of the stress, is added to it. 0.1 is a good first try.
    orthogonal : bool, default=False
        Keep the map uncorrelated with the known features, at some cost of fit (`adjust` costs none); within
        each group, if the objects are mapped in groups.
    adjust : {False, True, "auto"}, default=False
        Show the map adjusted for what is known: what the known features predict of it is taken off. A known feature may
        act along the map's own directions, ``Z = [U + VA, VB]`` with ``V'U = 0``; distances and stress are those of the
        free map. ``"auto"`` adjusts if the leak is above chance, and says so; with a `leak_penalty`, which is another
        remedy, it does not. False is the published model.
    n_free : "auto" or int, default="auto"
        Dimensions of the free map before it is adjusted, of which the first `n_components` principal axes of what is
        left are shown. ``"auto"``: `n_components`, and if that map repeats what is known, one more for each direction
        that does, at most three.
    init : {"auto", "closed-form", "random"} or tuple (U0, B0), default="auto"
        Where to start. ``"auto"``: the closed form first, then random starts. A tuple gives the map and the
        coefficients (``None`` without known features).
    n_init : "auto" or int, default="auto"
        Number of starts; the best is kept and all are reported in ``starts_``. ``"auto"`` makes 128 for a dozen objects
        and fewer the more there are (see :ref:`notes <mds-notes>`).
    solver : {"auto", "lbfgs", "smacof"}, default="auto"
        ``"lbfgs"`` (what ``"auto"`` means): limited-memory BFGS in the metric of the majoriser. ``"smacof"``:
        plain conditional SMACOF, slower, step by step as published.
    max_iter : int, default=1000
        Most iterations from each start.
    tol : float, default=1e-9
        Stop when the normalised stress falls by less than this in an iteration (``"lbfgs"``: in three in a row).
    symmetrize : {None, "mean"}, default=None
        ``"mean"`` averages the two dissimilarities of each pair; otherwise asymmetry beyond rounding is an error.
    n_jobs : int, optional
        Threads for the passes over the pairs; None and -1 mean every core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random starts.
    verbose : int, default=0
        1 prints a line when a start has come to its end, 2 a line per iteration.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map: centred, in principal axes, largest variance first, the longer tail of each axis positive.
    coef_ : DataFrame of shape (n_known, n_known)
        ``B`` per unit of the known features, in its one symmetric positive form.
    stress_ : float
        Normalised stress: share of the weighted sum of squared dissimilarities that is not accounted for.
    importance_ : DataFrame
        One row per known feature: ``raw``, the change of distance per unit (the row norm of ``B``; numeric features
        only), and ``standardized``, the standard deviation of what the feature contributes to the fitted coordinates.
        Of an adjusted map both count what acts along the map too, the root of ``A^2 + B^2``.
    adjusted_ : bool
        Whether ``embedding_`` is adjusted for what is known.
    free_embedding_ : ndarray of shape (n_objects, n_free)
        The map of the same fit as it was fitted, before any adjusting.
    adjusted_embedding_ : ndarray of shape (n_objects, n_components)
        The map of the same fit adjusted for what is known, also where it is not the one shown.
    n_free_ : int
        Dimensions of the free map.
    shown_share_ : float
        Share of the sum of squares that the adjusted free map has left which the axes shown hold; 1 unless adjusted.
    shared_coef_ : DataFrame of shape (n_known, n_components)
        ``A`` per unit of the known features: how they act along the axes of the map. 0 unless it is adjusted.
    leak_ : float
        Average canonical correlation of the map with the known features; 0 without any, and 0 by construction on an
        adjusted map (see ``knn_leak_``). A leak above chance is said in a :class:`LeakWarning`.
    leak_reference_ : float
        What chance makes of the leak: random maps of this size stay below it in 19 of 20 cases.
    free_leak_ : float
        The leak of the map as it was first fitted, before any adjusting.
    knn_leak_ : DataFrame
        How well neighbours on the map tell each known feature: ``score``, and its ``baseline`` (mean), ``reference``
        (95% point) and ``p_value`` by chance. It sees what is not linear, and on an adjusted map it is the evidence.
        Computed when it is asked for.
    stress_per_point_ : Series
        Each object's part of ``stress_``.
    stress_path_ : ndarray
        Normalised stress (with the penalty, if any) at the start and after each iteration of the best start.
    n_iter_ : int
        Iterations of the best start.
    converged_ : bool
        Whether the best start ended by its tolerance rather than by `max_iter`.
    stop_reason_ : str
        Why it ended.
    starts_ : DataFrame
        Every start: kind, stress (with the penalty, if any), iterations, passes over the pairs, convergence, reason.
    known_redundant_ : Series
        Known columns that were left out, and why.
    known_summary_ : DataFrame
        What each known feature was taken for: type, whether it was declared or inferred, number of columns, levels,
        number of missing cells.
    level_positions_ : DataFrame
        Fitted places of the levels of nominal and ordinal features, in principal axes of each feature (of an adjusted
        map, what acts along it counts too); the index is (feature, level). Drawn by ``unmask.plotting.plot_levels``.
    known_imputed_ : DataFrame
        Missing cells of `known` as they were estimated: object, feature, value; of levels and angles ``certainty``,
        which is 1 where one fits by itself and lower where a mixture fits better; of numbers the 95% interval from
        ``lower`` to ``upper`` (none with a `level` other than ratio); and a ``remark`` where a number is at a declared
        bound, outside the range of the data, or not determined by the dissimilarities.
    known_corrected_ : DataFrame
        Values of the features in `known_error` as the fit moved them, in their own units.
    disparities_ : DataFrame of shape (n_objects, n_objects)
        Transformed dissimilarities, NaN where a pair does not count; only with a `level` other than ratio.
    component_ : Series
        Number of each object's group; only if they fall apart and ``on_disconnected="components"``.
    radius_ : float or None
        Where the radius of curvilinear weights ended, in the units of the dissimilarities.
    asymmetry_ : float
        Share of the sum of squared dissimilarities that ``symmetrize="mean"`` averaged away.

    References
    ----------
    A. T. Bui, "Dimension reduction with prior information for knowledge discovery", IEEE TPAMI, 2024.

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> kin = load_kinship()
    >>> mds = ConditionalMDS(n_components=2, metric="precomputed", random_state=0)
    >>> U = mds.fit_transform(kin.dissimilarities, known=kin.known[["gender"]])
    >>> U.shape, round(mds.stress_, 4)
    ((14, 2), 0.0261)
    """

    __metadata_request__fit = {"known": True, "weights": True}
    __metadata_request__score = {"known": True}
    _ON_DISCONNECTED: tuple[str, ...] = ("error", "components")

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        coef: Any = "auto",
        known_types: dict[Any, Any] | None = None,
        known_error: dict[Any, float] | None = None,
        weights: str | None = None,
        level: str = "ratio",
        ties: str = "primary",
        on_disconnected: str = "error",
        leak_penalty: float = 0.0,
        orthogonal: bool = False,
        adjust: Any = False,
        n_free: Any = "auto",
        init: Any = "auto",
        n_init: Any = "auto",
        solver: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-9,
        symmetrize: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.coef = coef
        self.known_types = known_types
        self.known_error = known_error
        self.weights = weights
        self.level = level
        self.ties = ties
        self.on_disconnected = on_disconnected
        self.leak_penalty = leak_penalty
        self.orthogonal = orthogonal
        self.adjust = adjust
        self.n_free = n_free
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.symmetrize = symmetrize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.pairwise  # a missing dissimilarity, but no missing feature
        tags.input_tags.sparse = tags.input_tags.pairwise  # absent dissimilarities are missing
        return tags

    def fit(self, X: Any, y: Any = None, *, known: Any = None, weights: Any = None) -> ConditionalMDS:
        """Learn the map and the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), or (n_objects, n_features)
            Dissimilarities (``metric="precomputed"``; NaN where missing), or features. Dissimilarities may also be a
            condensed vector, a long table of pairs (object, object, dissimilarity), a scipy sparse matrix (absent
            entries are missing), a ``DistanceMatrix`` of scikit-bio, or a networkx graph, of which shortest paths are
            taken. Labels are used to align `known` and `weights`. A square array is neither changed nor, when float32
            or float64 and contiguous, copied.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), optional
            Known features, one row per object: numbers, text, booleans, categories; a missing cell is estimated.
        weights : array-like or scipy sparse matrix of shape (n_objects, n_objects), optional
            Weights of the pairs; 0 leaves a pair out. With a sparse matrix only the stored pairs are passed over.

        Returns
        -------
        self : ConditionalMDS
        """
        p = self._check_parameters()
        refuse_target(y)
        with OneBlasThread(), Workers(resolve_threads(self.n_jobs)) as workers:
            checked = self._read_dissimilarities(X, workers)
            problem, component = self._make_problem(checked, known, weights, p, workers)
            engine = make_engine(problem.pairs, workers, self.level, self.ties)
            search, decision = fit_free_map(
                False if self.adjust == "auto" and self.leak_penalty else self.adjust,
                self.n_free,
                p,
                problem.known,
                lambda dimensions: self._search(replace(problem, p=dimensions), engine, checked, workers),
                lambda search: search.free(problem.known),
                # A given start says how many dimensions there are.
                may_follow=lambda search: not (isinstance(self.init, tuple) or was_cut_short(search.attempts)),
                groups=1 if component is None else int(component.max()) + 1,
                labels=checked.labels,
            )
            self._report_fit(search.stage, problem.known, checked, component, decision)
            self._fingerprints = self._fingerprints_of(checked, workers)
        self._floor = _sammon_floor(problem.pairs)
        self._own_weights = weights is not None
        self._report_search(search.stage.solution, search.attempts)
        self._speak_of_known(decision)
        return self

    def _search(self, problem: Problem, engine: Engine, checked: Dissimilarities, workers: Workers) -> _Search:
        """Follow every start, and the best of them through its further stages."""
        objective = make_objective(problem, engine)
        starts = self._starts(objective, problem.known, checked)
        attempts = self._attempt(objective, starts, workers, self._rule)
        return _Search(self._refine(problem, Stage(objective, best_of(attempts)), workers), attempts)

    def _make_problem(
        self, checked: Dissimilarities, known: Any, weights: Any, p: int, workers: Workers
    ) -> tuple[Problem, IntArray | None]:
        """Check everything that belongs to the problem, and freeze it."""
        self._refuse_combinations(weights)
        scheme = None if self.weights == "curvilinear" else self.weights
        ranks = (
            replace(checked, source=ArraySource(ranked(checked.values)), largest=1.0)
            if self.level == "ordinal"
            else checked
        )
        apart = self.on_disconnected == "components"
        pairs, component = build_pairs(ranks, scheme, weights, workers, apart=apart)
        coded = check_known(
            known,
            checked.n,
            checked.labels,
            self.coef,
            types=self.known_types,
            errors=self.known_error,
            component=component,
        )
        check_dimension(p, checked.n, coded)
        self._refuse_moving_known(coded)
        if component is not None and self.adjust is True:
            raise ValueError(
                f"adjust=True with {component.max() + 1} groups of objects that are mapped apart: each is turned by "
                "itself, so that no feature acts along a common direction. Use adjust=False, with orthogonal=True to "
                "keep each group's map uncorrelated with what is known."
            )
        if self.orthogonal and p > 0 and coded.n_kept:
            check_room(coded, component)
        warn_of_few_pairs(pairs, p + coded.n_dimensions, checked.labels)
        leak_penalty, orthogonal = float(self.leak_penalty), bool(self.orthogonal)
        return Problem(pairs, coded, p, leak_penalty, orthogonal, component=component), component

    def _refuse_combinations(self, weights: Any) -> None:
        """Raise where two options contradict each other, and say which to change."""
        if self.level != "ratio" and self.weights is not None:
            raise ValueError(
                f"weights={self.weights!r} with level={self.level!r}: these weights need dissimilarities in units that "
                "mean something; use weights=None (or an array in fit), or level='ratio'."
            )
        if self.weights == "curvilinear" and self.n_components == 0:
            raise ValueError("weights='curvilinear' needs a map to go by; use n_components of at least 1.")
        if self.weights == "curvilinear" and weights is not None:
            raise ValueError(
                "weights='curvilinear' finds its own weights and fit received an array of weights; choose one of them."
            )

    def _refuse_moving_known(self, known: KnownFeatures) -> None:
        """Raise where the map is to be orthogonal to features whose values are themselves estimated."""
        missing = [feature.name for feature in known.features if len(feature.missing)]
        moving = missing + [known.names[known.kept[column]] for column in known.errors]
        if self.orthogonal and moving:
            raise ValueError(
                f"orthogonal=True with values of {quote(moving)} that are estimated (missing, or measured with error): "
                "what the map should be orthogonal to is not known before the fit. Use leak_penalty, or fill them."
            )

    def _refine(self, problem: Problem, stage: Stage, workers: Workers) -> Stage:
        """Follow the best start through further stages: moving weights, values that move within their errors."""
        settings = Settings(RULES[self._rule], float(self.tol), int(self.max_iter), self._callback)
        self.radius_: float | None = None
        if self.weights == "curvilinear":
            found = curvilinear(problem, stage, workers, settings)
            stage, self.radius_ = found.stage, found.radius / stage.objective.engine.scale
            self._warn_of_radius(found)
        if problem.known.errors:
            stage = within_errors(problem, stage, settings)
        return stage

    def _report_fit(
        self,
        stage: Stage,
        known: KnownFeatures,
        checked: Dissimilarities,
        component: IntArray | None,
        decision: Decision,
    ) -> None:
        import pandas as pd

        engine, structure, theta = stage.objective.engine, stage.objective.structure, stage.solution.theta
        Z = structure.lift(theta)
        for name in ("component_", "disparities_"):
            self.__dict__.pop(name, None)
        if component is not None:
            self.component_ = pd.Series(component, index=checked.labels, name="component")
        self._curve = None
        if isinstance(engine, LevelEngine):
            disparities = engine.table(Z) / engine.scale
            self.disparities_ = pd.DataFrame(disparities, index=checked.labels, columns=checked.labels)
            self._curve = Curve(checked.values, disparities, ordinal=self.level == "ordinal")
        self._report(
            structure.unknown(theta),
            structure.gram(theta),
            Z,
            engine,
            known,
            checked,
            decision,
            component,
            structure.moved(theta),
        )

    def _fingerprints_of(self, checked: Dissimilarities, workers: Workers) -> Array:
        """Return what tells each fitted object's row of dissimilarities, as a new object would bring them, apart."""
        vector = kernels.placing().fingerprint_vector(checked.n)
        if self._curve is None:
            # Every pair there is, whatever its weight: a new object brings no weights.
            every = MemoryEngine(Pairs(checked.source, self._scale, Weighting.MASKED), workers)
            return every.squared_product(vector[:, None], np.empty((checked.n, 0)), 0.0)[:, 0]
        squares = np.nan_to_num(self._transformed(checked.values.astype(np.float64)) * self._scale, nan=0.0) ** 2
        np.fill_diagonal(squares, 0.0)
        return np.asarray(squares @ vector)

    def _transformed(self, delta: Array) -> Array:
        # No dissimilarity at all means the same object, whatever the transformation makes of small ones.
        return delta if self._curve is None else np.where(delta == 0.0, 0.0, self._curve(delta))

    def _warn_of_radius(self, found: Curvilinear) -> None:
        if found.too_small:
            warn_user(
                "weights='curvilinear': the neighbourhood became too small to hold every object in place before it was "
                f"small for most; it was kept at radius_={self.radius_:.4g}. Some objects lie far from all others: "
                "leave them out to let it shrink further.",
                SmallNeighbourhoodWarning,
            )

    def fit_transform(self, X: Any, y: Any = None, *, known: Any = None, weights: Any = None) -> Array:
        """Learn the map and return it; see :meth:`fit`."""
        self.fit(X, y, known=known, weights=weights)
        embedding: Array = with_labels(self, self.embedding_, self._labels)
        return embedding

    def _check_parameters(self) -> int:
        p = self._start_fit()
        require_flag("orthogonal", self.orthogonal)
        self._check_search()
        if hasattr(self.weights, "shape"):
            raise ValueError("weights is an array, which is data: pass it to fit(X, weights=…).")
        require_choice("weights", self.weights, (None, *SCHEMES))
        require_choice("level", self.level, LEVELS)
        require_choice("ties", self.ties, TIES)
        require_choice("on_disconnected", self.on_disconnected, self._ON_DISCONNECTED)
        require_choice("solver", self.solver, SOLVERS)
        require_number("leak_penalty", self.leak_penalty, 0.0)
        return p

    @property
    def _rule(self) -> str:
        return "lbfgs" if self.solver == "auto" else self.solver

    def _place(self, delta: Array, known_map: Array) -> Array:
        weight = np.where(np.isnan(delta), 0.0, 1.0)
        empty = np.flatnonzero(weight.sum(axis=1) == 0)
        if len(empty):
            raise ValueError(
                f"new object {empty[0]} has no dissimilarity to any fitted object (all are NaN); leave it out."
            )
        self._require_one_group(weight)
        delta = np.nan_to_num(delta, nan=0.0)
        if self._floor is not None:
            weight /= np.maximum(delta, self._floor)
        with Workers(resolve_threads(self.n_jobs)) as workers:
            placed: Array = kernels.placing().place(
                delta,
                weight,
                known_map,
                self._free_map,
                self._known_map,
                self._known_given,
                self._fingerprints,
                workers,
            )
        return placed

    def score(self, X: Any, y: Any = None, *, known: Any = None) -> float:
        """Return how well dissimilarities of new objects are predicted that were not used to place them.

        Every new object is placed twice, each time by its dissimilarities to one half of the fitted objects, and those
        to the other half are predicted. Unlike the stress this does not improve with every dimension, so that searches
        such as :class:`sklearn.model_selection.GridSearchCV` can go by it. To choose the number of dimensions alone,
        :func:`unmask.inspection.choose_n_components` holds out pairs instead of objects and wastes fewer.

        Parameters
        ----------
        X, known
            New objects, as in :meth:`transform`.
        y : ignored
            Present by convention.

        Returns
        -------
        float
            1 less the share of the predicted dissimilarities' sum of squares that is not accounted for: 1 is best.
        """
        check_is_fitted(self)
        new, U = self._read_new(X, known), self._free_map
        half = np.arange(len(U)) % 2 == 0
        missed = total = 0.0
        for used in (half, ~half):
            rows = ~np.isnan(new.delta[:, used]).all(axis=1)  # an object needs something to be placed by
            own, known_part = new.delta[rows], new.known_map[rows]
            placed = self._place(np.where(used, own, np.nan), known_part)
            squares = squared_distances(placed, U) + squared_distances(known_part, self._known_map)
            missed += float(np.nansum((np.sqrt(squares) - own)[:, ~used] ** 2))
            total += float(np.nansum(own[:, ~used] ** 2))
        return 1.0 - missed / total if total > 0 else 1.0

    def _require_one_group(self, weight: Array) -> None:
        """Raise on a new object with dissimilarities to several groups that were mapped apart."""
        if not hasattr(self, "component_"):
            return
        groups = self.component_.to_numpy()
        for row, counts in enumerate(weight > 0):
            if len(np.unique(groups[counts])) > 1:
                raise ValueError(
                    f"new object {row} has dissimilarities to objects of several groups, which were mapped apart; keep "
                    "those to one group (see component_) and make the others NaN."
                )


class _Search(NamedTuple):
    """The stage in which a search ended, and all that was tried on the way."""

    stage: Stage
    attempts: list[Attempt]

    def free(self, known: KnownFeatures) -> FreeMap:
        """Return the map that was found."""
        objective = self.stage.objective
        return FreeMap.of(objective.structure, self.stage.solution.theta, known, objective.engine)


def _sammon_floor(pairs: Pairs | Edges) -> float | None:
    """Return the dissimilarity as which 0 counts in Sammon's weights; None with other weights."""
    return pairs.floor if isinstance(pairs, Pairs) and pairs.weighting == Weighting.SAMMON else None
