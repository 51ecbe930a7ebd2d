"""Three pictures compared with stored ones, pixel by pixel.

Text is taken off first: how letters are drawn depends on the version of FreeType. What is left is drawn by
matplotlib's own Agg, which differs between versions by rounding at edges only; a root mean square difference of 5 of
255 grey levels allows for that. A moved point or a changed colour makes more, as the last test shows. To renew the
stored pictures after a change that was meant, run this file as a script.
"""

from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

from unmask.plotting._coef import plot_coef
from unmask.plotting._map import plot_map
from unmask.plotting._scree import plot_stress_path

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE = 5.0


def draw_map(ax, shift=0.0):
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    X = np.column_stack([3 * np.cos(angle), 2 * np.sin(angle)])
    X[0, 0] += shift
    covariances = np.array([np.diag([0.02 + 0.01 * i, 0.05]) for i in range(12)])
    plot_map(X, color=list("abc" * 4), shape=list("xxxyyy" * 2), ellipses=covariances, arrows=X @ [[1.0], [1.0]], ax=ax)
    for line in ax.lines:
        line.set_visible(False)  # to a label, whose place depends on the size of its text


def draw_coef(ax, change=0.0):
    values = np.subtract.outer(np.arange(5.0), np.arange(5.0))
    values[1, 3] += change
    names = [f"f{i}" for i in range(5)]
    plot_coef(pd.DataFrame(values, index=names, columns=names), ax=ax)


def draw_path(ax, change=0.0):
    path = 0.02 + 0.3 * np.exp(-np.arange(30) / 4) + change
    plot_stress_path(SimpleNamespace(stress_path_=path, starts_=pd.DataFrame({"stress": [0.02, 0.03, 0.08]})), ax=ax)


PICTURES = {"map": draw_map, "coef": draw_coef, "stress_path": draw_path}


def save(path, draw, **changes):
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        figure = Figure(figsize=(4, 3.5), dpi=50)
        FigureCanvasAgg(figure)
        draw(figure.add_subplot(), **changes)
        for ax in figure.axes:  # their numbers are written when the figure is drawn
            ax.tick_params(which="both", labelleft=False, labelright=False, labelbottom=False)
        for artist in figure.findobj(lambda one: isinstance(one, Legend) or (isinstance(one, Text) and one.get_text())):
            artist.set_visible(False)
        figure.savefig(path, metadata={"Software": None})
    return str(path)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_the_stored_one(name, tmp_path):
    drawn = save(tmp_path / f"{name}.png", PICTURES[name])
    assert compare_images(str(BASELINE / f"{name}.png"), drawn, TOLERANCE) is None


@pytest.mark.parametrize(
    ("name", "change"), [("map", {"shift": 1.0}), ("coef", {"change": 3.0}), ("stress_path", {"change": 0.02})]
)
def test_a_changed_picture_is_not(name, change, tmp_path):
    drawn = save(tmp_path / f"{name}.png", PICTURES[name], **change)
    assert "Error: Image files did not match" in compare_images(str(BASELINE / f"{name}.png"), drawn, TOLERANCE)


if __name__ == "__main__":
    BASELINE.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        save(BASELINE / f"{name}.png", draw)
