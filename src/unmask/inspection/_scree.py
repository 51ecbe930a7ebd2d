"""Choosing the number of dimensions: by the elbow of the stress, or by tests of one dimension after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import require_integer, require_number
from ..estimators import ConditionalTSNE, ConditionalUMAP, GeneralMDS, aims_of
from ._fits import FEW_STARTS, Advance, FitSetup, agreed, counting, make_setup, quiet, warm_start
from ._permutation import FurtherDimension
from ._residuals import TooFewPairsError

if TYPE_CHECKING:
    import pandas as pd

# A dimension is decisive if it leaves less than this share of a stress above this.
NEARLY_NOTHING = 0.01
# Maps whose stresses differ by no more than this share say the same about the number of dimensions. Where there are
# more than are needed, many maps are nearly as good as the best.
ALIKE = 1e-3
FAIR = 0.01
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

    Each number of dimensions is fitted from the usual starts and, in addition, from the map with one dimension less, so
    that the stress never rises with the number of dimensions.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit; its ``n_components`` is varied. The closed form has no starts.
    X, known, weights
        As in the estimator's ``fit``.
    max_components : int, default=6
        Largest number of dimensions.
    progress : callable, optional
        Called with how many numbers of dimensions are done, and how many there are. Without it, a bar appears after 3 s
        in a terminal or a notebook.

    Returns
    -------
    DataFrame indexed by ``n_components``
        ``stress`` and ``fall`` (by how much it is below that of one dimension less). ``attrs["elbow"]`` is the number
        of dimensions after which adding more pays little (see :func:`elbow`). If the estimator adjusts its map,
        ``residual`` is the standard deviation of each axis of the adjusted map with `max_components` dimensions.

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
    """Return the table of a scree, and the fits it is of."""
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
    """A fit with some number of dimensions."""

    stress: float
    distances: Array
    aims: Array  # what the distances stand for, of the pairs that the fit did not see too
    fitted: Any = None  # None where all objects are in one place

    def error(self, i: IntArray, j: IntArray) -> float:
        """Return the squared error of some pairs, as a share of their sum of squares."""
        aims = self.aims[i, j]
        return float(np.sum((self.distances[i, j] - aims) ** 2) / np.sum(aims**2))


def _path(
    setup: FitSetup, most: int, advance: Advance, D: Array | None = None, full: Sequence[_Step] = ()
) -> list[_Step]:
    """Return for 0, 1, … dimensions the best fit, the stress never rising.

    Each starts from the fit with one dimension less and, if those of almost the same dissimilarities are given, from
    the one of these with as many dimensions; then a few other starts are enough.
    """
    steps: list[_Step] = []
    fitted = None
    for p in range(most + 1):
        advance(p, most + 1)
        if p == 0 and not setup.anything_known:
            steps.append(_Step(1.0, np.zeros_like(setup.D), setup.D))  # all objects in one place
            continue
        starts: list[Any] = [] if fitted is None else [warm_start(fitted, 1)]
        if full:
            starts.insert(0, warm_start(full[p].fitted))
            same = partial(agreed, same=ALIKE)
            fitted = setup.fit(D, starts=starts, few=FEW_STARTS, enough=same, n_components=p)
        else:
            fitted = setup.search(starts, same=ALIKE, D=D, n_components=p)
        best = _Step(fitted.stress_, fitted.predict_dissimilarities().to_numpy(), aims_of(fitted, setup.D), fitted)
        # The map of one dimension less, with a further one of zeros, is a map too.
        lowest = min(best, *steps[-1:], key=lambda step: step.stress) if steps else best
        steps.append(lowest._replace(fitted=fitted))
    advance(most + 1, most + 1)
    return steps


def elbow(stress: Any) -> int:
    """Return where a falling curve bends most: the point farthest below the line between its ends.

    Both axes are scaled to their range first (Satopää and others, 2011). A dimension that removes 99% of a stress above
    .01 (.1 as Kruskal measures it, which he calls fair) is always included.

    Parameters
    ----------
    stress : sequence
        Stress for 0, 1, … dimensions.
    """
    values = np.asarray(stress, dtype=np.float64)
    if np.ptp(values) == 0:
        return 0
    across = np.linspace(0, 1, len(values))
    down = (values - values[-1]) / (values[0] - values[-1])
    decisive = np.flatnonzero((values[:-1] > FAIR) & (values[1:] < NEARLY_NOTHING * values[:-1])) + 1
    return max(int(np.argmax(1 - across - down)), *decisive.tolist(), 0)


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

    From 0 on, :func:`dimension_test` asks whether the stress falls more by a further dimension than it does by chance.
    The choice is the first number of dimensions with a p-value above 0.05. If the known features are observed with
    noise, more dimensions are chosen than there are unknown features; with few objects and much noise, fewer are.

    To show how well each number of dimensions predicts, a random share of the pairs is treated as missing and
    predicted by the fitted distances, several times over. All of this takes some 10 s for 30 objects, and half a minute
    for 100, on one core.

    Parameters
    ----------
    estimator : ConditionalMDS or ConditionalIsomap
        How to fit; its ``n_components`` is varied. With ConditionalIsomap lengths of paths are held out, which
        determine each other more than dissimilarities do.
    X, known, weights
        As in the estimator's ``fit``.
    max_components : int, default=6
        Largest number of dimensions.
    n_permutations : int, default=39
        Number of permutations of each test; fewer than 19 never give a p-value of 0.05.
    share : float, default=0.1
        Share of the pairs that is held out at a time. No object loses all of its pairs.
    n_splits : int, default=10
        Number of times; up to ``1 / share`` the held-out sets are disjoint.
    random_state : int, RandomState or None, default=0
        Seed of the splits and of the permutations.
    progress : callable, optional
        Called with how many fits and permutations are done, and how many there are at most.

    Returns
    -------
    DataFrame indexed by ``n_components``
        ``stress``, ``fall`` (see :func:`scree`), ``p_value`` (of one dimension more; rough if above 0.05, because the
        test then ends early; NaN beyond the choice, and where there are too few pairs to test), ``heldout`` (mean
        squared error of held-out dissimilarities, as a share of their mean square; where `level` transforms
        dissimilarities, both as the fit to the others transforms them) and ``heldout_se``, its standard error.
        ``attrs["chosen"]`` is the choice, and ``attrs["elbow"]`` that of the stress alone.
    """
    fraction = require_number("share", share, 0.0)
    if not 0 < fraction < 1:
        raise ValueError(f"share={share!r} must be above 0 and below 1: the share of the pairs that is held out.")
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
        with quiet():  # that pairs are missing is what this is about; other warnings the fits of the path have given
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
    """Return the p-value of one dimension more for 0, 1, … dimensions; after the first above LEVEL they are NaN."""
    found = np.full(len(path), np.nan)
    # One seed a test: how many sets are drawn for a test that ends early depends on the number of threads.
    for p, seed in enumerate(rng.randint(2**31 - 1, size=len(path) - 1)):
        try:
            further = FurtherDimension(setup, p, path[p].fitted)
        except TooFewPairsError:
            break

        def advance(done: int, _: int, before: int = p * n_permutations) -> None:
            report(before + done)

        found[p] = further.test(n_permutations, np.random.RandomState(seed), advance, LEVEL)
        report((p + 1) * n_permutations)
        if found[p] > LEVEL:
            break
    return found


