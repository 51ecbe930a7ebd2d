"""The demonstration: three maps of kinship terms, each given what the one before it showed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._folder import open_folder
from ._options import Force, Saving
from ._output import Outcome, Output

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..estimators import ConditionalMDS


@dataclass(frozen=True)
class DemoMap:
    """A map of the demonstration: what is known, what one recognises on it, and how that is called in the legend."""

    known: tuple[str, ...]
    seen: str
    legend: dict[int, str]
    reading: str

    @property
    def given(self) -> str:
        """Words for what is known."""
        return " + ".join(self.known) or "nothing"

    @property
    def table_name(self) -> str:
        return f"map-given-{'-'.join(self.known) or 'nothing'}"


PICTURE = "kinship.png"
LEGEND = (
    "stress: share of the dissimilarities' squares not accounted for, in brackets without a map; importance: "
    "dissimilarity per standard deviation of a known feature; leak: correlation of the map with what is known, which "
    "in 19 of 20 random maps is below the number in brackets"
)
STEPS = (
    DemoMap(
        (),
        "gender",
        {1: "male", 2: "female"},
        "Map 1 knows nothing: men are in the upper half and women in the lower, as everybody knew.",
    ),
    DemoMap(
        ("gender",),
        "degree",
        {1: "first degree", 2: "second", 3: "third"},
        "Map 2 knows gender: brother and sister, and every other such pair, share a place; from left to right runs "
        "the degree of kinship.",
    ),
    DemoMap(
        ("gender", "degree"),
        "generation_difference",
        {0: "same generation", 1: "one apart", 2: "two apart"},
        "Map 3 knows the degree as well: grandparents and grandchildren, two generations apart from oneself, part "
        "from all others. Condition on that next.",
    ),
)


def demo(
    output: Output,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the picture and the tables.", file_okay=False)
    ] = Path("unmask-demo"),
    force: Force = False,
) -> Outcome:
    """Map kinship terms given nothing, given gender, and given gender and degree of kinship."""
    import pandas as pd

    from ..datasets import load_kinship
    from ..estimators import ConditionalMDS

    folder = open_folder(Saving(out, force=force))
    assert folder is not None  # it has a name
    kin = load_kinship()
    models = []
    for step in STEPS:
        known = kin.known[list(step.known)] if step.known else None
        mds = ConditionalMDS(n_components=2, metric="precomputed", random_state=0)
        models.append(mds.fit(kin.dissimilarities, known=known))
    terms = kin.dissimilarities.index.rename("term")
    embeddings = [pd.DataFrame(mds.embedding_, index=terms, columns=["u1", "u2"]) for mds in models]
    folder.picture(PICTURE, draw(kin, embeddings))
    for step, embedding in zip(STEPS, embeddings, strict=True):
        folder.table(step.table_name, embedding)
    output.show(_table(models), "14 kinship terms, two-dimensional maps", index="known")
    output.say(LEGEND)
    for step in STEPS:
        output.say(step.reading)
    output.say()
    maps = [{"known": list(step.known), "stress": mds.stress_} for step, mds in zip(STEPS, models, strict=True)]
    return Outcome({"maps": maps, "written": folder.say_written(output)})


def _table(models: list[ConditionalMDS]) -> pd.DataFrame:
    import pandas as pd

    from ..estimators import stress_of_known

    rows = []
    for step, model in zip(STEPS, models, strict=True):
        importance = [f"{name} {value:.1f}" for name, value in model.importance_["standardized"].items()]
        leak = f"{model.leak_:.3f} ({model.leak_reference_:.2f})" if step.known else "-"
        stress = f"{model.stress_:.6f} ({stress_of_known(model):.3g})"
        rows.append((stress, ", ".join(importance) or "-", leak, len(model.starts_)))
    index = [step.given for step in STEPS]
    return pd.DataFrame(rows, index=index, columns=["stress", "importance", "leak", "starts"])


def draw(kin: Any, embeddings: list[pd.DataFrame]) -> Figure:
    """Draw the maps side by side, each coloured by what one recognises on it."""
    import pandas as pd
    from matplotlib.figure import Figure

    from ..plotting import plot_map

    # A plain Figure, not pyplot's: it needs no display. Fixed margins, so that no panel moves after its labels are set.
    figure = Figure(figsize=(10.8, 4.3))
    panels = figure.subplots(1, len(STEPS), gridspec_kw={"wspace": 0.08})
    figure.subplots_adjust(left=0.012, right=0.988, bottom=0.03, top=0.865)
    for number, (step, embedding, ax) in enumerate(zip(STEPS, embeddings, panels, strict=True), start=1):
        named = kin.known[step.seen].map(step.legend)
        color = pd.Series(pd.Categorical(named, categories=list(step.legend.values())), index=named.index)
        plot_map(embedding, color=color, ax=ax, title=f"{number}. Known: {step.given}")
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    return figure
