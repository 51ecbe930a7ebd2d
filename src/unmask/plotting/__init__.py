"""Pictures of maps: every function that draws takes ``ax=`` and returns the Axes; `explore` makes a page instead."""

from ._coef import plot_coef, plot_importance
from ._explore import InteractiveMap, explore
from ._leak import plot_leak
from ._levels import plot_levels
from ._map import plot_map
from ._network import plot_network
from ._page import hash_source as hash_source
from ._page import map_asset as map_asset
from ._page import map_holder as map_holder
from ._pair import MOST_CONNECTIONS as MOST_CONNECTIONS
from ._pair import plot_pair
from ._radial import plot_radviz, plot_star_coordinates
from ._scree import plot_scree, plot_stress_path
from ._shepard import plot_shepard

__all__ = [
    "InteractiveMap",
    "explore",
    "plot_coef",
    "plot_importance",
    "plot_leak",
    "plot_levels",
    "plot_map",
    "plot_network",
    "plot_pair",
    "plot_radviz",
    "plot_scree",
    "plot_shepard",
    "plot_star_coordinates",
    "plot_stress_path",
]
