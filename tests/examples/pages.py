"""Running a page of the gallery."""

import runpy
from pathlib import Path

import matplotlib as mpl

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(script):
    """Return the variables of a page after it has run, and its figures."""
    from matplotlib import pyplot

    mpl.use("Agg")
    variables = runpy.run_path(str(EXAMPLES / script))
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return variables | {"figures": figures}
