"""What was done in a study, one record each: a fit, an adoption, a feature put aside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..checking import count
from ._values import as_code

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Step:
    """One fit of a study, with everything that it found.

    Attributes
    ----------
    number : int
        1 for the first fit, 2 for the next …
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
    leak_reference : float
        ``leak_reference_``: what the leak stays below in 19 of 20 maps made by chance; NaN in a study of an earlier
        version.
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

    @property
    def adjusted(self) -> bool:
        """Whether the map is adjusted for what is known: decided by the fit, and kept among its parameters."""
        return self.params.get("adjust", False) is True

    @property
    def n_components(self) -> int:
        """Dimensions of the map."""
        return int(self.embedding.shape[1])

    @property
    def title(self) -> str:
        """What the map was given, for a picture."""
        return f"given {', '.join(self.known)}{', adjusted' * self.adjusted}" if self.known else "nothing known"

    @property
    def text(self) -> str:
        """Say in a few words what was done."""
        return f"fit {self.number} in {count(self.n_components, 'dimension')}, {self.title}"

    def copy(self) -> Step:
        """Return the same with tables of its own."""
        return replace(
            self,
            params=dict(self.params),
            known_types=dict(self.known_types),
            embedding=self.embedding.copy(),
            coef=self.coef.copy(),
            importance=self.importance.copy(),
            imputed=self.imputed.copy(),
            stress_per_point=self.stress_per_point.copy(),
            free_embedding=self.free_embedding.copy(),
            versions=dict(self.versions),
        )


@dataclass(frozen=True, eq=False)
class Adoption:
    """A feature that became known in the course of a study.

    Attributes
    ----------
    name : str
        What it is called.
    values : Series
        Its values, one per object.
    kind : str or feature type, optional
        Its type as declared; None to go by the values.
    source : dict
        Where the values came from: ``values``, ``groups``, ``along``, ``from_axis`` or ``column``.
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

    @property
    def text(self) -> str:
        """Say in a few words what was done."""
        return f"adoption of {self.name!r} ({self.origin})"

    @property
    def origin(self) -> str:
        """Say where the values came from."""
        (way, detail), *_ = self.source.items()
        return _ORIGINS[way](detail).format(step=self.step)

    def copy(self) -> Adoption:
        """Return the same with values of its own."""
        return replace(self, values=self.values.copy(), source=dict(self.source))


def _of_groups(detail: Any) -> str:
    return f"{detail} groups on map {{step}}" if isinstance(detail, int) else "given groups"


def _of_line(detail: Any) -> str:
    where = f"the {detail}" if isinstance(detail, str) else " to ".join(map(as_code, detail))
    return f"along {_in_a_format(where)} on map {{step}}"


def _in_a_format(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


# What to say about each source, with a place for the number of the step.
_ORIGINS: dict[str, Callable[[Any], str]] = {
    "values": lambda _: "given values",
    "groups": _of_groups,
    "along": _of_line,
    "from_axis": lambda detail: f"axis {detail + 1} of map {{step}}",
    "column": lambda detail: f"column {_in_a_format(repr(detail))} of the table",
}


@dataclass(frozen=True, eq=False)
class Forgetting:
    """A known feature that later steps are not given.

    Attributes
    ----------
    name : str
        The feature.
    why : str
        The reason that was given.
    """

    name: str
    why: str = ""

    @property
    def text(self) -> str:
        """Say in a few words what was done."""
        return f"putting aside of {self.name!r}"

    def copy(self) -> Forgetting:
        """Return the same."""
        return self


Action = Step | Adoption | Forgetting
