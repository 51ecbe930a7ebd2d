"""The posterior of a fitted map: what a fit keeps for it, how it is drawn, and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array
from ..checking import UnfinishedWarning, quote, require_fraction, require_package, warn_user
from ..kernels import resolve_threads
from ..posterior import (
    TUNING,
    Draws,
    Evidence,
    Line,
    Model,
    Predicted,
    empirical_tau,
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

# Beyond these the chains have found different things, or have too few effective draws.
POOR_R_HAT, POOR_ESS = 1.05, 100
# The share of the draws from which on divergences are more than chance.
MANY_DIVERGENCES = 0.01
# Draws that decide about a missing level.
VOTES = 400
# A pass over 400 objects takes some 3 ms, and 700 draws of four chains 87,000 of them: minutes; of 1,000 objects, half
# an hour.
MOST_DRAWN = 400
FEWEST_DRAWS = 10
# The meaning of powers of the distance below these.
GROWTH = (
    (-0.25, "the noise is smaller at larger distances"),
    (0.25, "the noise is about the same at every distance"),
    (0.75, "the noise grows with the distance, but less than in proportion"),
    (1.25, "the noise grows in proportion to the distance"),
    (np.inf, "the noise grows faster than in proportion to the distance"),
)


def keep_for_posterior(estimator: Any, problem: Problem) -> tuple[str, Evidence | str]:
    """Return the level of a fit and the pairs that count, or why there is no posterior."""
    level, weights = estimator.level, estimator.weights
    if level not in ("ratio", "interval"):
        return level, (
            f"level={level!r} has no posterior: the model is about how far dissimilarities are from distances, and "
            "such disparities are fitted to these. Use level='ratio' or level='interval'."
        )
    if weights is not None:
        return level, (
            f"weights={weights!r} with a posterior, whose model learns by itself how the noise grows with the "
            "distance; use weights=None. (An array of weights, passed to fit, is taken for precisions.)"
        )
    if estimator.orthogonal:
        return level, (
            "orthogonal=True with a posterior, whose prior is the only thing that holds the map back; use adjust=True, "
            "which removes the known features from the map in every draw."
        )
    if problem.n > MOST_DRAWN:
        return level, (
            f"posterior: there are {problem.n:,} objects, and drawing the places of more than {MOST_DRAWN} takes too "
            "long; pass a sample of them, or use unmask.inspection.bootstrap."
        )
    return level, Evidence.of(problem.pairs)


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """The posterior of a map and its coefficients, made by :meth:`ConditionalMDS.posterior`.

    Dissimilarities are distances with noise that may grow with the distance. The unknown features and the coefficients
    have wide normal priors. All of them are drawn by NUTS.

    Attributes
    ----------
    level : float
        Nominal coverage of all intervals and ellipses.

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
    fitted: Any  # a copy of the estimator, which reads new objects
    line: Line  # from the distances to the dissimilarities

    @property
    def _known(self) -> KnownFeatures:
        return self.draws.model.known

    @property
    def _names(self) -> pd.Index:
        return positions_of(self.fitted._map.labels, self.draws.model.evidence.n, None)[0]

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
        """The map (n_objects x n_components): principal axes of the mean of ``UU'`` over the draws."""
        return np.asarray(self.draws.embedding * self.unit)

    @cached_property
    def covariances(self) -> Array:
        """Covariance of each object's place about its point, over the draws rotated onto the map.

        :func:`unmask.plotting.plot_map` draws ellipses of them (``ellipses=posterior``). In the squared unit of the
        dissimilarities, which is infinite beyond 1e150 and 0 below 1e-160.
        """
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self.draws.covariances * np.square(self.unit))

    @cached_property
    def objects(self) -> pd.DataFrame:
        """For each object its point, and the half-axes (``major``, ``minor``) of its credible ellipse or interval."""
        import pandas as pd

        p = self.embedding_.shape[1]
        table = pd.DataFrame(self.embedding_, index=self._names, columns=axis_names(p))
        if p:
            squares = np.maximum(np.linalg.eigvalsh(self.draws.covariances), 0.0)
            reach = np.sqrt(chi2.ppf(self.level, p) * squares) * self.unit
            table["major"], table["minor"] = reach[:, -1], reach[:, 0]
        return table

    # ---- the known features and the noise

    def _coefs(self) -> Array:
        return np.array([coef_values(self._known, gram, 1.0 / self.unit) for gram in self.draws.gram])

    def _importances(self) -> Array:
        grams = self.draws.gram_everywhere
        return np.array([importance_values(self._known, gram, 1.0 / self.unit)[:, 1] for gram in grams])

    @cached_property
    def coef_(self) -> pd.DataFrame:
        """Coefficients per unit of the known features, from the mean of ``BB'``, in their symmetric positive form."""
        return coef_table(self._known, self.draws.gram.mean(axis=0), 1.0 / self.unit)

    @cached_property
    def coef_intervals_(self) -> pd.DataFrame:
        """``estimate``, ``low``, ``high`` of the coefficients, indexed by the two features."""
        import pandas as pd

        names, lower = self.coef_.index, np.tril_indices(len(self._known.names))
        pairs = list(zip(names[lower[0]], names[lower[1]], strict=True))
        index = pd.MultiIndex.from_tuples(pairs, names=["feature", "with"]) if pairs else pd.Index([], name="feature")
        low, high = interval(self._coefs()[:, *lower], self.level)
        return pd.DataFrame({"estimate": self.coef_.to_numpy()[lower], "low": low, "high": high}, index=index)

    @cached_property
    def importance_(self) -> pd.DataFrame:
        """``raw`` and ``standardized`` importance as in the estimator, and ``low`` and ``high`` of the latter."""
        low, high = interval(self._importances(), self.level)
        gram = self.draws.gram_everywhere.mean(axis=0)
        return importance_table(self._known, gram, 1.0 / self.unit).assign(low=low, high=high)

    @cached_property
    def noise_(self) -> pd.DataFrame:
        """``mean``, ``low``, ``high`` of ``s`` and ``gamma``.

        ``s`` is the noise of a dissimilarity of average size, as a share of it (with ``level="interval"``, of the part
        beyond the constant of the line); ``gamma`` is the power of the distance by which the noise grows.
        """
        import pandas as pd

        each = np.column_stack([self.draws.s, self.draws.gamma])
        low, high = interval(each, self.level)
        return pd.DataFrame({"mean": each.mean(axis=0), "low": low, "high": high}, index=["s", "gamma"])

    # ---- uncertain cells of the known features

    @cached_property
    def known_imputed_(self) -> pd.DataFrame:
        """Missing cells of `known`, as in the estimator.

        ``certainty`` is the share of the draws with this level; numbers have an interval (``lower``, ``upper``).
        """
        rows = []
        for feature, row, _ in missing_cells(self._known):
            estimate = self._number(feature, row) if feature.coding.is_number else self._level(feature, row)
            rows.append((self._names[row], feature.name, *estimate, ""))
        return imputed_frame(rows)

    @cached_property
    def known_corrected_(self) -> pd.DataFrame:
        """Cells measured with error: object, feature, ``value``, ``lower``, ``upper``."""
        import pandas as pd

        rows = []
        for feature in self._known.features:
            if not self._known.errors.keys().isdisjoint(self._known.columns_of(feature)):
                measured = np.setdiff1d(np.arange(len(self._names)), feature.missing).tolist()
                rows += [(self._names[row], feature.name, *self._number(feature, row)) for row in measured]
        columns = ["object", "feature", "value", "certainty", "lower", "upper"]
        return pd.DataFrame(rows, columns=columns).drop(columns="certainty")

    def _number(self, feature: Feature, row: int) -> tuple[float, float, float, float]:
        """Return a cell's median in its own units, no certainty, and the ends of its interval."""
        at, coding = self._known.columns_of(feature)[0], feature.coding
        each = self.draws.V[:, row, at]
        ends = np.array([np.median(each), *interval(each, self.level)])
        value, low, high = np.clip(coding.restore(self._known.restore(ends, at)), coding.lower, coding.upper)
        return float(value), np.nan, float(low), float(high)

    def _level(self, feature: Feature, row: int) -> tuple[Any, float, float, float]:
        """Return the most frequent level of a cell and its share of the draws; for an angle the mean and certainty."""
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
        """Return predictions of another judgement of each pair, whether it was observed or missing.

        Parameters
        ----------
        objects : array-like, optional
            Labels of some objects, or their positions if they have no labels; by default all.
        level : float, optional
            Coverage of the intervals; by default that of the posterior.

        Returns
        -------
        DataFrame
            One row per pair, indexed by its two objects: ``observed`` (NaN if missing), the mean ``distance``, and the
            interval from ``low`` to ``high`` for another judgement, as precise as the observed one (its weight in
            `fit`), or of average precision if there was none. All are in the units of the dissimilarities, and at
            least 0. With ``level="interval"`` the ``distance`` is the dissimilarity at the mean distance.
        """
        import pandas as pd

        at = self._positions(objects)
        i, j = np.triu_indices(len(at), 1)
        rows, columns = np.minimum(at[i], at[j]), np.maximum(at[i], at[j])
        seen = self.draws.model.evidence
        observed = seen.table(self.line.back(seen.delta * self.unit), np.nan)[rows, columns]
        predicted = self.draws.predict(rows, columns, self._coverage(level), self.seed)
        index = pd.MultiIndex.from_arrays([self._names[at[i]], self._names[at[j]]], names=["object", "other"])
        return self._table(observed, predicted).set_axis(index)

    def predict_new(self, X: Any, known: Any = None, *, level: float | None = None) -> pd.DataFrame:
        """Return predictions of judgements of the pairs of new objects with the fitted ones.

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
        A new object's place is drawn in every draw, from a normal distribution about the most likely one; the fitted
        objects stay where they are.
        """
        import pandas as pd

        level, new, rng = self._coverage(level), read_new(self.fitted, X, known), np.random.default_rng(self.seed)
        delta = np.concatenate([part.astype(np.float64) for part in new.parts])
        names = pd.RangeIndex(len(new.V)) if new.labels is None else new.labels
        tables = [
            self._table(own, predict_new(self.draws, self.line(own) / self.unit, v, level, rng))
            for own, v in zip(delta, new.V, strict=True)
        ]
        return pd.concat(tables).set_axis(pd.MultiIndex.from_product([names, self._names], names=["object", "other"]))

    def _coverage(self, level: float | None) -> float:
        return self.level if level is None else require_fraction("level", level)

    def _table(self, observed: Array, predicted: Predicted) -> pd.DataFrame:
        import pandas as pd

        columns = {name: self.line.back(values * self.unit) for name, values in predicted._asdict().items()}
        return pd.DataFrame({"observed": observed} | columns)

    def _positions(self, objects: Any) -> Any:
        import pandas as pd

        listed = objects is None or pd.api.types.is_list_like(objects, allow_sets=False)
        if not listed or any(isinstance(one, list | np.ndarray) for one in (() if objects is None else objects)):
            some = list(self._names[:2])
            raise ValueError(f"objects={objects!r} must be a list of the objects whose pairs are wanted, like {some}.")
        labels, at = positions_of(self.fitted._map.labels, len(self._names), objects)
        if len(set(at.tolist())) < len(at):
            twice = quote(labels[labels.duplicated()].unique())
            raise ValueError(f"objects names {twice} more than once, which makes no pair; name each object once.")
        return at

    # ---- reliability

    @cached_property
    def diagnostics_(self) -> pd.DataFrame:
        """``r_hat``, ``ess_bulk``, ``ess_tail`` of the noise, the coefficients and the map, the worst of each.

        If an R-hat is above 1.05 or an effective sample size below 100, a
        :class:`sklearn.exceptions.ConvergenceWarning` was given.
        """
        return self.draws.diagnostics()

    @property
    def divergences_(self) -> int:
        """Draws that came from a step which diverged; more than one in a hundred give the same warning."""
        return int(np.sum(self.draws.chains.diverging))

    def summary(self) -> Summary:
        """Return in words how large the noise is, how certain the map is, and whether the chains agree.

        Returns
        -------
        Summary
        """
        return Summary(f"posterior of {title_of(self.fitted)}", tuple(self._rows()))

    def __repr__(self) -> str:
        return str(self.summary())

    def _rows(self) -> Iterator[Row]:
        def text(row: Any, form: str) -> str:
            return f"{row['mean']:{form}} ({row['low']:{form}} to {row['high']:{form}})"

        share, gamma = self.noise_.to_dict(orient="records")
        beyond = "" if self.line == Line() else f" of what it has beyond {self.line.constant:.3g}"
        growth = next(meaning for limit, meaning in GROWTH if gamma["mean"] < limit)
        noise = f"a dissimilarity of average size is off by {text(share, '.0%')}{beyond}"
        yield Row(FOUND, "noise", f"{noise}; {growth}: power {text(gamma, '.2f')}")
        if self.embedding_.shape[1]:
            size = np.sqrt(np.mean(np.sum(self.draws.embedding**2, axis=1)))
            error = np.sqrt(np.mean(np.trace(self.draws.covariances, axis1=1, axis2=2)))
            yield Row(FOUND, "map", f"an object is typically {error / size:.0%} of the map's radius off its point")
        for name, row in self.importance_.rename(columns={"standardized": "mean"}).iterrows():
            yield Row(FOUND, str(name), f"importance {text(row, '.3g')}")
        r_hat, effective, *doubts = self._reliability()
        yield Row(GOOD, "chains", f"{self.n_chains_} of {self.n_draws_} draws, {self.divergences_} divergences")
        yield Row(GOOD, "R-hat", f"{r_hat:.3f}: {'they agree' if r_hat <= POOR_R_HAT else 'too large'}")
        yield Row(GOOD, "sample size", f"{effective:.0f} effective draws at least")
        for doubt in doubts or ["plot_map(posterior, ellipses=posterior) draws the map with its ellipses"]:
            yield Row(NEXT, "", str(doubt))

    def _reliability(self) -> tuple[Any, ...]:
        """Return the largest R-hat, the smallest effective sample size, and doubts, each with a remedy."""
        r_hat = float(self.diagnostics_["r_hat"].max())
        effective = float(self.diagnostics_[["ess_bulk", "ess_tail"]].min().min())
        wrong, doubts = [], []
        if not r_hat <= POOR_R_HAT:  # NaN included
            wrong.append(f"the chains disagree (R-hat {r_hat:.2f}, should be below {POOR_R_HAT})")
        if not effective >= POOR_ESS:
            wrong.append(f"the draws are worth only {effective:.0f} independent ones (should be {POOR_ESS})")
        if wrong:
            doubts.append(f"{' and '.join(wrong)}: draw more (n_draws={2 * self.n_draws_}), or use fewer dimensions")
        if self.divergences_ > MANY_DIVERGENCES * len(self.draws):
            doubts.append(
                f"{self.divergences_} of {len(self.draws)} draws diverged, too many: there may be places that the "
                "draws do not reach, and intervals may be too short. Use fewer dimensions, or leave out all but one of "
                "objects that are nearly the same"
            )
        return r_hat, effective, *doubts

    def warn(self) -> None:
        """Warn if the draws are not to be relied on."""
        for doubt in self._reliability()[2:]:
            warn_user(f"the posterior: {doubt}. See diagnostics_ and divergences_.", ConvergenceWarning)

    def to_arviz(self) -> Any:
        """Return the draws for ArviZ's plots and diagnostics.

        Returns
        -------
        InferenceData, or DataTree from ArviZ 1 on
            ``embedding`` (each draw rotated onto the map), ``importance``, ``coef``, ``s`` and ``gamma``.
        """
        az = require_package("arviz", "a posterior", "posterior")
        known, chains = self._known, self.draws.chains
        each = {"s": self.draws.s, "gamma": self.draws.gamma, "embedding": self.draws.aligned * self.unit}
        dims = {"embedding": ["object", "axis"]}
        if known.features:
            each |= {"coef": self._coefs(), "importance": self._importances()}
            dims |= {"coef": ["known", "other"], "importance": ["feature"]}
        coords = {
            "object": self.object_names_,
            "axis": np.arange(1, self.embedding_.shape[1] + 1),
            "known": list(known.names),
            "other": list(known.names),
            "feature": list(known.feature_names),
        }
        groups = {
            "posterior": {name: x.reshape(*chains.x.shape[:2], *x.shape[1:]) for name, x in each.items()},
            "sample_stats": {"diverging": chains.diverging},
        }
        if int(az.__version__.partition(".")[0]) < 1:
            return az.from_dict(**groups, coords=coords, dims=dims)
        return az.from_dict(groups, coords=coords, dims=dims)


