"""What was done in a study, one record each: a fit, an adoption, a correction, a feature put aside."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .._typing import Array
from ..checking import count
from ..problem import feature_type
from ._clusters import MOST_LINKED
from ._values import as_code, require_text

if TYPE_CHECKING:
    Cells = pd.Series[Any]
else:
    Cells = pd.Series


def read_only(table: Any) -> Any:
    """Return a table over the same memory in which no cell can be set, if it holds numbers of one type."""
    kinds = {*table.dtypes} if isinstance(table, pd.DataFrame) else {table.dtype}
    kind = next(iter(kinds), None)
    if len(kinds) != 1 or not isinstance(kind, np.dtype) or kind.kind not in "fib" or table.empty:
        return table
    values = table.to_numpy().view()
    values.flags.writeable = False
    labels = {"columns": table.columns} if isinstance(table, pd.DataFrame) else {"name": table.name}
    return type(table)(values, index=table.index, copy=False, **labels)


def _check_kind(kind: Any) -> Any:
    if kind is not None:
        feature_type(kind, "kind")
    return kind


def _check_source(source: dict[str, Any]) -> dict[str, Any]:
    """Raise unless it names one source of a feature, with axes only if they are two numbers."""
    (way, detail), *others = source.items()
    places = detail if way == "along" and isinstance(detail, list) else []
    right = isinstance(detail, _SOURCES[way]) and not isinstance(detail, bool)
    right &= all(
        isinstance(place, Hashable) or (isinstance(place, list) and _are(float | int, place)) for place in places
    )
    right &= all(name == "axes" and _are(int, axes) and len(axes) == 2 for name, axes in others)
    if not right:
        raise ValueError(f"{source!r} is not a source of a feature")
    return source


def _are(kind: Any, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) and not isinstance(value, bool) for value in values)


_SOURCES: dict[str, Any] = {"values": str, "groups": str | int, "along": str | list, "from_axis": int, "column": str}

# Tables are written to files of their own; everything else is in study.json.
Table = Annotated[pd.DataFrame, AfterValidator(read_only), Field(exclude=True, repr=False)]
Column = Annotated[Cells, AfterValidator(read_only), Field(exclude=True, repr=False)]
SmallTable = Annotated[pd.DataFrame, AfterValidator(read_only), Field(repr=False)]
Text = Annotated[str, AfterValidator(lambda text: require_text(text, "text"))]
Kind = Annotated[Any, AfterValidator(_check_kind)]
Source = Annotated[dict[str, Any], AfterValidator(_check_source)]


class Record(BaseModel):
    """Something that was done, with its place in the history of the study. It never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    id: int = Field(default=0, repr=False)
    parent: int = Field(default=0, repr=False)
    # In the names of its files, which therefore never have other contents.
    key: str = Field(default_factory=lambda: token_hex(4), pattern="^[0-9a-f]{8}$", repr=False)


class Step(Record):
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
    free_embedding : DataFrame
        ``free_embedding_``: the map as it was fitted; other than `embedding` only if this is adjusted.
    known_map : DataFrame
        The known features' part of the fitted coordinates. Fitted distances are those between the rows of the free map
        and this table, side by side.
    coef, importance : DataFrame
        ``coef_`` and ``importance_`` of the estimator.
    imputed : DataFrame
        ``known_imputed_`` of the estimator: missing cells as they were estimated.
    stress, leak : float
        ``stress_`` and ``leak_`` of the estimator.
    shown_stress : float
        ``shown_stress_``: the stress of the dimensions shown; other than `stress` only if an adjusted map shows fewer
        dimensions than were fitted.
    known_stress : float
        The stress of the known features alone, without a map; 1 if nothing was known. Above 100 objects, of a random
        sample of 100. NaN if there is none.
    stress_se : float
        ``stress_se_``: the standard error of the stress where it was estimated from some of the pairs, else 0.
    solver : str
        ``solver_``: which solver was used, and why; empty where there was no choice.
    leak_reference : float
        ``leak_reference_``: 19 of 20 random maps have a lower leak.
    free_leak : float
        ``free_leak_``: the leak of the map before it was adjusted.
    stress_per_point : Series
        Each object's part of the stress.
    warnings : tuple of str
        Warnings of the fit: category and message.
    converged : bool
        Whether the fit ended by its tolerance; always true of a closed form.
    finished : bool
        False if the fit was interrupted, and the map is the best until then.
    seconds : float
        How long the fit took.
    versions : dict
        Versions of Python and of the packages that made the numbers.
    """

    action: Literal["fit"] = Field(default="fit", repr=False)
    number: int
    estimator: str
    params: dict[str, Any]
    known: tuple[Text, ...]
    known_types: dict[str, Kind] = Field(repr=False)
    embedding: Table
    free_embedding: Table
    known_map: Table
    coef: SmallTable
    importance: SmallTable
    imputed: SmallTable
    stress: float
    leak: float
    stress_per_point: Column
    warnings: tuple[Text, ...] = Field(repr=False)
    converged: bool
    finished: bool
    seconds: float = Field(repr=False)
    versions: dict[str, str] = Field(repr=False)
    free_leak: float
    leak_reference: float
    shown_stress: float
    known_stress: float
    stress_se: float = 0.0
    solver: Text = Field(default="", repr=False)

    @property
    def adjusted(self) -> bool:
        """Whether the map is adjusted for the known features: decided by the fit, and kept among its parameters."""
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
    def coordinates(self) -> Array:
        """All fitted coordinates: fitted distances are those between the rows."""
        return np.column_stack([self.free_embedding, self.known_map])

    @property
    def uncorrelated(self) -> bool:
        """Whether the linear leak of the map is 0 by construction."""
        return bool(self.known) and (self.adjusted or bool(self.params.get("orthogonal", False)))

    @property
    def stresses(self) -> list[tuple[str, float]]:
        """The stress of the dimensions drawn, of the free fit if it has more of them, and of no map at all."""
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


class Adoption(Record):
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

    action: Literal["adopt"] = Field(default="adopt", repr=False)
    name: Text
    values: Column
    kind: Kind = None
    source: Source
    why: Text = ""
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


class Amendment(Record):
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

    action: Literal["amend"] = Field(default="amend", repr=False)
    name: Text
    values: Column
    cells: tuple[Any, ...] = ()
    kind: Kind = None
    rename: Text | None = None
    why: Text = ""

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


class Forgetting(Record):
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

    action: Literal["forget"] = Field(default="forget", repr=False)
    name: Text
    why: Text = ""

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
Done = TypeVar("Done", bound=Action)
