"""Known features that are given by name: attributes of a network's nodes, or columns of the table of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..cluster import is_dask_frame
from ..graphs import Network, as_network
from ._labels import quote
from ._packages import as_pandas, is_pandas

if TYPE_CHECKING:
    import pandas as pd


def known_by_name(X: Any, known: Any, *, features: bool) -> tuple[Any, Any]:
    """Return the data and the known features, which may be names of node attributes or of columns of features.

    Known columns leave the features. A list of texts, one per object, is taken for values unless all of them are names.
    """
    names = [known] if isinstance(known, str) else list(known) if isinstance(known, tuple) else known
    if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        return X, known
    network = as_network(X)
    if network is not None:
        there = {name for data in network.attributes() for name in data}
        if _are_names(known, there, len(network.nodes), "the nodes have the attributes"):
            return X, node_table(network, names)
        return X, known
    table = X if is_dask_frame(X) else as_pandas(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if features and hasattr(table, "columns"):
        n = -1 if is_dask_frame(X) else len(table)  # which would have to be computed
        if _are_names(known, list(table.columns), n, "X has the columns"):
            drops_columns = is_pandas(table) or is_dask_frame(table)
            rest = table.drop(columns=names) if drops_columns else table.drop(names)
            if not rest.shape[1]:
                raise ValueError(
                    f"known names all columns of X ({quote(names)}); a map needs features that are not known."
                )
            return rest, table[names] if drops_columns else table.select(names)
    # A list of pairs does not have one row per object, so that the number of texts says nothing there.
    elif isinstance(known, str) or (len(shape) == 2 and (features or shape[0] == shape[1]) and len(names) < shape[0]):
        raise ValueError(
            f"known={known!r} is neither a value for each object nor a name: X has no columns of features and no nodes "
            "with attributes; pass the values."
        )
    return X, known


def _are_names(known: Any, there: Any, n: int, what: str) -> bool:
    """Tell whether texts name what is there, rather than being values of n objects; raise if they are neither."""
    names = [known] if isinstance(known, str) else known
    absent = [name for name in names if name not in there]
    if absent and (isinstance(known, str) or len(names) != n):
        listed = quote(there if isinstance(there, list) else sorted(there)) or "none"
        raise ValueError(f"known names {quote(absent)}, but {what} {listed}; pass one of these, or the values.")
    return not absent


def node_table(network: Network, names: Any) -> pd.DataFrame:
    """Return attributes of the nodes, which every node must have, as a table."""
    import pandas as pd

    columns = {name: node_column(network, name, "known", complete=True).array for name in names}
    return pd.DataFrame(columns, index=pd.Index(network.nodes, tupleize_cols=False))


def node_column(network: Network, attribute: str, argument: str, *, complete: bool) -> pd.Series[Any]:
    """Return one attribute of the nodes; None where a node has none, unless it must be complete."""
    import pandas as pd

    nodes, data = network.nodes, network.attributes()
    lacking = [node for node, own in zip(nodes, data, strict=True) if attribute not in own]
    if len(lacking) == len(nodes):
        there = sorted({str(name) for own in data for name in own})
        raise ValueError(
            f"{argument}={attribute!r} is no attribute of the nodes, which have {quote(there) or 'none'}; "
            "pass one of these, or the values."
        )
    if lacking and complete:
        raise ValueError(
            f"the node attribute {attribute!r} is missing for {len(lacking)} of {len(nodes)} nodes: {quote(lacking)}; "
            "add it."
        )
    index = pd.Index(nodes, tupleize_cols=False)
    return pd.Series([own.get(attribute) for own in data], index=index, name=attribute)
