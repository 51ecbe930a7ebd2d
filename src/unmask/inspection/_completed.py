"""Filling missing cells of known features by conditional scaling, for methods that need every cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import KnownFeatureWarning, count, is_pandas, quote, warn_user
from ..estimators import ConditionalMDS
from ..problem import check_known, known_table, types_with_levels
from ._fits import quiet

if TYPE_CHECKING:
    import pandas as pd


def completed(
    known: Any, D: pd.DataFrame, labels: pd.Index | None, p: int, types: dict[Any, Any] | None, seed: int | None
) -> Any:
    """Return known features with estimates in their missing cells, with a warning; unchanged if none is missing."""
    import pandas as pd

    if known is None:
        return None
    with quiet():  # the methods warn again
        coded = check_known(known, len(D), labels, "auto", types=types)
        gaps = [feature.name for feature in coded.features if len(feature.missing)]
        if not gaps:
            return known
        mds = ConditionalMDS(p, metric="precomputed", known_types=types, random_state=seed).fit(D, known=known)
    imputed, kinds, columns = mds.known_imputed_, mds.known_summary_["type"], {}
    are = "is" if len(imputed) == 1 else "are"
    warn_user(
        f"{count(len(imputed), 'missing cell')} of known features ({quote(gaps)}) {are} estimated by conditional "
        "scaling, and the methods are given the estimates.",
        KnownFeatureWarning,
    )
    for column in known_table(known, len(D), labels):
        cells = pd.Series(column.cells.array if is_pandas(column.cells) else list(column.cells), index=D.index)
        if kinds[column.name] not in types_with_levels():  # an estimate need not be a whole number
            cells = pd.Series(cells.to_numpy(dtype=np.float64, na_value=np.nan), index=D.index)
        columns[column.name] = cells
    rows = D.index.get_indexer(pd.Index(list(imputed["object"]), tupleize_cols=False))
    for row, feature, value in zip(rows, imputed["feature"], imputed["value"], strict=True):
        columns[str(feature)].iloc[int(row)] = value
    return pd.DataFrame(columns)
