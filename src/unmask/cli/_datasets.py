"""The command that lists the examples and writes them as files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._fitting import say_written
from ._folder import open_folder
from ._options import Saving, Seed
from ._output import Outcome, Output
from ._words import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="The example to write; without it they are listed.")]


def datasets(output: Output, saving: Saving, name: Name = None, seed: Seed = 0) -> Outcome:
    """List the examples, or write one as files into a folder, by default of its name."""
    import pandas as pd

    makers = _makers()
    if name is None:
        listed = pd.DataFrame({"what it is": [_first_line(maker) for maker in makers.values()]}, index=list(makers))
        output.show(listed, index="name", most=len(listed))
        output.say("unmask datasets NAME writes one as files.")
        return Outcome({"datasets": [{"name": key, "description": _first_line(m)} for key, m in makers.items()]})
    if name not in makers:
        raise ValueError(f"NAME {name!r} is no example{did_you_mean(name, makers)}; these are {', '.join(makers)}.")
    return _write(output, name, makers[name], saving, seed)


def _makers() -> dict[str, Callable[..., Any]]:
    """Return the functions that make the examples, by the names of these."""
    from .. import datasets as room

    functions = {name.partition("_")[2].replace("_", "-"): name for name in room.__all__ if "_" in name}
    return {name: getattr(room, functions[name]) for name in sorted(functions)}


def _first_line(maker: Callable[..., Any]) -> str:
    return (inspect.getdoc(maker) or "").partition("\n")[0]


def _write(output: Output, name: str, maker: Callable[..., Any], saving: Saving, seed: int) -> Outcome:
    from dataclasses import replace
    from pathlib import Path

    chosen = replace(saving, out=saving.out or Path(name))
    options = {"random_state": seed} if "random_state" in inspect.signature(maker).parameters else {}
    tables = _tables(maker(**options))
    folder = open_folder(chosen, tables)
    assert folder is not None  # the folder has a name
    for key, frame in tables.items():
        folder.table(key, frame)
    for key, frame in tables.items():
        output.say(f"{key}: {' x '.join(map(str, frame.shape))}")
    return Outcome({"name": name, "written": say_written(output, folder)})


def _tables(bunch: Any) -> dict[str, pd.DataFrame]:
    """Return the parts of an example that are tables, or can be written as one."""
    import pandas as pd

    tables = {}
    for key, part in bunch.items():
        if isinstance(part, pd.DataFrame):
            tables[key] = part
        elif isinstance(part, pd.Series):
            tables[key] = part.to_frame()
        elif isinstance(part, list) and all(isinstance(cell, str) for cell in part):
            tables[key] = pd.DataFrame({key: part})
    return tables
