"""Pictures of maps: every function takes ``ax=`` and returns the Axes; matplotlib is imported when one is drawn."""

from ._map import plot_map
from ._network import plot_network

__all__ = ["plot_map", "plot_network"]
