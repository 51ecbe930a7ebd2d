"""What inspection reads: dissimilarities, or features that a metric compares."""

import pandas as pd
import pytest

from unmask import ConditionalMDS
from unmask.dissimilarities import Geodesic, Metric
from unmask.inspection import (
    compare,
    dbrda_test,
    mds_then_regress,
    neighbourhood_scores,
    partial_dbrda,
    shepard,
    stress_per_point,
)


@pytest.fixture
def X(rng):
    return pd.DataFrame(rng.standard_normal((16, 3)), index=[f"o{i}" for i in range(16)], columns=list("abc"))


@pytest.mark.parametrize(
    "inspect",
    [
        lambda data, known, U, **metric: shepard(data, U, **metric),
        lambda data, known, U, **metric: stress_per_point(data, U, **metric),
        lambda data, known, U, **metric: neighbourhood_scores(data, U, **metric),
        lambda data, known, U, **metric: dbrda_test(data, known, n_permutations=19, **metric),
        lambda data, known, U, **metric: partial_dbrda(data, known, **metric).embedding,
        lambda data, known, U, **metric: mds_then_regress(data, known, random_state=0, **metric),
        lambda data, known, U, **metric: compare(data, known, methods=["mds"], **metric).drop(columns="seconds"),
    ],
    ids=["shepard", "stress_per_point", "neighbourhood_scores", "dbrda_test", "partial_dbrda", "regress", "compare"],
)
@pytest.mark.parametrize("metric", ["cityblock", Geodesic(n_neighbors=6)], ids=["cityblock", "geodesic"])
def test_features_are_compared_by_the_metric(X, inspect, metric):
    transformer = Metric(metric) if isinstance(metric, str) else metric
    D = pd.DataFrame(transformer.fit_transform(X), index=X.index, columns=X.index)
    known, U = X[["a"]].iloc[::-1], X[["b", "c"]].iloc[::-1]
    pd.testing.assert_frame_equal(inspect(X, known, U, metric=metric), inspect(D, known, U))


def test_a_table_of_features_without_a_metric_is_refused_with_the_way_out(X):
    with pytest.raises(ValueError, match=r"shape \(16, 3\) but must be square.* metric='euclidean'"):
        shepard(X, ConditionalMDS(n_init=1).fit(X))
    with pytest.raises(ValueError, match="did you mean 'euclidean'"):
        shepard(X, X[["a"]], metric="euclidian")
