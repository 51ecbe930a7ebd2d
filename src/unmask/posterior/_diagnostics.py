"""Whether the chains agree, and how much they say: ArviZ's diagnostics, however draws are turned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import require_package
from ._draws import Draws

if TYPE_CHECKING:
    import pandas as pd


def diagnostics(draws: Draws) -> pd.DataFrame:
    """Return R-hat and effective sample sizes, one row per quantity, the worst of each kind named by its kind.

    What is looked at is the noise, BB' and each object's coordinates, every draw turned onto the map.
    """
    import pandas as pd

    az = require_package("arviz", "a posterior", "posterior")
    data = az.convert_to_dataset(_invariants(draws))
    with np.errstate(invalid="ignore", divide="ignore"):
        tables = {
            "r_hat": az.rhat(data),
            "ess_bulk": az.ess(data, method="bulk"),
            "ess_tail": az.ess(data, method="tail"),
        }
    worst = {"r_hat": np.nanmax, "ess_bulk": np.nanmin, "ess_tail": np.nanmin}
    rows = {
        name: {column: float(worst[column](table[name].to_numpy())) for column, table in tables.items()}
        for name in data.data_vars
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(tables))


def _invariants(draws: Draws) -> dict[str, Array]:
    """Return what is the same however a draw is turned: chains x draws x …; a chain alone is taken for two halves."""
    chains, number = draws.chains.x.shape[:2]
    shape = (2, number // 2) if chains == 1 else (chains, number)
    found = {"s": draws.s, "gamma": draws.gamma}
    lower = np.tril_indices(draws.model.known.n_kept)
    if len(lower[0]):
        gram = draws.gram[:, lower[0], lower[1]]
        found["coefficients"] = gram[:, gram.std(axis=0) > 0]  # those of a block; 0 elsewhere
    if draws.p:
        found["map"] = draws.aligned
    whole = shape[0] * shape[1]
    return {name: values[:whole].reshape(*shape, *values.shape[1:]) for name, values in found.items()}


def inference_data(
    posterior: dict[str, Array], sample_stats: dict[str, Array], coords: dict[str, Any], dims: dict[str, list[str]]
) -> Any:
    """Return ArviZ's object of some draws, whichever it has: an ``InferenceData``, from version 1 a ``DataTree``."""
    az = require_package("arviz", "a posterior", "posterior")
    groups = {"posterior": posterior, "sample_stats": sample_stats}
    if int(az.__version__.partition(".")[0]) < 1:
        return az.from_dict(**groups, coords=coords, dims=dims)
    return az.from_dict(groups, coords=coords, dims=dims)
