"""Conditional multidimensional scaling by majorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..checking import require_fraction, require_integer
from ..progress import Callback, watching
from ._base import ConditionalMap
from ._fit import STRESS
from ._placing import predictive_score, read_new, transform
from ._posterior import FEWEST_DRAWS, Posterior, draw_posterior


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
        How to compute dissimilarities from features: a name or a function of two rows, as
        :class:`unmask.dissimilarities.Metric` takes them, or a transformer of :mod:`unmask.dissimilarities`.
        ``"precomputed"`` if `X` holds dissimilarities. For a name or a function, tables above 256 MB (2 GB where the
        metric is not compiled) are not made: every pass compares the pairs anew.
    metric_params : dict, optional
        Further arguments of a metric that is a name or a function.
    coef : {"auto", "full", "diagonal", "grouped"} or list of lists, default="auto"
        Structure of the coefficients: all numeric and nominal features together (``"full"``), a number for each
        (``"diagonal"``), a block for each feature or each top-level column (``"grouped"``), or a block for each list of
        columns. ``"auto"`` is full if all known features are numeric, else grouped. Cyclic, ordinal and spline features
        always have a block of their own.
    known_types : dict, optional
        Types of known features, by column: a name, or :class:`Numeric`, :class:`Nominal`, :class:`Ordinal`,
        :class:`Cyclic` or :class:`Spline`. By default ordered categories are ordinal, other categories, text and
        booleans nominal, and numbers numeric.
    adjust : {False, True, "auto"}, default=False
        Take off the map what the known features predict of it; distances and stress stay those of the free map. At most
        three more dimensions than `n_components` are fitted (``n_free_``), and the first principal axes of what is left
        are shown. ``"auto"`` adjusts if the leak is above chance. False is the published model.
    orthogonal : bool, default=False
        Keep the map uncorrelated with the known features, at some cost of fit (`adjust` costs none).
    weights : {None, "sammon", "curvilinear"}, default=None
        How pairs are weighted: equally; by ``1 / (delta_ij * sum of delta)``, so that small dissimilarities count more;
        or by ``exp(-(d_ij / radius)^2)`` with the fitted distance and a radius that shrinks. An array of weights is
        passed to :meth:`fit`.
    level : {"ratio", "interval", "ordinal", "spline"}, default="ratio"
        Measurement level. Other than ratio, dissimilarities are replaced by the nearest admissible disparities:
        ``a + b delta``, any increasing function, or a smooth one. None is negative.
    ties : {"primary", "secondary"}, default="primary"
        Whether equal dissimilarities may have different disparities at the ordinal level.
    init : {"auto", "closed-form", "random"}, tuple (U0, B0), str or path, default="auto"
        Where to start. ``"auto"``: the closed form first, then random starts. A tuple gives the map and the
        coefficients (``None`` without known features), a file of :class:`unmask.Checkpoint` a fit to continue.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the best is kept. ``"auto"`` makes 128 for a dozen objects and fewer for more (see
        :ref:`notes <mds-notes>`).
    solver : {"auto", "lbfgs", "smacof", "stochastic"}, default="auto"
        Limited-memory BFGS; plain conditional SMACOF as published; or, for many objects, steps against random
        references, which take time and memory that grow with N instead of its square. ``"auto"`` is ``"lbfgs"`` while
        that takes about 20 seconds on two cores, counted and not timed; ``solver_`` says which, and why.
    max_iter : int, default=1000
        Most iterations from each start.
    tol : float, default=1e-9
        Stop when the normalised stress falls by less than this (``"lbfgs"``: in three iterations in a row).
    n_jobs : int, optional
        Threads; None and -1 mean every core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random starts.
    verbose : int, default=0
        1 prints a line for each start, 2 for each iteration; 0 shows the progress of long fits.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map: centred, in principal axes, largest variance first, the longer tail of each axis positive.
    coef_ : DataFrame of shape (n_known, n_known)
        ``B`` per unit of the known features, in its one symmetric positive form.
    stress_, stress_se_ : float
        Normalised stress: the share of the weighted sum of squared dissimilarities that is not accounted for; and its
        standard error, 0 where all pairs were read.
    shown_stress_ : float
        Stress of the dimensions shown and the known features; above ``stress_`` if more dimensions were fitted.
    stress_per_point_ : Series
        Each object's part of ``stress_``.
    stress_path_ : ndarray
        Normalised stress at the best start and after each iteration.
    starts_ : DataFrame
        Every start: kind, stress, iterations, passes over the pairs, convergence, reason.
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations of the best start, whether it ended by its tolerance, and why it ended.
    solver_ : str
        Which solver was used, and why.
    importance_ : DataFrame
        For each known feature ``raw``, the change of distance per unit (numeric features only), and ``standardized``,
        the standard deviation of its part of the fitted coordinates.
    adjusted_ : bool
        Whether ``embedding_`` is adjusted.
    free_embedding_, adjusted_embedding_ : ndarray
        The map as it was fitted, and as adjusted, whichever is shown.
    n_free_ : int
        Dimensions of the free map.
    shown_share_ : float
        Share of the adjusted free map's sum of squares on the axes shown; 1 unless adjusted.
    shared_coef_ : DataFrame of shape (n_known, n_components)
        How the known features act along the axes of an adjusted map, per unit; 0 otherwise.
    leak_, leak_reference_, free_leak_ : float
        Average canonical correlation of the map with the known features (0 by construction on an adjusted or orthogonal
        map); the value that 19 of 20 random maps stay below; and the leak before adjusting.
    knn_leak_ : DataFrame
        How well neighbours on the map predict each known feature: ``score``, and ``baseline`` (mean), ``reference``
        (95% point) and ``p_value`` by chance. Computed when it is asked for.
    known_summary_, known_redundant_ : DataFrame, Series
        The type, source, columns, levels and missing cells of each known feature; the columns left out, and why.
    level_positions_ : DataFrame
        Fitted places of the levels of nominal and ordinal features, in principal axes of each feature.
    known_imputed_ : DataFrame
        Missing cells as estimated: object, feature, value; ``certainty`` of levels and angles; the 95% interval of
        numbers from ``lower`` to ``upper`` (at the ratio level); and a ``remark`` on doubtful ones.
    known_corrected_ : DataFrame
        Values of features with a measurement error (``Numeric(error=…)``) as the fit moved them.
    disparities_ : DataFrame of shape (n_objects, n_objects)
        Transformed dissimilarities, NaN where a pair does not count; not at the ratio level.
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
    _method = STRESS
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

        With few objects and noisy dissimilarities the map of least stress fits the noise; the mean over all maps that
        may have made the data may recover more, and says how sure it is. The estimator does not change. The model is
        described in :doc:`/posterior`; it needs nutpie and ArviZ: ``pip install 'unmask[posterior]'``.

        Parameters
        ----------
        n_draws : int, default=400
            Draws of each chain, after 300 that it is tuned by.
        chains : int, default=4
            Number of chains, which run side by side on `n_jobs` cores.
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
        to the other half are predicted. Unlike the stress this does not improve with every dimension, so searches such
        as :class:`sklearn.model_selection.GridSearchCV` can use it.

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
