"""Fits that several files compare with."""

import pytest

from .fits import fit


@pytest.fixture(scope="session")
def by_gender(kinship):
    return fit(kinship.dissimilarities, kinship.known[["gender"]])


@pytest.fixture(scope="session")
def start(kinship):
    """A start close to a minimum with distinct axes, and tight tolerances, so that maps can be compared closely."""
    mds = fit(kinship.dissimilarities, kinship.known[["gender", "degree"]])
    return {"init": (mds.embedding_ * 1.01, mds.coef_.to_numpy()), "tol": 1e-15, "max_iter": 10_000}


@pytest.fixture(scope="session")
def base(kinship, start):
    return fit(kinship.dissimilarities, kinship.known[["gender", "degree"]], **start)
