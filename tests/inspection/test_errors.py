"""What cannot be inspected: one call each, the type of the error, and the argument that its message names."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalIsomap, ConditionalMDS, GeneralMDS
from unmask.datasets import load_kinship
from unmask.inspection import (
    bootstrap,
    canonical_correlations,
    choose_n_components,
    compare,
    dbrda_test,
    gplvm_score,
    jackknife,
    leak,
    leak_report,
    mds_then_regress,
    name_axes,
    neighbourhood_scores,
    partial_dbrda,
    permutation_test,
    procrustes,
    recovery,
    scree,
    shepard,
)

kinship = load_kinship()
D, known = kinship.dissimilarities, kinship.known
gender = known[["gender"]]
U = np.random.default_rng(0).standard_normal((14, 2))
values = pd.Series(U[:, 0] + U[:, 1], name="size")
gaps = np.r_[np.nan, np.arange(13.0)]
holes = D.astype(float).mask(np.eye(14, k=1, dtype=bool) | np.eye(14, k=-1, dtype=bool))
grades = pd.DataFrame({"grade": pd.Categorical([*range(13), 0], ordered=True), "x": U[:, 0]})
three = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=list("abc"))
xy = pd.DataFrame(U, columns=list("xy"))
mds = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0)
ERRORS = {
    "correction": lambda: name_axes(U, values, correction="bonferroni"),
    "n_permutations=-1": lambda: name_axes(U, values, n_permutations=-1),
    "embedding .*1 dimension": lambda: name_axes(U[:, [0, 0]], values),
    "embedding has 4 objects": lambda: name_axes(U[:4], values[:4]),
    "external has 13 rows": lambda: name_axes(U, values[:13]),
    "external .*'size'": lambda: name_axes(U, values.replace({values[0]: np.inf})),
    "external: column 'code'": lambda: name_axes(U, pd.Series([f"c{i}" for i in range(14)], name="code")),
    "external: column 'day'": lambda: name_axes(U, pd.Series(pd.date_range("2024-01-01", periods=14), name="day")),
    "embedding has 14 rows": lambda: shepard(D.iloc[:13, :13], ConditionalMDS(metric="precomputed", n_init=1).fit(D)),
    "weights='nonsense'": lambda: shepard(D, U, weights="nonsense"),
    "weights has shape": lambda: shepard(D, U, weights=-np.ones((14, 14))),
    "max_components=0": lambda: choose_n_components(mds, D, max_components=0),
    "max_components=14": lambda: choose_n_components(mds, D, max_components=14),
    "share=0.0": lambda: choose_n_components(mds, D, share=0.0),
    "share=1.5": lambda: choose_n_components(mds, D, share=1.5),
    "share=0.97": lambda: choose_n_components(mds, D, max_components=1, share=0.97),
    "n_splits=1": lambda: choose_n_components(mds, D, n_splits=1),
    "n_permutations=18": lambda: choose_n_components(mds, D, n_permutations=18),
    "estimator .*GeneralMDS.* ConditionalMDS": lambda: scree(GeneralMDS(metric="precomputed"), D),
    "GeneralMDS": lambda: choose_n_components(GeneralMDS(metric="precomputed"), D),
    "n_components=0": lambda: partial_dbrda(D, n_components=0),
    "n_components=13": lambda: partial_dbrda(D, gender, n_components=13),
    "known .*'Aunt' missing from known": lambda: mds_then_regress(D, known.rename(index={"Aunt": "Auntie"})),
    "known has no feature": lambda: dbrda_test(D, np.ones(14)),
    "known takes 13 columns": lambda: dbrda_test(D.to_numpy(), grades),
    "dissimilarities .*redundancy analysis": lambda: partial_dbrda(holes),
    "dissimilarities .*neighbourhoods": lambda: neighbourhood_scores(holes, U),
    "n_neighbors=7": lambda: neighbourhood_scores(D, U, n_neighbors=7),
    "n_neighbors=0": lambda: neighbourhood_scores(D, U, n_neighbors=[0]),
    "embedding has 8 rows": lambda: neighbourhood_scores(D, U[:8]),
    "Y has 5 rows": lambda: canonical_correlations(np.ones((4, 1)), np.ones((5, 1))),
    "Y .*finite": lambda: canonical_correlations(np.ones((4, 1)), np.full((4, 1), np.nan)),
    "X .*shape": lambda: canonical_correlations(np.ones((2, 2, 2)), np.ones((2, 1))),
    "X .*not numbers": lambda: canonical_correlations(np.array([["a"], ["b"]]), np.ones((2, 1))),
    "Y and X .*'c'": lambda: canonical_correlations(three, three.set_axis(list("abd"))),
    "Y has duplicate labels: 'a'": lambda: canonical_correlations(three, three.set_axis(list("aab"))),
    "Y has 2 rows": lambda: canonical_correlations(three, three.iloc[:2]),
    "known .*'known0'": lambda: leak(U, gaps),
    "known has 3 rows": lambda: leak(U, np.arange(3.0)),
    "known .*column 'known0'": lambda: leak_report(U, gaps),
    "known has 4 rows": lambda: leak_report(U, np.arange(4.0)),
    "n_permutations=5": lambda: leak_report(U, U[:, 0], n_permutations=5),
    "known .*without column names": lambda: recovery(U, U[:, [0]], xy),
    "no feature .*unknown .*features": lambda: recovery(U, xy, xy),
    "known .*share no column": lambda: recovery(U, xy[["x"]].rename(columns=str.upper), xy),
    "unknown .*'z'": lambda: recovery(U, xy[["x"]], xy, unknown=["z"]),
    "features has 14 rows": lambda: recovery(U[:8], None, xy),
    r"methods=\[\]": lambda: compare(D, gender, methods=[]),
    "methods=": lambda: compare(D, methods=["magic"]),
    "n_components=13 ": lambda: compare(D, gender, n_components=13),
    "unknown .*features": lambda: compare(D, gender, unknown=["degree"]),
    "features has 5 rows": lambda: compare(D, gender, features=known.iloc[:5]),
    "known .*'gender'": lambda: compare(D, gender.astype(float) * np.nan),
    "second has all objects": lambda: procrustes(np.arange(4.0), np.ones(4)),
    "second has 3 rows": lambda: procrustes(np.arange(4.0), np.arange(3.0)),
    "scale='yes'": lambda: procrustes(U, U, scale="yes"),
    "Y has 13 rows": lambda: gplvm_score(U, U[:13]),
    "embedding .*2 objects": lambda: gplvm_score(U[:1], U[:1]),
    "standardize='yes'": lambda: gplvm_score(U, U, standardize="yes"),
    "n_landmarks=3": lambda: bootstrap(ConditionalIsomap(n_landmarks=3), U, gender),
    "known=None": lambda: permutation_test(mds, D, None),
    "level=0.0": lambda: jackknife(mds, D, level=0.0),
    "level=1.0": lambda: jackknife(mds, D, level=1.0),
    "n_resamples=1": lambda: bootstrap(mds, D, n_resamples=1),
    "parameters .*n_components": lambda: bootstrap(ConditionalMDS(2, metric="precomputed", n_init=1), D.iloc[:3, :3]),
}


@pytest.mark.parametrize("named", ERRORS)
def test_the_argument_is_named(named):
    with pytest.raises(ValueError, match=named):
        ERRORS[named]()
