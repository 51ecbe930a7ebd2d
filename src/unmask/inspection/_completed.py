"""Filling missing cells of known features by conditional scaling, for methods that need every cell."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import Dissimilarities, KnownFeatureWarning, count, is_pandas, quote, warn_user
from ..estimators import ConditionalMDS
from ..problem import check_known, known_table, types_with_levels

if TYPE_CHECKING:
    import pandas as pd


def completed(known: Any, checked: Dissimilarities, p: int, types: dict[Any, Any] | None, seed: int | None) -> Any:
    """Return known features with estimates in their missing cells, with a warning; unchanged if none is missing."""
    if known is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the methods say it again
        coded = check_known(known, checked.n, checked.labels, "auto", types=types)
        gaps = {feature.name: len(feature.missing) for feature in coded.features if len(feature.missing)}
        if not gaps:
            return known
        mds = ConditionalMDS(p, metric="precomputed", known_types=types, random_state=seed)
        mds.fit(_table(checked), known=known)
    n_gaps = sum(gaps.values())
    warn_user(
        f"{count(n_gaps, 'missing cell')} of known features ({quote(gaps)}) {'is' if n_gaps == 1 else 'are'} estimated "
        "by conditional scaling, and the methods are given the estimates.",
        KnownFeatureWarning,
    )
    return _filled(known, checked, mds)


def _table(checked: Dissimilarities) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(checked.array_for("compare"), index=checked.labels, columns=checked.labels)


def _filled(known: Any, checked: Dissimilarities, mds: ConditionalMDS) -> pd.DataFrame:
    import pandas as pd

    index, kinds = _table(checked).index, mds.known_summary_["type"]
    columns = {}
    for column in known_table(known, checked.n, checked.labels):
        cells = pd.Series(column.cells.array if is_pandas(column.cells) else list(column.cells), index=index)
        if kinds[column.name] not in types_with_levels():  # an estimate need not be a whole number
            cells = pd.Series(cells.to_numpy(dtype=np.float64, na_value=np.nan), index=index)
        columns[column.name] = cells
    imputed = mds.known_imputed_
    rows = index.get_indexer(pd.Index(list(imputed["object"]), tupleize_cols=False))
    for row, feature, value in zip(rows, imputed["feature"], imputed["value"], strict=True):
        columns[str(feature)].iloc[int(row)] = value
    return pd.DataFrame(columns)
