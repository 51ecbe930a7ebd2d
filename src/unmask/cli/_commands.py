"""Making a command of a function: its options, its output, and what becomes of errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ._errors import STOPPED, reporting
from ._options import output_option
from ._output import Outcome, Output

Function = Callable[..., Outcome]
NO_METAVAR = " "  # typer takes an empty text for none given


@dataclass(frozen=True)
class Common:
    """Options of every command."""

    quiet: Annotated[bool, output_option("--quiet", "-q", help="No remarks and no progress; warnings stay.")] = False
    as_json: Annotated[bool, output_option("--json", help="Print one JSON document instead of tables.")] = False
    debug: Annotated[bool, output_option("--debug", help="Show where in the code an error comes from.")] = False


def register_command(app: typer.Typer, name: str, function: Function, examples: Sequence[str] = ()) -> None:
    """Make a command of a function.

    The function takes an ``output`` first and returns an outcome. A parameter that is annotated by a dataclass stands
    for an option per field, and gets an instance; any other is an option itself. Examples stand at the end of its help.
    """
    hints = get_type_hints(function, include_extras=True)
    (_, *own) = inspect.signature(function).parameters.values()

    @wraps(function)
    def run(**options: Any) -> None:
        from ..progress import without_late_bars  # not for the help

        common = _built(Common, options)
        output = Output(common.quiet, common.as_json)
        with reporting(output, debug=common.debug), without_late_bars():
            kinds = {p.name: hints[p.name] for p in own}
            given = {
                name: _built(kind, options) if is_dataclass(kind) else options[name] for name, kind in kinds.items()
            }
            outcome = function(output, **given)
            output.finish(outcome)
        if not outcome.finished:
            raise typer.Exit(STOPPED)

    flat = [option for p in own for option in _options(p, hints[p.name])] + _fields(Common)
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in flat}
    app.command(name, cls=Command, epilog="\n\n".join(["For example:", *examples]) if examples else None)(run)


class _PlainFlags:
    """A command or group whose help shows no value after a flag."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = NO_METAVAR
        return params


class Command(_PlainFlags, TyperCommand):
    """A command."""


class Group(_PlainFlags, TyperGroup):
    """The program with its commands."""


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
