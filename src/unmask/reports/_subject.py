"""The study that a report is about, its last step, and what is computed once for several sections."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..discovery import Adoption, Change, Discovery, FittedPairs, LeftOut, Reading, Step
from ..inspection import Stability
from ..kernels import MOST_SQUARED
from ._page import Note, Part

if TYPE_CHECKING:
    import pandas as pd

# Where one fit is enough, so many times more objects are affordable.
ONE_FIT = 10


@dataclass(frozen=True)
class ReportOptions:
    """The options of a report, checked."""

    scree: bool
    resamples: int
    rivals: Sequence[str]
    seed: int
    max_objects: int
    saved_as: str
    interactive: bool = False


@dataclass
class Subject:
    """A study and what several sections of its report need; omissions and warnings are kept for the cautions."""

    study: Discovery
    options: ReportOptions
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    # ---- the study

    @property
    def last(self) -> Step:
        """The last fit."""
        return self.study.step

    @property
    def data(self) -> Any:
        """The data that the study's estimators are fitted to: dissimilarities, or features of many objects."""
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

    def after(self, number: int) -> list[Change]:
        """Return what was done to features between the fit of this number (0: the beginning) and the next."""
        between: list[Change] = []
        fits = 0
        for action in self.study.actions:
            if isinstance(action, Step):
                fits += 1
            elif fits == number:
                between.append(action)
        return between

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
    def reading(self) -> Reading:
        """What the last step says beyond its map."""
        return self.study.reading()

    @cached_property
    def leaks(self) -> pd.DataFrame:
        """What the last map repeats of each known feature."""
        return self.reading.leaks()

    @cached_property
    def scree(self) -> pd.DataFrame:
        """Stress for every number of dimensions."""
        self.require_few("The scree", f"{2 * self.reading.most_components + 1} further fits")
        return self.reading.scree()

    @cached_property
    def stability(self) -> Stability:
        """What the bootstrap found."""
        resamples = self.options.resamples
        self.require_few("The bootstrap", f"{resamples} further fits")
        return self.reading.bootstrap(resamples, random_state=self.options.seed)

    @cached_property
    def tests(self) -> pd.DataFrame:
        """The test of what each known feature explains of the dissimilarities."""
        self.require_few("The test of the dissimilarities", "a decomposition", ONE_FIT)
        return self.reading.dbrda(random_state=self.options.seed)

    @cached_property
    def pairs(self) -> FittedPairs:
        """Dissimilarities and distances of the last fit."""
        return self.reading.pairs(self.options.seed)

    def fit_without_known(self) -> Any:
        """Return a fit with the last step's parameters and nothing known."""
        self.require_few("A map with nothing known", "a further fit", ONE_FIT)
        return self.reading.estimator.set_params(known_types=None).fit(self.reading.data, **self.reading.weights)

    # ---- parts that may fail

    def attempt(self, make: Callable[[], Sequence[Part]]) -> Sequence[Part]:
        """Return parts of the page, or a note on why they are missing; failing parts do not stop the others."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                made = make()
            except LeftOut as reason:
                made = [self.without(str(reason))]
            except ImportError as error:  # a package that is not installed is no caution about the findings
                made = [Note(f"This part is not there: {error}.")]
            except Exception as error:  # a fit that cannot be repeated must not cost the whole report
                made = [self.without(f"This part could not be made ({type(error).__name__}: {error})")]
        # Other packages' remarks about themselves are no cautions either.
        texts = dict.fromkeys(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
        known = {message for step in self.study.steps for message in step.warnings}
        self.remarks += [t for t in texts if t not in self.remarks and not any(t in one for one in known)]
        return made

    def without(self, reason: str) -> Note:
        """Return a note on why a part is missing, and list the reason among the cautions."""
        if reason not in self.left_out:
            self.left_out.append(reason)
        return Note(reason)
