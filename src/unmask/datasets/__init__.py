"""The examples of the papers, loaded or simulated."""

from ._car_brands import make_car_brands
from ._cylinders import make_cylinders
from ._drawn_faces import make_drawn_faces
from ._fabrics import make_fabrics
from ._kinship import load_kinship
from ._motion import make_running_figure
from ._robot import make_robot_wifi
from ._texts import load_kjv_bible

__all__ = [
    "load_kinship",
    "load_kjv_bible",
    "make_car_brands",
    "make_cylinders",
    "make_drawn_faces",
    "make_fabrics",
    "make_robot_wifi",
    "make_running_figure",
]
