"""Maps of cells, or of whatever else the rows of an AnnData are, given columns of its ``obs``.

The functions read from an AnnData and write into it as those of scanpy do, so that ``sc.pl.embedding`` draws what they
find. Neither anndata nor scanpy is imported: whatever has ``obs``, ``obsm``, ``obsp`` and ``uns`` will do.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..checking import LeakWarning, align_rows, is_pandas, quote, warn_user
from ..estimators import ConditionalIsomap, ConditionalMDS, ConditionalTSNE, ConditionalUMAP
from ..problem.leak import NeighbourLeak

__all__ = ["cisomap", "cmds", "ctsne", "cumap"]

# Neighbours that tell a known feature this much better than chance are warned of; 1 is always right.
TOLD = 0.1


def _function(name: str, estimator: Any, doc: str) -> Callable[..., Any]:
    """Return the function that maps an AnnData by an estimator; all of them have one signature."""

    def function(
        adata: Any,
        known: Any,
        *,
        use_rep: str = "X_pca",
        obsp: str | None = None,
        key_added: str | None = None,
        copy: bool = False,
        **options: Any,
    ) -> Any:
        if name == "cisomap" and obsp is not None and not {"n_neighbors", "radius"} & set(options):
            options |= {"n_neighbors": None, "radius": np.inf}
        options = {"random_state": 0, **options} | ({} if obsp is None else {"metric": "precomputed"})
        X, table = _read(adata, known, use_rep, obsp)
        fitted = estimator(**options).fit(X, known=table)
        params = ({"use_rep": use_rep} if obsp is None else {"obsp": obsp}) | options
        adata = adata.copy() if copy else adata
        _write(adata, fitted, params, f"X_{name}" if key_added is None else key_added, key_added or name)
        return adata if copy else None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


cmds = _function(
    "cmds",
    ConditionalMDS,
    """Map the rows of an AnnData by :class:`unmask.ConditionalMDS`, given columns of its ``obs``.

    Parameters
    ----------
    adata : AnnData
        One row per cell.
    known : str, list of str, DataFrame or array-like of shape (n_cells, n_known), or None
        Known features: columns of ``adata.obs``, or a table, which is matched by the names of cells if it has labels.
    use_rep : str, default="X_pca"
        What cells are compared by: a table of ``adata.obsm``, or ``"X"``.
    obsp : str, optional
        A square table of dissimilarities in ``adata.obsp``, in place of `use_rep`. For a graph of neighbours use
        :func:`cisomap`, :func:`ctsne` or :func:`cumap`.
    key_added : str, optional
        Where to write: ``obsm[key_added]``, ``uns[key_added]`` and ``obs[key_added + "_stress"]``.
    copy : bool, default=False
        Write into a copy, and return it.
    **options
        Further parameters of the estimator. ``random_state`` is 0 unless it is given, as in scanpy.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. Set are ``obsm["X_cmds"]``, the map; ``obs["cmds_stress"]``, each cell's part of
        the stress; and ``uns["cmds"]`` with ``params``, ``stress``, ``importance`` of the known features, ``leak`` (how
        well the map predicts them linearly) and ``knn_leak`` (how well neighbours on the map do, beside chance). A
        ``LeakWarning`` names the features that neighbours tell.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from types import SimpleNamespace
    >>> from unmask.interop.anndata import cmds
    >>> rng = np.random.default_rng(0)
    >>> obs = pd.DataFrame({"batch": ["a", "b"] * 20}, index=[f"cell{i}" for i in range(40)])
    >>> X = rng.normal(size=(40, 5)) + 3.0 * (obs[["batch"]] == "b").to_numpy()
    >>> adata = SimpleNamespace(obs=obs, obs_names=obs.index, obsm={"X_pca": X}, obsp={}, uns={})  # as an AnnData
    >>> cmds(adata, "batch", n_init=1)
    >>> adata.obsm["X_cmds"].shape, sorted(adata.uns["cmds"])
    ((40, 2), ['importance', 'knn_leak', 'leak', 'params', 'stress'])
    """,
)
cisomap = _function(
    "cisomap",
    ConditionalIsomap,
    """Map the rows of an AnnData as :func:`cmds` does, by :class:`unmask.ConditionalIsomap`.

    `obsp` is a graph of neighbours, such as ``"distances"`` of ``scanpy.pp.neighbors``; all of its edges count, also
    those stored one way, unless `n_neighbors` or `radius` is given.
    """,
)
ctsne = _function(
    "ctsne",
    ConditionalTSNE,
    """Map the rows of an AnnData as :func:`cmds` does, by :class:`unmask.ConditionalTSNE`, without a stress.

    `obsp` is a square table of dissimilarities or a graph of neighbours. A graph that was made without the known
    features has few edges between their levels; features serve better.
    """,
)
cumap = _function(
    "cumap",
    ConditionalUMAP,
    """Map the rows of an AnnData as :func:`ctsne` does, by :class:`unmask.ConditionalUMAP`.""",
)


def _read(adata: Any, known: Any, use_rep: str, obsp: str | None) -> tuple[Any, Any]:
    """Return the table by which cells are compared, with their names where possible, and the known features."""
    import pandas as pd

    if obsp == "connectivities":
        raise ValueError(
            "obsp='connectivities' are similarities, 1 for the nearest, and not distances; pass obsp='distances'."
        )
    names = [known] if isinstance(known, str) else known
    if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
        absent = [name for name in names if name not in adata.obs.columns]
        if absent:
            columns = quote(adata.obs.columns)
            raise ValueError(f"known names {quote(absent)}, which adata.obs does not have; its columns are {columns}.")
        known = adata.obs[list(names)]
    if obsp is not None:
        X = _entry(adata.obsp, obsp, "obsp")
    else:
        X = adata.X if use_rep == "X" else _entry(adata.obsm, use_rep, "obsm")
        if not sp.issparse(X) and not is_pandas(X) and adata.obs_names.is_unique:
            X = pd.DataFrame(np.asarray(X), index=adata.obs_names, copy=False)
    if is_pandas(known) and not is_pandas(X):
        same = known.index.equals(adata.obs_names)  # names may occur twice
        known = (known if same else align_rows(known, adata.obs_names, "known")).reset_index(drop=True)
    return X, known


def _entry(entries: Any, key: str, where: str) -> Any:
    if key not in entries:
        made = {"X_pca": " (scanpy.pp.pca makes it)", "distances": " (scanpy.pp.neighbors makes it)"}.get(key, "")
        raise ValueError(f"adata.{where} has no {key!r}{made}; it has {quote(entries) or 'nothing'}.")
    return entries[key]


def _write(adata: Any, fitted: Any, options: dict[str, Any], map_key: str, key: str) -> None:
    """Write the results, in forms that a file of AnnData can hold; warn of features that neighbours tell."""
    params = options | {"known": list(fitted.known_summary_.index), "n_components": fitted.embedding_.shape[1]}
    shown = {
        name: value if isinstance(value, str | bool | Real | list) else repr(value) for name, value in params.items()
    }
    found = {"params": {name: value for name, value in shown.items() if params[name] is not None}}
    found |= {"leak": float(fitted.leak_)} | ({"knn_leak": fitted.knn_leak_} if len(fitted.knn_leak_) else {})
    if hasattr(fitted, "stress_per_point_"):  # the fit of the other maps warns
        leaks = {name: NeighbourLeak(*row) for name, row in fitted.knn_leak_.iterrows()}
        told = [name for name, leak in leaks.items() if leak.above_chance and leak.corrected > TOLD]
        if told:
            warn_user(
                f"neighbours on the map tell {quote(told)}. If groups of cells go with a known feature, every map that "
                "shows the groups also tells the feature; if not, pass adjust=True, or map its levels apart.",
                LeakWarning,
            )
        found |= {"stress": float(fitted.stress_)} | ({"importance": fitted.importance_} if leaks else {})
        adata.obs[f"{key}_stress"] = np.asarray(fitted.stress_per_point_)
    adata.obsm[map_key] = fitted.embedding_
    adata.uns[key] = found
