"""What a fitted estimator reports, by the definitions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from .fits import fit


def test_stress_and_its_parts_by_their_definitions(kinship, by_gender):
    D = kinship.dissimilarities.to_numpy()
    Z = np.column_stack([by_gender.embedding_, kinship.known[["gender"]].to_numpy() * by_gender.coef_.iloc[0, 0]])
    d = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    error = (D - d) ** 2
    total = np.sum(np.triu(D) ** 2.0)
    assert by_gender.stress_ == pytest.approx(np.triu(error).sum() / total, rel=1e-9)
    np.testing.assert_allclose(by_gender.stress_per_point_, error.sum(axis=1) / (2 * total), rtol=1e-7)
    assert by_gender.stress_per_point_.sum() == pytest.approx(by_gender.stress_, rel=1e-9)
    assert list(by_gender.stress_per_point_.index) == list(kinship.dissimilarities.index)
    assert by_gender.stress_path_[-1] == pytest.approx(by_gender.stress_, rel=1e-9)
    assert len(by_gender.stress_path_) == by_gender.n_iter_ + 1


def test_importance_is_the_row_norm_of_the_coefficients(base, kinship):
    B = base.coef_.to_numpy()
    np.testing.assert_allclose(base.importance_["raw"], np.linalg.norm(B, axis=1), rtol=1e-7)
    deviation = kinship.known[["gender", "degree"]].std(ddof=1).to_numpy()
    np.testing.assert_allclose(base.importance_["standardized"], base.importance_["raw"] * deviation, rtol=1e-12)
    np.testing.assert_allclose(B, B.T)
    assert np.linalg.eigvalsh(B).min() >= 0


def test_embedding_is_in_canonical_form(by_gender):
    U = by_gender.embedding_
    np.testing.assert_allclose(U.mean(axis=0), 0, atol=1e-9)
    covariance = U.T @ U
    assert abs(covariance[0, 1]) < 1e-9 * covariance[0, 0]
    assert covariance[0, 0] > covariance[1, 1]
    assert np.all(np.sum(U**3, axis=0) > 0)


def test_grouped_coefficients_are_block_diagonal(kinship):
    columns = ["gender", "degree", "generation"]
    mds = fit(kinship.dissimilarities, kinship.known[columns], coef=[["gender"], ["degree", "generation"]], n_init=5)
    B = mds.coef_
    assert B.loc["gender", ["degree", "generation"]].tolist() == [0, 0]
    assert B.loc["degree", "generation"] != 0
    twolevel = kinship.known[columns].set_axis(
        pd.MultiIndex.from_tuples([("sex", "gender"), ("kin", "degree"), ("kin", "generation")]), axis=1
    )
    grouped = fit(kinship.dissimilarities, twolevel, coef="grouped", n_init=5)
    np.testing.assert_allclose(grouped.coef_, B, rtol=1e-9)
    assert list(grouped.coef_.columns) == ["sex/gender", "kin/degree", "kin/generation"]
    diagonal = fit(kinship.dissimilarities, kinship.known[columns], coef="diagonal", n_init=5)
    plain = fit(kinship.dissimilarities, kinship.known[columns], coef="grouped", n_init=5)
    np.testing.assert_array_equal(plain.coef_, diagonal.coef_)


def test_not_converged_is_a_warning_and_says_so(kinship):
    with pytest.warns(ConvergenceWarning, match="more than max_iter=2"):
        mds = fit(kinship.dissimilarities, max_iter=2, n_init=2)
    assert not mds.converged_
    assert mds.n_iter_ == 2
    assert "max_iter" in mds.stop_reason_
