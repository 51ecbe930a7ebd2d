"""ArviZ's diagnostics of the chains, for quantities that do not change when a draw is rotated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import require_package
from ._draws import Draws

if TYPE_CHECKING:
    import pandas as pd


def diagnostics(draws: Draws) -> pd.DataFrame:
    """Return R-hat and effective sample sizes: one row per kind of quantity, with the worst of its values.

    The kinds are the noise, BB' and the objects' coordinates, every draw rotated onto the map.
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
    """Return quantities that do not change when a draw is rotated: chains x draws x …; a single chain is halved."""
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
    """Return some draws as ArviZ's ``InferenceData``, from its version 1 on as a ``DataTree``."""
    az = require_package("arviz", "a posterior", "posterior")
    groups = {"posterior": posterior, "sample_stats": sample_stats}
    if int(az.__version__.partition(".")[0]) < 1:
        return az.from_dict(**groups, coords=coords, dims=dims)
    return az.from_dict(groups, coords=coords, dims=dims)
