"""The program and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _datasets, _demo, _explore, _fit, _look, _place, _report
from ._commands import Function, Group, register_command

app = typer.Typer(
    cls=Group,
    help="See what the known features hide: maps of objects from dissimilarities, given known features.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"unmask {version('unmask')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """See what the known features hide: maps of objects from dissimilarities, given known features."""


# The examples use the files that `unmask datasets kinship` writes.
KINSHIP = "kinship/dissimilarities.csv --known kinship/known.csv --columns"
_COMMANDS: dict[str, tuple[Function, list[str]]] = {
    "demo": (_demo.demo, ["unmask demo"]),
    "fit": (
        _fit.fit,
        [
            f"unmask fit {KINSHIP} gender,degree --out result",
            f"unmask fit {KINSHIP} gender --estimator isomap --n-neighbors 5",
            "unmask fit flowers.csv --metric gower --columns site --out result",
            "unmask fit correlations.csv --similarity correlation",
            "unmask fit ratings.csv --similarity reverse:1:9 --aggregate mean --rater person",
            "unmask fit table.zarr --checkpoint fit.npz",
        ],
    ),
    "scree": (_look.scree, [f"unmask scree {KINSHIP} gender --max-components 4"]),
    "compare": (_look.compare, [f"unmask compare {KINSHIP} gender --methods conditional-mds,mds"]),
    "test": (_look.permute, [f"unmask test {KINSHIP} gender,degree --n-permutations 99"]),
    "dbrda": (_look.dbrda, [f"unmask dbrda {KINSHIP} gender,degree"]),
    "place": (_place.place, ["unmask place result new.csv --known new-known.csv"]),
    "explore": (
        _explore.explore,
        ["unmask explore", "unmask explore kinship/dissimilarities.csv --out study", "unmask explore study"],
    ),
    "datasets": (_datasets.datasets, ["unmask datasets", "unmask datasets kinship"]),
    "report": (_report.report, ["unmask report result"]),
}
for _name, (_function, _examples) in _COMMANDS.items():
    register_command(app, _name, _function, _examples)
