"""A new penalty takes one file: a class, and a line in the table of penalties."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from unmask import ConditionalMDS
from unmask.problem import PENALTIES, Penalty


@dataclass(frozen=True)
class Shrinkage(Penalty):
    """``strength`` times the sum over pairs of squared distances on the map: N times its sum of squares."""

    strength: float
    p: int

    def add_to(self, G, Z):
        U = Z[:, : self.p] - Z[:, : self.p].mean(axis=0)
        G[:, : self.p] += self.strength * len(U) * U
        return self.strength * len(U) * np.sum(U**2)


@dataclass(eq=False, repr=False, kw_only=True)
class ShrunkenMDS(ConditionalMDS):
    """Conditional MDS with another parameter, named as the penalty is in the table."""

    shrinkage: float = 0.0


def test_an_estimator_takes_it(monkeypatch, rng):
    monkeypatch.setitem(PENALTIES, "shrinkage", lambda strength, problem, _: Shrinkage(strength, problem.p))
    X = rng.standard_normal((30, 4))
    options = {"random_state": 0, "n_init": 4, "tol": 1e-13, "max_iter": 2000}
    plain, shrunken = ConditionalMDS(**options).fit(X), clone(ShrunkenMDS(shrinkage=0.25, **options)).fit(X)
    # (delta - d)^2 + s d^2 is (1 + s) (delta / (1 + s) - d)^2 and something that does not depend on d.
    np.testing.assert_allclose(shrunken.embedding_ * 1.25, plain.embedding_, atol=1e-5)


def test_it_is_a_parameter_like_any_other():
    shrunken = ShrunkenMDS(3, shrinkage=0.5)
    assert shrunken.get_params() == ConditionalMDS(3).get_params() | {"shrinkage": 0.5}
    assert clone(shrunken).set_params(shrinkage=2.0).shrinkage == 2.0
    assert repr(shrunken) == "ShrunkenMDS(n_components=3, shrinkage=0.5)"
    assert pickle.loads(pickle.dumps(shrunken)).shrinkage == 0.5


def test_its_strength_is_checked_like_that_of_the_others(monkeypatch, rng):
    monkeypatch.setitem(PENALTIES, "shrinkage", lambda strength, problem, _: Shrinkage(strength, problem.p))
    with pytest.raises(ValueError, match=r"shrinkage=-1.0 must be a number of at least 0"):
        ShrunkenMDS(shrinkage=-1.0).fit(rng.standard_normal((9, 2)))
