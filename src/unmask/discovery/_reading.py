"""What a fit of a study says beyond its map: the number of dimensions, errors, uncertainty, and other methods."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array, IntArray
from ..checking import KnownFeatureWarning
from ..estimators import refit
from ..inspection import (
    Stability,
    bootstrap,
    compare,
    ending_all,
    leak_report,
    method_names,
    scree,
    shepard,
    stress_per_point,
)
from ..problem import KnownFeatures, check_known, declares_error
from ..progress import Callback, series
from ._actions import Step

if TYPE_CHECKING:
    import pandas as pd

    from ._study import Discovery

MOST_DIMENSIONS = 6
# Of more objects, so many are picked at random where all pairs are shown.
MOST_IN_PAIRS = 2000
# Of the stress that the study recorded: a fit that has another one is another fit.
SAME_STRESS = 1e-6
# Parameters of a fit whose distances are those of its map and coefficients, and of the dissimilarities as they are.
PLAIN_FIT = {"level": "ratio", "weights": None}
# By this share the stress among 2,000 objects may differ from that of all.
SAMPLED_STRESS = 0.25
# Rows at a time, where all N² squares at once would take too much memory.
CHUNK = 1000
# Parameters of a step that leave conditional scaling as it is by default.
DEFAULTS = {"n_components", "random_state", "known_types"}


class LeftOut(ValueError):  # noqa: N818 - nothing went wrong
    """Something cannot be said about a fit; the message says why, and how to get it."""


@dataclass(frozen=True)
class RecordedFit:
    """Fitted distances of some objects, in the form in which inspection and plotting take a fitted estimator."""

    embedding_: Array
    distances: pd.DataFrame
    weights: Any = None
    metric: str = "precomputed"

    def predict_dissimilarities(self) -> pd.DataFrame:
        """Return the fitted distances."""
        return self.distances


@dataclass(frozen=True)
class FittedPairs:
    """A fit, and the square table of dissimilarities it was made from, of all objects or of a sample."""

    fit: Any
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
    """What a step of a study says beyond its map; made by :meth:`Discovery.reading`.

    Every method computes, and keeps nothing. Those that need further fits take a ``callback``, which hears an
    :class:`unmask.Progress` before each fit (``stage`` is the name of the method, ``iteration`` and ``max_iter`` how
    many fits are done and how many there are) and after every iteration of each; if it returns True,
    :class:`unmask.discovery.Stopped` is raised.

    Attributes
    ----------
    study : Discovery
    step : Step
    """

    study: Discovery
    step: Step

    # ---- what the step was made of

    @property
    def data(self) -> Any:
        """What estimators are fitted to, not copied: dissimilarities, or features of many objects."""
        return self.study.material.data.fitted

    @property
    def dissimilarities(self) -> pd.DataFrame:
        """The square table of dissimilarities, for what is made of few objects only."""
        return self.study.material.dissimilarities

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.study.material.objects)

    @property
    def known(self) -> pd.DataFrame | None:
        """What the step was given; None if nothing."""
        return self.study.known_of(self.step)

    @property
    def estimator(self) -> Any:
        """The estimator with the parameters it had, not fitted."""
        return self.study.estimator_of(self.step)

    @property
    def weights(self) -> dict[str, Any]:
        """The weights of the study as an argument of a fit."""
        weights = self.study.material.weights
        return {} if weights is None else {"weights": weights}

    def coded(self) -> KnownFeatures:
        """Return what the step was given as the fit codes it."""
        if not self.step.known:
            return KnownFeatures.nothing(self.n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has warned
            return check_known(self.known, self.n, None, self.estimator.coef, types=self.step.known_types)

    # ---- what it says

    def leaks(self) -> pd.DataFrame:
        """Return what the map repeats of each known feature, as :func:`unmask.inspection.leak_report` does.

        Missing cells count as they were estimated.
        """
        known = self.known
        if known is None or not self.step.n_components:
            raise LeftOut("What the map repeats is left out: nothing was known to it, or it has no dimensions.")
        for cell in self.step.imputed.to_dict("records"):
            known.loc[cell["object"], cell["feature"]] = cell["value"]
        return leak_report(self.step.embedding, known, known_types=dict(self.step.known_types) or None)

    @property
    def most_components(self) -> int:
        """The largest number of dimensions of a scree; what is known takes dimensions too."""
        most = min(MOST_DIMENSIONS, self.n - 1 - self.coded().n_dimensions)
        if most < 1:
            raise LeftOut("The scree is left out: what is known leaves no dimension to add.")
        return most

    def scree(self, *, callback: Callback | None = None) -> pd.DataFrame:
        """Return the stress for 0, 1, 2 … dimensions, as :func:`unmask.inspection.scree` does."""
        with series(callback) as tell:
            return scree(
                self.estimator,
                self.data,
                self.known,
                max_components=self.most_components,
                progress=lambda done, total: tell("scree", done, total),
                **self.weights,
            )

    def bootstrap(self, n_resamples: int = 50, *, random_state: int = 0, callback: Callback | None = None) -> Stability:
        """Return how sure places and importances are, as :func:`unmask.inspection.bootstrap` does."""
        with series(callback) as tell:
            return bootstrap(
                self.estimator,
                self.data,
                self.known,
                n_resamples=n_resamples,
                random_state=random_state,
                progress=lambda done, total: tell("bootstrap", done, total),
                **self.weights,
            )

    def rivals(
        self, methods: Sequence[str] | None = None, *, random_state: int = 0, callback: Callback | None = None
    ) -> pd.DataFrame:
        """Return scores of other methods on the same data, as :func:`unmask.inspection.compare` does.

        By default of all it knows; without conditional scaling with its defaults, if that is what the step is.
        """
        if not self.step.n_components:
            raise LeftOut("Other methods are left out: they need at least one dimension.")
        with series(callback) as tell, warnings.catch_warnings():
            warnings.simplefilter("ignore", KnownFeatureWarning)
            return compare(
                self.dissimilarities,
                self.known,
                n_components=self.step.n_components,
                methods=self.other_methods(methods),
                known_types=dict(self.step.known_types) or None,
                random_state=random_state,
                progress=lambda done, total: tell("rivals", done, total),
            )

    def other_methods(self, methods: Sequence[str] | None = None) -> list[str]:
        """Return the methods without that of the step itself, which has been fitted."""
        step = self.step
        chosen = set(step.params) - ({"adjust"} if not step.adjusted else set())
        is_plain = (
            step.estimator == "mds" and chosen <= DEFAULTS and not self.weights and not declares_error(step.known_types)
        )
        named = method_names() if methods is None else methods
        return [name for name in named if name != "conditional-mds" or not is_plain]

    def shepard(self, *, callback: Callback | None = None) -> pd.DataFrame:
        """Return the pairs one a row, as :func:`unmask.inspection.shepard` does; of many objects those of a sample."""
        return self.pairs(callback=callback).table()

    # ---- pairs

    def pairs(self, *, random_state: int = 0, callback: Callback | None = None) -> FittedPairs:
        """Return dissimilarities and fitted distances: from the record where that is enough, or fitted again."""
        found = self.recorded_pairs(random_state)
        return self.refitted_pairs(callback=callback) if found is None else found

    def recorded_pairs(self, random_state: int = 0) -> FittedPairs | None:
        """Return them from the record; None if the record is not enough."""
        rows = np.sort(np.random.default_rng(random_state).choice(self.n, min(self.n, MOST_IN_PAIRS), replace=False))
        if self.study.material.data.words:
            return self._recorded_many(rows)
        return self._recorded() if self.n <= MOST_IN_PAIRS else self._recorded_sample(rows)

    def refitted_pairs(self, *, callback: Callback | None = None) -> FittedPairs:
        """Return them of a further fit with the same parameters, which must come to the same stress."""
        with series(callback) as tell, ending_all():
            tell("shepard", 0, 1)
            again = refit(self.estimator, self.data, n_free=self.step.n_free, known=self.known, **self.weights)
        if abs(again.stress_ - self.step.stress) > SAME_STRESS:
            raise LeftOut(
                f"The Shepard diagram is left out: fitted again, the map has a stress of {again.stress_:.6f} and "
                f"not {self.step.stress:.6f}, so that it would show another map."
            )
        return FittedPairs(again, self.dissimilarities, self.weights)

    def _recorded(self) -> FittedPairs | None:
        """Return the fit computed from the recorded map and coefficients, or None if its stress is another.

        It is another where dissimilarities were transformed, or known values were moved or filled in.
        """
        Z = self._coordinates()
        fit = self._fit_of(cdist(Z, Z), self.study.material.objects)
        pairs = FittedPairs(fit, self.dissimilarities, self.weights)
        try:
            stress = pairs.stress_per_point()["stress"].sum()
        except ValueError:  # weights that moved with the map
            return None
        return pairs if abs(stress - self.step.stress) <= SAME_STRESS else None

    def _recorded_many(self, rows: IntArray) -> FittedPairs | None:
        """Return the fit of some objects whose dissimilarities are in no table.

        None where dissimilarities were transformed or weighted, or known values moved or filled in; and where the
        stress among them is so far from the one recorded that something else must have happened.
        """
        step = self.step
        if self.weights or any(step.params.get(name, plain) != plain for name, plain in PLAIN_FIT.items()):
            return None
        if len(step.imputed) or declares_error(step.known_types):
            return None
        picked = self.study.material.among(rows)
        Z = self._coordinates()[rows]
        pairs = FittedPairs(self._fit_of(cdist(Z, Z), picked.index, rows), picked, {})
        stress = float(pairs.stress_per_point()["stress"].sum())
        return pairs if abs(stress - step.stress) <= SAMPLED_STRESS * step.stress else None

    def _recorded_sample(self, rows: IntArray) -> FittedPairs | None:
        """Return the same for a sample of many objects, or None if their parts of the stress are not those recorded."""
        if self.weights or self.step.params.get("weights") is not None:
            return None
        Z, D = self._coordinates(), self.dissimilarities.to_numpy()
        distances = cdist(Z[rows], Z)
        total = sum(float(np.nansum(D[at : at + CHUNK] ** 2)) for at in range(0, self.n, CHUNK))
        parts = np.nansum((D[rows] - distances) ** 2, axis=1) / total
        if np.abs(parts - self.step.stress_per_point.to_numpy()[rows]).sum() > SAME_STRESS:
            return None
        picked = self.dissimilarities.iloc[rows, rows]
        return FittedPairs(self._fit_of(distances[:, rows], picked.index, rows), picked, {})

    def _coordinates(self) -> Array:
        """Return all fitted coordinates: those of the map, and what is known in its units."""
        coded = self.coded()
        kept = list(coded.kept)
        own = coded.values * coded.scale[kept]  # in the units of the coefficients
        return np.column_stack([self.step.free_embedding, own @ self.step.coef.to_numpy()[np.ix_(kept, kept)]])

    def _fit_of(self, distances: Array, objects: pd.Index, rows: Any = slice(None)) -> RecordedFit:
        import pandas as pd

        np.fill_diagonal(distances, 0.0)
        table = pd.DataFrame(distances, index=objects, columns=objects)
        return RecordedFit(self.step.embedding.to_numpy()[rows], table, self.step.params.get("weights"))
