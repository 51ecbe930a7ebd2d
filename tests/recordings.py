"""A run and a robot's WiFi readings: simulated, so that tests need no other data, and recorded where those are at hand.

The recordings, and other published tables that are not free to ship, are looked for in the folder that the environment
variable ``UNMASK_DATA`` names, or beside the project.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from unmask.datasets import make_robot_wifi, make_running_figure

FOLDER = Path(os.environ.get("UNMASK_DATA") or Path(__file__).parents[1] / "../shared/data")
RECORDED = {"recorded run": "motion_55x102.npy", "recorded robot": "robot_wifi_215x30.npy"}
SIMULATED = {"simulated run": make_running_figure, "simulated robot": make_robot_wifi}
NEIGHBOURS = {"run": 6, "robot": 7}  # as many as the paper has


def needs(*files):
    """Mark a test that needs files which are not part of the project."""
    missing = [file for file in files if not (FOLDER / file).exists()]
    return pytest.mark.skipif(bool(missing), reason=f"an addition for where {', '.join(files)} are at hand")


def recording(name, *values):
    """Return the values of one case of a test, which is skipped where the recording is not at hand."""
    return pytest.param(name, *values, marks=[needs(RECORDED[name])] if name in RECORDED else [])


def load(name, seed=0):
    """Return objects by features."""
    return (
        np.load(FOLDER / RECORDED[name]) if name in RECORDED else SIMULATED[name](random_state=seed).features.to_numpy()
    )


def neighbours(name):
    """Return the number of neighbours for a recording."""
    return NEIGHBOURS[name.split()[1]]


ALL = [recording(name) for name in (*SIMULATED, *RECORDED)]
