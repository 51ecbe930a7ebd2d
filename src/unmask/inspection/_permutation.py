"""Permutation tests: whether a known feature matters, and whether a further dimension does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import (
    UnfinishedTestWarning,
    as_large,
    as_pandas,
    as_small,
    is_pandas,
    labels_of,
    require_integer,
    warn_user,
)
from ..kernels import each
from ._fits import FEW_STARTS, Advance, FitSetup, agreed, anything_known, make_setup, nobody, read_data, warm_start
from ._inputs import as_frame
from ._residuals import make_residuals

if TYPE_CHECKING:
    import pandas as pd

# A refit whose stress is above that of the fit by this share of it, and by twice what the starts of the fit differ, is
# not searched for further.
FAR = 0.05
SEVERAL = 5

Statistic = Callable[[Any, int], float]  # of a fit and a known feature, given by its column
# By whether the map is adjusted.
_STATISTICS: dict[bool, tuple[str, Statistic]] = {
    False: ("stress", lambda fitted, _: float(fitted.stress_)),
    True: ("importance", lambda fitted, column: float(fitted.importance_["standardized"].iloc[column])),
}


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
    """Test for each known feature whether it says anything about the dissimilarities.

    The rows of the feature are permuted among the objects, the other known features are kept, and the map is fitted
    anew; a feature that matters has a lower stress in its own order than in almost any other. Of an adjusted map, whose
    stress does not change with what acts along it, a feature that matters has a larger importance in its own order. The
    test is exact where the feature is independent of the other known ones; where it is not, its permuted rows break
    that link as well.

    A refit starts from the fitted map and from the closed form. Unless both end far above the stress of the fit,
    farther than any of its own starts, more follow: the map of the feature's first permutation and a few random ones,
    and for the first permutation as many as the fit itself has, unless they all end in the same minimum. The best
    counts. Ctrl-C ends the test with the permutations so far, and a warning.

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
        Called with how many permutations are done, over all features, and how many there will be.

    Returns
    -------
    DataFrame indexed by feature
        ``stress`` of the fit (``importance`` of the feature, if the map is adjusted), ``permuted`` (its mean over
        permutations), ``p_value``, and how many ``permutations``
        it is from: fewer than `n_permutations` if the test was interrupted.

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
    X, known = read_data(estimator, X, known)
    setup = make_setup("permutation_test", estimator, X, _known_frame(known, X), weights)
    rng = check_random_state(random_state)
    fitted = _quietly(setup.search)
    name, statistic = _STATISTICS[bool(fitted.adjusted_)]
    plain = setup.decided(fitted).unlabelled()
    refits = _permuted_fits(plain, fitted, statistic, n_permutations, rng, progress or nobody)
    rows = []
    for column, refit in enumerate(refits):
        own, permuted = statistic(fitted, column), np.array(refit.values)
        # Fits are told apart by no less than what they stop at, which is of the stress and not of a coordinate.
        tol = getattr(estimator, "tol", 0.0)
        if fitted.adjusted_:
            beaten = as_large(permuted, own, slack=own * np.sqrt(tol))
        else:
            beaten = as_small(permuted, own, slack=tol)
        rows.append((own, permuted.mean(), (1 + np.sum(beaten)) / (1 + len(permuted)), len(permuted)))
    names = pd.Index(list(map(str, setup.known.columns)), name="feature")
    return pd.DataFrame(rows, columns=[name, "permuted", "p_value", "permutations"], index=names)


def _permuted_fits(
    setup: FitSetup, fitted: Any, statistic: Statistic, n_permutations: int, rng: Any, progress: Advance
) -> list[_Refit]:
    """Return for each feature the statistics of its permutations: all of them, or those before Ctrl-C.

    The features take turns, so that they have been permuted about as often when the test is interrupted.
    """
    total = n_permutations * setup.known.shape[1]
    setup, at_once = setup.side_by_side()
    refits = [_Refit(setup, column, fitted, statistic) for column in range(setup.known.shape[1])]
    try:
        for done, refit in enumerate(refits):  # by which the others are started
            refit.values.append(refit.permuted(rng.permutation(setup.n)))
            progress(done + 1, total)
        rest = ((refits[done % len(refits)], rng.permutation(setup.n)) for done in range(len(refits), total))
        for done, value in enumerate(each(_permuted, rest, at_once), len(refits)):
            refits[done % len(refits)].values.append(value)
            progress(done + 1, total)
    except KeyboardInterrupt:
        done = sum(len(refit.values) for refit in refits)
        if done < len(refits):  # a feature was not permuted even once
            raise
        warn_user(
            f"the test was interrupted after {done} of {total} permutations; its p-values are from these.",
            UnfinishedTestWarning,
        )
    return refits


def _limit_of(fitted: Any) -> float:
    """Return the stress above which a start is not worth another; infinite where starts are told apart otherwise.

    That is where the map is adjusted, and where a penalty or a later stage changes the stress that a start led to; and
    where too few were followed to know how far they differ.
    """
    stresses = getattr(fitted, "starts_", {"stress": np.empty(0)})["stress"]
    if fitted.adjusted_ or len(stresses) < SEVERAL or not np.isclose(stresses.min(), fitted.stress_, 1e-6, 0.0):
        return np.inf
    return float(fitted.stress_ + max(FAR * fitted.stress_, 2 * np.ptp(stresses)))


