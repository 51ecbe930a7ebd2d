"""The commands, each in a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _datasets, _demo, _explore, _fit, _look, _place, _report
from ._commands import Function, Group, register_command
from ._examples import EXAMPLES

app = typer.Typer(
    cls=Group,
    help="See what the known features hide: maps of objects from dissimilarities, given what is known.",
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
    """See what the known features hide: maps of objects from dissimilarities, given what is known."""


_COMMANDS: dict[str, Function] = {
    "demo": _demo.demo,
    "fit": _fit.fit,
    "isomap": _fit.isomap,
    "scree": _look.scree,
    "compare": _look.compare,
    "test": _look.permute,
    "dbrda": _look.dbrda,
    "place": _place.place,
    "explore": _explore.explore,
    "datasets": _datasets.datasets,
    "report": _report.report,
}
for _name, _function in _COMMANDS.items():
    register_command(app, _name, _function, EXAMPLES[_name])
