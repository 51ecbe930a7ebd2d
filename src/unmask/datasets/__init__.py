"""Data to begin with, and data that several pages simulate."""

from ._judged import make_car_brands, make_drawn_faces
from ._loaded import load_kinship, load_kjv_bible
from ._recorded import make_robot_wifi, make_running_figure

__all__ = [
    "load_kinship",
    "load_kjv_bible",
    "make_car_brands",
    "make_drawn_faces",
    "make_robot_wifi",
    "make_running_figure",
]
