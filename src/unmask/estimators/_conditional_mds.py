"""Conditional multidimensional scaling by majorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..checking import require_fraction, require_integer
from ..progress import Callback, watching
from ._base import ConditionalMap
from ._fit import fit_map, read_stress
from ._placing import predictive_score, read_new, transform
from ._posterior import FEWEST_DRAWS, Posterior, draw_posterior
from ._search import AS_ASKED, Refit


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalMDS(ConditionalMap):
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
    metric : str, callable or transformer, default="euclidean"
        How to compute dissimilarities from features: the name of a metric or a function of two rows, as
        :class:`unmask.dissimilarities.Metric` takes them (``"cityblock"``, ``"gower"`` …); or a transformer of
        :mod:`unmask.dissimilarities`, such as ``Geodesic(n_neighbors=8)``, which is cloned. ``"precomputed"`` if `X`
        holds dissimilarities. Of a name or a function no table larger than 256 MB is made, or 2 GB where the metric is
        not compiled: every pass compares the pairs anew, and memory grows with N instead of its square. ``Metric(…)``
        makes the table whatever its size, and so does what needs it at once (`level`, ``weights="curvilinear"``,
        ``solver="smacof"``). Compiled are Euclidean, squared Euclidean, city-block and cosine distances and those
        that are Euclidean after a change of coordinates; sparse features and `metric_params` are not.
    metric_params : dict, optional
        Further arguments of a metric that is a name or a function.
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
        bounds, by its logarithm, or with its measurement error), :class:`Nominal`, :class:`Ordinal`, :class:`Cyclic` or
        :class:`Spline`. By default ordered categories are ordinal, other categories, text and booleans nominal, and
        numbers numeric.
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
    orthogonal : bool, default=False
        Keep the map uncorrelated with the known features, at some cost of fit (`adjust` costs none).
    adjust : {False, True, "auto"}, default=False
        Show the map adjusted for what is known: what the known features predict of it is taken off. A known feature may
        act along the map's own directions, ``Z = [U + VA, VB]`` with ``V'U = 0``; distances and stress are those of the
        free map. This has `n_components` dimensions and, if it then repeats what is known, one more for each direction
        that does, at most three (``n_free_``); the first principal axes of what is left are shown. ``"auto"`` adjusts
        if the leak is above chance, and says so. False is the published model.
    init : {"auto", "closed-form", "random"}, tuple (U0, B0), str or path, default="auto"
        Where to start. ``"auto"``: the closed form first, then random starts. A tuple gives the map and the
        coefficients (``None`` without known features). The name of a file that :class:`unmask.Checkpoint` wrote
        continues that fit.
    n_init : "auto" or int, default="auto"
        Number of starts; the best is kept and all are reported in ``starts_``. ``"auto"`` makes 128 for a dozen objects
        and fewer the more there are (see :ref:`notes <mds-notes>`).
    solver : {"auto", "lbfgs", "smacof", "stochastic"}, default="auto"
        ``"lbfgs"``: limited-memory BFGS in the metric of the majoriser. ``"smacof"``: plain conditional SMACOF, slower,
        step by step as published. ``"stochastic"``, for many objects: landmarks are fitted by ``"lbfgs"``, all others
        placed among them, and all moved by what random references say, until the stress on fresh ones falls by less
        than its standard error; time and memory grow with the number of objects, not with its square. ``"auto"``:
        ``"lbfgs"`` while the pairs fit into memory and the passes over them take about 20 seconds on two cores,
        ``"stochastic"`` beyond; this is counted, not timed, so every machine takes the same one. ``solver_`` says
        which, and why.
    max_iter : int, default=1000
        Most iterations from each start.
    tol : float, default=1e-9
        Stop when the normalised stress falls by less than this in an iteration (``"lbfgs"``: in three in a row).
        ``"stochastic"`` stops by the standard error of the stress instead.
    n_jobs : int, optional
        Threads for the passes over the pairs; None and -1 mean every core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random starts.
    verbose : int, default=0
        0 shows a line with the progress after 3 seconds, on a terminal or in a notebook only; 1 prints a line when a
        start has come to its end, 2 a line per iteration.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map: centred, in principal axes, largest variance first, the longer tail of each axis positive.
    coef_ : DataFrame of shape (n_known, n_known)
        ``B`` per unit of the known features, in its one symmetric positive form.
    stress_ : float
        Normalised stress: share of the weighted sum of squared dissimilarities that is not accounted for. Of the
        stochastic solver estimated from independent pairs.
    stress_se_ : float
        Standard error of ``stress_``; 0 where all pairs were read.
    shown_stress_ : float
        Stress of the dimensions shown and all that the known features predict. Above ``stress_`` where an adjusted map
        shows fewer dimensions than were fitted (``n_free_``), else the same.
    solver_ : str
        Which solver was used, and why.
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
        adjusted or orthogonal map (see ``knn_leak_``). A leak above ``leak_reference_`` is a :class:`LeakWarning`.
    leak_reference_ : float
        19 of 20 random maps of this size have a lower leak. Fitted maps of noisy dissimilarities have more than random
        ones even where known features act at right angles to the map: docs/adjusted.md says how often they are above.
    free_leak_ : float
        The leak of the map as it was first fitted, before any adjusting.
    knn_leak_ : DataFrame
        How well neighbours on the map tell each known feature: ``score``, and its ``baseline`` (mean), ``reference``
        (95% point) and ``p_value`` by chance. It sees what is not linear. Computed when it is asked for; on an adjusted
        or orthogonal map the fit asks, and a feature told above chance is a :class:`LeakWarning`.
    stress_per_point_ : Series
        Each object's part of ``stress_``.
    stress_path_ : ndarray
        Normalised stress at the start and after each iteration of the best start.
    n_iter_ : int
        Iterations of the best start.
    converged_ : bool
        Whether the best start ended by its tolerance rather than by `max_iter`.
    stop_reason_ : str
        Why it ended.
    starts_ : DataFrame
        Every start: kind, stress, iterations, passes over the pairs, convergence, reason.
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
        Values of features with a measurement error (``Numeric(error=…)``) as the fit moved them, in their own units.
    disparities_ : DataFrame of shape (n_objects, n_objects)
        Transformed dissimilarities, NaN where a pair does not count; only with a `level` other than ratio.
    radius_ : float or None
        Where the radius of curvilinear weights ended, in the units of the dissimilarities.
    object_names_ : ndarray of shape (n_objects,)
        Labels of the objects in the order of the map's rows; their numbers if they had none.
    metric_ : transformer
        The fitted transformer; only if `metric` is one.

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

    __metadata_request__fit = {"weights": True, "callback": True}
    __metadata_request__transform = __metadata_request__score = {"known": True}
    transform = transform

    orthogonal: bool = False
    weights: str | None = None
    level: str = "ratio"
    ties: str = "primary"
    init: Any = "auto"
    n_init: Any = "auto"
    solver: str = "auto"
    max_iter: int = 1000
    tol: float = 1e-9
    random_state: Any = None
    verbose: int = 0

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
            Dissimilarities (``metric="precomputed"``; NaN where missing), or features. Dissimilarities may also be a
            condensed vector, a long table of pairs (object, object, dissimilarity), a scipy sparse matrix (absent
            entries are missing), a ``DistanceMatrix`` of scikit-bio, or a graph of networkx or igraph, of which
            shortest paths are taken; and a memory map, an array of Zarr, HDF5 or Dask, the path of an ``.npy`` or
            ``.zarr`` file or any other source, all of which are read in parts. If there is a client of a Dask cluster,
            its workers read an array of Dask and the path of a ``.zarr`` file; all others are read in this process.
            Labels are used to align `known` and `weights`. A square array is neither changed nor, when float32 or
            float64 and contiguous, copied. Features may be an array or a DataFrame of Dask.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), optional
            Known features, one row per object: numbers, text, booleans, categories; a missing cell is estimated. Or
            names: of columns of `X`, which then leave the features, or of attributes of a graph's nodes.
        weights : array-like or scipy sparse matrix of shape (n_objects, n_objects), optional
            Weights of the pairs; 0 leaves a pair out. With a sparse matrix only the stored pairs are passed over.
        callback : callable or list of callables, optional
            Called with an :class:`unmask.Progress` after every iteration; returning True stops the fit.

        Returns
        -------
        self : ConditionalMDS
        """
        self._fit(X, y, known, weights, callback)
        return self

    def _fit(self, X: Any, y: Any, known: Any, weights: Any, callback: Any, refit: Refit = AS_ASKED) -> None:
        fit_map(self, X, y, known, weights, callback, refit, read_problem=read_stress)

    def posterior(
        self,
        n_draws: int = 400,
        chains: int = 4,
        *,
        level: float = 0.95,
        random_state: Any = 0,
        callback: Callback | None = None,
    ) -> Posterior:
        """Draw maps and coefficients that go with the dissimilarities, from the posterior of a model of their noise.

        With few objects and noisy dissimilarities the map of least stress fits the noise. The mean over all maps that
        may have made the data says how sure it is, and may recover more of what is unknown. The estimator does
        not change.

        Parameters
        ----------
        n_draws : int, default=400
            Draws of each chain, after 300 that it is tuned by.
        chains : int, default=4
            Number of chains, which run side by side, on `n_jobs` cores. Each begins elsewhere.
        level : float, default=0.95
            Coverage of credible intervals and ellipses.
        random_state : int, RandomState or None, default=0
            Seed.
        callback : callable or list of callables, optional
            Called with an :class:`unmask.Progress` of the stage ``"posterior"``; returning True stops the chains.

        Returns
        -------
        Posterior
            The map, coefficients, noise and predicted dissimilarities, each with how sure it is.

        Raises
        ------
        ValueError
            If there are more than 400 objects, if only the order of the dissimilarities counts, if pairs are weighted
            by a scheme, or with ``orthogonal=True``.

        Notes
        -----
        Needs nutpie and ArviZ: ``pip install 'unmask[posterior]'``. In units of the mean dissimilarity and of the known
        features' standard deviations, ``delta_ij ~ N(d_ij, s^2 (d_ij^2 + .01^2)^gamma / w_ij)``,
        ``u_i ~ N(0, tau^2 I)``, entries of ``B ~ N(0, 1/4)`` (half of that for ordered levels), ``log s ~ N(-1.6, 1)``,
        ``gamma ~ N(1/2, 1/4)``, and ``tau`` from the fit by least squares.
        An array of weights is taken for precisions (variances are divided by them); pairs that are missing or have the
        weight 0 are left out. Missing cells of known features, and cells measured with error, are drawn with the rest.
        """
        check_is_fitted(self)
        require_integer("n_draws", n_draws, FEWEST_DRAWS)
        require_integer("chains", chains, 1)
        require_fraction("level", level)
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        with watching(callback) as watch:
            return draw_posterior(self, n_draws=n_draws, chains=chains, level=level, seed=seed, watch=watch)

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
        return predictive_score(self._map, read_new(self, X, known), self.n_jobs)
