"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="See what the known features hide: maps of objects from dissimilarities, given what is known.",
    add_completion=False,
    no_args_is_help=True,
)


def _print_version(asked: bool) -> None:
    if asked:
        from unmask import __version__

        typer.echo(f"unmask {__version__}")
        raise typer.Exit


# A callback makes typer treat `demo` as a subcommand although it is the only one.
@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """See what the known features hide: maps of objects from dissimilarities, given what is known."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the tables.", file_okay=False)] = Path(
        "unmask-demo"
    ),
) -> None:
    """Map kinship terms given nothing, given gender, and given gender and degree of kinship."""
    from ._demo import run_demo

    run_demo(out)
