"""Making a command of a function: options declared once, in small objects, and one way to end."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ._errors import STOPPED, reporting
from ._output import Outcome, Output

Function = Callable[..., Outcome]
PANEL = "Output"
NOTHING = " "  # an empty text would be taken for none given


@dataclass(frozen=True)
class Common:
    """Options of every command."""

    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No remarks and no progress; warnings stay.", rich_help_panel=PANEL)
    ] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.", rich_help_panel=PANEL)
    ] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the code an error comes from.", rich_help_panel=PANEL)
    ] = False


def register(app: typer.Typer, name: str, function: Function, examples: Sequence[str] = ()) -> None:
    """Make a command of a function.

    The function takes an ``output`` first and returns an outcome. A parameter that is annotated by a dataclass stands
    for an option per field, and gets an instance; any other is an option itself. Examples stand at the end of its help.
    """
    hints = get_type_hints(function, include_extras=True)
    (_, *own) = inspect.signature(function).parameters.values()

    @wraps(function)
    def run(**options: Any) -> None:
        common = _built(Common, options)
        output = Output(common.quiet, common.as_json)
        with reporting(output, debug=common.debug):
            parts = {p.name: _part(hints[p.name], p.name, options) for p in own}
            outcome = function(output, **parts)
            output.finish(outcome)
        if not outcome.finished:
            raise typer.Exit(STOPPED)

    flat = [option for p in own for option in _options(p, hints[p.name])] + _fields(Common)
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in flat}
    app.command(name, cls=Command, epilog="\n\n".join(["For example:", *examples]) if examples else None)(run)


class _PlainFlags:
    """A command or group whose flags, --help among them, are not said to take a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = NOTHING
        return params


class Command(_PlainFlags, TyperCommand):
    """A command."""


class Group(_PlainFlags, TyperGroup):
    """The program, which has commands."""


def _part(hint: Any, name: str, options: dict[str, Any]) -> Any:
    return _built(hint, options) if is_dataclass(hint) else options[name]


def _options(parameter: inspect.Parameter, hint: Any) -> list[inspect.Parameter]:
    if is_dataclass(hint):
        return _fields(hint)
    return [parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY)]


def _fields(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def _built(kind: Any, options: dict[str, Any]) -> Any:
    return kind(**{field.name: options[field.name] for field in fields(kind)})
