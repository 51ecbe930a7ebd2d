"""Errors in files: which file, where in it, what is wrong, and the way out."""

from __future__ import annotations

from os import PathLike


class FileProblem(ValueError):  # noqa: N818  (the name that users see)
    """A file that cannot be read or written, explained in one sentence.

    All parameters but the first are attributes.

    Parameters
    ----------
    message : str
        The sentence, with the name of the file.
    path : str, optional
        The file, as it was given.
    row, column : int, optional
        The place in the file, counted from 1 as in an editor or a spreadsheet; None if no single place is wrong.
    what : str, optional
        What is wrong, without the place; by default the message.
    """

    def __init__(
        self,
        message: str,
        path: str | None = None,
        row: int | None = None,
        column: int | None = None,
        what: str | None = None,
    ) -> None:
        super().__init__(message, path, row, column, what)  # all of them, so that the error survives pickling
        self.path, self.row, self.column = path, row, column
        self.what = message if what is None else what

    def __str__(self) -> str:
        return str(self.args[0])


def times(*lengths: int) -> str:
    """Return the size of a table in the form "3 × 4"."""
    return " × ".join(f"{length:,}" for length in lengths)  # noqa: RUF001


def one_line(error: BaseException) -> str:
    """Return the beginning of an error's message, for use in a sentence."""
    return " ".join(str(error).split()).rstrip(".")[:200]


def problem(path: str | PathLike[str], what: str, *, row: int | None = None, column: int | None = None) -> FileProblem:
    """Return the error for a place in a file."""
    places = [f"{name} {at}" for name, at in (("row", row), ("column", column)) if at is not None]
    return FileProblem(f"{', '.join([str(path), *places])}: {what}", str(path), row, column, what)
