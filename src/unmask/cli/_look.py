"""The commands that look at data from several fits: scree, compare and test; and the test that needs none."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

from ._fitting import labelled, say_written
from ._folder import Folder, open_folder
from ._inputs import Input, read_input
from ._options import (
    DataPath,
    Dimensions,
    Given,
    IsomapNeighbors,
    Reading,
    Saving,
    Search,
    Seed,
    fitting_option,
    names_in,
)
from ._output import Outcome, Output, progress

if TYPE_CHECKING:
    import pandas as pd

MostDimensions = Annotated[
    int | None, fitting_option("--max-dim", min=1, help="Largest number of dimensions; 6 if so many fit.")
]
Choose = Annotated[bool, fitting_option("--choose", help="Choose by testing one dimension after another.")]
Permutations = Annotated[int, fitting_option("--permutations", min=1, help="Permutations of each feature.")]
Methods = Annotated[list[str] | None, fitting_option("--methods", metavar="A,B", help="Which methods; all by default.")]
MOST_DIMENSIONS = 6
# Which of the two tests to report.
OF_THE_MAP = (
    "Report this test with the map: it asks whether a feature has a part in the map's distances, given the other known "
    "features. `unmask dbrda` asks what share of the squared dissimilarities it explains linearly, without a map; the "
    "p-values can differ."
)
OF_THE_DISSIMILARITIES = (
    "Report this test for the dissimilarities themselves: it asks what share of their squares a feature explains "
    "linearly, beyond the other known features and without a map. `unmask test` asks whether it has a part in the "
    "distances of a map; the p-values can differ."
)


def scree(
    output: Output,
    data: DataPath,
    given: Given,
    search: Search,
    reading: Reading,
    saving: Saving,
    neighbors: IsomapNeighbors = None,
    max_dim: MostDimensions = None,
    choose: Choose = False,
) -> Outcome:
    """Show how the stress falls with the number of dimensions, and where adding more pays little."""
    from .. import inspection

    folder = open_folder(saving, ["scree"], ["scree.png"])
    source = read_input(output, data, given, reading)
    most = max_dim or min(MOST_DIMENSIONS, len(source.objects) - 1)
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
    listed = labelled(table).rename(columns={"label": "n_components"})
    if folder is not None:
        folder.table("scree", listed)
        folder.picture("scree.png", _scree_picture(table))
    output.show(table, index="dimensions")
    output.say(", ".join(f"{name}: {number}" for name, number in chosen.items()))
    return Outcome({"scree": listed, **chosen, "written": say_written(output, folder)})


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
    neighbors: IsomapNeighbors = None,
    permutations: Permutations = 199,
) -> Outcome:
    """Test by permutation whether each known feature has a part in the map's distances, given the others.

    Ctrl-C ends the test: the p-values so far are printed and written, and the exit code is 130. The command dbrda tests
    without a map, by a linear model of the squared dissimilarities.
    """
    from ..checking import UnfinishedWarning
    from ..inspection import permutation_test

    folder = open_folder(saving, ["test"])
    source = read_input(output, data, given, reading)
    known = _something_known(source)
    output.note(f"Permuting {', '.join(known.columns)}: {permutations} times each; Ctrl-C keeps what is done.")
    with progress(output, "Permuting", permutations * known.shape[1]) as advance, warnings.catch_warnings():
        warnings.simplefilter("always", UnfinishedWarning)  # elsewhere an interruption ends the command
        table = permutation_test(
            _estimator(search, neighbors, source, adjust="auto"),  # as the map that `unmask fit` shows
            source.dissimilarities,
            known,
            weights=source.weights,
            n_permutations=permutations,
            random_state=search.random_state,
            progress=lambda done, _: advance(done),
        )
    output.say("Permutation test of each feature")
    document = _present(output, folder, "test", table, "known", "feature")
    output.say(OF_THE_MAP)
    document |= {"permutations": permutations, "question": OF_THE_MAP}
    return Outcome(document, finished=bool((table["permutations"] == permutations).all()))


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
    output.say(f"Redundancy analysis, {permutations} permutations")
    document = _present(output, folder, "dbrda", table, "known", "feature")
    output.say(OF_THE_DISSIMILARITIES)
    return Outcome({**document, "permutations": permutations, "question": OF_THE_DISSIMILARITIES})


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
    return Outcome(_present(output, folder, "comparison", table, "method", "method"))


def _present(
    output: Output, folder: Folder | None, name: str, table: pd.DataFrame, heading: str, label: str
) -> dict[str, Any]:
    """Write and print a table, with a heading over its labels, and return it as a document with `label` for these."""
    if folder is not None:
        folder.table(name, table)
    output.show(table, index=heading)
    return {name: labelled(table).rename(columns={"label": label}), "written": say_written(output, folder)}


def _estimator(search: Search, neighbors: int | None, source: Input, adjust: Any = False) -> Any:
    """Return an estimator that is not fitted; `adjust` is what counts if the option is not given."""
    from ..estimators import ConditionalIsomap, ConditionalMDS

    params: dict[str, Any] = {"adjust": adjust, "random_state": search.random_state, **search.params}
    params["metric"] = "precomputed"
    params["known_types"] = source.known_types or None
    if neighbors is not None:
        return ConditionalIsomap(n_neighbors=neighbors, **params)
    return ConditionalMDS(**params)