def _held_out_pairs(D: Array, share: float, n_splits: int, rng: Any) -> list[tuple[IntArray, IntArray]]:
    """Return sets of pairs to hold out, disjoint while there are enough, that leave all objects connected."""
    i, j = np.triu_indices(len(D), 1)
    present = ~np.isnan(D[i, j])
    i, j = i[present], j[present]
    size, groups = max(1, round(share * len(i))), _groups(i, j, len(D))
    queue: IntArray = np.empty(0, dtype=np.int64)
    splits: list[tuple[IntArray, IntArray]] = []
    for _ in range(21 * n_splits):
        if len(queue) < size:
            queue = rng.permutation(len(i))
        held, queue = queue[:size], queue[size:]
        if _groups(np.delete(i, held), np.delete(j, held), len(D)) == groups:
            splits.append((i[held], j[held]))
        if len(splits) == n_splits:
            return splits
    raise ValueError(f"share={share:g}: without this share of the pairs the objects fall into groups; hold out fewer.")


def _groups(rows: IntArray, columns: IntArray, n: int) -> int:
    """Return how many groups of objects the pairs connect."""
    graph = sp.coo_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(n, n))
    return int(connected_components(graph, directed=False)[0])


def _held_out_error(setup: FitSetup, pairs: tuple[IntArray, IntArray], full: Sequence[_Step]) -> Array:
    """Return the error of the held-out pairs for each number of dimensions, as a share of their mean square.

    The search starts from the maps of all pairs; which of the starts is the best, the pairs that are not held out say.
    """
    D, (i, j) = setup.D.copy(), pairs
    D[i, j] = D[j, i] = np.nan
    path = _path(setup, len(full) - 1, lambda *_: None, D, full)
    return np.array([step.error(i, j) for step in path])
