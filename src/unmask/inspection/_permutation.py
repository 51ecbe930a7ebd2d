"""Permutation test of known features: whether each matters to the distances of a map."""

from __future__ import annotations

import warnings
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import UnfinishedWarning, quote, require_integer, warn_user
from ..estimators import known_of
from ..problem.chance import as_large, as_small
from ._fits import FEW_STARTS, Advance, FitSetup, agreed, counting, make_setup, warm_start

if TYPE_CHECKING:
    import pandas as pd

# A refit whose stress is above that of the fit by this share of it, and by twice the range of the fit's starts, is not
# searched for further.
FAR = 0.05
SEVERAL = 5


def permutation_test(
    estimator: Any,
    X: Any,
    known: Any,
    *,
    weights: Any = None,
    n_permutations: int = 199,
    random_state: Any = 0,
    progress: Advance | None = None,
) -> pd.DataFrame:
    """Test for each known feature whether it matters to the map's distances, given the other known features.

    The feature is regressed on the other known features, its residuals are permuted among the objects, and the map is
    fitted again, to the predicted part plus the permuted residuals. A feature that matters has a lower stress in its
    own order than in almost any other. If the map may be adjusted (``adjust=True`` or ``"auto"``), effects along it do
    not change the stress, and the importance is compared instead.

    Report this test with the map; :func:`dbrda_test` asks what a feature explains of the squared dissimilarities by a
    linear model, without a map.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit; every fit is made with the same seed.
    X, known, weights
        As in the estimator's ``fit``.
    n_permutations : int, default=199
        Number of permutations of each feature; the smallest possible p-value is 1 / (this + 1).
    random_state : int, RandomState or None, default=0
        Seed of the permutations.
    progress : callable, optional
        Called with the numbers of permutations done and to do; by default a bar appears after 3 s.

    Returns
    -------
    DataFrame indexed by feature
        ``stress`` of the fit (``importance`` of the feature, if the map may be adjusted), ``permuted`` (its mean over
        permutations), ``p_value``, and the number of ``permutations``.

    Notes
    -----
    The coded columns of a feature are permuted together. A missing cell moves with its row; in the regression, missing
    cells of other features count as the mean. A feature that the others determine has no residuals, and p = 1. A refit
    has few starts, the fitted map among them. Ctrl-C ends the test with the permutations so far, and a warning.

    References
    ----------
    D. Freedman and D. Lane, "A nonstochastic interpretation of reported significance levels", Journal of Business and
    Economic Statistics 1, 1983: permuted residuals, there of the response.

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import permutation_test
    >>> kin = load_kinship()
    >>> mds = ConditionalMDS(1, metric="precomputed", n_init=2, random_state=0)
    >>> test = permutation_test(mds, kin.dissimilarities, kin.known[["gender", "degree"]], n_permutations=19)
    >>> test["p_value"].tolist()
    [0.05, 0.05]
    """
    import pandas as pd

    require_integer("n_permutations", n_permutations, 1)
    if known is None:
        raise ValueError("known=None: there is no known feature to test; pass known.")
    rng = check_random_state(random_state)
    with counting("permutation_test", progress) as advance:
        setup = make_setup("permutation_test", estimator, X, known, weights)
        with warnings.catch_warnings(action="ignore"):  # the user's own fit gives them
            fitted = setup.search()
        adjusts, features = setup.estimator.adjust, known_of(fitted)
        missing = [feature.name for feature in features.features if len(feature.missing)]
        if missing and adjusts is True:
            raise ValueError(
                f"adjust=True with missing cells of {quote(missing)}: if the feature is permuted, nothing determines "
                "them, and the map cannot be adjusted. Fill them, leave the features out, or use adjust='auto' or "
                "adjust=False."
            )
        refits = [_Refits(fitted, number) for number in range(len(features.feature_names))]
        # The whole procedure is repeated, adjusting included: decided by the fit alone, it would favour its order.
        _permute(setup, refits, n_permutations, rng, advance)
    # Differences below the tolerance, which is of the stress and not of a coordinate, count as none.
    tol, rows = getattr(estimator, "tol", 0.0), []
    for refit in refits:
        own, permuted = refit.statistic(fitted), np.array(refit.values)
        if adjusts:
            beaten = as_large(permuted, own, slack=np.sqrt(tol) * float(fitted.importance_["standardized"].max()))
        else:
            beaten = as_small(permuted, own, slack=tol)
        rows.append((own, permuted.mean(), (1 + np.sum(beaten)) / (1 + len(permuted)), len(permuted)))
    columns = ["importance" if adjusts else "stress", "permuted", "p_value", "permutations"]
    return pd.DataFrame(rows, columns=columns, index=pd.Index(features.feature_names, name="feature"))


