"""What a report is about: a study, its last step, and what has to be computed once for several sections."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array, IntArray
from ..discovery import Adoption, Discovery, Forgetting, Step
from ..inspection import Stability, bootstrap, leak_report, scree, stress_per_point
from ..kernels import MOST_SQUARED
from ..problem import KnownFeatures, check_known
from ._html import Html, note

if TYPE_CHECKING:
    import pandas as pd

# Pictures of all pairs are drawn of at most so many objects, picked at random.
MOST_IN_PAIRS = 2000
MOST_DIMENSIONS = 6
# Parameters of a fit whose distances are those of its map and coefficients, and of the dissimilarities as they are.
PLAIN_FIT = {"level": "ratio", "weights": None, "known_error": None}
# By this share the stress among 2,000 objects may differ from that of all.
SAMPLED_STRESS = 0.25
# Of the stress that the study recorded: a fit that has another one is another fit.
SAME_STRESS = 1e-6
# Rows at a time, where all N² squares at once would take too much memory.
CHUNK = 1000
# Where one fit is enough, so many times more objects are affordable.
ONE_FIT = 10


class LeftOut(Exception):  # noqa: N818 - nothing went wrong
    """A part of the page is not made; the message says why, and how to get it."""


@dataclass(frozen=True)
class ReportOptions:
    """The options of a report, checked."""

    scree: bool
    resamples: int
    rivals: Sequence[str]
    seed: int
    max_objects: int
    saved_as: str


@dataclass(frozen=True)
class RecordedFit:
    """Fitted distances of some objects, in the form in which inspection and plotting take a fitted estimator."""

    embedding_: Array
    distances: pd.DataFrame
    weights: Any = None
    metric: str = "precomputed"
    symmetrize: str | None = None

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


@dataclass
class Subject:
    """A study and what several sections of its report need; what was left out or warned of is kept for the cautions."""

    study: Discovery
    options: ReportOptions
    left_out: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    # ---- the study

    @property
    def last(self) -> Step:
        """The last fit."""
        return self.study.step

    @property
    def data(self) -> Any:
        """What the estimators of the study are fitted to, not copied: dissimilarities, or features of many objects."""
        return self.study.material.data.fitted

    @cached_property
    def dissimilarities(self) -> pd.DataFrame:
        """The dissimilarities, N² numbers, for what is made of few objects only."""
        return self.study.material.dissimilarities

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.objects)

    @property
    def objects(self) -> pd.Index:
        """Their labels."""
        return self.study.material.objects

    @property
    def missing_pairs(self) -> int:
        """Number of pairs without a dissimilarity; of many objects nobody has counted them."""
        return self.study.material.data.missing_pairs or 0

    @property
    def n_pairs(self) -> int:
        """Number of pairs, the missing ones among them."""
        return self.n * (self.n - 1) // 2

    @property
    def adoptions(self) -> list[Adoption]:
        """All adoptions, in order."""
        return [action for action in self.study.actions if isinstance(action, Adoption)]

    def after(self, number: int) -> list[Adoption | Forgetting]:
        """Return what was adopted or put aside between the fit of this number (0: the beginning) and the next."""
        between: list[Adoption | Forgetting] = []
        fits = 0
        for action in self.study.actions:
            if isinstance(action, Step):
                fits += 1
            elif fits == number:
                between.append(action)
        return between

    def coded(self, step: Step) -> KnownFeatures:
        """Return what a step was given as the fit codes it."""
        if not step.known:
            return KnownFeatures.nothing(self.n)
        mds = self.study.estimator_of(step)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has warned
            return check_known(self.study.known_of(step), self.n, None, mds.coef, types=step.known_types)

    # ---- what needs computing

    def made(self, name: str) -> Any:
        """Return what was computed under this name (`leaks`, `scree`, `stability`); None if it was not."""
        return self.__dict__.get(name)

    def require_few(self, what: str, cost: str, times: int = 1) -> None:
        """Raise `LeftOut` if there are too many objects for further fits."""
        most = times * self.options.max_objects
        if times == 1 and self.n > MOST_SQUARED:
            most, way_out = MOST_SQUARED, "Make a study of a random sample of the objects for that."
        else:
            way_out = f"Ask for it with max_objects={-(-self.n // times)}."
        if self.n > most:
            raise LeftOut(
                f"{what} is left out: it needs {cost}, and {self.n:,} objects are more than the {most:,} for which a "
                f"report makes that. {way_out}"
            )

    @cached_property
    def leaks(self) -> pd.DataFrame:
        """What the last map repeats of each known feature; missing cells as they were estimated."""
        known = self._known
        assert known is not None
        for cell in self.last.imputed.to_dict("records"):
            known.loc[cell["object"], cell["feature"]] = cell["value"]
        return leak_report(self.last.embedding, known, known_types=dict(self.last.known_types) or None)

    @cached_property
    def scree(self) -> pd.DataFrame:
        """Stress for every number of dimensions."""
        # What is known takes dimensions too.
        most = min(MOST_DIMENSIONS, self.n - 1 - self.coded(self.last).n_dimensions)
        if most < 1:
            raise LeftOut("The scree is left out: what is known leaves no dimension to add.")
        self.require_few("The scree", f"{2 * most + 1} further fits")
        return scree(self._estimator, self.data, self._known, max_components=most, **self._weights)

    @cached_property
    def stability(self) -> Stability:
        """What the bootstrap found."""
        resamples = self.options.resamples
        if self.n <= MOST_SQUARED:  # of more, only samples of the objects are fitted again
            self.require_few("The bootstrap", f"{resamples} further fits")
        seed = self.options.seed
        given: dict[str, Any] = {"n_resamples": resamples, "random_state": seed, **self._weights}
        return bootstrap(self._estimator, self.data, self._known, **given)

    @property
    def _estimator(self) -> Any:
        return self.study.estimator_of(self.last)

    @property
    def _known(self) -> pd.DataFrame | None:
        return self.study.known_of(self.last)

    @property
    def _weights(self) -> dict[str, Any]:
        return {} if self.study.material.weights is None else {"weights": self.study.material.weights}

    def fit_without_known(self) -> Any:
        """Return a fit with the last step's parameters and nothing known."""
        self.require_few("A map with nothing known", "a further fit", ONE_FIT)
        params = {"known_types": None}
        params |= {name: None for name in ("known_error",) if name in self._estimator.get_params()}
        return self._estimator.set_params(**params).fit(self.data, **self._weights)

    @cached_property
    def pairs(self) -> FittedPairs:
        """Dissimilarities and distances of the last fit: from the record where that is enough, or fitted again."""
        recorded = self._recorded_few if not self.study.material.data.words else self._recorded_many
        pairs = recorded()
        if pairs is not None:
            return pairs
        self.require_few("The Shepard diagram", "the last fit once more", ONE_FIT)
        again = self._estimator.fit(self.data, known=self._known, **self._weights)
        if abs(again.stress_ - self.last.stress) > SAME_STRESS:
            raise LeftOut(
                f"The Shepard diagram is left out: fitted again, the last map has a stress of {again.stress_:.6f} and "
                f"not {self.last.stress:.6f}, so that it would show another map."
            )
        return FittedPairs(again, self.dissimilarities, self._weights)

    def _recorded_few(self) -> FittedPairs | None:
        return self._recorded() if self.n <= MOST_IN_PAIRS else self._recorded_sample()

    def _recorded_many(self) -> FittedPairs | None:
        """Return the fit of a sample of objects whose dissimilarities are in no table.

        None where dissimilarities were transformed or weighted, or known values moved or filled in; and where the
        stress in the sample is so far from the one recorded that something else must have happened.
        """
        step, rows = self.last, self._some()
        if self._weights or any(step.params.get(name, plain) != plain for name, plain in PLAIN_FIT.items()):
            return None
        if len(step.imputed):
            return None
        picked = self.study.material.among(rows)
        Z = self._coordinates()[rows]
        pairs = FittedPairs(self._fit_of(cdist(Z, Z), picked.index, rows), picked, {})
        stress = float(pairs.stress_per_point()["stress"].sum())
        return pairs if abs(stress - step.stress) <= SAMPLED_STRESS * step.stress else None

    def _some(self) -> IntArray:
        """Return the positions of the objects that stand for all."""
        rng = np.random.default_rng(self.options.seed)
        return np.sort(rng.choice(self.n, min(self.n, MOST_IN_PAIRS), replace=False))

    def _recorded(self) -> FittedPairs | None:
        """Return the fit computed from the recorded map and coefficients, or None if its stress is another.

        It is another where dissimilarities were transformed, or known values were moved or filled in.
        """
        Z = self._coordinates()
        pairs = FittedPairs(self._fit_of(cdist(Z, Z), self.objects), self.dissimilarities, self._weights)
        try:
            stress = pairs.stress_per_point()["stress"].sum()
        except ValueError:  # weights that moved with the map
            return None
        return pairs if abs(stress - self.last.stress) <= SAME_STRESS else None

    def _recorded_sample(self) -> FittedPairs | None:
        """Return the same for a sample of many objects, or None if their parts of the stress are not those recorded."""
        if self._weights or self.last.params.get("weights") is not None:
            return None
        rows = self._some()
        Z, D = self._coordinates(), self.dissimilarities.to_numpy()
        distances = cdist(Z[rows], Z)
        total = sum(float(np.nansum(D[at : at + CHUNK] ** 2)) for at in range(0, self.n, CHUNK))
        parts = np.nansum((D[rows] - distances) ** 2, axis=1) / total
        if np.abs(parts - self.last.stress_per_point.to_numpy()[rows]).sum() > SAME_STRESS:
            return None
        picked = self.dissimilarities.iloc[rows, rows]
        return FittedPairs(self._fit_of(distances[:, rows], picked.index, rows), picked, {})

    def _coordinates(self) -> Array:
        """Return all fitted coordinates: those of the map, and what is known in its units."""
        coded = self.coded(self.last)
        kept = list(coded.kept)
        own = coded.values * coded.scale[kept]  # in the units of the coefficients
        return np.column_stack([self.last.free_embedding, own @ self.last.coef.to_numpy()[np.ix_(kept, kept)]])

    def _fit_of(self, distances: Array, objects: pd.Index, rows: Any = slice(None)) -> RecordedFit:
        import pandas as pd

        np.fill_diagonal(distances, 0.0)
        table = pd.DataFrame(distances, index=objects, columns=objects)
        return RecordedFit(self.last.embedding.to_numpy()[rows], table, self.last.params.get("weights"))

    # ---- parts that may fail

    def attempt(self, make: Callable[[], Html]) -> Html:
        """Return a part of the page, or a note on why it is missing; a failing part does not stop the others."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                made = make()
            except LeftOut as reason:
                made = self.without(str(reason))
            except ImportError as error:  # what is not installed is no caution about what was found
                made = note(f"This part is not there: {error}.")
            except Exception as error:  # a fit that cannot be repeated must not cost the whole report
                made = self.without(f"This part could not be made ({type(error).__name__}: {error})")
        said = dict.fromkeys(str(warning.message) for warning in heard)
        known = {message for step in self.study.steps for message in step.warnings}
        self.heard += [text for text in said if text not in self.heard and not any(text in one for one in known)]
        return made

    def without(self, reason: str) -> Html:
        """Return a note on why a part is missing, and list the reason among the cautions."""
        if reason not in self.left_out:
            self.left_out.append(reason)
        return note(reason)
