"""The actions of a study, one record each: a fit, an adoption, a correction, a feature put aside."""

from __future__ import annotations

import math
from collections.abc import Iterable
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt
from typing_extensions import TypedDict  # what pydantic reads in Python 3.11; it brings this package

from .._typing import Array
from ..checking import count
from ..problem import feature_type
from ._clusters import MOST_LINKED
from ._values import as_code, read_only, require_text

if TYPE_CHECKING:
    from ._material import Material

    Cells = pd.Series[Any]
else:
    Cells = pd.Series


def _check_kind(kind: Any) -> Any:
    if kind is not None:
        feature_type(kind, "kind")
    return kind


def _check_source(source: Any) -> Any:
    if len(source.keys() - {"axes"}) != 1:
        raise ValueError(f"{source!r} does not name one source of a feature")
    return source


class _Source(TypedDict, total=False):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    values: Literal["given"]
    groups: StrictInt | Literal["given"]
    along: Literal["circle", "arc"] | list[Any]
    from_axis: StrictInt
    column: str
    axes: Annotated[list[StrictInt], Field(min_length=2, max_length=2)]


# Tables are written to files of their own; everything else is in study.json.
Table = Annotated[pd.DataFrame, AfterValidator(read_only), Field(exclude=True, repr=False)]
Column = Annotated[Cells, AfterValidator(read_only), Field(exclude=True, repr=False)]
SmallTable = Annotated[pd.DataFrame, AfterValidator(read_only), Field(repr=False)]
Text = Annotated[str, AfterValidator(lambda text: require_text(text, "text"))]
Kind = Annotated[Any, AfterValidator(_check_kind)]
if TYPE_CHECKING:
    Source = dict[str, Any]
else:
    Source = Annotated[_Source, AfterValidator(_check_source)]


class Record(BaseModel):
    """An action of a study: its number in the tree (`id`) and that of the action before it (`parent`, 0 at first)."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    id: int = Field(default=0, repr=False)
    parent: int = Field(default=0, repr=False)
    # Part of the names of its files, so that a name never gets other contents.
    key: str = Field(default_factory=lambda: token_hex(4), pattern="^[0-9a-f]{8}$", repr=False)


class Step(Record):
    """A fit of a study, with everything that it found.

    Attributes
    ----------
    number : int
        1 for the first fit on the way to it, 2 for the next …
    estimator : {"mds", "isomap", "classical"}
        Name of the estimator.
    params : dict
        Its parameters, the number of dimensions and the seed among them.
    known, known_types : tuple of str, dict
        The known features it was given, and their declared types.
    embedding, free_embedding : DataFrame of shape (n_objects, n_components)
        The map, with columns axis1, axis2 …, and the map as it was fitted, before it was adjusted.
    known_map : DataFrame
        The known features' part of the fitted coordinates: fitted distances are those between the rows of
        `free_embedding` and `known_map`, side by side.
    coef, importance, imputed, stress, stress_per_point, shown_stress, stress_se, leak, free_leak, solver …
        Attributes of the estimator (``coef_``, ``importance_``, ``known_imputed_``, ``stress_`` …).
    known_stress : float
        The stress of the known features alone, without a map, from a random sample of at most 100 objects; 1 if nothing
        was known, NaN if there is none.
    warnings : tuple of str
        Warnings of the fit: category and message.
    converged : bool
        Whether the search reached its tolerance; True for a closed form.
    finished : bool
        False if the fit was interrupted, and the map is the best until then.
    seconds : float
        Duration of the fit.
    versions : dict
        Versions of Python and of the packages used.
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
        """Whether the map is adjusted for the known features."""
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
        """The stress, and in brackets what to compare it with."""
        (what, first), *others = self.stresses
        beside = "; ".join(f"{name}: {value:.3g}" for name, value in others)
        return f"{first:.6g}{f' of the {what}' if what else ''}{f' ({beside})' if beside else ''}"

    @property
    def title(self) -> str:
        """The known features of the map, for a picture."""
        return f"given {', '.join(self.known)}{', adjusted' * self.adjusted}" if self.known else "nothing known"

    @property
    def text(self) -> str:
        """The action in a few words."""
        return f"fit {self.number} in {count(self.n_components, 'dimension')}, {self.title}"


