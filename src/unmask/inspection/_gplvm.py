"""How well a map explains the data: the likelihood of a Gaussian process from the map to the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from .._typing import Array
from ..checking import require_flag, warn_user
from ..kernels import OneBlasThread
from ._inputs import read_pair

# Logarithms of inverse width, signal, bias and noise at the start.
START = np.array([0.0, 0.0, -2.0, -2.0])
# Far beyond what data in units near 1 need, but a Cholesky decomposition of the covariance is still possible.
BOUNDS = [(-18.0, 18.0)] * 4
MAX_ITER = 2000
OPTIONS = {"maxiter": MAX_ITER, "maxfun": 10 * MAX_ITER, "ftol": 1e-12, "gtol": 1e-5}
LEAST_GAIN = 1e-9  # a search is started again where it ended while that lowers the cost by more than this share


def gplvm_score(embedding: Any, Y: Any, *, standardize: bool = True) -> float:
    """Return the log-likelihood of the data under the best Gaussian process from the map to the data.

    The score is high if objects that are near on the map have similar values in all columns of `Y`. These share one
    covariance, ``v exp(-w/2 |x - x'|^2) + b``, and noise ``s`` on the diagonal; w, v, b and s are found by L-BFGS from
    one fixed start. Only scores for the same `Y` can be compared. Time grows with N cubed, memory with N squared.

    Parameters
    ----------
    embedding : fitted estimator, or array-like of shape (n_objects, n_components)
        The map.
    Y : array-like of shape (n_objects, n_features)
        The data that the map was made from; columns are centred. Rows are matched with the map's by label.
    standardize : bool, default=True
        Whether to divide the columns of the map by their standard deviations. Otherwise flatter axes count less.

    Returns
    -------
    float
        ``sum_j log N(y_j | 0, K)`` over the columns of `Y`, constants included.

    References
    ----------
    N. D. Lawrence, "A unifying probabilistic perspective for spectral dimensionality reduction", JMLR, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import gplvm_score
    >>> t = np.linspace(0, 1, 30)
    >>> curve = np.column_stack([np.cos(3 * t), np.sin(3 * t), t**2])
    >>> shuffled = np.random.default_rng(0).permutation(t)
    >>> gplvm_score(t, curve) > gplvm_score(shuffled, curve)
    True
    """
    require_flag("standardize", standardize)
    points, data = read_pair(embedding, Y, ("embedding", "Y"))
    if len(points.values) < 2:
        raise ValueError(f"embedding has {len(points.values)} row; a score needs at least 2 objects.")
    X = scale(points.values) if standardize else points.values
    Y = data.values - data.values.mean(axis=0)
    process = np.asarray(cdist(X, X, "sqeuclidean")), Y @ Y.T, Y.shape[1]

    def search(start: Array) -> Any:
        return minimize(_cost, start, process, jac=True, method="L-BFGS-B", bounds=BOUNDS, options=OPTIONS)

    with OneBlasThread():
        best = search(START)
        # SciPy 1.18 may end a search at a step beyond rounding, although the slope is still steep.
        while best.nit < MAX_ITER:
            again = search(best.x)
            if again.fun >= best.fun - LEAST_GAIN * abs(best.fun):
                break
            best = again
    if best.nit >= MAX_ITER:
        warn_user(
            f"the search for the score's parameters stopped after {MAX_ITER} iterations; the score may be too low.",
            ConvergenceWarning,
        )
    return -float(best.fun)


def _cost(logs: Array, squared: Array, products: Array, p: int) -> tuple[float, Array]:
    """Return the negative log-likelihood and its derivatives by the logarithms of the parameters.

    ``squared`` holds squared distances on the map, ``products`` is Y Y' of p columns. With ``G = d(log-likelihood)/dK =
    (K^-1 Y Y' K^-1 - p K^-1) / 2``, each derivative is the sum of G times dK.
    """
    width, signal, bias, noise = np.exp(logs)
    n = len(squared)
    bell = signal * np.exp(-0.5 * width * squared)
    K = bell + bias
    K[np.diag_indices(n)] += noise
    try:
        factor = cho_factor(K, lower=True, check_finite=False)
    except np.linalg.LinAlgError:  # a step into parameters beyond rounding: L-BFGS turns back
        return 1e300, np.zeros(4)
    inverse = cho_solve(factor, np.eye(n), check_finite=False)
    projected = inverse @ products
    log_determinant = 2.0 * np.sum(np.log(np.diagonal(factor[0])))
    value = -0.5 * (np.trace(projected) + p * log_determinant + n * p * np.log(2 * np.pi))
    G = 0.5 * (projected @ inverse - p * inverse)
    by_width = -0.5 * width * np.sum(G * bell * squared)
    slope = np.array([by_width, np.sum(G * bell), bias * np.sum(G), noise * np.trace(G)])
    return -float(value), -slope