class _Refit:
    """Fits with the rows of one feature permuted, and their statistics."""

    def __init__(self, setup: FitSetup, column: int, fitted: Any, statistic: Statistic) -> None:
        self.setup, self.column, self.statistic = setup, column, statistic
        self.starts, self.limit = [warm_start(fitted)], _limit_of(fitted)
        self.values: list[float] = []

    def permuted(self, order: IntArray) -> float:
        """Return the statistic of a fit with the rows in another order."""
        known = self.setup.known.copy()
        known.isetitem(self.column, known.iloc[order, self.column].set_axis(known.index))
        return self.statistic(_quietly(self._best, known), self.column)

    def _best(self, known: pd.DataFrame) -> Any:
        if self.values:
            return self.setup.fit_from(self.starts, FEW_STARTS, self._settled, known=known)
        # Where the feature means nothing, one order is as good as another: so is its map to start from.
        first = self.setup.search(self.starts, self._far, known=known)
        self.starts.append(warm_start(first))
        return first

    def _far(self, stresses: Array) -> bool:
        return bool(np.min(stresses) > self.limit)

    def _settled(self, stresses: Array) -> bool:
        return self._far(stresses) or (len(stresses) > 2 and agreed(stresses))


def _permuted(task: tuple[_Refit, IntArray]) -> float:
    refit, order = task
    return refit.permuted(order)


def _known_frame(known: Any, X: Any) -> pd.DataFrame:
    """Return known features as a DataFrame; those without labels get the labels of the objects."""
    if known is None:
        raise ValueError("known=None: there is no known feature to test; pass known.")
    labels = None if is_pandas(as_pandas(known)) else labels_of(X)
    frame = as_frame(known, lambda count: [f"known{c}" for c in range(count)])
    return frame if labels is None else frame.set_axis(labels)


def _quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function without its warnings, which the user's own fit has given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


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

    Under the hypothesis that ``n_components`` dimensions are enough, what the fit leaves is noise. New dissimilarities
    are made of the fitted distances and this noise in random order; the test asks how often the stress falls as much
    by a further dimension as it does for the data. If one distance for all pairs would describe the dissimilarities
    better than the fit does, these themselves are put in random order; so it is with no dimensions and nothing known.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit; its ``n_components``, which may be 0, is compared with one more.
    X, known, weights
        As in the estimator's ``fit``.
    n_permutations : int, default=99
        Number of sets of dissimilarities made. Each is fitted twice: from the map, and from few starts.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    Series
        ``n_components``, ``stress``, ``stress_next`` (one dimension more), ``p_value``.
    """
    import pandas as pd

    require_integer("n_permutations", n_permutations, 1)
    setup = make_setup("dimension_test", estimator, X, known, weights).unadjusted()
    p = int(estimator.n_components)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = setup.search() if p or anything_known(setup) else None
        further = FurtherDimension(setup, p, small)
        p_value = further.test(n_permutations, check_random_state(random_state))
    values = {"n_components": p, "stress": further.stress, "stress_next": further.stress_next, "p_value": p_value}
    return pd.Series(values, name="dimension_test")


class FurtherDimension:
    """The fall of the stress by one dimension more, of the data and of sets whose noise is in random order.

    All are fitted in the same way, from few starts, so that their falls can be compared.
    """

    def __init__(self, setup: FitSetup, p: int, small: Any) -> None:
        self.p, self.small = p, small  # a fit, or None: all objects in one place
        self.residuals = make_residuals(setup, small)
        self.setup, self.at_once = setup.side_by_side()
        self.stress, self.stress_next = self.stresses(setup.D)

    def stresses(self, D: Array) -> tuple[float, float]:
        """Return the stress of some dissimilarities, and that with one dimension more."""
        stress, starts = 1.0, []
        if self.small is not None:
            fitted = self.setup.fit(D, n_components=self.p, start=warm_start(self.small))
            stress, starts = float(fitted.stress_), [warm_start(fitted, 1)]
        further = self.setup.fit_from(starts, FEW_STARTS, agreed, D, n_components=self.p + 1)
        return stress, min(stress, float(further.stress_))

    def test(self, n_permutations: int, rng: Any, level: float = 1.0, progress: Advance = nobody) -> float:
        """Return the p-value of the fall, from fewer permutations where these show that it is above a level."""
        # Fits are told apart by no less than what they stop at.
        if self.stress - self.stress_next <= getattr(self.setup.estimator, "tol", 0.0):
            return 1.0
        drawn = (self.residuals.permuted(rng) for _ in range(n_permutations))
        done, as_good = 0, 0
        for stress, stress_next in each(self.stresses, drawn, self.at_once):
            done += 1
            as_good += int(as_large(1 - stress_next / stress, 1 - self.stress_next / self.stress))
            progress(done, n_permutations)
            if (1 + as_good) / (1 + n_permutations) > level:
                break
        return (1 + as_good) / (1 + done)
