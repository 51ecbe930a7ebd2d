"""Aitchison's distance: agreement with scikit-bio, invariants, zeros."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from skbio.stats import composition
from skbio.stats.composition import clr

from unmask.dissimilarities import Metric


def test_agrees_with_scikit_bio(rng):
    X, new = rng.dirichlet(np.ones(6), 30), rng.dirichlet(np.ones(6), 4)
    fitted = Metric("aitchison").fit(X)
    np.testing.assert_allclose(fitted.dissimilarities_, cdist(clr(X), clr(X)), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(fitted.transform(new), cdist(clr(new), clr(X)), rtol=1e-12, atol=1e-14)


def test_numbers_worked_by_hand():
    # Log-ratios of (1, e²) are (-1, 1), of (e, 1) are (1/2, -1/2).
    D = Metric("aitchison").fit_transform([[1, np.exp(2)], [np.e, 1]])
    np.testing.assert_allclose(D[0, 1], np.sqrt(2) * 1.5, rtol=1e-14, atol=0)


@pytest.mark.parametrize("metric", ["aitchison", "robust_aitchison"])
def test_totals_of_objects_and_units_of_parts_do_not_matter(rng, metric):
    X = rng.integers(1, 100, (20, 5)).astype(float)
    D = Metric(metric).fit_transform(X)
    np.testing.assert_allclose(Metric(metric).fit_transform(X * rng.uniform(1, 9, (20, 1))), D, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(Metric(metric).fit_transform(X * rng.uniform(1, 9, 5)), D, rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(not hasattr(composition, "rclr"), reason="this version of scikit-bio has no robust form")
def test_robust_form_leaves_zeros_out(rng):
    X = rng.poisson(2.0, (30, 6)).astype(float)
    X[:, 0] += 1
    ratios = np.nan_to_num(composition.rclr(X), nan=0.0)
    np.testing.assert_allclose(
        Metric("robust_aitchison").fit_transform(X), cdist(ratios, ratios), rtol=1e-12, atol=1e-12
    )
    complete = X + 1
    expected = Metric("aitchison").fit_transform(complete)
    np.testing.assert_allclose(Metric("robust_aitchison").fit_transform(complete), expected, rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="metric='robust_aitchison' is not defined for object 1 of X: it is all zeros"):
        Metric("robust_aitchison").fit([[1, 2], [0, 0]])


def test_zeros_are_refused_or_covered_by_a_pseudocount():
    X = pd.DataFrame({"sand": [1, 2], "clay": [3, 0]}, index=["hill", "dell"])
    with pytest.raises(ValueError, match=r"X holds 0 \(object 'dell', column 'clay'\), .*\{'pseudocount': 0.5\} to"):
        Metric("aitchison").fit(X)
    D = Metric("aitchison", metric_params={"pseudocount": 0.5}).fit_transform(X)
    np.testing.assert_allclose(D, cdist(clr(X + 0.5), clr(X + 0.5)), rtol=1e-12, atol=0)
