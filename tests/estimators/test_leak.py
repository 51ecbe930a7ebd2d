"""Leak: measured always, suppressed on request."""

import warnings

import numpy as np
import pandas as pd
import pytest

from tests.helpers import noisy_distances, symmetric_weights
from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    GeneralMDS,
    LeakWarning,
    MissingDissimilarityWarning,
    Spline,
)
from unmask.estimators import refit
from unmask.inspection import average_canonical_correlation

from .fits import fit


def test_leak_is_measured_and_can_be_suppressed(rng):
    """With more dimensions than unknown features the map re-learns what is known, unless told not to."""
    n = 60
    U, V = rng.standard_normal((n, 1)), rng.standard_normal((n, 1))
    Z = np.column_stack([U, V])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2)) * (
        1 + 0.1 * np.abs(np.subtract.outer(V[:, 0], V[:, 0])) ** 2
    )
    known = pd.DataFrame(V, columns=["v"])
    leaky = fit(D, known, n_components=3, n_init=3)
    orthogonal = fit(D, known, n_components=3, n_init=3, orthogonal=True)
    assert leaky.leak_ == pytest.approx(average_canonical_correlation(leaky.embedding_, V), rel=1e-9)
    assert orthogonal.leak_ < 1e-6
    assert leaky.stress_ <= orthogonal.stress_ * 1.02


def test_an_orthogonal_map_needs_room(rng):
    # A spline is one feature on a line, and as many columns to be orthogonal to as it has degrees of freedom.
    D, known = noisy_distances(rng, 7), np.linspace(0, 1, 7) ** 2
    with pytest.raises(ValueError, match="fill all 6 dimensions of the 7 objects: nothing is left for a map"):
        fit(D, known, known_types={"known0": Spline(6)}, orthogonal=True)


@pytest.mark.parametrize("weighting", ["sammon", "array", "missing"])
def test_orthogonal_maps_do_not_leak_whatever_the_weights(kinship, rng, weighting):
    D, known = kinship.dissimilarities.astype(float), kinship.known[["gender", "degree"]]
    options = {"n_components": 3, "n_init": 4, "weights": "sammon" if weighting == "sammon" else None}
    W = symmetric_weights(rng, 14) ** 2 if weighting == "array" else None
    if weighting == "missing":
        D.iloc[0, 1] = D.iloc[1, 0] = np.nan
        warnings.simplefilter("ignore", MissingDissimilarityWarning)
    free = fit(D, known, W, **options)
    orthogonal, stepwise = (
        fit(D, known, W, orthogonal=True, solver=s, max_iter=20_000, **options) for s in ("lbfgs", "smacof")
    )
    assert orthogonal.leak_ < 1e-9
    assert stepwise.leak_ < 1e-9
    assert free.leak_ > 0.05
    assert orthogonal.stress_ == pytest.approx(stepwise.stress_, rel=1e-3)


def test_a_map_is_warned_of_exactly_if_its_leak_is_above_the_reference_in_the_warning(rng):
    """One of two directions leaks: a test by another statistic than the mean warns of leaks below the reference."""
    above = []
    for number in range(60):
        U, V = rng.standard_normal((2, 20, 2))
        U[:, 0] += 0.9 * V[:, 0]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mds = ConditionalClassicalMDS(2).fit(U, known=V)
        above.append(mds.leak_ > mds.leak_reference_)
        texts = [str(one.message) for one in caught if one.category is LeakWarning]
        assert [f"leak is {mds.leak_:.2f}, more than chance" in text for text in texts] == [True] * above[-1]
        if number < 5:
            assert ("repeats what is known" in str(mds.summary())) == above[-1]
    assert 0 < sum(above) < 60


# ---- where the linear leak is 0 by construction


def clusters_and_batches(n=90, shift=6.0, seed=0):
    """Return three clusters whose halves, the batches, lie apart, in each cluster along another direction."""
    rng = np.random.default_rng(seed)
    cluster, batch = np.arange(n) % 3, np.arange(n) // 3 % 2
    X = 12.0 * np.eye(3)[cluster] + shift * batch[:, None] * np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0.0]])[cluster]
    return X + rng.standard_normal((n, 3)), pd.DataFrame({"batch": np.where(batch == 1, "b", "a")})


UNCORRELATED = [
    ConditionalMDS(2, n_init=1, orthogonal=True, random_state=0),
    ConditionalMDS(2, n_init=1, adjust=True, random_state=0),
    ConditionalIsomap(2, n_init=1, n_neighbors=45, adjust=True, random_state=0),
    ConditionalClassicalMDS(2, adjust=True),
    GeneralMDS(2, n_init=1, adjust=True, random_state=0),
]


@pytest.mark.parametrize("estimator", UNCORRELATED, ids=lambda e: type(e).__name__)
def test_what_neighbours_tell_is_warned_of_where_the_linear_leak_is_0_by_construction(estimator):
    X, known = clusters_and_batches()
    with pytest.warns(
        LeakWarning, match=r"neighbours on the map tell batch: \d\.\d\d right, more than chance .*'batch' by"
    ):
        fitted = refit(estimator, X, n_free=2 if estimator.adjust else None, known=known)
    told = fitted.knn_leak_.loc["batch"]
    assert fitted.leak_ < 1e-9
    assert told["score"] > told["reference"]
    summary = str(fitted.summary()) if isinstance(estimator, ConditionalClassicalMDS) else ""
    assert not summary or f"tell batch: {told['score']:.2f} right, more than chance" in summary


def test_number_that_neighbours_tell_has_another_remedy(rng):
    angle, size = rng.uniform(0, 2 * np.pi, 80), rng.uniform(1, 3, 80)
    ring = size[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(LeakWarning, match=r"tell size: 0\.\d\d correlation, .*declare 'size' as Spline"):
        ConditionalMDS(2, n_init=1, adjust=True).fit(ring, known=pd.DataFrame({"size": size}))


def test_a_feature_without_effect_is_rarely_told(recwarn):
    """One map in twenty is above chance; of 40, more than 8 are with a probability of 1 in 5,000."""
    warnings.simplefilter("always", LeakWarning)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, group = rng.standard_normal((40, 2)), rng.permutation(np.repeat(["a", "b"], 20))
        mds = ConditionalClassicalMDS(2, adjust=True).fit(X, known=group)
        assert mds.adjusted_
    assert sum(one.category is LeakWarning for one in recwarn) <= 8


def test_maps_that_may_leak_along_a_line_are_not_asked_about_neighbours(rng, monkeypatch):
    asked = []
    monkeypatch.setattr("unmask.estimators._fitted_map.neighbour_leak", lambda *_, **__: asked.append(True) or {})
    U, V = rng.standard_normal((2, 20, 2))
    ConditionalClassicalMDS(2).fit(U, known=V)
    assert not asked
    ConditionalClassicalMDS(2, adjust=True).fit(U, known=V)
    assert asked
