"""Tables that cannot be changed: several studies share them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def lock_tables(record: Any) -> None:
    """Make the tables of numbers in a frozen dataclass read-only, without copying them."""
    import pandas as pd

    for part in fields(record):
        table = getattr(record, part.name)
        if isinstance(table, pd.DataFrame | pd.Series):
            object.__setattr__(record, part.name, _locked(table))


def _locked(table: Any) -> Any:
    """Return a table over the same memory in which no cell can be set, if it holds numbers of one type."""
    import pandas as pd

    kinds = {*table.dtypes} if isinstance(table, pd.DataFrame) else {table.dtype}
    kind = next(iter(kinds), None)
    if len(kinds) != 1 or not isinstance(kind, np.dtype) or kind.kind not in "fib" or table.empty:
        return table
    values = table.to_numpy().view()
    values.flags.writeable = False
    labels = {"columns": table.columns} if isinstance(table, pd.DataFrame) else {"name": table.name}
    return type(table)(values, index=table.index, copy=False, **labels)
