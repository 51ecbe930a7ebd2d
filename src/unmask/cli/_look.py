"""The commands that look at data from several fits: scree, compare and test; and the test that needs no fit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

from ._folder import Folder, open_folder
from ._options import DataPath, Dimensions, Reading, Saving, Search, Seed, fitting_option, names_in
from ._output import Outcome, Output, labelled

if TYPE_CHECKING:
    import pandas as pd

    from ..discovery import Discovery

MostDimensions = Annotated[
    int | None, fitting_option("--max-components", min=1, help="Largest number of dimensions; 6 if so many fit.")
]
Choose = Annotated[bool, fitting_option("--choose", help="Choose by testing one dimension after another.")]
Permutations = Annotated[int, fitting_option("--n-permutations", min=1, help="Permutations of each feature.")]
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
    reading: Reading,
    search: Search,
    saving: Saving,
    max_components: MostDimensions = None,
    choose: Choose = False,
) -> Outcome:
    """Show how the stress falls with the number of dimensions, and where adding more pays little."""
    from .. import inspection
    from ..progress import series

    folder = open_folder(saving)
    study = _small_study(output, data, reading)
    made = inspection.choose_n_components if choose else inspection.scree
    with series() as tell:
        table = made(
            _estimator(search, study),
            study.dissimilarities,
            _known(study),
            weights=study.material.weights,
            max_components=max_components or min(MOST_DIMENSIONS, len(study.material.objects) - 1),
            progress=lambda done, total: tell("scree", done, total),
        )
    chosen: dict[str, Any] = {name: table.attrs[name] for name in ("elbow", "chosen") if name in table.attrs}
    if folder is not None:
        folder.table("scree", labelled(table, "n_components"))
        folder.picture("scree.png", _scree_picture(table))
    output.show(table, index="dimensions")
    output.say(", ".join(f"{name}: {number}" for name, number in chosen.items()))
    written = [] if folder is None else folder.say_written(output)
    return Outcome({"scree": labelled(table, "n_components"), **chosen, "written": written})


def _scree_picture(table: pd.DataFrame) -> Any:
    from matplotlib.figure import Figure

    from ..plotting import plot_scree

    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    plot_scree(table, ax=figure.add_subplot())
    return figure


def permute(
    output: Output,
    data: DataPath,
    reading: Reading,
    search: Search,
    saving: Saving,
    n_permutations: Permutations = 199,
) -> Outcome:
    """Test by permutation whether each known feature has a part in the map's distances, given the others.

    Ctrl-C ends the test: the p-values so far are printed and written, and the exit code is 130. The command dbrda tests
    without a map, by a linear model of the squared dissimilarities.
    """
    from ..checking import UnfinishedWarning
    from ..inspection import permutation_test
    from ..progress import series

    folder = open_folder(saving)
    study = _small_study(output, data, reading)
    known = _something_known(study)
    output.note(f"Permuting {', '.join(known.columns)}: {n_permutations} times each; Ctrl-C keeps what is done.")
    with series() as tell, warnings.catch_warnings():
        warnings.simplefilter("always", UnfinishedWarning)  # elsewhere an interruption ends the command
        table = permutation_test(
            _estimator(search, study, adjust="auto"),  # as the map that `unmask fit` shows
            study.dissimilarities,
            known,
            weights=study.material.weights,
            n_permutations=n_permutations,
            random_state=search.random_state,
            progress=lambda done, total: tell("permuting", done, total),
        )
    output.say("Permutation test of each feature")
    document = _present(output, folder, "test", table, "known", "feature", OF_THE_MAP)
    finished = bool((table["permutations"] == n_permutations).all())
    return Outcome({**document, "permutations": n_permutations}, finished)


def dbrda(
    output: Output,
    data: DataPath,
    reading: Reading,
    saving: Saving,
    n_permutations: Permutations = 999,
    random_state: Seed = 0,
) -> Outcome:
    """Test what each known feature explains of the dissimilarities beyond the others, by a linear model: at once.

    The marginal F statistics of distance-based redundancy analysis, with p-values by permutation.
    """
    from ..inspection import dbrda_test

    folder = open_folder(saving)
    study = _small_study(output, data, reading, unweighted="dbrda")
    table = dbrda_test(
        study.dissimilarities,
        _something_known(study),
        known_types=study.known_types or None,
        n_permutations=n_permutations,
        random_state=random_state,
    )
    output.say(f"Redundancy analysis, {n_permutations} permutations")
    document = _present(output, folder, "dbrda", table, "known", "feature", OF_THE_DISSIMILARITIES)
    return Outcome({**document, "permutations": n_permutations})


def compare(
    output: Output,
    data: DataPath,
    reading: Reading,
    saving: Saving,
    methods: Methods = None,
    n_components: Dimensions = 2,
    random_state: Seed = 0,
) -> Outcome:
    """Map the data by conditional scaling and by the methods one would otherwise use, and score the maps."""
    from .. import inspection
    from ..progress import series

    folder = open_folder(saving)
    study = _small_study(output, data, reading, unweighted="compare")
    with series() as tell:
        table = inspection.compare(
            study.dissimilarities,
            _known(study),
            n_components=n_components,
            methods=names_in(methods),
            known_types=study.known_types or None,
            random_state=random_state,
            progress=lambda done, total: tell("comparing", done, total),
        )
    table = table.dropna(axis=1, how="all")  # scores that need a truth, which no file has
    return Outcome(_present(output, folder, "comparison", table, "method", "method"))


def _small_study(output: Output, data: DataPath, reading: Reading, unweighted: str = "") -> Discovery:
    """Return a study whose pairs fit into one table; raise if a command would ignore its weights."""
    from ..kernels import MOST_SQUARED

    if unweighted and reading.rating_weights is not None:
        raise ValueError(f"--rating-weights: {unweighted} takes no weights; leave this out.")
    study = reading.study(output, data)
    n = len(study.material.objects)
    if n > MOST_SQUARED:
        raise ValueError(
            f"{data} has {n:,} objects, and this command needs a table of all their pairs, which is too large; give it "
            "a random sample of the objects, such as 2,000. unmask fit takes all of them."
        )
    return study


def _known(study: Discovery) -> pd.DataFrame | None:
    return study.known if study.known.shape[1] else None


def _something_known(study: Discovery) -> pd.DataFrame:
    if not study.known.shape[1]:
        raise ValueError("there is no known feature to test; name some with --known FILE, or --columns of a table.")
    return study.known


def _present(
    output: Output, folder: Folder | None, name: str, table: pd.DataFrame, heading: str, label: str, question: str = ""
) -> dict[str, Any]:
    """Write and print a table, with a heading over its labels, and return it as a document with `label` for these."""
    if folder is not None:
        folder.table(name, table)
    output.show(table, index=heading)
    written = [] if folder is None else folder.say_written(output)
    if question:
        output.say(question)
    return {name: labelled(table, label), "written": written, **({"question": question} if question else {})}


def _estimator(search: Search, study: Discovery, adjust: Any = False) -> Any:
    """Return an estimator that is not fitted; `adjust` counts if the option is not given."""
    from ..discovery import ESTIMATORS

    if search.estimator == "classical":
        raise ValueError("--estimator classical: this command compares searches; use mds or isomap.")
    params = {"adjust": adjust, "random_state": search.random_state, **search.params}
    known_types = study.known_types or None
    return ESTIMATORS[search.estimator]().set_params(metric="precomputed", known_types=known_types, **params)