class _Refits:
    """The fits with the residuals of one known feature permuted."""

    def __init__(self, fitted: Any, number: int) -> None:
        self.number, self.known, self.adjusts = number, known_of(fitted), fitted.adjust
        self.starts = [warm_start(fitted)]
        self.values: list[float] = []
        # Above this stress a start is not worth another. There is no such limit if the map may be adjusted, where a
        # later stage changes the stress, or if too few starts were followed to know how far they differ.
        self.limit = np.inf
        stresses = getattr(fitted, "starts_", {"stress": np.empty(0)})["stress"]
        if not fitted.adjust and len(stresses) >= SEVERAL and np.isclose(stresses.min(), fitted.stress_, 1e-6, 0.0):
            self.limit = float(fitted.stress_ + max(FAR * fitted.stress_, 2 * np.ptp(stresses)))

    def statistic(self, fit: Any) -> float:
        """Return the stress of a fit, or the importance of the feature if the map may be adjusted."""
        return float(fit.importance_["standardized"].iloc[self.number] if self.adjusts else fit.stress_)

    def fit(self, setup: FitSetup, order: IntArray) -> Any:
        """Return the fit for one permutation; the first is searched for from all starts of the estimator."""
        known = self.known.with_residuals_in_order(self.number, order)
        with warnings.catch_warnings(action="ignore"):
            if not self.values:
                return setup.search(self.starts, self._far, known=known)
            return setup.fit(known=known, starts=self.starts, few=FEW_STARTS, enough=self._settled)

    def _far(self, stresses: Array) -> bool:
        return bool(np.min(stresses) > self.limit)

    def _settled(self, stresses: Array) -> bool:
        return self._far(stresses) or (len(stresses) > 2 and agreed(stresses))


def _statistic(setup: FitSetup, task: tuple[_Refits, IntArray]) -> float:
    refit, order = task
    return refit.statistic(refit.fit(setup, order))


def _permute(setup: FitSetup, refits: list[_Refits], n_permutations: int, rng: Any, advance: Advance) -> None:
    """Collect the statistics of the permutations of each feature: of all of them, or of those before Ctrl-C.

    The features take turns, so that they have been permuted about as often when the test is interrupted.
    """
    count, total = len(refits), n_permutations * len(refits)
    tasks = ((refits[done % count], rng.permutation(setup.n)) for done in range(total))
    try:
        for done, (refit, order) in enumerate(islice(tasks, count), 1):
            # The other permutations start from this map too: if the feature means nothing, all orders are alike.
            fit = refit.fit(setup, order)
            refit.starts.append(warm_start(fit))
            refit.values.append(refit.statistic(fit))
            advance(done, total)
        for done, value in enumerate(setup.each(_statistic, tasks), count):
            refits[done % count].values.append(value)
            advance(done + 1, total)
    except KeyboardInterrupt:
        done = sum(len(refit.values) for refit in refits)
        if done < count:  # a feature was not permuted even once
            raise
        warn_user(
            f"the test was interrupted after {done} of {total} permutations; its p-values are from these.",
            UnfinishedWarning,
        )
