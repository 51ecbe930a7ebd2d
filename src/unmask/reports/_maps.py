"""Pictures of the maps, coloured by what they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ..discovery import Adoption, Step
from ..plotting import explore, plot_map, plot_pair
from ..problem import Nominal
from ._page import Figure
from ._pictures import MAP, TALL, WIDE, draw
from ._subject import Subject
from ._text import clip, clip_apart, name_of

if TYPE_CHECKING:
    import pandas as pd

# A legend with more entries, or labels with more characters, would leave no room for the map.
MOST_COLOURS = 8
LONGEST_LABEL = 26
LONGEST_TITLE = 44
MOST_LABELS = 60
# Characters of a row of the legend, in which up to four levels stand side by side.
LEGEND_ROW, LEGEND_COLUMNS = 36, 4


@dataclass(frozen=True)
class Paint:
    """A feature to colour a map by, with a name short enough for a legend; without values there is one colour."""

    name: str = ""
    values: pd.Series[Any] | None = None

    @property
    def words(self) -> str:
        """Say by what the map is coloured."""
        return "" if self.values is None else f" Coloured by {self.name}."

    @property
    def caption(self) -> Markup:
        """The same as markup."""
        return Markup("") if self.values is None else Markup(" Coloured by {}.").format(name_of(self.name))


def paint_of(subject: Subject, name: str | None) -> Paint:
    """Return how to colour by a feature: by a scale for measurements, else one colour per value if these are few."""
    if name is None:
        return Paint()
    import pandas as pd
    from pandas.api import types

    column, short = subject.study.features[name], clip(name, LONGEST_LABEL)
    many = column.nunique() > MOST_COLOURS
    if types.is_numeric_dtype(column) and not _is_nominal(subject, name) and (many or not _is_whole(column)):
        return Paint(short, column.rename(short))
    if many:
        return Paint()
    category = pd.Categorical(column)
    beside = min(max(len(category.categories), 1), LEGEND_COLUMNS)
    texts = (f"{level:g}" if isinstance(level, float) else str(level) for level in category.categories)
    levels = clip_apart(texts, LEGEND_ROW // beside)
    shown = pd.Categorical.from_codes(np.asarray(category.codes), pd.Index(levels, dtype=object))
    return Paint(short, pd.Series(shown, index=column.index, name=short))


def _is_nominal(subject: Subject, name: str) -> bool:
    declared = subject.study.material.known_types | {a.name: a.kind for a in subject.adoptions}
    return declared.get(name) == "nominal" or isinstance(declared.get(name), Nominal)


def _is_whole(column: pd.Series[Any]) -> bool:
    """Return whether all values are whole numbers, which are shown as categories if they are few."""
    values = column.dropna().to_numpy(dtype=np.float64)
    return bool(np.all(values == np.round(values)))


def shown_on(subject: Subject, step: Step) -> str | None:
    """Return the feature to colour a map by: the first that was recognised on it, else the last that was known."""
    adopted = (action.name for action in subject.after(step.number) if isinstance(action, Adoption))
    return next(adopted, step.known[-1] if step.known else None)


# ---- pictures


def _labels(subject: Subject) -> dict[str, Any]:
    """Return options for labels; many objects that are only numbered get none."""
    import pandas as pd

    if isinstance(subject.objects, pd.RangeIndex) and subject.n > MOST_LABELS:
        return {"max_labels": 0}
    return {"labels": [clip(label, LONGEST_LABEL) for label in subject.objects], "max_labels": MOST_LABELS}


def _named(embedding: pd.DataFrame) -> pd.DataFrame:
    return embedding.rename(columns=lambda name: str(name).replace("axis", "axis "))


def map_picture(subject: Subject, embedding: pd.DataFrame, paint: Paint, ellipses: Any = None) -> str:
    """Return one map."""
    options = {"color": paint.values, "ellipses": ellipses, **_labels(subject)}
    return draw(lambda ax: plot_map(_named(embedding), ax=ax, **options), MAP)


def map_figure(subject: Subject, embedding: pd.DataFrame, paint: Paint, alt: str, caption: object) -> Figure:
    """Return one map with its caption; if that was asked for, one to explore."""
    picture, live = map_picture(subject, embedding, paint), None
    if subject.options.interactive:
        live = explore(_named(embedding), color=paint.values, labels=[clip(label) for label in subject.objects]).data
    return Figure([picture], alt, caption, live)


def pair_figure(
    subject: Subject,
    maps: tuple[pd.DataFrame, pd.DataFrame],
    titles: tuple[str, str],
    paint: Paint,
    alt: str,
    caption: object,
) -> Figure:
    """Return two maps side by side, and for narrow screens on top of each other."""
    options: dict[str, Any] = {"color": paint.values, "scale": False, **_labels(subject)}
    before, after = (_named(embedding) for embedding in maps)
    short = (clip(titles[0], LONGEST_TITLE), clip(titles[1], LONGEST_TITLE))
    wide = draw(lambda axes: plot_pair(before, after, ax=axes, titles=short, **options), WIDE, columns=2)
    tall = draw(lambda ax: plot_pair(before, after, ax=ax, titles=("before", "after"), **options), TALL)
    return Figure([wide, tall], alt, caption)