def draw_posterior(fitted: Any, *, n_draws: int, chains: int, level: float, seed: int, watch: Watch) -> Posterior:
    """Return the posterior of a fitted map."""
    require_package("nutpie", "a posterior", "posterior")
    fitted_level, kept = fitted._map.evidence
    if isinstance(kept, str):
        raise ValueError(kept)
    line = Line() if fitted_level == "ratio" else kept.line_to(np.asarray(fitted.predict_dissimilarities()))
    (evidence, unit), known = kept.scaled(line), fitted._map.known
    to_model = 1.0 / (fitted._map.scale * unit)
    U, gram = fitted._map.U * to_model, fitted._map.roots @ fitted._map.roots.T * to_model**2
    tau = empirical_tau(evidence, U, fitted._map.Z / fitted._map.scale / unit, known)
    model = Model(evidence, known, U.shape[1], tau)
    start = model.start(U - U.mean(axis=0), gram)
    cores = min(chains, resolve_threads(fitted.n_jobs))
    size = {"draws": n_draws, "tuning": TUNING, "chains": chains, "cores": cores}
    drawn = sample(model, start, **size, seed=seed, watch=watch)
    if not drawn.finished:
        made = drawn.x.shape[1]
        if made < FEWEST_DRAWS:
            raise ValueError("the posterior was stopped before its chains had drawn enough; let it run longer.")
        warn_user(f"the posterior was stopped after {made} of {n_draws} draws of each chain.", UnfinishedWarning)
    draws = Draws(model, drawn, int(fitted.embedding_.shape[1]), bool(fitted.adjusted_))
    posterior = Posterior(draws, unit, level, seed, copy(fitted), line)
    posterior.warn()
    return posterior
