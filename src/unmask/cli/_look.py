"""The commands that look at data from several fits: scree, compare and test; and the test that needs none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._fitting import labelled, say_written
from ._folder import open_folder
from ._inputs import Input, read_input
from ._options import FITTING, DataPath, Dimensions, Given, Reading, Saving, Search, Seed, Surface, names_in
from ._output import Outcome, Output, progress

if TYPE_CHECKING:
    import pandas as pd

MostDimensions = Annotated[
    int | None,
    typer.Option("--max-dim", min=1, help="Largest number of dimensions; 6 if so many fit.", rich_help_panel=FITTING),
]
Choose = Annotated[
    bool,
    typer.Option("--choose", help="Choose by predicting held-out pairs, ten times over.", rich_help_panel=FITTING),
]
Permutations = Annotated[
    int, typer.Option("--permutations", min=1, help="Permutations of each feature.", rich_help_panel=FITTING)
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--methods", metavar="A,B", help="Which methods; all by default.", rich_help_panel=FITTING),
]
MOST_DIMENSIONS = 6


def scree(
    output: Output,
    data: DataPath,
    given: Given,
    search: Search,
    reading: Reading,
    saving: Saving,
    neighbors: Surface = None,
    max_dim: MostDimensions = None,
    choose: Choose = False,
) -> Outcome:
    """Show how the stress falls with the number of dimensions, and where adding more pays little."""
    from .. import inspection

    folder = open_folder(saving, ["scree"], ["scree.png"])
    source = read_input(output, data, given, reading)
    most = max_dim or min(MOST_DIMENSIONS, len(source.dissimilarities) - 1)
    made = inspection.choose_n_components if choose else inspection.scree
    with progress(output, "Fitting", 1.0) as advance:
        table = made(
            _estimator(search, neighbors, source),
            source.dissimilarities,
            source.known,
            weights=source.weights,
            max_components=most,
            progress=lambda done, total: advance(done / total),
        )
    chosen: dict[str, Any] = {name: table.attrs[name] for name in ("elbow", "chosen") if name in table.attrs}
    if folder is not None:
        folder.table("scree", labelled(table).rename(columns={"label": "n_components"}))
        folder.picture("scree.png", _scree_picture(table))
    output.show(table, index="dimensions")
    output.say(", ".join(f"{name}: {number}" for name, number in chosen.items()))
    document: dict[str, Any] = {"scree": labelled(table).rename(columns={"label": "n_components"}), **chosen}
    return Outcome({**document, "written": say_written(output, folder)})


def _scree_picture(table: pd.DataFrame) -> Any:
    from matplotlib.figure import Figure

    from ..plotting import plot_scree

    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    plot_scree(table, ax=figure.add_subplot())
    return figure


def permute(
    output: Output,
    data: DataPath,
    given: Given,
    search: Search,
    reading: Reading,
    saving: Saving,
    neighbors: Surface = None,
    permutations: Permutations = 199,
) -> Outcome:
    """Test by permutation whether each known feature says anything about the dissimilarities.

    Ctrl-C ends the test: the p-values so far are printed and written, and the exit code is 130. The command dbrda tests
    the same question at once, by a linear model.
    """
    from ..inspection import permutation_test

    folder = open_folder(saving, ["test"])
    source = read_input(output, data, given, reading)
    known = _something_known(source)
    output.note(f"Permuting {', '.join(known.columns)}: {permutations} times each; Ctrl-C keeps what is done.")
    with progress(output, "Permuting", permutations * known.shape[1]) as advance:
        table = permutation_test(
            _estimator(search, neighbors, source),
            source.dissimilarities,
            known,
            weights=source.weights,
            n_permutations=permutations,
            random_state=search.random_state,
            progress=lambda done, _: advance(done),
        )
    if folder is not None:
        folder.table("test", table)
    output.show(table, "Permutation test of each feature", index="known")
    document = {"permutations": permutations, "test": labelled(table).rename(columns={"label": "feature"})}
    finished = bool((table["permutations"] == permutations).all())
    return Outcome({**document, "written": say_written(output, folder)}, finished)


def dbrda(
    output: Output,
    data: DataPath,
    given: Given,
    reading: Reading,
    saving: Saving,
    permutations: Permutations = 999,
    seed: Seed = 0,
) -> Outcome:
    """Test what each known feature explains of the dissimilarities beyond the others, by a linear model: at once.

    The marginal F statistics of distance-based redundancy analysis, with p-values by permutation.
    """
    from ..inspection import dbrda_test

    folder = open_folder(saving, ["dbrda"])
    source = read_input(output, data, given, reading)
    source.require_no_weights("dbrda")
    table = dbrda_test(
        source.dissimilarities,
        _something_known(source),
        known_types=source.known_types or None,
        n_permutations=permutations,
        random_state=seed,
    )
    if folder is not None:
        folder.table("dbrda", table)
    output.show(table, f"Redundancy analysis, {permutations} permutations", index="known")
    document = {"permutations": permutations, "dbrda": labelled(table).rename(columns={"label": "feature"})}
    return Outcome({**document, "written": say_written(output, folder)})


def _something_known(source: Input) -> pd.DataFrame:
    if source.known is None:
        raise ValueError("there is no known feature to test; name some with --known FILE, or --columns of a table.")
    return source.known


def compare(
    output: Output,
    data: DataPath,
    given: Given,
    reading: Reading,
    saving: Saving,
    methods: Methods = None,
    dim: Dimensions = 2,
    seed: Seed = 0,
) -> Outcome:
    """Map the data by conditional scaling and by the methods one would otherwise use, and score the maps."""
    from .. import inspection

    folder = open_folder(saving, ["comparison"])
    source = read_input(output, data, given, reading)
    source.require_no_weights("compare")
    with progress(output, "Comparing", None):
        table = inspection.compare(
            source.dissimilarities,
            source.known,
            n_components=dim,
            methods=names_in(methods),
            known_types=source.known_types or None,
            random_state=seed,
        )
    table = table.dropna(axis=1, how="all")  # scores that need a truth, which no file has
    if folder is not None:
        folder.table("comparison", table)
    output.show(table, index="method")
    document = {"comparison": labelled(table).rename(columns={"label": "method"})}
    return Outcome({**document, "written": say_written(output, folder)})


def _estimator(search: Search, neighbors: int | None, source: Input) -> Any:
    """Return an estimator that is not fitted."""
    from ..estimators import ConditionalIsomap, ConditionalMDS

    params: dict[str, Any] = {"random_state": search.random_state, **search.params, "metric": "precomputed"}
    params["known_types"] = source.known_types or None
    if neighbors is not None:
        return ConditionalIsomap(n_neighbors=neighbors, **params)
    return ConditionalMDS(**params)
