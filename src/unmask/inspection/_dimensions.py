"""The number of dimensions: the stress for each, and a test of one dimension after another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import require_fraction, require_integer
from ..estimators import ConditionalTSNE, ConditionalUMAP, GeneralMDS, aims_of
from ..problem.chance import as_large
from ._fits import (
    FEW_STARTS,
    Advance,
    FitSetup,
    TooFewPairsError,
    agreed,
    counting,
    make_residuals,
    make_setup,
    warm_start,
)

if TYPE_CHECKING:
    import pandas as pd

# A dimension is decisive if it leaves less than this share of a stress above FAIR.
NEARLY_NOTHING = 0.01
FAIR = 0.01
# Maps whose stresses differ by no more than this share say the same about the number of dimensions. With more
# dimensions than are needed, many maps are nearly as good as the best.
ALIKE = 1e-3
# A further dimension with a p-value above this is not needed.
LEVEL = 0.05


def scree(
    estimator: Any,
    X: Any,
    known: Any = None,
    *,
    weights: Any = None,
    max_components: int = 6,
    progress: Advance | None = None,
) -> pd.DataFrame:
    """Return the normalised stress for 0, 1, … dimensions.

    Each number of dimensions is fitted from the usual starts and from the map with one dimension less, so that the
    stress never rises.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit; its ``n_components`` is varied.
    X, known, weights
        As in the estimator's ``fit``.
    max_components : int, default=6
        Largest number of dimensions.
    progress : callable, optional
        Called with the numbers of fits done and to do; by default a bar appears after 3 s.

    Returns
    -------
    DataFrame indexed by ``n_components``
        ``stress`` and ``fall``, the difference from one dimension less. ``attrs["elbow"]`` is the number of dimensions
        after which more change little (see :func:`elbow`). If the estimator adjusts its map, ``residual`` is the
        standard deviation of each axis of the adjusted map with `max_components` dimensions.

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import scree
    >>> kin = load_kinship()
    >>> mds = ConditionalMDS(metric="precomputed", n_init=8, random_state=0)
    >>> table = scree(mds, kin.dissimilarities, kin.known[["gender", "degree"]], max_components=3)
    >>> table["stress"].round(3).tolist()
    [0.113, 0.031, 0.014, 0.009]
    """
    with counting("scree", progress) as advance:
        return _scree(make_setup("scree", estimator, X, known, weights), max_components, advance)[0]


def _scree(setup: FitSetup, max_components: Any, advance: Advance) -> tuple[pd.DataFrame, list[_Step]]:
    """Return the table of a scree, and its fits."""
    import pandas as pd

    most = require_integer("max_components", max_components, 1)
    if isinstance(setup.estimator, GeneralMDS | ConditionalTSNE | ConditionalUMAP):
        raise ValueError(
            f"estimator is of type {type(setup.estimator).__name__}, which has a cost of its own instead of the "
            "stress; pass a ConditionalMDS to choose the number of dimensions."
        )
    if most > setup.n - 1:
        raise ValueError(
            f"max_components={most} is too many for {setup.n} objects, which fill at most {setup.n - 1} dimensions; "
            "lower it."
        )
    path = _path(setup.unadjusted(), most, advance)
    stress = [step.stress for step in path]
    table = pd.DataFrame(
        {"stress": stress, "fall": [np.nan, *np.subtract(stress[:-1], stress[1:])]},
        index=pd.RangeIndex(most + 1, name="n_components"),
    )
    table.attrs["elbow"] = elbow(stress)
    if setup.estimator.adjust and setup.anything_known:
        widest = replace(setup, n_free=most).fit(n_components=most, adjust=True)
        table["residual"] = [np.nan, *np.asarray(widest.embedding_, dtype=np.float64).std(axis=0)]
    return table, path


class _Step(NamedTuple):
    """The fit with some number of dimensions, and the best one with up to so many; None: all objects in one place."""

    stress: float = 1.0  # of the best
    best: Any = None
    fitted: Any = None


def _path(
    setup: FitSetup, most: int, advance: Advance, D: Array | None = None, full: Sequence[_Step] = ()
) -> list[_Step]:
    """Return the best fit for 0, 1, … dimensions, the stress never rising.

    Each starts from the fit with one dimension less and, if the fits to almost the same dissimilarities are given, from
    the one of these with as many dimensions; then a few other starts are enough.
    """
    steps: list[_Step] = []
    fitted = None
    for p in range(most + 1):
        advance(p, most + 1)
        if p == 0 and not setup.anything_known:
            steps.append(_Step())
            continue
        starts: list[Any] = [] if fitted is None else [warm_start(fitted, 1)]
        if full:
            starts.insert(0, warm_start(full[p].fitted))
            same = partial(agreed, same=ALIKE)
            fitted = setup.fit(D, starts=starts, few=FEW_STARTS, enough=same, n_components=p)
        else:
            fitted = setup.search(starts, same=ALIKE, D=D, n_components=p)
        # The map of one dimension less, with a further one of zeros, is a map too.
        better = not steps or fitted.stress_ <= steps[-1].stress
        steps.append(_Step(fitted.stress_, fitted, fitted) if better else steps[-1]._replace(fitted=fitted))
    advance(most + 1, most + 1)
    return steps


def elbow(stress: Any) -> int:
    """Return where a sequence of stresses bends most: the point farthest below the line between its ends.

    Both axes are scaled to their range first (Satopää and others, 2011). A dimension that removes 99% of a stress above
    .01 is always included.
    """
    values = np.asarray(stress, dtype=np.float64)
    if np.ptp(values) == 0:
        return 0
    across = np.linspace(0, 1, len(values))
    down = (values - values[-1]) / (values[0] - values[-1])
    decisive = np.flatnonzero((values[:-1] > FAIR) & (values[1:] < NEARLY_NOTHING * values[:-1])) + 1
    return max(int(np.argmax(1 - across - down)), *decisive.tolist(), 0)


# ---- tests


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

    New dissimilarities are the fitted distances with the residuals of the fit in random order; the p-value is how often
    a further dimension lowers their stress as much as that of the data. If one distance for all pairs would describe
    the dissimilarities better than the fit does, the dissimilarities themselves are permuted.

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
        with warnings.catch_warnings(action="ignore"):
            small = setup.search() if p or setup.anything_known else None
            tested = _test_further(setup, p, small, n_permutations, check_random_state(random_state), advance)
    names = ["n_components", "stress", "stress_next", "p_value"]
    return pd.Series(dict(zip(names, (p, *tested), strict=True)), name="dimension_test")


def _test_further(
    setup: FitSetup, p: int, small: Any, n_permutations: int, rng: Any, advance: Advance, level: float = 1.0
) -> tuple[float, float, float]:
    """Return the stress with p dimensions and with one more, and the p-value of the difference.

    ``small`` is a fit with p dimensions, or None: all objects in one place. The test ends when the p-value is certain
    to be above ``level``.
    """
    residuals, stresses = make_residuals(setup, small), partial(_stresses, p=p, small=small)
    stress, further = stresses(setup, setup.D)
    # A difference below the tolerance counts as none.
    if stress - further <= getattr(setup.estimator, "tol", 0.0):
        return stress, further, 1.0
    drawn = (residuals.permuted(rng) for _ in range(n_permutations))
    done, as_good = 0, 0
    for one, other in setup.each(stresses, drawn):
        done += 1
        as_good += int(as_large(1 - other / one, 1 - further / stress))
        advance(done, n_permutations)
        if (1 + as_good) / (1 + n_permutations) > level:
            break
    return stress, further, (1 + as_good) / (1 + done)


def _stresses(setup: FitSetup, D: Array, p: int, small: Any) -> tuple[float, float]:
    """Return the stress of dissimilarities with p dimensions and with one more, always from the same few starts."""
    stress, starts = 1.0, []
    if small is not None:
        fitted = setup.fit(D, n_components=p, start=warm_start(small))
        stress, starts = float(fitted.stress_), [warm_start(fitted, 1)]
    further = setup.fit(D, starts=starts, few=FEW_STARTS, enough=agreed, n_components=p + 1)
    return stress, min(stress, float(further.stress_))


def choose_n_components(
    estimator: Any,
    X: Any,
    known: Any = None,
    *,
    weights: Any = None,
    max_components: int = 6,
    n_permutations: int = 39,
    share: float = 0.1,
    n_splits: int = 10,
    random_state: Any = 0,
    progress: Advance | None = None,
) -> pd.DataFrame:
    """Choose the number of dimensions by testing one after another; predict held-out dissimilarities by each.

    From 0 on, :func:`dimension_test` is made for each number of dimensions; the choice is the first with a p-value
    above 0.05. Noise in the known features adds dimensions to the choice; few objects and much noise remove some. The
    table also shows how well each number of dimensions predicts pairs that the fit did not see.

    Parameters
    ----------
    estimator : ConditionalMDS or ConditionalIsomap
        How to fit; its ``n_components`` is varied. Of ConditionalIsomap lengths of paths are held out.
    X, known, weights
        As in the estimator's ``fit``.
    max_components : int, default=6
        Largest number of dimensions.
    n_permutations : int, default=39
        Number of permutations of each test, at least 19.
    share, n_splits : float, default=0.1, and int, default=10
        Share of the pairs that is held out at a time, and how many times; up to ``1 / share`` sets are disjoint.
    random_state : int, RandomState or None, default=0
        Seed of the splits and of the permutations.
    progress : callable, optional
        Called with the numbers of fits and permutations done and, at most, to do.

    Returns
    -------
    DataFrame indexed by ``n_components``
        ``stress``, ``fall`` (see :func:`scree`), ``p_value`` (of one dimension more; rough if above 0.05, because the
        test then ends early; NaN beyond the choice, and if there are too few pairs to test), ``heldout`` (mean
        squared error of held-out disparities, as a share of their mean square) and ``heldout_se``, its standard error.
        ``attrs["chosen"]`` is the choice, and ``attrs["elbow"]`` that of the stress alone.
    """
    fraction = require_fraction("share", share)
    splits = require_integer("n_splits", n_splits, 2)
    permutations = require_integer("n_permutations", n_permutations, 19)
    per_path = require_integer("max_components", max_components, 1) + 1
    fits = (splits + 1) * per_path
    total = fits + (per_path - 1) * permutations
    with counting("choose_n_components", progress) as advance:
        setup = make_setup("choose_n_components", estimator, X, known, weights)
        if "init" not in setup.estimator.get_params():
            raise ValueError(
                f"estimator is of type {type(estimator).__name__}, which needs all dissimilarities, so that none can "
                "be held out; pass a ConditionalMDS, or use scree."
            )
        table, full = _scree(setup, max_components, lambda done, _: advance(done, total))
        free, rng, errors = setup.unadjusted(), check_random_state(random_state), []
        held = _held_out_pairs(setup.D, fraction, splits, rng)
        with warnings.catch_warnings(
            action="ignore"
        ):  # missing pairs are intended here; of the rest the fits above have warned
            for error in free.each(partial(_held_out_error, full=full), held):
                errors.append(error)
                advance((1 + len(errors)) * per_path, total)
            p_values = _p_values(free, full, permutations, rng, lambda done: advance(fits + done, total))
        advance(total, total)
    table["p_value"] = p_values
    table["heldout"] = np.mean(errors, axis=0)
    table["heldout_se"] = np.std(errors, axis=0, ddof=1) / np.sqrt(splits)
    table.attrs["chosen"] = int(np.sum(p_values <= LEVEL))
    return table


def _p_values(
    setup: FitSetup, path: Sequence[_Step], n_permutations: int, rng: Any, report: Callable[[int], Any]
) -> Array:
    """Return the p-value of one dimension more for 0, 1, … dimensions; NaN after the first above LEVEL."""
    p_values = np.full(len(path), np.nan)
    # One seed a test: how many sets are drawn for a test that ends early depends on the number of threads.
    for p, seed in enumerate(rng.randint(2**31 - 1, size=len(path) - 1)):

        def advance(done: int, _: int, before: int = p * n_permutations) -> None:
            report(before + done)

        own = np.random.RandomState(seed)
        try:
            *_, p_values[p] = _test_further(setup, p, path[p].fitted, n_permutations, own, advance, LEVEL)
        except TooFewPairsError:
            break
        report((p + 1) * n_permutations)
        if p_values[p] > LEVEL:
            break
    return p_values


def _held_out_pairs(D: Array, share: float, n_splits: int, rng: Any) -> list[tuple[IntArray, IntArray]]:
    """Return sets of pairs to hold out, disjoint while there are enough, that leave all objects connected."""
    i, j = np.triu_indices(len(D), 1)
    present = ~np.isnan(D[i, j])
    i, j = i[present], j[present]

    def groups(kept: Any) -> int:  # of objects that the pairs connect
        graph = sp.coo_array((np.ones(len(i[kept])), (i[kept], j[kept])), shape=D.shape)
        return int(connected_components(graph, directed=False)[0])

    size, everything = max(1, round(share * len(i))), np.ones(len(i), dtype=bool)
    queue: IntArray = np.empty(0, dtype=np.int64)
    splits: list[tuple[IntArray, IntArray]] = []
    for _ in range(21 * n_splits):
        if len(queue) < size:
            queue = rng.permutation(len(i))
        held, queue = queue[:size], queue[size:]
        kept = everything.copy()
        kept[held] = False
        if groups(kept) == groups(everything):
            splits.append((i[held], j[held]))
        if len(splits) == n_splits:
            return splits
    raise ValueError(f"share={share:g}: without this share of the pairs the objects fall into groups; hold out fewer.")


def _held_out_error(setup: FitSetup, pairs: tuple[IntArray, IntArray], full: Sequence[_Step]) -> Array:
    """Return the error of the held-out pairs for each number of dimensions, as a share of their mean square.

    The search starts from the maps of all pairs; the pairs that are not held out decide between the starts.
    """
    D, (i, j) = setup.D.copy(), pairs
    D[i, j] = D[j, i] = np.nan
    errors = np.ones(len(full))
    for p, step in enumerate(_path(setup, len(full) - 1, lambda *_: None, D, full)):
        if step.best is not None:
            distances, aims = step.best.predict_dissimilarities().to_numpy()[i, j], aims_of(step.best, setup.D)[i, j]
            errors[p] = np.sum((distances - aims) ** 2) / np.sum(aims**2)
    return errors
