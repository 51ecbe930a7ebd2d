"""Maps of cells, or of whatever else the rows of an AnnData are, given columns of its ``obs``.

The functions read from an AnnData and write into it as those of scanpy do, so that ``sc.pl.embedding`` draws what they
find. Neither anndata nor scanpy is imported: whatever has ``obs``, ``obsm``, ``obsp`` and ``uns`` will do.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..checking import align_rows, is_pandas, quote
from ..estimators import ConditionalIsomap, ConditionalMDS, ConditionalTSNE, ConditionalUMAP

__all__ = ["cisomap", "cmds", "ctsne", "cumap"]


def cmds(
    adata: Any,
    known: Any,
    *,
    use_rep: str = "X_pca",
    obsp: str | None = None,
    n_components: int = 2,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map the rows of an AnnData by :class:`unmask.ConditionalMDS`, given columns of its ``obs``.

    Parameters
    ----------
    adata : AnnData
        One row per cell.
    known : str, list of str, DataFrame or array-like of shape (n_cells, n_known), or None
        What is known: columns of ``adata.obs`` by name, or a table, matched by the names of the cells if it has labels.
    use_rep : str, default="X_pca"
        What cells are compared by: a table of ``adata.obsm``, or ``"X"``.
    obsp : str, optional
        A square table of dissimilarities in ``adata.obsp``, in place of `use_rep`. A graph of neighbours is none, but
        :func:`cisomap` takes one.
    n_components : int, default=2
        Dimensions of the map.
    key_added : str, optional
        Where to write: ``obsm[key_added]``, ``uns[key_added]`` and ``obs[key_added + "_stress"]``.
    copy : bool, default=False
        Write into a copy, and return it.
    **options
        Further parameters of the estimator. ``random_state`` is 0 unless it is given, as in scanpy.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. Set are ``obsm["X_cmds"]``, the map; ``uns["cmds"]``, with ``params``,
        ``stress``, ``leak``, and ``importance`` of what is known; and ``obs["cmds_stress"]``, each cell's part of the
        stress.

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
    ((40, 2), ['importance', 'leak', 'params', 'stress'])
    """
    return _embed("cmds", ConditionalMDS, adata, known, use_rep, obsp, n_components, key_added, copy, options)


