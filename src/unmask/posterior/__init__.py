"""The posterior of a conditional map: a model of noisy dissimilarities, drawn from by NUTS."""

from ._diagnostics import diagnostics, inference_data
from ._draws import Draws, Predicted, interval
from ._evidence import Evidence, Line
from ._model import Model, Parameters
from ._new import predict_new
from ._prior import empirical_tau
from ._sampling import TUNING, Chains, expected_seconds, sample

__all__ = [
    "TUNING",
    "Chains",
    "Draws",
    "Evidence",
    "Line",
    "Model",
    "Parameters",
    "Predicted",
    "diagnostics",
    "empirical_tau",
    "expected_seconds",
    "inference_data",
    "interval",
    "predict_new",
    "sample",
]
