"""Turns exceptions into one-line messages and exit codes, and warnings into lines."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from ._output import Output

FAILED, BAD_INPUT, STOPPED = 1, 2, 130
# What the library raises about what it was given. Anything else is a mistake in the library.
ABOUT_INPUT = (ValueError, OSError, ImportError, MemoryError, ArithmeticError)


@contextmanager
def reporting(output: Output, *, debug: bool) -> Iterator[None]:
    """Print an error in one line, and exit with the code for it."""
    from ..checking import UnfinishedWarning
    from ..cluster import ClusterError

    try:
        with _warnings_as_lines(output):
            yield
    except BrokenPipeError:  # whoever read the output has seen enough; typer ends quietly
        raise
    except (KeyboardInterrupt, UnfinishedWarning):
        output.fail("stopped before there was a result.")
        raise typer.Exit(STOPPED) from None
    except (*ABOUT_INPUT, ClusterError) as error:
        _trace(debug)
        output.fail(sentence(error))
        raise typer.Exit(BAD_INPUT) from None
    except Exception as error:
        _trace(debug)
        output.fail(
            f"this should not happen ({type(error).__name__}: {error}); --debug shows where, for a report of the bug."
        )
        raise typer.Exit(FAILED) from None


def sentence(error: BaseException) -> str:
    """Return the message of an error; of one of the operating system, with the file."""
    if isinstance(error, OSError) and error.strerror:
        file = f"{error.filename}: " if error.filename else ""
        return f"{file}{error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return "there is not enough memory; dissimilarities take 8 bytes for each of the N x N pairs."
    return str(error) or type(error).__name__


def _trace(debug: bool) -> None:
    if debug:
        traceback.print_exc(file=sys.stderr)


@contextmanager
def _warnings_as_lines(output: Output) -> Iterator[None]:
    """Print warnings about data as one line each; ignore those meant for programmers."""
    from ..checking import UnfinishedWarning

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        output.warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.simplefilter("error", UnfinishedWarning)  # Ctrl-C in one of many fits ends the command
        warnings.showwarning = show
        yield