def cisomap(
    adata: Any,
    known: Any,
    *,
    use_rep: str = "X_pca",
    obsp: str | None = None,
    n_components: int = 2,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map the rows of an AnnData by :class:`unmask.ConditionalIsomap`, given columns of its ``obs``.

    Parameters
    ----------
    adata, known, use_rep, n_components, key_added, copy
        As in :func:`cmds`; the keys are ``"X_cisomap"``, ``"cisomap"`` and ``"cisomap_stress"``.
    obsp : str, optional
        A graph of neighbours in ``adata.obsp``, such as ``"distances"`` of ``scanpy.pp.neighbors``, in place of
        `use_rep`. All of its edges count, also those stored one way, unless `n_neighbors` or `radius` is given.
    **options
        Further parameters of the estimator, such as `n_landmarks`. ``random_state`` is 0 unless it is given.

    Returns
    -------
    AnnData or None
        As of :func:`cmds`.
    """
    if obsp is not None and not {"n_neighbors", "radius"} & set(options):
        options = {"n_neighbors": None, "radius": np.inf, **options}
    return _embed("cisomap", ConditionalIsomap, adata, known, use_rep, obsp, n_components, key_added, copy, options)


def ctsne(
    adata: Any,
    known: Any,
    *,
    use_rep: str = "X_pca",
    obsp: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map the rows of an AnnData by :class:`unmask.ConditionalTSNE`, given columns of its ``obs``.

    Parameters
    ----------
    adata, known, use_rep, key_added, copy
        As in :func:`cmds`; the keys are ``"X_ctsne"`` and ``"ctsne"``.
    obsp : str, optional
        A square table of dissimilarities or a graph of neighbours in ``adata.obsp``, in place of `use_rep`. A graph
        that was made without the known features has few edges between their levels; features serve better.
    **options
        Further parameters of the estimator, such as `perplexity`. ``random_state`` is 0 unless it is given.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. Set are the map, and ``uns["ctsne"]`` with ``params`` and ``leak``.
    """
    return _embed("ctsne", ConditionalTSNE, adata, known, use_rep, obsp, None, key_added, copy, options)


def cumap(
    adata: Any,
    known: Any,
    *,
    use_rep: str = "X_pca",
    obsp: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map the rows of an AnnData by :class:`unmask.ConditionalUMAP`, given columns of its ``obs``.

    Parameters
    ----------
    adata, known, use_rep, obsp, key_added, copy
        As in :func:`ctsne`; the keys are ``"X_cumap"`` and ``"cumap"``.
    **options
        Further parameters of the estimator, such as `n_neighbors`. ``random_state`` is 0 unless it is given.

    Returns
    -------
    AnnData or None
        As of :func:`ctsne`.
    """
    return _embed("cumap", ConditionalUMAP, adata, known, use_rep, obsp, None, key_added, copy, options)


def _embed(
    name: str,
    kind: Any,
    adata: Any,
    known: Any,
    use_rep: str,
    obsp: str | None,
    n_components: int | None,
    key_added: str | None,
    copy: bool,
    options: dict[str, Any],
) -> Any:
    """Fit an estimator, and write what it found only when all of it is there."""
    if obsp == "connectivities":
        raise ValueError(
            "obsp='connectivities' are similarities, 1 for the nearest, and not distances; pass obsp='distances'."
        )
    size = {} if n_components is None else {"n_components": n_components}
    given = size | {"random_state": 0, **options} | ({} if obsp is None else {"metric": "precomputed"})
    table = _columns(adata, known)
    X = _representation(adata, use_rep) if obsp is None else _entry(adata.obsp, obsp, "obsp")
    fitted = kind(**given).fit(X, known=_in_order(table, X, adata))
    params = {"use_rep": use_rep} if obsp is None else {"obsp": obsp}
    found = {
        "params": _plain(params | {"known": list(fitted.known_summary_.index)} | given),
        "leak": float(fitted.leak_),
    }
    if n_components is not None:
        found["stress"] = float(fitted.stress_)
    if n_components is not None and len(fitted.importance_):
        found["importance"] = fitted.importance_
    adata = adata.copy() if copy else adata
    adata.obsm[f"X_{name}" if key_added is None else key_added] = fitted.embedding_
    adata.uns[key_added or name] = found
    if n_components is not None:
        adata.obs[f"{key_added or name}_stress"] = np.asarray(fitted.stress_per_point_)
    return adata if copy else None


def _columns(adata: Any, known: Any) -> Any:
    """Return what is known: columns of ``obs`` if they are named, everything else as it is."""
    names = [known] if isinstance(known, str) else known
    if not (isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names)):
        return known
    absent = [name for name in names if name not in adata.obs.columns]
    if absent:
        raise ValueError(
            f"known names {quote(absent)}, which adata.obs does not have; its columns are {quote(adata.obs.columns)}."
        )
    return adata.obs[list(names)]


def _representation(adata: Any, use_rep: str) -> Any:
    """Return the table by which cells are compared, with their names if each has one of its own."""
    values = adata.X if use_rep == "X" else _entry(adata.obsm, use_rep, "obsm")
    if sp.issparse(values) or is_pandas(values) or not adata.obs_names.is_unique:
        return values
    import pandas as pd

    return pd.DataFrame(np.asarray(values), index=adata.obs_names, copy=False)


def _entry(entries: Any, key: str, where: str) -> Any:
    if key not in entries:
        made = {"X_pca": " (scanpy.pp.pca makes it)", "distances": " (scanpy.pp.neighbors makes it)"}.get(key, "")
        raise ValueError(f"adata.{where} has no {key!r}{made}; it has {quote(entries) or 'nothing'}.")
    return entries[key]


def _in_order(table: Any, X: Any, adata: Any) -> Any:
    """Return what is known in the order of the cells, and without labels where the data have none."""
    if is_pandas(X) or not is_pandas(table):
        return table
    rows = table if table.index.equals(adata.obs_names) else align_rows(table, adata.obs_names, "known")
    return rows.reset_index(drop=True)


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as a file of AnnData can hold them: None is left out, an object becomes what it is called."""
    return {name: value if _is_plain(value) else repr(value) for name, value in params.items() if value is not None}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bool | Real) or (isinstance(value, list) and all(isinstance(v, str) for v in value))
