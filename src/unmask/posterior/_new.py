"""New objects: their places in every draw, from dissimilarities to fitted objects and from known features."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..kernels import plain
from ._draws import Draws, Predicted

# Most steps to the most likely place, and most halvings of a step that leads uphill.
STEPS, HALVINGS = 50, 25
# A step shorter than this, in standard deviations of the prior, is the last.
NEAR = 1e-8
# The exact curvature is used where it is at least this share of the prior's, elsewhere the expected one.
LEAST_CURVATURE = 0.5


def predict_new(draws: Draws, delta: Array, v: Array, level: float, rng: np.random.Generator) -> Predicted:
    """Return judgements of the pairs of a new object with every fitted one.

    ``delta`` holds its dissimilarities in the model's units, NaN where there is none, and ``v`` its known features. In
    each draw its place is drawn from the normal distribution about the most likely one. The fitted objects stay where
    they are.
    """
    here = _Beside(draws, delta, v)
    return draws.judged(here.distances(here.drawn(rng)), rng, level)


class _Beside:
    """A new object beside the fitted ones, in all draws at once."""

    def __init__(self, draws: Draws, delta: Array, v: Array) -> None:
        U, C, V, log_s, gamma = draws.parts
        self.U, self.tau, self.log_s, self.gamma = U, draws.model.tau, log_s[:, None], gamma[:, None]
        self.apart = np.sum(((V - v) @ C) ** 2, axis=2)  # squared distances in the known features
        self.seen, self.delta = ~np.isnan(delta), np.nan_to_num(delta)

    def distances(self, u: Array) -> Array:
        return np.asarray(np.sqrt(np.sum((self.U - u[:, None]) ** 2, axis=2) + self.apart))

    def _log_variance(self, d: Array) -> Array:
        return np.asarray(2 * self.log_s + self.gamma * np.log(d**2 + plain.NEAREST_NOISE**2))

    def cost(self, u: Array) -> Array:
        """Minus the log density of a place."""
        d = self.distances(u)
        log_variance = self._log_variance(d)
        misfit = ((d - self.delta) ** 2 * np.exp(-log_variance) + log_variance)[:, self.seen]
        return np.asarray(0.5 * misfit.sum(axis=1) + 0.5 * np.sum(u**2, axis=1) / self.tau**2)

    def drawn(self, rng: np.random.Generator) -> Array:
        """Return a place for each draw."""
        u = self.most_likely(rng)
        root = np.linalg.cholesky(np.linalg.inv(self._curvature(u)[0]))
        return np.asarray(u + (root @ rng.standard_normal((*u.shape, 1)))[..., 0])

    def most_likely(self, rng: np.random.Generator) -> Array:
        """Return the place of least cost in each draw, found from the object that is nearest by its dissimilarity."""
        nearest = int(np.argmin(np.where(self.seen, self.delta, np.inf)))
        u = self.U[:, nearest] if self.seen.any() else np.zeros_like(self.U[:, 0])
        u = u + 0.1 * self.tau * rng.standard_normal(u.shape)  # in one place with another, nothing says where to go
        for _ in range(STEPS):
            u = u - (step := self._step(u))
            if np.all(np.abs(step) < NEAR * self.tau):
                break
        return np.asarray(u)

    def _curvature(self, u: Array) -> tuple[Array, Array]:
        """Return a positive definite matrix of the cost's second derivatives, and its gradient.

        A pair costs ``f(d) = ((d - delta)^2 / v + log v) / 2``, where the variance v is a function of d as well. The
        matrix is exact, ``f'' d' d'^T + f' d''``, or what is expected of it, ``(1 / v + (log v)'^2 / 2) d' d'^T``.
        """
        d = np.maximum(self.distances(u), 1e-9)
        J = (u[:, None] - self.U) / d[..., None]
        precision, residual = np.exp(-self._log_variance(d)), d - self.delta
        size = d**2 + plain.NEAREST_NOISE**2
        slope = 2 * self.gamma * d / size  # of log v
        bend = 2 * self.gamma / size - 2 * slope * d / size
        excess = residual**2 * precision - 1.0
        first = residual * precision - 0.5 * slope * excess
        second = precision * (1 - 2 * slope * residual) + 0.5 * slope**2 * (excess + 1.0) - 0.5 * bend * excess

        def outer(weight: Array) -> Array:
            return np.asarray(np.einsum("sn,sni,snj->sij", np.where(self.seen, weight, 0.0), J, J))

        unit = np.eye(u.shape[1])
        across = np.where(self.seen, first / d, 0.0).sum(axis=1)[:, None, None]
        exact = outer(second - first / d) + across * unit + unit / self.tau**2
        expected = outer(precision + 0.5 * slope**2) + unit / self.tau**2
        convex = np.linalg.eigvalsh(exact).min(axis=1, initial=np.inf) * self.tau**2 >= LEAST_CURVATURE
        gradient = np.einsum("sn,sni->si", np.where(self.seen, first, 0.0), J) + u / self.tau**2
        return np.where(convex[:, None, None], exact, expected), gradient

    def _step(self, u: Array) -> Array:
        """Return how far to go against the gradient in each draw, such that the cost is no larger there."""
        H, gradient = self._curvature(u)
        step, before = np.linalg.solve(H, gradient[..., None])[..., 0], self.cost(u)
        for _ in range(HALVINGS):
            uphill = self.cost(u - step) > before
            if not uphill.any():
                return np.asarray(step)
            step[uphill] *= 0.5
        step[self.cost(u - step) > before] = 0.0
        return np.asarray(step)
