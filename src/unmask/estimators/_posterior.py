"""The posterior of a fitted map: what a fit keeps for it, how it is drawn, and what it reports."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import chi2
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array
from ..checking import UnfinishedWarning, quote, require_number, require_package, warn_user
from ..kernels import resolve_threads
from ..posterior import (
    TUNING,
    Draws,
    Evidence,
    Line,
    Model,
    Predicted,
    diagnostics,
    empirical_tau,
    expected_seconds,
    inference_data,
    interval,
    predict_new,
    sample,
)
from ..problem import Feature, KnownFeatures, Problem
from ..progress import Watch
from ._fitted_map import block_roots, positions_of
from ._imputed import imputed_frame, level_of, missing_cells
from ._placing import read_new
from ._summary import FOUND, GOOD, NEXT, Row, Summary, title_of
from ._tables import axis_names, coef_table, coef_values, importance_table, importance_values

if TYPE_CHECKING:
    import pandas as pd

# Beyond these the chains have not found the same, or have said too little about it.
POOR_R_HAT, POOR_ESS = 1.05, 100
# The share of the draws from which on divergences are more than chance.
MANY_DIVERGENCES = 0.01
# Draws that decide about a missing level.
VOTES = 400
# A pass over 400 objects takes some 3 ms, and 700 draws of four chains 87,000 of them: minutes; of 1,000 objects, half
# an hour.
MOST_DRAWN = 400
LONG = 60.0  # seconds from which on the expected time is a warning
FEWEST_DRAWS = 10
# What powers of the distance below these mean.
GROWTH = (
    (-0.25, "the noise is smaller at larger distances"),
    (0.25, "the noise is about the same at every distance"),
    (0.75, "the noise grows with the distance, but less than in proportion"),
    (1.25, "the noise grows in proportion to the distance"),
    (np.inf, "the noise grows faster than in proportion to the distance"),
)


# ---- what a fit keeps


class Kept(NamedTuple):
    """What a fit keeps for its posterior: its level and the evidence, or why there is none."""

    level: str
    evidence: Evidence | None
    hindrance: str = ""


def keep_for_posterior(estimator: Any, problem: Problem) -> Kept:
    """Return the pairs that count, and the level by which they were fitted; other parameters may be set afterwards."""
    hindrance = ""
    if estimator.level not in ("ratio", "interval"):
        hindrance = (
            f"level={estimator.level!r} has no posterior: the model is about how far dissimilarities are from "
            "distances, and such disparities are fitted to these. Use level='ratio' or level='interval'."
        )
    elif estimator.weights is not None:
        hindrance = (
            f"weights={estimator.weights!r} with a posterior, whose model learns by itself how the noise grows with "
            "the distance; use weights=None. (An array of weights, passed to fit, is taken for precisions.)"
        )
    elif estimator.orthogonal:
        hindrance = (
            "orthogonal=True with a posterior, whose prior is the only thing that holds the map back; use adjust=True, "
            "which takes off the map what is known, in every draw."
        )
    elif problem.n > MOST_DRAWN:
        hindrance = (
            f"posterior: there are {problem.n:,} objects, and drawing the places of more than {MOST_DRAWN} takes too "
            "long; pass a sample of them, or use unmask.inspection.bootstrap."
        )
    return Kept(estimator.level, None if hindrance else Evidence.of(problem.pairs), hindrance)


# ---- what is drawn


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """What the dissimilarities say about a map and its coefficients, with how sure it is.

    Made by :meth:`ConditionalMDS.posterior`. Dissimilarities are taken for distances with noise that may grow with the
    distance, what is unknown and the coefficients have wide normal priors, and all of them are drawn by NUTS.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map: principal axes of the mean of ``UU'`` over the draws, which does not depend on how each is turned.
    coef_ : DataFrame of shape (n_known, n_known)
        Coefficients per unit of the known features, from the mean of ``BB'``, in their symmetric positive form.
    coef_intervals_ : DataFrame
        ``estimate``, ``low``, ``high`` of the coefficients, indexed by the two features.
    importance_ : DataFrame
        ``raw`` and ``standardized`` as in the estimator, and ``low`` and ``high`` of the latter.
    noise_ : DataFrame
        ``mean``, ``low``, ``high`` of ``s``, the noise of a dissimilarity at the mean dissimilarity as a share of that
        (with ``level="interval"``, of what the mean has beyond the constant of the line), and of ``gamma``, the power
        of the distance by which it grows: 0 not at all, 1 in proportion.
    objects : DataFrame
        For each object its point, and the half-axes (``major``, ``minor``) of its credible ellipse; in one dimension
        the half-width of an interval.
    covariances : ndarray of shape (n_objects, n_components, n_components)
        Of each object's place about its point, over the draws, each turned onto the map:
        :func:`unmask.plotting.plot_map` draws ellipses of them (``ellipses=posterior``). In the squared unit of the
        dissimilarities: beyond 1e150 that is infinite, below 1e-160 it is 0, where ``objects`` still has the half-axes.
    known_imputed_ : DataFrame
        Missing cells of `known`, as in the estimator; ``certainty`` is the share of the draws with this level, and
        numbers have an interval from ``lower`` to ``upper``.
    known_corrected_ : DataFrame
        Cells of features with a measurement error: object, feature, ``value``, ``lower``, ``upper``.
    diagnostics_ : DataFrame
        ``r_hat``, ``ess_bulk``, ``ess_tail`` of the noise, the coefficients and the map, the worst of each. Where an
        R-hat is above 1.05 or an effective sample size below 100, a
        :class:`sklearn.exceptions.ConvergenceWarning` was given.
    divergences_ : int
        Draws that came from a step which diverged. If they are more than one in a hundred, the same warning was given.
    level : float
        Nominal coverage of all intervals and ellipses.
    n_draws_, n_chains_ : int
        Draws of each chain, and how many of these there are.
    object_names_ : ndarray
        Labels of the objects, or their numbers.

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> kin = load_kinship()
    >>> mds = ConditionalMDS(metric="precomputed", random_state=0).fit(kin.dissimilarities, known=kin.known[["gender"]])
    >>> posterior = mds.posterior(n_draws=100, chains=2, random_state=0)  # doctest: +SKIP
    >>> posterior.embedding_.shape  # doctest: +SKIP
    (14, 2)
    """

    draws: Draws
    unit: float  # the mean dissimilarity
    level: float
    seed: int
    title: str
    fitted: Any  # a copy of the estimator, which reads new objects
    line: Line  # what brings dissimilarities onto the scale of the distances

    @property
    def _labels(self) -> Any:
        return self.fitted._map.labels

    @property
    def _known(self) -> KnownFeatures:
        return self.draws.model.known

    @property
    def _names(self) -> pd.Index:
        import pandas as pd

        return pd.RangeIndex(self.draws.model.evidence.n) if self._labels is None else self._labels

    @property
    def object_names_(self) -> Any:
        """Labels of the objects, or their numbers."""
        return np.asarray(self._names)

    @property
    def n_chains_(self) -> int:
        """Number of chains."""
        return int(self.draws.chains.x.shape[0])

    @property
    def n_draws_(self) -> int:
        """Draws of each chain."""
        return int(self.draws.chains.x.shape[1])

    # ---- the map

    @cached_property
    def embedding_(self) -> Array:
        """The map."""
        return np.asarray(self.draws.embedding * self.unit)

    @cached_property
    def covariances(self) -> Array:
        """Covariance of each object's place about its point."""
        with np.errstate(over="ignore", under="ignore"):  # the square of a unit may be infinite, or 0
            return np.asarray(self.draws.covariances * np.square(self.unit))

    @cached_property
    def objects(self) -> pd.DataFrame:
        """Points and half-axes of the ellipses."""
        import pandas as pd

        p = self.embedding_.shape[1]
        table = pd.DataFrame(self.embedding_, index=self._names, columns=axis_names(p))
        if p:
            squares = np.maximum(np.linalg.eigvalsh(self.draws.covariances), 0.0)
            reach = np.sqrt(chi2.ppf(self.level, p) * squares) * self.unit
            table["major"], table["minor"] = reach[:, -1], reach[:, 0]
        return table

    # ---- the known features and the noise

    @cached_property
    def coef_(self) -> pd.DataFrame:
        """Coefficients per unit of the known features."""
        return coef_table(self._known, self.draws.gram.mean(axis=0), 1.0 / self.unit)

    @cached_property
    def coef_intervals_(self) -> pd.DataFrame:
        """Coefficients with intervals."""
        import pandas as pd

        lower = np.tril_indices(len(self._known.names))
        each = np.array([coef_values(self._known, gram, 1.0 / self.unit)[lower] for gram in self.draws.gram])
        names = list(self.coef_.index)
        pairs = [(names[a], names[b]) for a, b in zip(*lower, strict=True)]
        index = pd.MultiIndex.from_tuples(pairs, names=["feature", "with"]) if pairs else pd.Index([], name="feature")
        low, high = self._interval(each)
        return pd.DataFrame({"estimate": self.coef_.to_numpy()[lower], "low": low, "high": high}, index=index)

    @cached_property
    def importance_(self) -> pd.DataFrame:
        """Importance of each known feature, with an interval."""
        grams = self.draws.gram_everywhere
        each = np.array([importance_values(self._known, gram, 1.0 / self.unit)[:, 1] for gram in grams])
        low, high = self._interval(each)
        return importance_table(self._known, grams.mean(axis=0), 1.0 / self.unit).assign(low=low, high=high)

    @cached_property
    def noise_(self) -> pd.DataFrame:
        """The noise: s and gamma, with intervals."""
        import pandas as pd

        each = np.column_stack([self.draws.s, self.draws.gamma])
        low, high = self._interval(each)
        return pd.DataFrame({"mean": each.mean(axis=0), "low": low, "high": high}, index=["s", "gamma"])

    def _interval(self, each: Array) -> tuple[Array, Array]:
        return interval(each, self.level)

    # ---- cells that were not known for sure

    @cached_property
    def known_imputed_(self) -> pd.DataFrame:
        """Missing cells of known, with intervals."""
        rows = []
        for feature, row, _ in missing_cells(self._known):
            estimate = self._number(feature, row) if feature.coding.is_number else self._level(feature, row)
            rows.append((self._names[row], feature.name, *estimate, ""))
        return imputed_frame(rows)

    @cached_property
    def known_corrected_(self) -> pd.DataFrame:
        """Cells that were measured with error, with intervals."""
        import pandas as pd

        rows = []
        for feature in self._known.features:
            at = self._known.columns_of(feature)
            if at and at[0] in self._known.errors:
                measured = (row for row in range(len(self._names)) if row not in feature.missing)
                rows += [(row, feature.name, *self._number(feature, row)) for row in measured]
        table = pd.DataFrame(rows, columns=["object", "feature", "value", "certainty", "lower", "upper"])
        return table.assign(object=self._names[table["object"].to_numpy(dtype=int)]).drop(columns="certainty")

    def _number(self, feature: Feature, row: int) -> tuple[float, float, float, float]:
        """Return a cell's median in its own units, no certainty, and the ends of its interval."""
        at, coding = self._known.columns_of(feature)[0], feature.coding
        each = self.draws.V[:, row, at]
        ends = np.array([np.median(each), *self._interval(each)])
        value, low, high = np.clip(coding.restore(self._known.restore(ends, at)), coding.lower, coding.upper)
        return float(value), np.nan, float(low), float(high)

    def _level(self, feature: Feature, row: int) -> tuple[Any, float, float, float]:
        """Return the level of a cell in most draws, and in how many; of an angle the mean, and how sure that is."""
        known, at = self._known, self._known.columns_of(feature)
        roots = block_roots(self.draws.gram.mean(axis=0), known)
        cells = self.draws.V[:, row][:, at]
        if not feature.coding.levels:
            return *level_of(known, feature, cells.mean(axis=0), roots), np.nan, np.nan
        chosen = [level_of(known, feature, cell, roots)[0] for cell in cells[:: max(1, len(cells) // VOTES)]]
        best = max(feature.coding.levels, key=chosen.count)
        return best, chosen.count(best) / len(chosen), np.nan, np.nan

    # ---- dissimilarities

    def predict_dissimilarities(self, objects: Any = None, *, level: float | None = None) -> pd.DataFrame:
        """Return what a judgement of each pair would be: of pairs that were observed, and of those that were missing.

        Parameters
        ----------
        objects : array-like, optional
            Labels of some objects, or their positions where they have no labels; by default all.
        level : float, optional
            Coverage of the intervals; by default that of the posterior.

        Returns
        -------
        DataFrame
            One row per pair, indexed by its two objects: ``observed`` (NaN if missing), the mean ``distance``, and
            ``low`` and ``high``, between which another judgement of the pair would be: as precise as the one that was
            observed (its weight in `fit`), and of average precision if there was none. All are dissimilarities as they
            were given, and none of those predicted is below 0. With ``level="interval"`` the ``distance``
            is the dissimilarity that the mean distance on the map stands for: a constant and a multiple of it.
        """
        import pandas as pd

        level = self.level if level is None else require_level(level)
        at = self._positions(objects)
        i, j = np.triu_indices(len(at), 1)
        rows, columns = np.minimum(at[i], at[j]), np.maximum(at[i], at[j])
        seen = self.draws.model.evidence
        observed = seen.table(self._as_given(seen.delta), np.nan)[rows, columns]
        found = self.draws.predict(rows, columns, level, self.seed)
        index = pd.MultiIndex.from_arrays([self._names[at[i]], self._names[at[j]]], names=["object", "other"])
        return self._table(observed, found).set_axis(index)

    def _table(self, observed: Array, found: Predicted) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"observed": observed} | {name: self._as_given(x) for name, x in found._asdict().items()})

    def _as_given(self, values: Array) -> Array:
        """Return what is in the model's units as dissimilarities are given."""
        return self.line.back(values * self.unit)

    def predict_new(self, X: Any, known: Any = None, *, level: float | None = None) -> pd.DataFrame:
        """Return what judgements of the pairs of new objects with the fitted ones would be.

        Parameters
        ----------
        X, known
            New objects, as in :meth:`ConditionalMDS.transform`: their dissimilarities to the fitted objects, NaN where
            there is none yet (all may be), or their features.
        level : float, optional
            Coverage of the intervals; by default that of the posterior.

        Returns
        -------
        DataFrame
            As that of :meth:`predict_dissimilarities`, indexed by the new object and the fitted one. Judgements of a
            new object are of average precision.

        Notes
        -----
        A new object's place is drawn anew in every draw, from a normal distribution about the most likely one; the
        fitted objects stay where they are.
        """
        import pandas as pd

        level = self.level if level is None else require_level(level)
        new = read_new(self.fitted, X, known)
        delta = np.concatenate([part.astype(np.float64) for part in new.parts])
        names = pd.RangeIndex(len(new.V)) if new.labels is None else new.labels
        rng, tables = np.random.default_rng(self.seed), []
        for own, v in zip(delta, new.V, strict=True):
            tables.append(self._table(own, predict_new(self.draws, self.line(own) / self.unit, v, level, rng)))
        index = pd.MultiIndex.from_product([names, self._names], names=["object", "other"])
        return pd.concat(tables).set_axis(index)

    def _positions(self, objects: Any) -> Any:
        import pandas as pd

        listed = objects is None or pd.api.types.is_list_like(objects, allow_sets=False)
        if not listed or any(isinstance(one, list | np.ndarray) for one in (() if objects is None else objects)):
            some = list(self._names[:2])
            raise ValueError(f"objects={objects!r} must be a list of the objects whose pairs are wanted, like {some}.")
        labels, at = positions_of(self._labels, len(self._names), objects)
        if len(set(at.tolist())) < len(at):
            twice = quote(labels[labels.duplicated()].unique())
            raise ValueError(f"objects names {twice} more than once, which makes no pair; name each object once.")
        return at

    # ---- whether to believe it

    @cached_property
    def diagnostics_(self) -> pd.DataFrame:
        """R-hat and effective sample sizes."""
        return diagnostics(self.draws)

    @property
    def divergences_(self) -> int:
        """Draws that came from a step which diverged."""
        return int(np.sum(self.draws.chains.diverging))

    def summary(self) -> Summary:
        """Return in words what the noise is like, how sure the map is, and whether the chains agree.

        Returns
        -------
        Summary
            ``print`` it, or let a notebook show it; ``rows`` has its lines.
        """
        return Summary(self.title, tuple(self._rows()))

    def __repr__(self) -> str:
        return str(self.summary())

    def _rows(self) -> Iterator[Row]:
        share, gamma = self.noise_.to_dict(orient="records")
        yield Row(
            FOUND,
            "noise",
            f"a dissimilarity of average size is off by {share['mean']:.0%} "
            f"({share['low']:.0%} to {share['high']:.0%}){self._beyond}; "
            f"{how_noise_grows(gamma['mean'])} (power {gamma['mean']:.2f}, {gamma['low']:.2f} to {gamma['high']:.2f})",
        )
        if self.embedding_.shape[1]:
            size = float(np.sqrt(np.mean(np.sum(self.draws.embedding**2, axis=1))))
            error = float(np.sqrt(np.mean(np.trace(self.draws.covariances, axis1=1, axis2=2))))
            yield Row(FOUND, "map", f"an object is typically {error / size:.0%} of the map's radius off its point")
        for name, row in self.importance_.iterrows():
            yield Row(FOUND, str(name), f"importance {row['standardized']:.3g} ({row['low']:.3g} to {row['high']:.3g})")
        found = self.diagnostics_
        many = ": too many" if self._diverged else ""
        yield Row(GOOD, "chains", f"{self.n_chains_} of {self.n_draws_} draws, {self.divergences_} divergences{many}")
        yield Row(GOOD, "R-hat", f"{found['r_hat'].max():.3f}: {'they agree' if not self._disagree else 'too large'}")
        least = found[["ess_bulk", "ess_tail"]].min().min()
        yield Row(GOOD, "sample size", f"{least:.0f} effective draws at least")
        look = "plot_map(posterior, ellipses=posterior) draws the map with its ellipses"
        for doubt in self._doubts or [look]:
            yield Row(NEXT, "", doubt)

    @property
    def _beyond(self) -> str:
        return "" if self.line == Line() else f" of what it has beyond {self.line.constant:.3g}"

    @property
    def _disagree(self) -> bool:
        return not float(self.diagnostics_["r_hat"].max()) <= POOR_R_HAT

    @property
    def _diverged(self) -> bool:
        return self.divergences_ > MANY_DIVERGENCES * len(self.draws)

    @property
    def _doubts(self) -> list[str]:
        """What is wrong with the draws, and what helps."""
        few = float(self.diagnostics_[["ess_bulk", "ess_tail"]].min().min())
        wrong, doubts = [], []
        if self._disagree:
            wrong.append(f"the chains disagree (R-hat {self.diagnostics_['r_hat'].max():.2f}, should be below 1.05)")
        if not few >= POOR_ESS:
            wrong.append(f"the draws are worth only {few:.0f} independent ones (should be 100)")
        if wrong:
            doubts.append(f"{' and '.join(wrong)}: draw more (n_draws={2 * self.n_draws_}), or use fewer dimensions")
        if self._diverged:
            doubts.append(
                f"{self.divergences_} of {len(self.draws)} draws diverged, so that there may be places which the draws "
                "do not reach and intervals may be too short: use fewer dimensions, or leave out all but one of "
                "objects that are nearly the same"
            )
        return doubts

    def warn(self) -> None:
        """Warn where the draws are not to be relied on."""
        for doubt in self._doubts:
            warn_user(f"the posterior: {doubt}. See diagnostics_ and divergences_.", ConvergenceWarning)

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ has them, with its plots and diagnostics.

        Returns
        -------
        InferenceData, or DataTree from ArviZ 1 on
            ``embedding`` (each draw turned onto the map), ``importance``, ``coef``, ``s`` and ``gamma``.
        """
        known, unit = self._known, 1.0 / self.unit
        shape = self.draws.chains.x.shape[:2]
        each = {"s": self.draws.s, "gamma": self.draws.gamma, "embedding": self.draws.aligned * self.unit}
        if known.features:
            each["coef"] = np.array([coef_values(known, gram, unit) for gram in self.draws.gram])
            grams = self.draws.gram_everywhere
            each["importance"] = np.array([importance_values(known, gram, unit)[:, 1] for gram in grams])
        coords = {
            "object": self.object_names_,
            "axis": np.arange(1, self.embedding_.shape[1] + 1),
            "known": list(known.names),
            "other": list(known.names),
            "feature": list(known.feature_names),
        }
        dims = {"embedding": ["object", "axis"], "coef": ["known", "other"], "importance": ["feature"]}
        return inference_data(
            {name: values.reshape(*shape, *values.shape[1:]) for name, values in each.items()},
            {"diverging": self.draws.chains.diverging},
            coords,
            {name: of for name, of in dims.items() if name in each},
        )


def how_noise_grows(gamma: float) -> str:
    """Return the meaning of a power of the distance."""
    return next(meaning for limit, meaning in GROWTH if gamma < limit)


def require_level(level: Any) -> float:
    """Return a coverage; raise unless it is between 0 and 1."""
    if not 0 < require_number("level", level, 0.0) < 1:
        raise ValueError(f"level={level!r} must be above 0 and below 1, for example 0.95.")
    return float(level)


def draw_posterior(fitted: Any, *, n_draws: int, chains: int, level: float, seed: int, watch: Watch) -> Posterior:
    """Return the posterior of a fitted map."""
    require_package("nutpie", "a posterior", "posterior")
    kept: Kept = fitted._map.evidence
    if kept.evidence is None:
        raise ValueError(kept.hindrance)
    line = Line() if kept.level == "ratio" else kept.evidence.line_to(np.asarray(fitted.predict_dissimilarities()))
    evidence = kept.evidence.on(line)
    unit, scaled, known = evidence.unit, evidence.scaled(), fitted._map.known  # the mean dissimilarity is the unit
    to_model = 1.0 / (fitted._map.scale * unit)
    U, gram = fitted._map.U * to_model, fitted._map.roots @ fitted._map.roots.T * to_model**2
    tau = empirical_tau(scaled, U, fitted._map.Z / fitted._map.scale / unit, known)
    model = Model(scaled, known, U.shape[1], tau)
    start = model.start(U - U.mean(axis=0), gram)
    cores = min(chains, resolve_threads(fitted.n_jobs))
    size = {"chains": chains, "cores": cores}
    seconds = expected_seconds(model, start, iterations=TUNING + n_draws, **size)
    if seconds > LONG:
        warn_user(
            f"the posterior of {model.evidence.n} objects will take about {seconds / 60:.0f} minutes; with fewer draws "
            "(n_draws) or chains it is faster.",
            UserWarning,
        )
    drawn = sample(model, start, draws=n_draws, tuning=TUNING, seed=seed, watch=watch, **size)
    if not drawn.finished:
        made = drawn.x.shape[1]
        if made < FEWEST_DRAWS:
            raise ValueError("the posterior was stopped before its chains had drawn enough; let it run longer.")
        warn_user(f"the posterior was stopped after {made} of {n_draws} draws of each chain.", UnfinishedWarning)
    draws = Draws(model, drawn, int(fitted.embedding_.shape[1]), bool(fitted.adjusted_))
    found = Posterior(draws, unit, level, seed, f"posterior of {title_of(fitted)}", copy(fitted), line)
    found.warn()
    return found
