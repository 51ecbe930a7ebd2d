"""Turns a function into a command: its options, its output, and what becomes of errors and warnings."""

from __future__ import annotations

import inspect
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ._options import output_option
from ._output import Outcome, Output

Function = Callable[..., Outcome]
FAILED, BAD_INPUT, STOPPED = 1, 2, 130
# What the library raises about its input. Anything else is a mistake in the library.
ABOUT_INPUT = (ValueError, OSError, ImportError, MemoryError, ArithmeticError)


@dataclass(frozen=True)
class Common:
    """Options of every command."""

    quiet: Annotated[bool, output_option("--quiet", "-q", help="No remarks and no progress; warnings stay.")] = False
    as_json: Annotated[bool, output_option("--json", help="Print one JSON document instead of tables.")] = False
    debug: Annotated[bool, output_option("--debug", help="Show where in the code an error comes from.")] = False


def register_command(app: typer.Typer, name: str, function: Function, examples: Sequence[str] = ()) -> None:
    """Make a command of a function.

    The function takes an ``output`` first and returns an outcome. A parameter annotated by a dataclass stands for one
    option per field, and receives an instance; any other parameter is an option itself. The examples end the help.
    """
    hints = get_type_hints(function, include_extras=True)
    (_, *own) = inspect.signature(function).parameters.values()

    @wraps(function)
    def run(**options: Any) -> None:
        common = _built(Common, options)
        output = Output(common.quiet, common.as_json)
        given = {
            p.name: _built(hints[p.name], options) if is_dataclass(hints[p.name]) else options[p.name] for p in own
        }
        with _reporting(output, debug=common.debug), _without_bar() if common.quiet else nullcontext():
            outcome = function(output, **given)
            output.finish(outcome)
        if not outcome.finished:
            raise typer.Exit(STOPPED)

    flat = [option for p in own for option in _options(p, hints[p.name])] + _fields(Common)
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in flat}
    app.command(name, cls=Command, epilog="\n\n".join(["For example:", *examples]) if examples else None)(run)


def _without_bar() -> Any:
    from ..progress import without_late_bars  # not for the help

    return without_late_bars()


class _PlainFlags:
    """A command or group whose help shows no value after a flag."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = " "  # typer takes an empty text for none given
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


# ---- errors and warnings


@contextmanager
def _reporting(output: Output, *, debug: bool) -> Iterator[None]:
    """Print an error in one line, and exit with the code for it; print warnings as one line each."""
    from ..checking import UnfinishedWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those for programmers
            for category in (UserWarning, RuntimeWarning):
                warnings.simplefilter("always", category)
            warnings.simplefilter("error", UnfinishedWarning)  # Ctrl-C in one of many fits ends the command
            warnings.showwarning = lambda message, *_, **__: output.warn(str(message))
            yield
    except BrokenPipeError:  # the reader of the output has stopped; typer ends quietly
        raise
    except (KeyboardInterrupt, UnfinishedWarning):
        output.fail("stopped before there was a result.")
        raise typer.Exit(STOPPED) from None
    except Exception as error:
        if debug:
            traceback.print_exc(file=sys.stderr)
        if not isinstance(error, ABOUT_INPUT) and not _is_from_cluster(error):
            output.fail(
                f"this should not happen ({type(error).__name__}: {error}); --debug shows where, for a report of the "
                "bug."
            )
            raise typer.Exit(FAILED) from None
        output.fail(_sentence(error))
        raise typer.Exit(BAD_INPUT) from None


def _is_from_cluster(error: Exception) -> bool:
    from ..cluster import ClusterError

    return isinstance(error, ClusterError)


def _sentence(error: BaseException) -> str:
    """Return the message of an error; for an error of the operating system, with the file."""
    if isinstance(error, OSError) and error.strerror:
        file = f"{error.filename}: " if error.filename else ""
        return f"{file}{error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return "there is not enough memory; dissimilarities take 8 bytes for each of the N x N pairs."
    return str(error) or type(error).__name__
