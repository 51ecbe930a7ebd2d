"""Diagnostics of a fit of a study: the number of dimensions, errors, uncertainty, and other methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from .._typing import Array, IntArray
from ..estimators import stages_of
from ..inspection import (
    Stability,
    bootstrap,
    compare,
    dbrda_test,
    leak_report,
    method_names,
    scree,
    shepard,
    stress_per_point,
)
from ..problem import SCHEMES, KnownFeatures, check_known, declares_error, make_level
from ..progress import Callback, series
from ._records import Step

if TYPE_CHECKING:
    from ._study import Discovery

Result = TypeVar("Result")

MOST_DIMENSIONS = 6
# Above this number of objects, the pairs of a random sample of them are shown.
MOST_IN_PAIRS = 2000
# Parameters of a step that leave conditional scaling as it is by default.
DEFAULTS = {"n_components", "random_state", "known_types"}


class LeftOut(ValueError):  # noqa: N818 - nothing went wrong
    """A diagnostic is not available for a fit; the message has the reason, and how to get it."""


class RecordedFit:
    """Fitted distances of some objects, as inspection and plotting read them from a fitted estimator.

    `disparities_` is there only if the fit had a `level`.
    """

    def __init__(self, embedding: Array, distances: pd.DataFrame, disparities: pd.DataFrame | None, weights: Any):
        self.embedding_, self._distances, self.weights, self.metric = embedding, distances, weights, "precomputed"
        if disparities is not None:
            self.disparities_ = disparities

    def predict_dissimilarities(self) -> pd.DataFrame:
        """Return the fitted distances."""
        return self._distances


@dataclass(frozen=True)
class FittedPairs:
    """The fitted distances and the dissimilarities of all objects, or of a sample."""

    fit: RecordedFit
    dissimilarities: pd.DataFrame
    weights: dict[str, Any]

    def stress_per_point(self) -> pd.DataFrame:
        """Return each object's part of the stress."""
        return stress_per_point(self.dissimilarities, self.fit, **self.weights)

    def table(self) -> pd.DataFrame:
        """Return the pairs one a row, as :func:`unmask.inspection.shepard` does."""
        return shepard(self.dissimilarities, self.fit, **self.weights)


