"""The posterior of a conditional map: a model of noisy dissimilarities, drawn from by NUTS."""

from ._draws import Draws, Predicted, interval
from ._evidence import Evidence, Line
from ._model import Model, Parameters, empirical_tau
from ._new import predict_new
from ._sampling import TUNING, Chains, sample

__all__ = [
    "TUNING",
    "Chains",
    "Draws",
    "Evidence",
    "Line",
    "Model",
    "Parameters",
    "Predicted",
    "empirical_tau",
    "interval",
    "predict_new",
    "sample",
]
