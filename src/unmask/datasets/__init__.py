"""The examples of the papers, loaded or simulated."""

from ._car_brands import make_car_brands
from ._kinship import load_kinship

__all__ = ["load_kinship", "make_car_brands"]
