"""What was done in a study, one record each: a fit, an adoption, a correction, a feature put aside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..checking import count
from ._clusters import MOST_LINKED
from ._locked import lock_tables
from ._values import as_code

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, kw_only=True)
class _Record:
    """What was done, with its place in the tree of the study, in a form that can be copied."""

    id: int = field(default=0, repr=False)
    parent: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        lock_tables(self)

    def copy(self) -> Self:
        """Return the same with tables of its own, which can be changed."""
        return deepcopy(self)


@dataclass(frozen=True, eq=False)
class Step(_Record):
    """One fit of a study, with everything that it found.

    Attributes
    ----------
    id, parent : int
        Its own number in the study, and that of the action before it; 0 for the beginning.
    number : int
        1 for the first fit on the way to it, 2 for the next …
    estimator : str
        Name of the estimator: ``"mds"``, ``"isomap"`` or ``"classical"``.
    params : dict
        Parameters as they were given, the number of dimensions and the seed among them.
    known : tuple of str
        The known features it was given.
    known_types : dict
        Their types, where these were declared.
    embedding : DataFrame of shape (n_objects, n_components)
        The map, with columns axis1, axis2 …
    coef, importance : DataFrame
        ``coef_`` and ``importance_`` of the estimator.
    imputed : DataFrame
        ``known_imputed_`` of the estimator: missing cells as they were estimated.
    stress, leak : float
        ``stress_`` and ``leak_`` of the estimator.
    shown_stress : float
        ``shown_stress_``: the stress of the dimensions shown; other than `stress` only if an adjusted map shows fewer
        dimensions than were fitted. NaN in a study of an earlier version.
    known_stress : float
        The stress of the known features alone, without a map; 1 if nothing was known. Above 100 objects, of a random
        sample of 100. NaN if there is none, and in a study of an earlier version.
    stress_se : float
        ``stress_se_``: the standard error of the stress where it was estimated from some of the pairs, else 0.
    solver : str
        ``solver_``: which solver was used, and why; empty where there was no choice.
    leak_reference : float
        ``leak_reference_``: 19 of 20 random maps have a lower leak; NaN in a study of an earlier version.
    free_leak : float
        ``free_leak_``: the leak of the map before it was adjusted.
    free_embedding : DataFrame
        ``free_embedding_``: the map as it was fitted; other than `embedding` only if this is adjusted.
    stress_per_point : Series
        Each object's part of the stress.
    warnings : tuple of str
        Warnings of the fit: category and message.
    converged : bool
        Whether the fit ended by its tolerance; always true of a closed form.
    finished : bool
        False if the fit was interrupted, and the map is what it had by then.
    seconds : float
        How long the fit took.
    versions : dict
        Versions of Python and of the packages that made the numbers.
    """

    number: int
    estimator: str
    params: Mapping[str, Any]
    known: tuple[str, ...]
    known_types: Mapping[str, Any] = field(repr=False)
    embedding: pd.DataFrame = field(repr=False)
    coef: pd.DataFrame = field(repr=False)
    importance: pd.DataFrame = field(repr=False)
    imputed: pd.DataFrame = field(repr=False)
    stress: float
    leak: float
    stress_per_point: pd.Series[Any] = field(repr=False)
    warnings: tuple[str, ...] = field(repr=False)
    converged: bool
    finished: bool
    seconds: float = field(repr=False)
    versions: Mapping[str, str] = field(repr=False)
    free_embedding: pd.DataFrame = field(repr=False)
    free_leak: float
    leak_reference: float
    shown_stress: float
    known_stress: float
    stress_se: float = 0.0
    solver: str = field(default="", repr=False)

    @property
    def adjusted(self) -> bool:
        """Whether the map is adjusted for what is known: decided by the fit, and kept among its parameters."""
        return self.params.get("adjust", False) is True

    @property
    def n_free(self) -> int | None:
        """Dimensions of the free map, with which an adjusted map is fitted again; None if it is not adjusted."""
        return int(self.free_embedding.shape[1]) if self.adjusted else None

    @property
    def n_components(self) -> int:
        """Dimensions of the map."""
        return int(self.embedding.shape[1])

    @property
    def uncorrelated(self) -> bool:
        """Whether the linear leak of the map is 0 by construction."""
        return bool(self.known) and (self.adjusted or bool(self.params.get("orthogonal", False)))

    @property
    def stresses(self) -> list[tuple[str, float]]:
        """Stress, and of what: the dimensions drawn, the free fit if it has more of them, and no map at all."""
        p, free = self.n_components, self.free_embedding.shape[1]
        drawn = [(f"{count(p, 'dimension')} drawn", self.shown_stress)] if p < free else []
        fitted = (f"free fit with {count(free, 'dimension')}" if drawn else "", self.stress)
        alone = ("known features alone" if self.known else "0 dimensions", self.known_stress)
        return [pair for pair in (*drawn, fitted, *[alone] * (p > 0)) if not math.isnan(pair[1])]

    @property
    def stress_in_words(self) -> str:
        """The stress, and beside it what it is compared with."""
        (what, first), *others = self.stresses
        beside = "; ".join(f"{name}: {value:.3g}" for name, value in others)
        return f"{first:.6g}{f' of the {what}' if what else ''}{f' ({beside})' if beside else ''}"

    @property
    def title(self) -> str:
        """What the map was given, for a picture."""
        return f"given {', '.join(self.known)}{', adjusted' * self.adjusted}" if self.known else "nothing known"

    @property
    def text(self) -> str:
        """What was done, in a few words."""
        return f"fit {self.number} in {count(self.n_components, 'dimension')}, {self.title}"


@dataclass(frozen=True, eq=False)
class Adoption(_Record):
    """A feature that became known in the course of a study.

    Attributes
    ----------
    id, parent : int
        Its own number in the study, and that of the action before it.
    name : str
        What it is called.
    values : Series
        Its values, one per object.
    kind : str or feature type, optional
        Its type as declared; None to go by the values.
    source : dict
        Where the values came from: ``values``, ``groups``, ``along``, ``from_axis`` or ``column``; with ``along``
        perhaps the ``axes`` of the map it was drawn in.
    why : str
        The reason that was given.
    step : int, optional
        Number of the step on whose map it was recognised; None before the first.
    """

    name: str
    values: pd.Series[Any] = field(repr=False)
    kind: Any
    source: Mapping[str, Any]
    why: str = ""
    step: int | None = None

    verb: ClassVar[str] = "adopted"

    @property
    def called(self) -> str:
        """What the feature is called from now on."""
        return self.name

    @property
    def short(self) -> str:
        """What was done, in a word."""
        return self.name

    @property
    def text(self) -> str:
        """What was done, in a few words."""
        return f"adoption of {self.name!r} ({self.origin})"

    @property
    def origin(self) -> str:
        """Where the values came from, in a few words."""
        (way, detail), *_ = self.source.items()
        axes = self.source.get("axes")
        plane = f", axes {axes[0] + 1} and {axes[1] + 1}" if axes else ""
        few = way != "groups" or not isinstance(detail, int) or len(self.values) <= MOST_LINKED
        return _ORIGINS[way](detail, self.step) + plane + ("" if few else f", found among {MOST_LINKED:,} objects")


def _along(places: Any, step: int | None) -> str:
    where = f"the {places}" if isinstance(places, str) else " to ".join(map(_place, places))
    return f"along {where} on map {step}"


def _place(place: Any) -> str:
    """Return a label, or a point with as many digits as one can see."""
    is_point = isinstance(place, list)
    return f"({', '.join(f'{coordinate:.3g}' for coordinate in place)})" if is_point else as_code(place)


# What to say about each source of values, and the number of the step.
_ORIGINS: dict[str, Callable[[Any, int | None], str]] = {
    "values": lambda *_: "given values",
    "groups": lambda count, step: f"{count} groups on map {step}" if isinstance(count, int) else "given groups",
    "along": _along,
    "from_axis": lambda axis, step: f"axis {axis + 1} of map {step}",
    "column": lambda name, _: f"column {name!r} of the table",
}


@dataclass(frozen=True, eq=False)
class Amendment(_Record):
    """A known feature that was corrected for the steps that follow.

    Attributes
    ----------
    id, parent : int
        Its own number in the study, and that of the action before it.
    name : str
        What the feature was called.
    values : Series
        All its values, after the correction.
    cells : tuple
        The objects whose values were corrected.
    kind : str or feature type, optional
        Its type from now on; None to go by the values.
    rename : str, optional
        What it is called from now on; None if that is the same.
    why : str
        The reason that was given.
    """

    name: str
    values: pd.Series[Any] = field(repr=False)
    cells: tuple[Any, ...] = ()
    kind: Any = None
    rename: str | None = None
    why: str = ""

    verb: ClassVar[str] = "corrected"

    @property
    def called(self) -> str:
        """What the feature is called from now on."""
        return self.name if self.rename is None else self.rename

    @property
    def short(self) -> str:
        """What was done, in a word."""
        return f"{self.name} corrected"

    @property
    def text(self) -> str:
        """What was done, in a few words."""
        return f"correction of {self.name!r} ({self.origin})"

    @property
    def origin(self) -> str:
        """What was corrected, in a few words."""
        done = [count(len(self.cells), "value")] if self.cells else []
        done += [f"now called {self.rename!r}"] if self.rename is not None else []
        return ", ".join(done) or "its type"


@dataclass(frozen=True, eq=False)
class Forgetting(_Record):
    """A known feature that later steps are not given.

    Attributes
    ----------
    id, parent : int
        Its own number in the study, and that of the action before it.
    name : str
        The feature.
    why : str
        The reason that was given.
    """

    name: str
    why: str = ""
    verb: ClassVar[str] = "put aside"
    origin: ClassVar[str] = ""

    @property
    def short(self) -> str:
        """What was done, in a word."""
        return f"-{self.name}"

    @property
    def text(self) -> str:
        """What was done, in a few words."""
        return f"putting aside of {self.name!r}"


# What happens between two fits.
Change = Adoption | Amendment | Forgetting
Action = Step | Change
