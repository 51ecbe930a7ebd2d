"""The command that lists the examples and writes them as files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._folder import open_folder
from ._options import Saving, Seed
from ._output import Outcome, Output

if TYPE_CHECKING:
    import pandas as pd

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="The example to write; without it they are listed.")]


def datasets(output: Output, saving: Saving, name: Name = None, random_state: Seed = 0) -> Outcome:
    """List the examples, or write one as files into a folder, by default of its name."""
    import pandas as pd

    from ..checking import require_choice

    makers = _makers()
    if name is None:
        described = {key: (inspect.getdoc(maker) or "").partition("\n")[0] for key, maker in makers.items()}
        listed = pd.DataFrame({"what it is": described})
        output.show(listed, index="name", most=len(listed))
        output.say("unmask datasets NAME writes one as files.")
        return Outcome({"datasets": [{"name": key, "description": text} for key, text in described.items()]})
    require_choice("NAME", name, tuple(makers))
    make = makers[name]
    options = {"random_state": random_state} if "random_state" in inspect.signature(make).parameters else {}
    folder = open_folder(replace(saving, out=saving.out or Path(name)))
    assert folder is not None  # it has a name
    for key, frame in _tables(make(**options)).items():
        folder.table(key, frame)
        output.say(f"{key}: {' x '.join(map(str, frame.shape))}")
    return Outcome({"name": name, "written": folder.say_written(output)})


def _makers() -> dict[str, Callable[..., Any]]:
    """Return the functions that make the examples, by the names of these."""
    from .. import datasets as room

    functions = {name.partition("_")[2].replace("_", "-"): name for name in room.__all__ if "_" in name}
    return {name: getattr(room, functions[name]) for name in sorted(functions)}


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
