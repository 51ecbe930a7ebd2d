"""Text that a spreadsheet would take for a formula.

A spreadsheet runs a cell of a CSV file that begins with = + - or @, whatever it does. An apostrophe before it says
that the cell is text. Cells that have the apostrophe already get another one, so that taking one off always gives the
text that was written.
"""

from __future__ import annotations

import re
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r\n]")


def escape(cell: Any) -> Any:
    """Return text with an apostrophe before it if a spreadsheet would run it; anything else as it is."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def unescape(cell: Any) -> Any:
    """Return the text that ``escape`` was given."""
    return cell[1:] if isinstance(cell, str) and _ESCAPED.match(cell) else cell