@dataclass(frozen=True)
class Reading:
    """Diagnostics of one step of a study; made by :meth:`Discovery.reading`.

    Methods that need further fits take a ``callback``, which gets an :class:`unmask.Progress` before each fit
    (``stage`` is the name of the method, ``iteration`` of ``max_iter`` fits are done) and after every iteration. If it
    returns True, :class:`unmask.discovery.Stopped` is raised.

    Attributes
    ----------
    study : Discovery
    step : Step
    """

    study: Discovery
    step: Step

    @property
    def data(self) -> Any:
        """The data that estimators are fitted to, not copied: dissimilarities, or features of many objects."""
        return self.study.material.data.fitted

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.study.material.objects)

    @property
    def known(self) -> pd.DataFrame | None:
        """The known features of the step; None if there were none."""
        return self.study.known_of(self.step)

    @property
    def estimator(self) -> Any:
        """The estimator of the step, not fitted."""
        return self.study.estimator_of(self.step)

    @property
    def weights(self) -> dict[str, Any]:
        """The weights of the study as an argument of a fit."""
        weights = self.study.material.weights
        return {} if weights is None else {"weights": weights}

    def coded(self) -> KnownFeatures:
        """Return the known features of the step as the fit codes them."""
        if not self.step.known:
            return KnownFeatures.nothing(self.n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has warned
            return check_known(self.known, self.n, None, self.estimator.coef, types=self.step.known_types)

    # ---- diagnostics

    def leaks(self) -> pd.DataFrame:
        """Return what the map repeats of each known feature, as :func:`unmask.inspection.leak_report` does.

        Missing cells count as they were estimated.
        """
        known = self._completed_known()
        if known is None or not self.step.n_components:
            raise LeftOut("What the map repeats is left out: nothing was known to it, or it has no dimensions.")
        return leak_report(self.step.embedding, known, known_types=self._declared)

    @property
    def _declared(self) -> dict[str, Any] | None:
        return dict(self.step.known_types) or None

    def _completed_known(self) -> pd.DataFrame | None:
        """Return the known features of the step, missing cells as they were estimated."""
        known = self.known
        for cell in self.step.imputed.to_dict("records"):
            known.loc[cell["object"], cell["feature"]] = cell["value"]  # type: ignore[union-attr]
        return known

    def dbrda(self, *, random_state: int = 0) -> pd.DataFrame:
        """Return what each known feature explains of the dissimilarities, as :func:`unmask.inspection.dbrda_test` does.

        Missing cells count as they were estimated.
        """
        types = dict(self.step.known_types) or None
        D = self.study.material.dissimilarities
        return dbrda_test(D, self._completed_known(), known_types=types, random_state=random_state)

    @property
    def most_components(self) -> int:
        """The largest number of dimensions of a scree; the known features take dimensions too."""
        most = min(MOST_DIMENSIONS, self.n - 1 - self.coded().n_dimensions)
        if most < 1:
            raise LeftOut("The scree is left out: the known features leave no dimension to add.")
        return most

    def scree(self, *, callback: Callback | None = None) -> pd.DataFrame:
        """Return the stress for 0, 1, 2 … dimensions, as :func:`unmask.inspection.scree` does."""
        given = {"max_components": self.most_components, **self.weights}
        return _in_series("scree", callback, scree, self.estimator, self.data, self.known, **given)

    def bootstrap(self, n_resamples: int = 50, *, random_state: int = 0, callback: Callback | None = None) -> Stability:
        """Return intervals of places and importances, as :func:`unmask.inspection.bootstrap` does."""
        given = {"n_resamples": n_resamples, "random_state": random_state, **self.weights}
        return _in_series("bootstrap", callback, bootstrap, self.estimator, self.data, self.known, **given)

    def rivals(
        self, methods: Sequence[str] | None = None, *, random_state: int = 0, callback: Callback | None = None
    ) -> pd.DataFrame:
        """Return scores of other methods on the same data, as :func:`unmask.inspection.compare` does.

        By default of all methods but that of the step. Missing cells of known features count as the step estimated
        them.
        """
        if not self.step.n_components:
            raise LeftOut("Other methods are left out: they need at least one dimension.")
        given = {
            "n_components": self.step.n_components,
            "methods": self.other_methods(methods),
            "known_types": self._declared,
            "random_state": random_state,
        }
        data = self.study.material.dissimilarities, self._completed_known()
        return _in_series("rivals", callback, compare, *data, **given)

    def other_methods(self, methods: Sequence[str] | None = None) -> list[str]:
        """Return the methods without that of the step itself, which has been fitted."""
        step = self.step
        chosen = set(step.params) - ({"adjust"} if not step.adjusted else set())
        is_plain = (
            step.estimator == "mds" and chosen <= DEFAULTS and not self.weights and not declares_error(step.known_types)
        )
        named = method_names() if methods is None else methods
        return [name for name in named if name != "conditional-mds" or not is_plain]

    def shepard(self) -> pd.DataFrame:
        """Return the pairs one a row, as :func:`unmask.inspection.shepard` does; for many objects those of a sample."""
        return self.pairs().table()

    def pairs(self, random_state: int = 0) -> FittedPairs:
        """Return dissimilarities and fitted distances; nothing is fitted again."""
        rows = np.sort(np.random.default_rng(random_state).choice(self.n, min(self.n, MOST_IN_PAIRS), replace=False))
        D, scheme = self.study.material.among(rows), self.step.params.get("weights")
        distances = squareform(pdist(self.step.coordinates[rows]))
        fit = RecordedFit(
            self.step.embedding.to_numpy()[rows],
            pd.DataFrame(distances, index=D.index, columns=D.index),
            self._disparities(rows),
            None if SCHEMES[scheme].follows_map else scheme,
        )
        return FittedPairs(fit, D, {name: table.iloc[rows, rows] for name, table in self.weights.items()})

    def _disparities(self, rows: IntArray) -> pd.DataFrame | None:
        """Return the dissimilarities of some objects as the measurement level of the fit transforms them.

        As in a fit, they are the admissible ones nearest to the distances, with the sum of squares that the
        dissimilarities have; or their ranks, where only the order counts.
        """
        params, objects = self.step.params, self.study.material.objects
        level = params.get("level", "ratio")
        if level == "ratio":
            return None
        transformer, _ = stages_of(self.estimator)  # such as the paths of Isomap
        D = self.study.material.dissimilarities if transformer is None else transformer.fit_transform(self.data)
        upper = np.triu_indices(self.n, 1)
        delta, distances = np.asarray(D, dtype=np.float64)[upper], pdist(self.step.coordinates)
        W = self.study.material.weights
        weight = np.ones_like(delta) if W is None else W.to_numpy()[upper]
        counts = np.isfinite(delta) & (weight > 0)
        if level == "ordinal":
            delta = rankdata(delta, nan_policy="omit") / np.count_nonzero(np.isfinite(delta))
        aims, weight = delta[counts], weight[counts]
        made = make_level(level, params.get("ties", "primary"), aims, None if W is None else weight)
        fitted = made(distances[counts])
        table = np.full((self.n, self.n), np.nan)
        np.fill_diagonal(table, 0.0)
        table[upper[0][counts], upper[1][counts]] = fitted * np.sqrt((weight @ aims**2) / (weight @ fitted**2))
        table.T[upper] = table[upper]
        return pd.DataFrame(table[np.ix_(rows, rows)], index=objects[rows], columns=objects[rows])


def _in_series(stage: str, callback: Callback | None, run: Callable[..., Result], *args: Any, **options: Any) -> Result:
    """Run a diagnostic of many fits and report how many are done."""
    with series(callback) as tell:
        return run(*args, **options, progress=lambda done, total: tell(stage, done, total))