class Adoption(Record):
    """A feature that became known in the course of a study.

    Attributes
    ----------
    name : str
        Name of the feature.
    values : Series
        Its values, one per object.
    kind : str or feature type, optional
        Its declared type; None to go by the values.
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
        """Name of the feature from now on."""
        return self.name

    @property
    def short(self) -> str:
        """The action in a word."""
        return self.name

    @property
    def text(self) -> str:
        """The action in a few words."""
        return f"adoption of {self.name!r} ({self.origin})"

    @property
    def origin(self) -> str:
        """Where the values came from, in a few words."""
        match self.source:
            case {"along": places, **others}:
                where = f"the {places}" if isinstance(places, str) else " to ".join(map(_place, places))
                axes: Any = others.get("axes")
                plane = f", axes {axes[0] + 1} and {axes[1] + 1}" if axes else ""
                return f"along {where} on map {self.step}{plane}"
            case {"groups": int(n)}:
                found = f", found among {MOST_LINKED:,} objects" if len(self.values) > MOST_LINKED else ""
                return f"{n} groups on map {self.step}{found}"
            case {"from_axis": axis}:
                return f"axis {axis + 1} of map {self.step}"
            case {"column": name}:
                return f"column {name!r} of the table"
        return "given groups" if "groups" in self.source else "given values"


def _place(place: Any) -> str:
    """Return a label, or a point with few digits."""
    is_point = isinstance(place, list)
    return f"({', '.join(f'{coordinate:.3g}' for coordinate in place)})" if is_point else as_code(place)


class Amendment(Record):
    """A known feature that was corrected for the steps that follow.

    Attributes
    ----------
    name : str
        Name of the feature before.
    values : Series
        All its values, after the correction.
    cells : tuple
        The objects whose values were corrected.
    kind : str or feature type, optional
        Its type from now on; None to go by the values.
    rename : str, optional
        Its name from now on; None if that is the same.
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
        """Name of the feature from now on."""
        return self.name if self.rename is None else self.rename

    @property
    def short(self) -> str:
        """The action in a word."""
        return f"{self.name} corrected"

    @property
    def text(self) -> str:
        """The action in a few words."""
        return f"correction of {self.name!r} ({self.origin})"

    @property
    def origin(self) -> str:
        """The correction in a few words."""
        done = [count(len(self.cells), "value")] if self.cells else []
        done += [f"now called {self.rename!r}"] if self.rename is not None else []
        return ", ".join(done) or "its type"


class Forgetting(Record):
    """A known feature that was put aside: later steps are not given it.

    Attributes
    ----------
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
        """The action in a word."""
        return f"-{self.name}"

    @property
    def text(self) -> str:
        """The action in a few words."""
        return f"putting aside of {self.name!r}"


Change = Adoption | Amendment | Forgetting  # between two fits
Action = Step | Change
Done = TypeVar("Done", bound=Action)

# Features by their name: the values, and the declared type or None.
Features = dict[str, tuple[Any, Any]]


def known_after(material: Material, actions: Iterable[Action]) -> tuple[Features, Features]:
    """Return the features that are known after some actions, and all that were ever known, the last of each name."""
    now: Features = {
        str(name): (column, material.known_types.get(str(name))) for name, column in material.known.items()
    }
    ever = dict(now)
    for action in actions:
        if isinstance(action, Step):
            continue
        if not isinstance(action, Adoption) and action.name not in now:
            raise ValueError(f"{action.name!r} was not known when it was {action.verb}")
        if isinstance(action, Forgetting):
            del now[action.name]
            continue
        new = action.name if isinstance(action, Adoption) else action.rename
        if new in now:
            raise ValueError(f"{new!r} was known already when it was {action.verb}")
        feature = (action.values.rename(action.called), action.kind)
        now = {action.called if name == action.name else name: given for name, given in now.items()}
        now[action.called] = ever[action.called] = feature
    return now, ever
