"""Pictures of fitted estimators.

Elsewhere plotting imports estimators and not the reverse; `lint-imports` allows this exception. Plotting is imported
when a picture is drawn, so that fitting needs no matplotlib.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

from ..checking import is_unlabelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches and dots per inch of the small picture: some 20 kB, whatever the number of objects.
SIZE, DPI = (4.6, 3.8), 90
MOST_LABELS = 40


def draw_map(estimator: Any, *, labels: Any = None, max_labels: int = 150, **options: Any) -> Axes:
    """Draw the map of a fitted estimator, without labels where these would only count the objects."""
    from ..plotting import plot_map

    counted = estimator._map.labels is not None and is_unlabelled(estimator._map.labels)
    return plot_map(estimator, labels=labels, max_labels=0 if labels is None and counted else max_labels, **options)


def small_picture(estimator: Any) -> str:
    """Return the map of a fitted estimator as the data URL of a small PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    draw_map(estimator, max_labels=MOST_LABELS, ax=figure.add_subplot())
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
