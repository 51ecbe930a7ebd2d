"""Permutation tests: whether a known feature matters, and whether a further dimension does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import UnfinishedWarning, quote, require_integer, warn_user
from ..estimators import known_of
from ..problem.chance import as_large, as_small
from ._fits import FEW_STARTS, Advance, FitSetup, agreed, counting, make_setup, quiet, warm_start
from ._residuals import make_residuals

if TYPE_CHECKING:
    import pandas as pd

# A refit whose stress is above that of the fit by this share of it, and by twice what the starts of the fit differ, is
# not searched for further.
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
    fitted anew to the predicted part plus the permuted residuals, which keeps the correlation with the others. A
    feature that matters has a lower stress in its own order than in almost any other. If the map may be adjusted
    (``adjust=True`` or ``"auto"``), its stress does not change with effects along it, and the importance is compared
    instead; each refit decides by itself whether to adjust.

    A feature of several coded columns (nominal, ordinal, cyclic, spline) has rows of residuals, which are permuted
    whole. A missing cell moves with its row; the other features' missing cells are at their mean in the regression. A
    feature that the others explain wholly has no residuals, and p = 1. Report this test for the map;
    :func:`dbrda_test` asks what a feature explains of the squared dissimilarities by a linear model, without a map.

    A refit starts from the fitted map, the closed form and, unless both end far above the stress of the fit, the map of
    the feature's first permutation and a few random ones. Ctrl-C ends the test with the permutations so far, and a
    warning.

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
        Called with how many permutations are done, over all features, and how many there will be. Without it, a bar
        appears after 3 s in a terminal or a notebook.

    Returns
    -------
    DataFrame indexed by feature
        ``stress`` of the fit (``importance`` of the feature, if the map may be adjusted), ``permuted`` (its mean over
        permutations), ``p_value``, and the number of ``permutations``, fewer if the test was interrupted.

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
        with quiet():
            fitted = setup.search()
        adjusts, names = setup.estimator.adjust, known_of(fitted).feature_names
        missing = [feature.name for feature in known_of(fitted).features if len(feature.missing)]
        if missing and adjusts is True:
            raise ValueError(
                f"adjust=True with missing cells of {quote(missing)}: if the feature is permuted, nothing determines "
                "them, and the map cannot be adjusted. Fill them, leave the features out, or use adjust='auto' or "
                "adjust=False."
            )
        refits = [_Permuted(fitted, number) for number in range(len(names))]
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
    return pd.DataFrame(rows, columns=columns, index=pd.Index(names, name="feature"))


class _Permuted:
    """The fits with the residuals of one feature permuted."""

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
        """Return the stress of a fit, or the importance of the feature if the map may be adjusted.

        Adjusting takes what acts along the map out of the stress.
        """
        return float(fit.importance_["standardized"].iloc[self.number] if self.adjusts else fit.stress_)

    def first(self, setup: FitSetup, order: IntArray) -> None:
        """Fit the first permutation from all starts; the others start from its map too.

        Where the feature means nothing, one order is as good as another.
        """
        with quiet():
            fit = setup.search(self.starts, self._far, known=self.known.with_residuals_in_order(self.number, order))
        self.starts.append(warm_start(fit))
        self.values.append(self.statistic(fit))

    def next(self, setup: FitSetup, order: IntArray) -> float:
        """Return the statistic of a further permutation."""
        known = self.known.with_residuals_in_order(self.number, order)
        with quiet():
            return self.statistic(setup.fit(known=known, starts=self.starts, few=FEW_STARTS, enough=self._settled))

    def _far(self, stresses: Array) -> bool:
        return bool(np.min(stresses) > self.limit)

    def _settled(self, stresses: Array) -> bool:
        return self._far(stresses) or (len(stresses) > 2 and agreed(stresses))


def _next(setup: FitSetup, task: tuple[_Permuted, IntArray]) -> float:
    refit, order = task
    return refit.next(setup, order)


def _permute(setup: FitSetup, refits: list[_Permuted], n_permutations: int, rng: Any, advance: Advance) -> None:
    """Fill in the statistics of the permutations of each feature: of all of them, or of those before Ctrl-C.

    The features take turns, so that they have been permuted about as often when the test is interrupted.
    """
    total, count = n_permutations * len(refits), len(refits)
    try:
        for done, refit in enumerate(refits, 1):
            refit.first(setup, rng.permutation(setup.n))
            advance(done, total)
        rest = ((refits[done % count], rng.permutation(setup.n)) for done in range(count, total))
        for done, value in enumerate(setup.each(_next, rest), count):
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


def dimension_test(
    estimator: Any,
    X: Any,
    known: Any = None,
    *,
    weights: Any = None,
    n_permutations: int = 99,
    random_state: Any = 0,
) -> pd.Series:
    """Test whether a map with one dimension more fits better than by chance.

    If ``n_components`` dimensions are enough, what the fit leaves is noise. New dissimilarities are the fitted
    distances with this noise in random order; the test asks how often their stress falls as much by a further dimension
    as that of the data. If one distance for all pairs would describe the dissimilarities better than the fit does, the
    dissimilarities themselves are permuted.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit; its ``n_components``, which may be 0, is compared with one more.
    X, known, weights
        As in the estimator's ``fit``.
    n_permutations : int, default=99
        Number of sets of dissimilarities, each fitted twice.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    Series
        ``n_components``, ``stress``, ``stress_next`` (one dimension more), ``p_value``.
    """
    import pandas as pd

    require_integer("n_permutations", n_permutations, 1)
    p = int(estimator.n_components)
    with counting("dimension_test", None) as advance:
        setup = make_setup("dimension_test", estimator, X, known, weights).unadjusted()
        with quiet():
            further = FurtherDimension(setup, p, setup.search() if p or setup.anything_known else None)
            p_value = further.test(n_permutations, check_random_state(random_state), advance)
    values = {"n_components": p, "stress": further.stress, "stress_next": further.stress_next, "p_value": p_value}
    return pd.Series(values, name="dimension_test")


class FurtherDimension:
    """The fall of the stress by one dimension more, of the data and of sets whose noise is in random order.

    All are fitted in the same way, from few starts, so that their falls can be compared.
    """

    def __init__(self, setup: FitSetup, p: int, small: Any) -> None:
        self.setup, self.p, self.small = setup, p, small  # a fit, or None: all objects in one place
        self.residuals = make_residuals(setup, small)
        self.stress, self.stress_next = self._stresses(setup, setup.D)

    def _stresses(self, setup: FitSetup, D: Array) -> tuple[float, float]:
        """Return the stress of some dissimilarities, and that with one dimension more."""
        stress, starts = 1.0, []
        if self.small is not None:
            fitted = setup.fit(D, n_components=self.p, start=warm_start(self.small))
            stress, starts = float(fitted.stress_), [warm_start(fitted, 1)]
        further = setup.fit(D, starts=starts, few=FEW_STARTS, enough=agreed, n_components=self.p + 1)
        return stress, min(stress, float(further.stress_))

    def test(self, n_permutations: int, rng: Any, advance: Advance, level: float = 1.0) -> float:
        """Return the p-value of the fall, from fewer permutations where these show that it is above a level."""
        # A difference below the tolerance counts as none.
        if self.stress - self.stress_next <= getattr(self.setup.estimator, "tol", 0.0):
            return 1.0
        drawn = (self.residuals.permuted(rng) for _ in range(n_permutations))
        done, as_good = 0, 0
        for stress, stress_next in self.setup.each(self._stresses, drawn):
            done += 1
            as_good += int(as_large(1 - stress_next / stress, 1 - self.stress_next / self.stress))
            advance(done, n_permutations)
            if (1 + as_good) / (1 + n_permutations) > level:
                break
        return (1 + as_good) / (1 + done)
